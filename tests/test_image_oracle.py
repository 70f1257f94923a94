"""The Bayes classifier of voxels: it knows everything but the labels, under Rician noise or Gaussian."""

import numpy as np
import pytest
from scipy.stats import norm, rice

from stepsmooth.metrics import bayes_voxels

LEVELS = np.array([0.0, 0.3, 0.7, 1.0])


def observe(seed, n=3000, sigma=0.1, channels=1):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=n)
    smooth = rng.normal(0, 0.3, n)
    levels = np.stack([LEVELS * (c + 1) for c in range(channels)], axis=1)
    clean = np.exp(smooth)[:, None] * levels[labels]
    noisy = np.hypot(clean + sigma * rng.standard_normal(clean.shape), sigma * rng.standard_normal(clean.shape))
    return noisy, smooth, levels, labels


@pytest.mark.parametrize("share", [None, [0.7, 0.1, 0.1, 0.1]])
@pytest.mark.parametrize("rician", [True, False])
def test_it_maximises_the_density_that_scipy_gives(share, rician):
    values, smooth, levels, _ = observe(0)
    clean = np.exp(smooth)[:, None] * LEVELS
    density = rice.pdf(values, clean / 0.1, scale=0.1) if rician else norm.pdf(values, clean, 0.1)
    expected = (density * ([1.0] * 4 if share is None else share)).argmax(axis=1)
    found = bayes_voxels(values[:, 0], smooth, levels[:, 0], 0.1, share, rician=rician)
    np.testing.assert_array_equal(found, expected)


def test_channels_add_up_and_knowing_the_noise_right_is_best():
    values, smooth, levels, labels = observe(1, channels=2)
    both = np.mean(bayes_voxels(values, smooth, levels, 0.1) == labels)
    one = np.mean(bayes_voxels(values[:, :1], smooth, levels[:, :1], 0.1) == labels)
    gaussian = np.mean(bayes_voxels(values, smooth, levels, 0.1, rician=False) == labels)
    assert one < both
    assert gaussian <= both


def test_without_noise_the_nearest_level_is_certain_whatever_the_proportions():
    values, smooth, levels, labels = observe(2, sigma=0.0)
    np.testing.assert_array_equal(bayes_voxels(values, smooth, levels, 0.0, [1.0, 0.0, 0.0, 0.0]), labels)


def test_a_class_of_probability_zero_is_never_chosen():
    values, smooth, levels, _ = observe(3)
    assert not np.any(bayes_voxels(values, smooth, levels, 0.1, [0.5, 0.0, 0.25, 0.25]) == 1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"levels": [[0.0, 1.0]]}, "^values and levels must have the same number of channels; found 1 and 2"),
        ({"smooth": [0.0]}, r"^smooth must hold one value per voxel, \(2,\); found shape \(1,\)"),
        ({"noise": -1.0}, r"^noise must be a finite number of at least 0; found -1\.0"),
        ({"values": [np.nan, 1.0]}, "^values must be finite; found 1 of 2"),
        ({"proportions": [0.5, 0.1]}, "^proportions must be probabilities that sum to 1"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        bayes_voxels(**{"values": [0.1, 1.0], "smooth": [0.0, 0.0], "levels": [0.0, 1.0], "noise": 0.1, **change})
