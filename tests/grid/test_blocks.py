"""Blocks of voxels: their moments against numpy's, and which of them are pure."""

import numpy as np
import pytest

from stepsmooth.grid.blocks import block_moments, label_pure_blocks, pure_blocks
from stepsmooth.grid.volume import Volume


def whole(volume):
    return tuple(slice(0, n) for n in volume.grid[1:])


def test_moments_equal_those_of_numpy():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 3, 6, 4, 8)).astype(np.float32)
    values[:, 1, 2, 3, 4] = np.nan
    volume = Volume(values, (1.0, 1.0, 1.0))
    counts, means, spread, mass = block_moments(volume, (2, 2, 2), whole(volume))
    cut = values.astype(float).reshape(2, 3, 3, 2, 2, 2, 4, 2).transpose(1, 2, 4, 6, 0, 3, 5, 7).reshape(72, 2, 8)
    assert counts.tolist() == np.sum(~np.isnan(cut[:, 0]), axis=1).tolist()
    np.testing.assert_allclose(means, np.nanmean(cut, axis=2), atol=1e-6)
    np.testing.assert_allclose(spread, np.nanvar(cut, axis=2) * counts[:, None], atol=1e-5)
    np.testing.assert_array_equal(mass, counts)


def test_weights_weigh_the_mean():
    values = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4, 1)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=(1, 4, 4, 1)).astype(np.float32)
    volume = Volume(values, (1.0, 1.0, 1.0), weights)
    _, means, _, mass = block_moments(volume, (4, 4, 1), whole(volume))
    assert means[0, 0] == pytest.approx(np.average(values.ravel(), weights=weights.ravel()), rel=1e-6)
    assert mass[0] == pytest.approx(weights.sum(), rel=1e-6)


def test_a_block_across_a_border_is_not_pure(patches, volume_of):
    image, labels, _ = patches(shape=(90, 88), patch=9, noise=0.02)
    blocks = pure_blocks(volume_of(image))
    assert blocks.voxels_per_block == 4
    corners = labels.reshape(45, 2, 44, 2).transpose(0, 2, 1, 3).reshape(-1, 4)
    same = np.all(corners == corners[:, :1], axis=1)
    assert np.mean(same[blocks.place]) > 0.999
    assert np.mean(np.isin(np.flatnonzero(same), blocks.place)) > 0.5


def test_labels_tell_which_blocks_are_pure(patches, volume_of):
    image, labels, _ = patches(shape=(91, 88), patch=9, noise=0.02)
    volume = volume_of(image)
    blocks = label_pure_blocks(volume, labels[None, ..., None].astype(np.int16), pure_blocks(volume))
    corners = labels[:90].reshape(45, 2, 44, 2).transpose(0, 2, 1, 3).reshape(-1, 4)
    np.testing.assert_array_equal(blocks.place, np.flatnonzero(np.all(corners == corners[:, :1], axis=1)))


def test_in_a_small_image_each_voxel_is_its_own_block(patches, volume_of):
    image, _, _ = patches(shape=(12, 10))
    blocks = pure_blocks(volume_of(image))
    assert blocks.voxels_per_block == 1
    np.testing.assert_allclose(np.sort(blocks.means[:, 0]), np.sort(image.ravel()), rtol=1e-6)
    assert np.all(blocks.within == 0.0)


def test_the_spread_within_pure_blocks_and_of_their_means_is_the_noise(volume_of):
    rng = np.random.default_rng(1)
    blocks = pure_blocks(volume_of(5.0 + 0.2 * rng.normal(size=(60, 60, 20))))
    total = blocks.within.mean() + blocks.means.var()
    assert total == pytest.approx(0.04, rel=0.1)
