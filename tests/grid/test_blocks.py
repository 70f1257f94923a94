"""Blocks of voxels: their moments against numpy's, and which of them are pure."""

import numpy as np
import pytest
from scipy.stats import chi2

from stepsmooth.grid.blocks import Blocks, label_pure_blocks, merge_blocks, noise_floor, pure_blocks
from stepsmooth.grid.moments import block_moments
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


def test_weights_weigh_the_mean_and_the_spread():
    values = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4, 1)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=(1, 4, 4, 1)).astype(np.float32)
    volume = Volume(values, (1.0, 1.0, 1.0), weights)
    _, means, spread, mass = block_moments(volume, (4, 4, 1), whole(volume))
    assert means[0, 0] == pytest.approx(np.average(values.ravel(), weights=weights.ravel()), rel=1e-6)
    assert mass[0] == pytest.approx(weights.sum(), rel=1e-6)
    # The order of the voxels does not matter, nor the unit of the weights.
    square = np.average((values.ravel() - means[0, 0]) ** 2, weights=weights.ravel())
    assert spread[0, 0] == pytest.approx(values.size * square, rel=1e-6)


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


# --- what the blocks hold, number by number


def cut(values, sides):
    """The voxels of each block (frames * blocks, p, n), NaN where there are none."""
    p, t, *space = values.shape
    shape = [-(-n // s) for n, s in zip(space, sides)]
    padded = np.full((p, t, *(m * s for m, s in zip(shape, sides))), np.nan)
    padded[:, :, : space[0], : space[1], : space[2]] = values
    split = padded.reshape(p, t, shape[0], sides[0], shape[1], sides[1], shape[2], sides[2])
    return split.transpose(1, 2, 4, 6, 0, 3, 5, 7).reshape(t * int(np.prod(shape)), p, int(np.prod(sides)))


def noisy(rng, shape, mean=5.0, noise=0.2):
    return (mean + noise * rng.normal(size=shape)).astype(np.float32)


@pytest.mark.parametrize("sides", [(2, 2, 2), (1, 2, 3), (2, 1, 1)], ids=str)
def test_blocks_that_reach_over_the_border_of_a_box_have_what_lies_inside(sides):
    rng = np.random.default_rng(0)
    values = noisy(rng, (2, 2, 6, 7, 5))
    values[:, rng.uniform(size=(2, 6, 7, 5)) < 0.2] = np.nan
    box = (slice(0, 5), slice(2, 7), slice(1, 5))
    counts, means, spread, mass = block_moments(Volume(values, (1.0, 1.0, 1.0)), sides, box)
    voxels = cut(values[(slice(None), slice(None), *box)], sides)
    assert counts.tolist() == np.sum(~np.isnan(voxels[:, 0]), axis=1).tolist()
    some = counts > 0
    np.testing.assert_allclose(means[some], np.nanmean(voxels[some], axis=2), rtol=1e-6)
    np.testing.assert_allclose(spread[some], counts[some, None] * np.nanvar(voxels[some], axis=2), atol=1e-6)
    assert not np.any(means[~some])
    assert not np.any(spread[~some])
    np.testing.assert_array_equal(mass, counts)


def test_equal_weights_change_the_mass_alone():
    values = noisy(np.random.default_rng(0), (1, 2, 4, 5, 1))
    box = (slice(0, 4), slice(0, 5), slice(0, 1))
    plain = block_moments(Volume(values, (1.0, 1.0, 1.0)), (2, 2, 1), box)
    double = Volume(values, (1.0, 1.0, 1.0), np.full((2, 4, 5, 1), 2.0, dtype=np.float32))
    weighted = block_moments(double, (2, 2, 1), box)
    for one, other, factor in zip(plain, weighted, (1, 1, 1, 2)):
        np.testing.assert_allclose(other, factor * one, rtol=1e-12)


def test_the_noise_floor_is_a_quantile_of_what_noise_gives():
    spread = np.random.default_rng(0).chisquare(7, size=(500, 2)) * [1.0, 4.0]
    every, some = np.arange(500), np.arange(0, 500, 3)
    for blocks in (every, some):
        floor = np.quantile(spread[blocks], 0.3, axis=0) / chi2.ppf(0.3, 7)
        np.testing.assert_allclose(noise_floor(spread, blocks, 8), floor)
    spread[:200, 0] = 0.0  # many blocks are constant: not quite zero
    assert noise_floor(spread, every, 8)[0] == pytest.approx(1e-12 * np.quantile(spread[:, 0], 0.9))
    assert noise_floor(np.zeros((5, 1)), np.arange(5), 8)[0] == 1e-300


@pytest.mark.parametrize("weighted", [False, True])
def test_pure_blocks_are_those_that_noise_and_slope_explain(weighted):
    rng = np.random.default_rng(0)
    values = noisy(rng, (2, 2, 44, 38, 1))
    values[:, :, 10:14, 6:9] += np.linspace(0.0, 4.0, 3, dtype=np.float32)[:, None]  # spreads too much
    values[:, 0, 20:23, 20] = np.nan
    weights = np.full((2, 44, 38, 1), 3.0, dtype=np.float32) if weighted else None
    blocks = pure_blocks(Volume(values, (1.0, 2.0, 0.5), weights, start=(4, 2, 6)))
    voxels = cut(values.astype(float), (2, 2, 1))
    full = ~np.isnan(voxels).any(axis=(1, 2))
    means, spread = voxels.mean(axis=2), 4.0 * voxels.var(axis=2)
    noise = np.quantile(spread[full], 0.3, axis=0) / chi2.ppf(0.3, 3)
    allowed = noise + (0.03 * means) ** 2
    limit = chi2.ppf(0.7, 6)
    pure = np.flatnonzero(full)[np.sum(spread[full] / allowed[full], axis=1) <= limit]
    assert 400 <= len(pure) < full.sum() - 10
    np.testing.assert_array_equal(blocks.frame * 22 * 19 + blocks.place, pure)
    assert blocks.frame.max() == 1
    np.testing.assert_allclose(blocks.means, means[pure], rtol=1e-6)
    # Chosen for its small spread, a block spreads less than the noise does: that is undone.
    wider = limit * np.mean(allowed[pure] / noise, axis=1)
    share = chi2.cdf(wider, 8) / chi2.cdf(wider, 6)
    np.testing.assert_allclose(blocks.within, spread[pure] / 4.0 / share[:, None], rtol=1e-3, atol=1e-7)
    np.testing.assert_allclose(blocks.noise, noise / 4.0, rtol=1e-4)
    np.testing.assert_allclose(blocks.weights, 3.0 if weighted else 1.0)
    assert (blocks.shape, blocks.voxels_per_block, blocks.merged) == ((22, 19, 1), 4, 1.0)
    np.testing.assert_allclose(blocks.coordinates[0], 4.0 + 0.5 + 2.0 * np.arange(22))
    np.testing.assert_allclose(blocks.coordinates[1], 2.0 * (2.0 + 0.5 + 2.0 * np.arange(19)))
    np.testing.assert_allclose(blocks.coordinates[2], [3.0])
    assert blocks.reach == ((4.0, 47.0), (4.0, 78.0), (3.0, 3.0))


def test_the_blocks_lie_in_the_box_of_what_is_present():
    values = np.full((1, 1, 50, 52, 1), np.nan, dtype=np.float32)
    values[:, :, 5:, 7:49] = noisy(np.random.default_rng(0), (1, 1, 45, 42, 1), noise=0.01)
    blocks = pure_blocks(Volume(values, (1.0, 1.0, 1.0)))
    assert blocks.shape == (23, 22, 1)
    assert blocks.reach == ((4.0, 49.0), (6.0, 48.0), (0.0, 0.0))
    inside = np.ones((23, 22), dtype=bool)
    inside[0] = inside[:, 0] = inside[:, -1] = False  # half of these is missing
    np.testing.assert_array_equal(blocks.place, np.flatnonzero(inside))
    np.testing.assert_allclose(blocks.coordinates[0], 4.5 + 2.0 * np.arange(23))


@pytest.mark.parametrize("case", ["few are full", "few are pure", "a small share is pure"])
def test_too_few_pure_blocks_are_none_and_each_voxel_is_its_own(case):
    rng = np.random.default_rng(0)
    if case == "few are full":
        values = noisy(rng, (1, 1, 38, 40, 1), noise=0.01)  # 380, all pure
    elif case == "few are pure":
        values = noisy(rng, (1, 1, 44, 42, 1), mean=0.0)  # seven in ten of 462
    else:
        values = noisy(rng, (1, 1, 180, 160, 1), noise=0.01)  # 23 x 23 of 90 x 80, all pure
        values[:, :, ::2, ::2] = np.nan
        values[:, :, :46, :46] = noisy(rng, (1, 1, 46, 46, 1), noise=0.01)
    blocks = pure_blocks(Volume(values, (1.0, 1.0, 1.0)))
    assert (blocks.voxels_per_block, blocks.shape) == (1, values.shape[2:])
    present = np.flatnonzero(~np.isnan(values))
    np.testing.assert_array_equal(blocks.place, present)
    np.testing.assert_allclose(blocks.means[:, 0], values.ravel()[present])
    np.testing.assert_array_equal(blocks.weights, 1.0)
    voxels = cut(values.astype(float), (2, 2, 1))[:, 0]
    spread = 4.0 * voxels.var(axis=1)[~np.isnan(voxels).any(axis=1)]
    assert blocks.noise[0] == pytest.approx(np.quantile(spread, 0.3) / chi2.ppf(0.3, 3), rel=1e-3)


def test_without_a_full_block_the_noise_is_a_small_part_of_the_spread():
    values = noisy(np.random.default_rng(0), (2, 1, 12, 10, 1))
    values[:, :, ::2, ::2] = np.nan
    blocks = pure_blocks(Volume(values, (1.0, 1.0, 1.0)))
    np.testing.assert_allclose(blocks.noise, 1e-4 * np.var(blocks.means, axis=0))
    line = pure_blocks(Volume(noisy(np.random.default_rng(1), (1, 3, 1, 1, 1)), (1.0, 1.0, 1.0)))
    assert (line.voxels_per_block, len(line), line.frame.tolist()) == (1, 3, [0, 1, 2])
    np.testing.assert_allclose(line.noise, 1e-4 * np.var(line.means, axis=0))


def some_blocks(rng, shape=(9, 8, 1), frames=2, p=2, n=None):
    space = int(np.prod(shape))
    where = np.sort(rng.choice(frames * space, n or frames * space * 3 // 4, replace=False))
    means = rng.choice([1.0, 1.6], size=(len(where), p)) + 0.02 * rng.normal(size=(len(where), p))
    return Blocks(
        means, rng.uniform(0.5, 2.0, len(where)), rng.uniform(size=means.shape), where // space, where % space, shape,
        [2.0 * np.arange(m) for m in shape], 8, np.array([0.0004, 0.0009]), tuple((0.0, 2.0 * (m - 1)) for m in shape),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "stride"), [((9, 8, 1), 2), ((9, 8, 1), 3), ((5, 6, 7), 2), ((40, 1, 1), 4)], ids=str
)
def test_merging_keeps_of_every_few_neighbours_those_like_the_middle_one(shape, stride):
    rng = np.random.default_rng(0)
    blocks = some_blocks(rng, shape)
    axes = sum(n > 1 for n in shape)
    merged = merge_blocks(blocks, int(len(blocks) / (stride - 0.4) ** axes))
    assert merged.shape == tuple(-(-n // stride) for n in shape)
    space = int(np.prod(merged.shape))
    index = np.stack(np.unravel_index(blocks.place, shape)) // stride
    group = blocks.frame * space + np.ravel_multi_index(tuple(index), merged.shape)
    kept = 0
    assert merged.frame.tolist() == [g // space for g in np.unique(group)]
    assert merged.place.tolist() == [g % space for g in np.unique(group)]
    for row, g in enumerate(np.unique(group)):
        own = np.flatnonzero(group == g)
        middle = own[np.argsort(blocks.means[own, 0])[len(own) // 2]]
        spread = 2.0 * blocks.noise + (0.03 * blocks.means[middle]) ** 2
        own = own[np.all((blocks.means[own] - blocks.means[middle]) ** 2 <= 16.0 * spread, axis=1)]
        kept += len(own)
        mass = blocks.weights[own]
        np.testing.assert_allclose(merged.means[row], np.average(blocks.means[own], axis=0, weights=mass))
        np.testing.assert_allclose(merged.within[row], np.average(blocks.within[own], axis=0, weights=mass))
        np.testing.assert_allclose(merged.weights[row] * merged.merged, mass.sum())
    assert merged.merged == pytest.approx(kept / len(merged))
    np.testing.assert_allclose(merged.noise, blocks.noise / merged.merged)
    for x, n in zip(merged.coordinates, shape):
        np.testing.assert_allclose(x, [np.mean(2.0 * np.arange(i, min(i + stride, n))) for i in range(0, n, stride)])
    assert (merged.reach, merged.voxels_per_block) == (blocks.reach, 8)


def test_blocks_that_are_few_enough_or_hardly_more_stay():
    blocks = some_blocks(np.random.default_rng(0))
    assert merge_blocks(blocks, len(blocks)) is blocks
    assert merge_blocks(blocks, int(len(blocks) / 1.1)) is blocks
    alone = some_blocks(np.random.default_rng(0), (1, 1, 1), frames=4, n=4)
    assert merge_blocks(alone, 2).frame.tolist() == [0, 1, 2, 3]


def test_values_go_to_the_grid_and_come_back():
    blocks = some_blocks(np.random.default_rng(0), (3, 2, 1), frames=2, n=12)
    image = blocks.scatter(np.arange(12.0))
    np.testing.assert_array_equal(image[..., 0], [[6.0, 8.0], [10.0, 12.0], [14.0, 16.0]])  # both frames together
    np.testing.assert_array_equal(blocks.gather(image), np.tile(image.ravel(), 2))
    assert len(blocks) == 12
    np.testing.assert_allclose(blocks.least_variance, 1e-10 * np.var(blocks.means, axis=0) + 1e-20)
    keep = np.arange(0, 12, 3)
    some = blocks.part(keep)
    for name in ("means", "weights", "within", "frame", "place"):
        np.testing.assert_array_equal(getattr(some, name), getattr(blocks, name)[keep])
    assert some.shape == blocks.shape


def test_blocks_of_one_label_are_pure_whatever_their_spread():
    rng = np.random.default_rng(0)
    values = noisy(rng, (1, 2, 47, 36, 1), noise=0.3)
    values[:, 1, 31, 30] = np.nan
    volume = Volume(values, (1.0, 1.0, 1.0))
    before = pure_blocks(volume)
    labels = np.zeros((2, 47, 36, 1), dtype=np.int16)
    labels[0, 8:11] = 1
    labels[1, :, 20:23] = -1
    labels[1, 31, 30] = -1
    found = label_pure_blocks(volume, labels, before)
    voxels, marks = cut(values.astype(float), (2, 2, 1)), cut(labels[None].astype(float), (2, 2, 1))[:, 0]
    full = ~np.isnan(voxels[:, 0]).any(axis=1)
    same = np.flatnonzero(full & np.all(marks == marks[:, :1], axis=1) & (marks[:, 0] >= 0))
    np.testing.assert_array_equal(found.frame * 24 * 18 + found.place, same)
    np.testing.assert_allclose(found.means, voxels[same].mean(axis=2), rtol=1e-6)
    np.testing.assert_allclose(found.within, voxels[same].var(axis=2), rtol=1e-4)
    np.testing.assert_array_equal(found.weights, 1.0)
    np.testing.assert_array_equal(found.noise, before.noise)
    assert (found.shape, found.voxels_per_block, found.reach) == (before.shape, 4, before.reach)


def test_too_few_blocks_of_one_label_change_nothing():
    rng = np.random.default_rng(0)
    volume = Volume(noisy(rng, (1, 1, 48, 40, 1), noise=0.01), (1.0, 1.0, 1.0))
    before = pure_blocks(volume)  # all 480
    labels = np.zeros((1, 48, 40, 1), dtype=np.int16)
    labels[:, :, 34:] = -1
    assert len(label_pure_blocks(volume, labels, before)) == 24 * 17
    labels[:, :, 32:] = -1
    assert label_pure_blocks(volume, labels, before) is before
    many = before.part(np.tile(np.arange(480), 4))  # fewer than a quarter of those before
    labels[:, :, 32:34] = 0
    assert label_pure_blocks(volume, labels, many) is many
    small = pure_blocks(Volume(volume.values[:, :, :8], (1.0, 1.0, 1.0)))
    assert label_pure_blocks(volume, np.zeros((1, 48, 40, 1), dtype=np.int16), small) is small
