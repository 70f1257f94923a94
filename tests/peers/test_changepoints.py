"""The change-point peer cuts where the mean changes, and groups the pieces."""

import numpy as np
import pytest

from stepsmooth.peers import changepoint_levels


def dwelling(seed, n=600, length=40):
    """Three levels in segments of equal length, noise of a quarter of the smallest gap."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(rng.permuted(np.arange(n // length) % 3), length)
    return np.array([0.0, 1.0, 3.0])[labels] + 0.25 * rng.normal(size=n), labels


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_segments_and_their_levels(seed):
    y, labels = dwelling(seed)
    found = changepoint_levels(None, y, 3)
    assert np.mean(found.labels == labels) > 0.98
    np.testing.assert_allclose(found.levels, [0.0, 1.0, 3.0], atol=0.15)


def test_points_in_any_order_are_one_signal_and_channels_are_cut_together():
    y, labels = dwelling(5)
    both = np.stack([y, -2.0 * y], axis=1)
    order = np.random.default_rng(0).permutation(len(y))
    found = changepoint_levels(np.arange(len(y))[order], both[order], 3)
    assert np.mean(found.labels == labels[order]) > 0.98
    assert found.levels.shape == (3, 2)


def test_a_trend_is_subtracted_where_asked():
    y, _ = dwelling(6)
    x = np.arange(len(y), dtype=float)
    found = changepoint_levels(x, y + 0.02 * x, 3, trend="polynomial")
    assert np.ptp(found.smooth) > 5.0
    assert found.smooth.mean() == pytest.approx(0.0, abs=1e-9)


def test_a_signal_with_fewer_kinds_of_segments_than_levels_keeps_what_it_has():
    found = changepoint_levels(None, np.repeat([1.0, 2.0], 20), 5)
    np.testing.assert_array_equal(found.levels, [1.0, 2.0])
