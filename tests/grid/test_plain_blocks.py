"""Blocks that levels show to be pure: those that a strict rule left out come in, mixed ones do not."""

import numpy as np
import pytest

from stepsmooth.grid import Search
from stepsmooth.grid.blocks import pure_blocks
from stepsmooth.grid.plain_blocks import with_plain_blocks
from stepsmooth.grid.search import fit_at


def truly_pure(blocks, labels):
    at = np.unravel_index(blocks.place, blocks.shape)
    corners = [labels[2 * at[0] + i, 2 * at[1] + j, 2 * at[2] + k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    return np.all(np.array(corners) == corners[0], axis=0)


@pytest.mark.parametrize("multiplicative", [True, False])
def test_far_levels_let_nearly_all_pure_blocks_in_and_no_mixed_one(patches, volume_of, multiplicative):
    image, labels, f = patches(shape=(40, 40, 40), patch=5, noise=0.02)
    if not multiplicative:
        image = np.array([1.0, 1.6, 2.4])[labels] + f + 0.02 * np.random.default_rng(1).normal(size=f.shape)
    volume = volume_of(image)
    blocks = pure_blocks(volume)
    found = with_plain_blocks(volume, blocks, fit_at(blocks, Search(3, multiplicative), 60.0, None))
    assert len(found) > len(blocks)
    assert set(blocks.place) <= set(found.place)
    assert np.all(np.diff(found.place) > 0)
    assert np.all(truly_pure(found, labels)[~np.isin(found.place, blocks.place)])
    before = np.isin(found.place, blocks.place)
    np.testing.assert_array_equal(found.means[before], blocks.means)
    np.testing.assert_allclose(found.within[before], blocks.within)


def test_near_levels_let_none_in(patches, volume_of):
    volume = volume_of(patches(shape=(40, 40, 40), patch=5, noise=0.5)[0])
    blocks = pure_blocks(volume)
    found = with_plain_blocks(volume, blocks, fit_at(blocks, Search(3, True), 60.0, None))
    assert found is blocks


def test_voxels_that_are_their_own_blocks_stay_as_they_are_and_so_do_those_of_one_class(patches, volume_of):
    volume = volume_of(patches(shape=(20, 18))[0])
    blocks = pure_blocks(volume)
    assert blocks.voxels_per_block == 1
    assert with_plain_blocks(volume, blocks, fit_at(blocks, Search(2, True), np.inf, None)) is blocks
    volume = volume_of(patches(shape=(40, 40, 40), patch=5, noise=0.02)[0])
    blocks = pure_blocks(volume)
    assert with_plain_blocks(volume, blocks, fit_at(blocks, Search(1, True), np.inf, None)) is blocks
