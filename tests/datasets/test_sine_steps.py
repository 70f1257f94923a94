"""The paper's simulated model."""

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from stepsmooth.datasets import make_sine_steps


@pytest.mark.parametrize(("n_levels", "beta"), [(2, 1), (2, 2), (3, 2), (3, 3)])
def test_points_levels_and_wave_are_those_of_the_paper(n_levels, beta):
    n = 225
    s = make_sine_steps(n, n_levels, beta, random_state=0)
    i, k = np.arange(1, n + 1), np.arange(1, n_levels + 1)
    np.testing.assert_allclose(s.x, i / n)
    np.testing.assert_allclose(s.levels, k - (n_levels + 1) / 2)
    np.testing.assert_allclose(s.smooth, 3 / 4 * np.sin(2 * np.pi * beta * i / n), atol=1e-14)


def test_labels_are_uniform():
    counts = np.bincount(make_sine_steps(20000, 5, random_state=0).labels, minlength=5)
    assert chisquare(counts).pvalue > 1e-3


def test_labels_of_neighbours_are_independent():
    labels = make_sine_steps(20000, 2, random_state=0).labels
    assert abs(np.corrcoef(labels[1:], labels[:-1])[0, 1]) < 4 / np.sqrt(20000)


def test_noise_is_gaussian():
    s = make_sine_steps(5000, noise_variance=4.0, random_state=0)
    assert kstest((s.y - s.smooth - s.levels[s.labels]) / 2, "norm").pvalue > 1e-3


def test_points_that_are_not_equispaced_are_uniform_on_the_unit_interval():
    x = make_sine_steps(5000, equispaced=False, random_state=0).x
    assert kstest(x, "uniform").pvalue > 1e-3


def test_a_quarter_period_of_phase_turns_the_sine_into_a_cosine():
    s = make_sine_steps(50, beta=2, amplitude=1.5, phase=np.pi / 2, random_state=0)
    np.testing.assert_allclose(s.smooth, 1.5 * np.cos(4 * np.pi * s.x), atol=1e-14)


def test_further_channels_hold_the_levels_rotated_and_shrunk():
    levels = make_sine_steps(10, 3, n_channels=4, random_state=0).levels
    expected = [[-1, 0, 1 / 3, -1 / 4], [0, 1 / 2, -1 / 3, 0], [1, -1 / 2, 0, 1 / 4]]
    np.testing.assert_allclose(levels, expected, atol=1e-15)


@pytest.mark.parametrize("n_levels", range(2, 7))
@pytest.mark.parametrize("n_channels", range(2, 7))
def test_the_mean_over_channels_does_not_cancel_the_steps(n_levels, n_channels):
    levels = make_sine_steps(10, n_levels, n_channels=n_channels, random_state=0).levels
    assert np.ptp(levels.mean(axis=1)) > 0.1


def test_one_level_and_one_sample_are_enough():
    s = make_sine_steps(1, 1, random_state=0)
    assert s.labels.tolist() == [0]
    assert s.levels.tolist() == [0.0]
