"""Labels from a Markov chain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from stepsmooth.datasets import make_markov_steps, make_sine_steps


def switches(labels):
    return labels[1:] != labels[:-1]


@pytest.mark.parametrize("probability", [0.01, 0.05, 0.5, 0.9])
def test_the_share_of_switches_is_the_switching_probability(probability):
    changed = switches(make_markov_steps(20000, 4, switching=probability, random_state=0).labels)
    assert binomtest(int(changed.sum()), len(changed), probability).pvalue > 1e-3


def test_a_switch_reaches_every_other_level_equally_often():
    labels = make_markov_steps(30000, 4, switching=0.5, random_state=0).labels
    for level in range(4):
        reached = np.bincount(labels[1:][(labels[:-1] == level) & switches(labels)], minlength=4)
        assert reached[level] == 0
        assert chisquare(np.delete(reached, level)).pvalue > 1e-3


def test_a_switch_does_not_depend_on_the_one_before():
    changed = switches(make_markov_steps(20000, 3, switching=0.3, random_state=0).labels)
    assert abs(np.corrcoef(changed[1:], changed[:-1])[0, 1]) < 4 / np.sqrt(20000)


def test_the_first_label_is_uniform():
    rng = np.random.default_rng(0)
    first = [make_markov_steps(1, 3, random_state=rng).labels[0] for _ in range(3000)]
    assert chisquare(np.bincount(first, minlength=3)).pvalue > 1e-3


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), n_levels=st.integers(2, 6))
def test_probability_one_always_switches_and_probability_zero_never(seed, n_levels):
    always, never = (make_markov_steps(50, n_levels, switching=p, random_state=seed).labels for p in (1, 0))
    assert np.all(switches(always))
    assert not np.any(switches(never))


def test_wave_points_and_levels_are_those_of_the_sine_generator():
    markov, sine = make_markov_steps(100, 4, 2, phase=1.0), make_sine_steps(100, 4, 2, phase=1.0)
    for part in ("x", "levels", "smooth"):
        np.testing.assert_array_equal(getattr(markov, part), getattr(sine, part))


def test_one_level_leaves_nothing_to_switch_to():
    with pytest.raises(ValueError, match="n_levels must be a whole number of at least 2; found 1"):
        make_markov_steps(10, 1)


@pytest.mark.parametrize("probability", [-0.1, 1.1, np.nan])
def test_a_switching_probability_outside_0_to_1_is_refused(probability):
    with pytest.raises(ValueError, match="switching must be a finite number between 0 and 1; found"):
        make_markov_steps(10, 2, switching=probability)
