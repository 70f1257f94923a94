"""The voxels that are scored: which, where, in which cube, and how unlike their neighbours they are."""

from types import SimpleNamespace

import numpy as np
import pytest

from stepsmooth.grid import scored_voxels
from stepsmooth.grid.scored_voxels import ScoredVoxels, cubes
from stepsmooth.grid.volume import Volume


def a_volume(rng, shape=(2, 2, 7, 6, 5), weighted=True):
    values = rng.normal(size=shape).astype(np.float32)
    values[:, rng.uniform(size=shape[1:]) < 0.2] = np.nan
    weights = rng.uniform(0.5, 2.0, shape[1:]).astype(np.float32) if weighted else None
    return Volume(values, (1.0, 2.0, 3.0), weights, start=(2, 0, 4))


def unmerged(n=8):
    return SimpleNamespace(merged=1.0, voxels_per_block=n)


def plainly_unlike(volume, at):
    """Sum over the neighbours by a face; infinite where one is missing."""
    frame, *place = at
    total = np.zeros(volume.n_channels)
    for axis, step in [(a, s) for a in range(3) if volume.grid[1 + a] > 1 for s in (-1, 1)]:
        there = list(place)
        there[axis] += step
        if not 0 <= there[axis] < volume.grid[1 + axis]:
            return np.full(volume.n_channels, np.inf)
        gap = volume.values[(slice(None), frame, *there)].astype(float) - volume.values[(slice(None), *at)]
        total += np.where(np.isnan(gap), np.inf, gap**2)
    return total


@pytest.mark.parametrize(("n_scored", "stride"), [(60_000, 1), (80, 2), (12, 3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_kth_voxel_is_scored_with_its_own_numbers(n_scored, stride, weighted, monkeypatch):
    monkeypatch.setattr(scored_voxels, "N_SCORED", n_scored)
    rng = np.random.default_rng(0)
    volume = a_volume(rng, weighted=weighted)
    present = np.sum(volume.present)
    monkeypatch.setattr(scored_voxels, "N_SCORED", n_scored if stride == 1 else present / (stride - 0.5) ** 3)
    voxels = ScoredVoxels.of(volume, unmerged(), 4.0)
    expected = [at for at in np.ndindex(volume.grid) if volume.present[at] and not any(i % stride for i in at[1:])]
    np.testing.assert_array_equal(voxels.values, [volume.values[(slice(None), *at)] for at in expected])
    np.testing.assert_allclose(voxels.weights, [volume.weights[at] if weighted else 1.0 for at in expected])
    along = [x[::stride] for x in volume.coordinates()]
    for mine, theirs in zip(voxels.coordinates, along):
        np.testing.assert_array_equal(mine, theirs)
    shape = tuple(len(x) for x in along)
    places = [np.ravel_multi_index([i // stride for i in at[1:]], shape) for at in expected]
    assert voxels.place.tolist() == places
    np.testing.assert_allclose(voxels.unlike, [plainly_unlike(volume, at) for at in expected], rtol=1e-5)
    assert voxels.spread == 8.0
    cube, fold = cubes(voxels.place, shape, along, 4.0)
    assert voxels.cube.tolist() == cube.tolist()
    assert voxels.fold.tolist() == fold.tolist()
    np.testing.assert_allclose(voxels.mass, [voxels.weights[cube == c].sum() for c in range(cube.max() + 1)])


def test_axes_of_length_one_are_neither_thinned_nor_have_neighbours(monkeypatch):
    monkeypatch.setattr(scored_voxels, "N_SCORED", 25)
    volume = Volume(np.arange(100, dtype=np.float32).reshape(1, 1, 10, 10, 1), (1.0, 1.0, 1.0))
    voxels = ScoredVoxels.of(volume, unmerged(4), 20.0)
    assert voxels.values[:, 0].tolist() == [10.0 * i + j for i in range(0, 10, 2) for j in range(0, 10, 2)]
    inside = np.isfinite(voxels.unlike[:, 0])
    np.testing.assert_array_equal(voxels.unlike[inside], 202.0)
    assert inside.sum() == 16
    assert voxels.spread == 4.0


def test_merged_blocks_stand_for_themselves():
    rng = np.random.default_rng(0)
    blocks = SimpleNamespace(
        merged=2.5, means=rng.normal(size=(6, 2)), weights=rng.uniform(size=6), within=rng.uniform(size=(6, 2)),
        place=np.array([0, 1, 2, 3, 5, 5]), shape=(2, 3, 1),
        coordinates=[np.array([0.0, 9.0]), np.arange(3.0), np.zeros(1)],
    )  # fmt: skip
    voxels = ScoredVoxels.of(None, blocks, 2.0)
    assert voxels.values is blocks.means
    assert voxels.weights is blocks.weights
    assert voxels.unlike is blocks.within
    assert voxels.spread == 1.0
    assert voxels.cube.tolist() == [0, 0, 1, 8, 9, 9]
    assert voxels.fold.tolist() == [0, 0, 2, 4, 1, 1]


def test_a_cube_is_where_its_coordinates_say_and_folds_slant_through_them():
    coordinates = [np.array([0.0, 19.0, 20.0, 45.0]), np.array([5.0, 25.0]), np.array([39.0, 40.0])]
    cube, fold = cubes(np.arange(16), (4, 2, 2), coordinates, 20.0)
    steps = [(i, j, k) for i in (0, 0, 1, 2) for j in (0, 1) for k in (1, 2)]
    assert cube.tolist() == [(i * 2 + j) * 3 + k for i, j, k in steps]
    assert fold.tolist() == [(i + 2 * j + 3 * k) % 5 for i, j, k in steps]


def test_a_part_keeps_the_numbers_of_its_voxels():
    rng = np.random.default_rng(0)
    voxels = ScoredVoxels.of(a_volume(rng), unmerged(), 4.0)
    keep = rng.uniform(size=len(voxels.values)) < 0.5
    some = voxels.part(keep)
    for name in ("values", "weights", "place", "cube", "fold", "unlike"):
        np.testing.assert_array_equal(getattr(some, name), getattr(voxels, name)[keep])
    assert some.coordinates is voxels.coordinates
    assert some.spread == voxels.spread
