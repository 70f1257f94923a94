"""A voxel is missing if any of its channels is."""

import warnings

import numpy as np

from stepsmooth import GridStepSmooth


def test_channels_that_miss_different_voxels_are_fitted_without_a_warning():
    rng = np.random.default_rng(0)
    labels = np.kron(rng.integers(2, size=(5, 5, 5)), np.ones((4, 4, 4), dtype=int))
    image = np.stack([1.0 + labels, 3.0 - labels], axis=-1) + 0.05 * rng.normal(size=(*labels.shape, 2))
    image[..., 1].reshape(-1)[7::101] = np.nan
    image[:3, :, :, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m = GridStepSmooth(2, channel_axis=-1).fit(image)
    missing = np.isnan(image).any(axis=-1)
    np.testing.assert_array_equal(m.labels_ < 0, missing)
    right = np.mean((m.labels_ == labels)[~missing])
    assert max(right, 1.0 - right) > 0.99
