"""The noise floor of magnitude images: how large the noise is, and the signal without its floor."""

import numpy as np
import pytest
from scipy.stats import chi2

from stepsmooth.grid.rician import noise_variance, without_floor
from stepsmooth.grid.volume import Volume

SPACING = (1.0, 1.0, 1.0)


@pytest.mark.parametrize(("n", "p"), [(4, 1), (4, 2)])
def test_the_noise_is_that_of_the_brighter_blocks(n, p):
    rng = np.random.default_rng(0)
    values = rng.normal(5.0, 1.0, size=(p, 1, 20, 20, 1)).astype(np.float32)
    values[:, 0, 3, 4] = np.nan
    cut = values[:, 0, ..., 0].astype(float).reshape(p, 10, 2, 10, 2).transpose(1, 3, 0, 2, 4).reshape(100, p, n)
    cut = cut[~np.isnan(cut).any(axis=(1, 2))]
    means = cut.mean(axis=2)
    bright = np.all(means >= np.median(means, axis=0), axis=1)
    spread = np.sum((cut[bright] - means[bright, :, None]) ** 2, axis=2)
    expected = np.quantile(spread, 0.3, axis=0) / chi2.ppf(0.3, n - 1)
    np.testing.assert_allclose(noise_variance(Volume(values, SPACING)), expected, rtol=1e-4)


def test_where_no_block_is_bright_in_every_channel_all_are_asked():
    rng = np.random.default_rng(0)
    ramp = np.repeat(np.repeat(np.arange(36.0).reshape(6, 6), 2, axis=0), 2, axis=1)
    values = np.stack([ramp, -ramp])[:, None, :, :, None] + 0.01 * rng.normal(size=(2, 1, 12, 12, 1))
    cut = values[:, 0, ..., 0].reshape(2, 6, 2, 6, 2).transpose(1, 3, 0, 2, 4).reshape(36, 2, 4)
    spread = 4.0 * cut.var(axis=2)
    expected = np.quantile(spread, 0.3, axis=0) / chi2.ppf(0.3, 3)
    np.testing.assert_allclose(noise_variance(Volume(values.astype(np.float32), SPACING)), expected, rtol=1e-2)


def test_without_a_full_block_no_noise_is_known():
    values = np.ones((2, 1, 4, 4, 1), dtype=np.float32)
    values[:, 0, ::2, ::2] = np.nan
    np.testing.assert_array_equal(noise_variance(Volume(values, SPACING)), [0.0, 0.0])
    np.testing.assert_array_equal(noise_variance(Volume(values[:, :, 1:2, 1:2], SPACING)), [0.0, 0.0])


def test_the_floor_is_taken_from_the_square_and_the_sign_says_who_won():
    values = np.array([5.0, 3.0, 0.0, 4.0], dtype=np.float32).reshape(2, 1, 2, 1, 1)
    weights = np.ones((1, 2, 1, 1), dtype=np.float32)
    better = without_floor(Volume(values, SPACING, weights, start=(2, 0, 0)), np.array([9.0, 25.0]))
    np.testing.assert_allclose(better.values.ravel(), [4.0, 0.0, -5.0, -3.0], atol=1e-6)
    assert better.start == (2, 0, 0)
    assert better.weights is weights
    np.testing.assert_array_equal(values.ravel(), [5.0, 3.0, 0.0, 4.0])
