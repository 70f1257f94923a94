"""Every field of a certificate without noise, against hand-made cases and plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.model import MinKernel
from stepsmooth.topology import Certificate, certify
from stepsmooth.topology.certificate import largest_factor, parts_without
from stepsmooth.topology.twolevels import two_levels

SEEDS = st.integers(0, 10**6)
X = np.arange(6.0)
LABELS = np.array([0, 1, 2, 2, 1, 0])
LEVELS = np.array([0.0, 3.0, 9.0])
F = np.cumsum([0.0, 0.1, -0.2, 0.05, 0.4, 0.0])  # changes of 0.1, 0.2, 0.05, 0.4 and 0


def test_the_three_worst_edges_decide_for_three_levels():
    found = certify(X, LABELS, LEVELS, smooth=F, c=1.5)
    worst = (3 * 1.5 * 0.4 + 0.4 + 0.2 + 0.1) / 3  # the true f may vary by 1.5 times the largest change everywhere
    assert (found.verdict, found.alternative, found.flips, found.region) == ("identified", None, None, None)
    assert found.variation == pytest.approx(worst)
    assert found.allowed == pytest.approx(1.0)
    assert found.margin == pytest.approx(1.0 - worst)
    assert found.edges.shape == (0, 2)
    assert found.parts.tolist() == [0] * 6
    assert "varies by at most 0.6 (c = 1.5 times the fitted f)" in found.premise


def test_edges_that_break_the_condition_come_worst_first_and_divide_the_points():
    f = np.cumsum([0.0, 0.5, 0.1, 0.1, 0.9, 0.1])
    found = certify(X, LABELS, LEVELS, smooth=f, c=2.0)
    # Each edge is held against 3 times its own change: 1.5 and 2.7 are no less than 1.
    assert found.edges.tolist() == [[3, 4], [0, 1]]
    assert found.parts.tolist() == [2, 0, 0, 0, 1, 1]
    assert found.verdict == "cannot tell"
    assert found.variation == pytest.approx((3 * 1.8 + 0.9 + 0.5 + 0.1) / 3)
    assert found.margin == pytest.approx(1.0 - found.variation)


def test_of_two_points_the_only_edge_decides():
    found = certify([0.0, 1.0], [0, 1], [0.0, 4.0], smooth=[0.0, 0.1])
    assert found.variation == pytest.approx(0.3)
    assert found.allowed == 2.0


def test_a_modulus_holds_for_the_fitted_f_too_if_that_is_not_given():
    x = np.array([0.0, 1.0, 3.0, 3.5])
    alone = certify(x, [0, 1, 1, 0], [0.0, 9.0], modulus=0.5)
    assert alone.variation == pytest.approx(2 * (0.5 * 2.0 + 0.5 * 1.0) / 2)
    assert "and so does the fitted one" in alone.premise
    given = certify(x, [0, 1, 1, 0], [0.0, 9.0], modulus=0.5, smooth=[0.0, 0.3, 0.3, 0.3])
    assert given.variation == pytest.approx((0.5 * 2.0 + 0.5 * 1.0 + 0.3) / 2)
    assert "and so does the fitted one" not in given.premise
    assert alone.allowed == given.allowed == 4.5
    rooted = certify(x, [0, 1, 1, 0], [0.0, 9.0], modulus=(0.5, MinKernel()))
    assert rooted.variation == pytest.approx(0.5 * (np.sqrt(2.0) + 1.0))


def test_a_broken_modulus_names_the_edges_whose_length_breaks_it():
    found = certify([0.0, 1.0, 4.0, 9.0], [0, 1, 1, 0], [0.0, 4.0], modulus=0.4, smooth=np.zeros(4))
    assert found.verdict == "identified"  # the labels alone decide: y changes where they do, and not elsewhere
    lost = certify([0.0, 1.0, 4.0, 9.0], [0, 1, 2, 0], [0.0, 4.0, 8.0], modulus=0.4)
    assert lost.edges.tolist() == [[2, 3], [1, 2]]  # 2 * 0.4 * (5, 3) against 4 / 3
    assert lost.parts.tolist() == [0, 0, 1, 2]


def test_two_channels_are_measured_in_the_norm():
    smooth = np.column_stack([F, 2.0 * F])
    levels = np.column_stack([LEVELS, -LEVELS])
    for norm, factor, gap in ((1, 3.0, 6.0), (2, np.sqrt(5.0), np.sqrt(18.0)), (np.inf, 2.0, 3.0)):
        found = certify(X, LABELS, levels, smooth=smooth, c=1.0, norm=norm)
        assert found.variation == pytest.approx(factor * (3 * 0.4 + 0.4 + 0.2 + 0.1) / 3)
        assert found.allowed == pytest.approx(gap / 3)
    shared = certify(X, LABELS, levels, modulus=0.1, norm=1)
    assert shared.variation == pytest.approx(2 * 2 * 0.1)


def test_the_fitted_f_is_what_the_labels_leave_of_the_data():
    """Of `smooth` and `y` the data count; logarithms where f multiplies."""
    y = F + LEVELS[LABELS]
    assert certify(X, LABELS, LEVELS, y=y, smooth=9.0 * F).variation == certify(X, LABELS, LEVELS, y=y).variation
    logs = certify(X, LABELS, np.exp(LEVELS), y=np.exp(y), multiplicative=True, c=1.5)
    assert logs.variation == pytest.approx((3 * 1.5 * 0.4 + 0.4 + 0.2 + 0.1) / 3)
    with pytest.raises(ValueError, match=r"y must be above 0 if multiplicative=True; found -1"):
        certify(X, LABELS, np.exp(LEVELS), y=np.where(X == 2.0, -1.0, np.exp(y)), multiplicative=True)


def test_no_noise_is_no_noise():
    plain = certify(X, LABELS, LEVELS, smooth=F)
    zero = certify(X, LABELS, LEVELS, smooth=F, noise_variance=0.0)
    assert (zero.margin, zero.flips) == (plain.margin, None)


@given(SEEDS)
def test_two_levels_are_decided_up_to_the_factor_at_which_an_edge_is_not(seed):
    rng = np.random.default_rng(seed)
    n, labels = 8, rng.permutation(np.arange(8) % 2)
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    Y = (labels + 0.1 * rng.normal(size=n))[:, None]
    bound = rng.uniform(0.01, 0.1, n - 1)
    change = np.abs(np.diff(Y[:, 0]))
    across = np.diff(labels) != 0
    # Linear in the factor s: each edge across must stay above 0, none within may reach the least gap they leave.
    limits = list(change[across] / bound[across])
    lines = [(change[e], bound[e]) for e in np.flatnonzero(~across)]
    grid = 2.0 ** (np.arange(8 * 64 + 1) / 64.0)

    def decided(s):
        gap = max(change[across] - s * bound[across])
        most = min(change[across] + s * bound[across])
        return s < min(limits) and all(a + s * b < gap for a, b in lines) and gap <= most

    found = two_levels(edges, Y, labels, bound)
    if not decided(1.0):
        assert found == 0.0
    else:
        true = [decided(s) for s in grid]
        if true == sorted(true, reverse=True):  # one run: the search by halves finds its end
            last = grid[sum(true) - 1]
            assert last / 2.0 ** (1.01 / 64.0) <= found <= last * (1.0 + 1e-9)


@pytest.mark.parametrize("limit", [1.0, 1.5, 2.0, 7.3, 100.0, 255.0])
def test_the_largest_factor_is_known_to_a_sixty_fourth_of_a_power_of_two(limit):
    found = largest_factor(lambda t: t <= limit)
    assert limit / 2.0 ** (1.0 / 64.0) <= found <= limit
    assert largest_factor(lambda t: t < 1.0) == 0.0
    assert largest_factor(lambda t: True) == pytest.approx(256.0, rel=0.011)
    assert largest_factor(lambda t: t <= limit, exact=1e-9) == pytest.approx(limit, rel=1e-8)


@given(SEEDS, st.integers(2, 20))
def test_parts_are_what_is_left_of_the_tree_largest_first(seed, n):
    rng = np.random.default_rng(seed)
    edges = np.column_stack([[rng.integers(i) for i in range(1, n)], np.arange(1, n)])
    broken = rng.random(n - 1) < 0.4
    part = parts_without(edges, broken)
    assert part.max() == broken.sum()
    assert np.all(part[edges[~broken, 0]] == part[edges[~broken, 1]])
    sizes = np.bincount(part)
    assert np.all(np.diff(sizes) <= 0)
    assert sizes.min() > 0


def test_the_words_tell_all_fields():
    none = np.empty((0, 2), dtype=int)
    found = Certificate("identified", 0.25, none, np.zeros(4, dtype=int), "so it is.", None, 0.75, 1.0, 12.34, 1)
    assert str(found).splitlines() == [
        "identified: margin 0.25 (0.75 of 1 allowed)",
        "noise alone is expected to turn 12.3 labels; the verdict is about the rest",
        "premise: so it is.",
    ]
    edges, parts = np.array([[0, 1], [2, 3]]), np.array([0, 0, 1, -1])
    lost = Certificate("cannot tell", -np.inf, edges, parts, "maybe.", parts, region=2)
    assert str(lost).splitlines() == [
        "cannot tell",
        "2 edge(s) break the condition; without them there are 2 parts, each identified in itself if the premises "
        "hold there",
        "25.0 % of the points are not covered",
        "other labels explain the data under the same premises (alternative)",
        "regions of less than 2 points are not seen",
        "premise: maybe.",
    ]
    assert "there are 1 part\n" in str(Certificate("cannot tell", 0.0, edges, np.zeros(4, dtype=int), "maybe."))
