"""Filtered recordings: neighbours that move together are noticed, one sample in a few is fitted, all are labelled."""

import numpy as np
import pytest

from stepsmooth import StepSmooth
from stepsmooth.estimators.filtered import differences_correlation, white_every


def recording(seed, width, n=3000, gap=4.0):
    """Two levels that last, noise that a window of some samples has smoothed, a slow wave."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n // 100) % 2, 100)
    window = np.hanning(width + 2)[1:-1]
    noise = np.convolve(rng.normal(size=n), window / np.sqrt(np.sum(window**2)), mode="same")
    x = np.arange(n, dtype=float)
    return x[:, None], gap * labels + noise + np.sin(x / 400.0), labels


@pytest.mark.parametrize("seed", range(3))
def test_white_noise_under_steps_and_a_slow_wave_is_not_thinned(seed):
    x, y, _ = recording(seed, width=1)
    assert differences_correlation(y) < -0.3
    assert white_every(y[:, None]) == 1
    assert "thinning" not in StepSmooth(2).fit(x, y).selection_


@pytest.mark.parametrize("width", [8, 20])
@pytest.mark.parametrize("seed", range(3))
def test_one_in_as_many_samples_as_the_filter_joins_is_nearly_white(seed, width):
    y = recording(seed, width)[1]
    assert differences_correlation(y) > 0.3
    every = white_every(y[:, None])
    assert width / 4 <= every <= width
    assert differences_correlation(y[::every]) <= -0.2


@pytest.mark.parametrize(
    "y",
    [
        np.arange(40.0),
        np.sin(np.arange(1000) / 100.0),
        np.sin(np.arange(9000) / 3.0),
        np.zeros(1000),
        np.repeat([0.0, 1.0], 1000),
    ],
    ids=["short", "slow wave", "hum", "constant", "one step"],
)
def test_what_is_not_noise_is_not_taken_for_it(y):
    assert white_every(y[:, None]) == 1
    assert white_every(1e150 * y[:, None]) == 1


@pytest.mark.parametrize("width", [6, 15])
@pytest.mark.parametrize("seed", range(2))
def test_all_samples_of_a_filtered_recording_are_labelled_by_a_fit_to_some(seed, width):
    x, y, labels = recording(seed, width)
    m = StepSmooth(2).fit(x, y)
    every = m.selection_["thinning"]["chosen"]
    assert every == white_every(y[:, None]) > 1
    assert np.mean(m.labels_ == labels) > 0.98
    np.testing.assert_allclose(np.diff(m.levels_), 4.0, rtol=0.1)
    assert m.effective_dof_ < 100
    np.testing.assert_allclose(m.probabilities_.sum(axis=1), 1.0)
    assert m.smooth_.shape == m.smooth_se_.shape == y.shape
    assert f"one sample in {every}" in m.summary()
    # Steps of the chain are those of the samples: dwell times are in samples.
    assert 1.0 / m.transition_matrix_[0, 1] == pytest.approx(100.0, rel=0.5)


def test_the_order_of_the_rows_and_the_unit_of_y_do_not_matter():
    x, y, _ = recording(3, width=10)
    m = StepSmooth(2).fit(x, y)
    order = np.random.default_rng(0).permutation(len(y))
    mixed = StepSmooth(2).fit(x[order], 1e3 * y[order])
    np.testing.assert_array_equal(mixed.labels_, m.labels_[order])
    np.testing.assert_allclose(mixed.smooth_, 1e3 * m.smooth_[order], rtol=1e-5, atol=1e-3)


def test_channels_are_thinned_together_and_a_given_tau_thins_nothing():
    x, y, labels = recording(4, width=10)
    other = recording(5, width=10)[1] - 4.0 * labels
    both = StepSmooth(2).fit(x, np.stack([y, 0.5 * y + other], axis=1))
    assert both.selection_["thinning"]["chosen"] > 1
    assert np.mean(both.labels_ == labels) > 0.98
    assert "thinning" not in StepSmooth(2, tau=1e3).fit(x, y).selection_
