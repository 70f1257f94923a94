"""Every field of a certificate under noise, from the trial that decides it."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from noisy_cases import noisy_sample

from stepsmooth.topology.alternatives import same_division
from stepsmooth.topology.modulus import as_modulus
from stepsmooth.topology.noise import ROOM, certify_noisy
from stepsmooth.topology.trial import Premises, trials

SEEDS = st.integers(0, 10**6)


def ask(sample, **options):
    options = {"c": 1.5, "modulus": None, "confidence": 0.9, "norm": 2} | options
    return certify_noisy(sample.X, sample.labels, sample.levels, sample.smooth, sample.rest, sample.noise, **options)


def deciding(sample, modulus=None):
    """Return the trial that decides, and whether it does: the first with room to spare, else the largest parts."""
    alone, best = sample.noise.flips(sample.labels) < 1.0, []
    for trial in trials(sample.X, sample, Premises(1.5, modulus, 2, 0.1), alone=alone):
        covers = trial.covered >= 0.9
        for some in ([trial] if trial.region == 1 else [trial, trial.trimmed()]) if covers else []:
            if some.unique(ROOM):
                return some, True
        best.append(((covers, trial.together), trial))
    return max(best, key=lambda pair: pair[0])[1] if best else None, False


def check(found, sample, modulus=None):
    """Return the trial that decided, after comparing all that is told of it; None if there was none."""
    trial, unique = deciding(sample, modulus)
    if trial is None:
        assert (found.verdict, found.margin, found.region) == ("cannot tell", -np.inf, None)
    else:
        (check_identified if unique else check_undecided)(found, trial, sample)
    return trial


def check_identified(found, trial, sample):
    worst = np.max(trial.smooth + trial.noise)
    assert (found.verdict, found.region, found.alternative) == ("identified", trial.region, None)
    assert found.edges.shape == (0, 2)
    assert found.flips == sample.noise.flips(sample.labels)
    assert found.variation == pytest.approx(worst)
    assert found.margin == pytest.approx(1.0 - found.variation / found.allowed)
    np.testing.assert_array_equal(found.parts, np.where(trial.means.member >= 0, 0, -1))
    room = found.allowed / worst  # known to a sixty-fourth of a power of two
    assert trial.unique(room * (1.0 - 1e-9))
    assert room > 255.0 or not trial.unique(room * 2.0 ** (1.0 / 64.0))


def check_undecided(found, trial, sample):
    member, used = trial.means.member, trial.used(trial.smooth)
    part, cut = trial.local
    gap = np.diff(np.sort(sample.levels[:, 0])).min()
    assert (found.verdict, found.region) == ("cannot tell", trial.region)
    assert found.flips == sample.noise.flips(sample.labels)
    assert found.variation == pytest.approx(used.max())
    assert found.allowed == pytest.approx(gap)
    assert found.margin == pytest.approx(min(1.0 - used.max() / gap, 0.0))
    inside = member >= 0
    np.testing.assert_array_equal(found.parts[inside], part[member[inside]])
    assert np.all(found.parts[~inside] == -1)
    assert len(found.edges) == cut.sum()
    tree = {tuple(edge): e for e, edge in enumerate(trial.edges.tolist())}
    broken = [tree[tuple(edge)] for edge in member[found.edges].tolist()]
    assert sorted(broken) == np.flatnonzero(cut).tolist()
    assert np.all(np.diff(used[broken]) <= 0.0)
    if found.alternative is not None:
        assert np.all(found.alternative[~inside] == -1)
        first = np.array([np.flatnonzero(member == k)[0] for k in range(len(part))])
        assert np.array_equal(found.alternative[inside], found.alternative[first][member[inside]])
        assert not same_division(found.alternative[first], trial.means.labels)
    assert (found.alternative is None) == (trial.other() is None)


@pytest.mark.parametrize("sd", [0.01, 0.06, 0.12])
@settings(max_examples=4)
@example(seed=27190, steep=0.5, multiplicative=False)  # single points decide, but by a hair's breadth
@given(seed=SEEDS, steep=st.sampled_from([0.0, 0.5, 3.0]), multiplicative=st.booleans())
def test_the_certificate_tells_what_the_deciding_trial_found(sd, seed, steep, multiplicative):
    sample = noisy_sample(seed, 1, multiplicative, n=600, deviation=sd)
    sample.smooth[:] += steep * np.maximum(sample.X[:, :1] - 0.7, 0.0)
    found = ask(sample)
    trial = check(found, sample)
    if trial is None:
        return
    words = " of a relative change, and" if multiplicative else ", and"
    assert f"standard deviation {sample.noise.worst.max():.4g}{words} from one neighbourhood" in found.premise
    assert f"(about {np.median(trial.means.counts):.0f} points of a label) to the next" in found.premise
    assert f"varies by at most {trial.smooth.max():.4g} (c = 1.5 times the fitted f); confidence 0.9" in found.premise


@settings(max_examples=4)
@given(seed=SEEDS, slope=st.sampled_from([0.1, 1.0, 4.0]))
def test_a_modulus_takes_the_place_of_the_fitted_variation(seed, slope):
    sample, modulus = noisy_sample(seed, n=600, deviation=0.05), as_modulus(slope)
    found = ask(sample, modulus=modulus)
    trial = check(found, sample, modulus)
    assert f"by no more than the Lipschitz constant {slope:g} ({trial.smooth.max():.4g} at most)" in found.premise


def test_where_nothing_can_be_pooled_there_is_no_trial_to_tell_of():
    sample = noisy_sample(0, n=20, deviation=3.0)
    found = ask(sample)
    assert (found.verdict, found.margin, found.region, found.alternative) == ("cannot tell", -np.inf, None, None)
    assert found.edges.shape == (0, 2)
    assert found.parts.tolist() == [-1] * 20
    assert found.flips == sample.noise.flips(sample.labels)
    assert found.premise.startswith("none: too few points")
    assert str(found).splitlines()[:2] == ["cannot tell", "100.0 % of the points are not covered"]


@pytest.mark.parametrize("confidence", [0.0, 1.0, np.nan])
def test_a_confidence_that_is_no_probability_is_refused(confidence):
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        ask(noisy_sample(0), confidence=confidence)
