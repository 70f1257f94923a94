"""The verdict's benchmark: what counts as helped, and how verdicts are counted."""

import numpy as np
from benchmarks.quality import claims, confusion, judge
from benchmarks.quality_cases import Known, make_case


def known(found):
    """A clean signal of two levels on a slope, and some f that was found in it."""
    labels = np.arange(200) % 2
    slope = np.linspace(-0.6, 0.6, 200)
    values = slope + labels + 0.05 * np.random.default_rng(0).normal(size=200)
    return Known(None, values[:, None], slope, found(slope), labels, np.array([[0.0], [1.0]]), False)


def test_truth_is_helped_by_the_right_field_and_made_worse_by_a_wrong_one():
    assert known(lambda f: f + 3.0).truth()[0] == "helped"
    assert known(lambda f: 0.0 * f).truth()[0] == "no change"
    assert known(lambda f: -f).truth()[0] == "made worse"


def test_every_second_case_is_weak_and_a_case_is_the_same_every_time():
    family, weak, case = make_case(74, 1)
    again = make_case(74, 1)[2]
    assert (family, weak) == ("signal", True)
    assert np.array_equal(case.values, again.values)
    assert not make_case(75, 1)[1]


def test_verdicts_are_counted_by_truth_and_false_help_is_a_share_of_what_was_not_helped():
    pairs = [("helped", "helped"), ("helped", "no change"), ("no change", "helped"), ("made worse", "made worse")]
    cases = [{"truth": t, "verdict": v, "data": "signal", "weak": True} for t, v in pairs]
    table = {row["truth"]: row for row in confusion(cases)}
    assert table["helped"]["says helped"] == table["helped"]["says no change"] == 1
    found = {claim.text: claim.value for claim in claims(cases)}
    assert found['cases not helped of which it says "helped"'] == 0.5
    assert found['helped cases of which it says "helped"'] == 0.5


def test_a_case_is_judged_beside_its_truth():
    row = judge(79)
    assert {"truth", "verdict", "gain", "accuracy", "field_error"} <= set(row)
    assert row["data"] == "points"
