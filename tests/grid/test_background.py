"""Air: how it is told from tissue, and that it is left out."""

import numpy as np
import pytest
import scipy.stats

from stepsmooth.grid import Volume, background, find_air, shell
from stepsmooth.grid.background import Air, without_air


def test_air_and_missing_voxels_alone_are_no_background():
    image = np.random.default_rng(0).uniform(1.0, 2.0, (1, 1, 30, 30, 1)).astype(np.float32)
    image[0, 0, 10:20, 10:20] = np.nan
    assert find_air(image, shell(image.shape[1:])) is None  # nor does numpy warn of a mean of nothing


def rayleigh(rng, shape, sigma):
    return (sigma * np.hypot(rng.normal(size=shape), rng.normal(size=shape))).astype(np.float32)


def head(rng, shape=(1, 1, 40, 36, 1), sigma=(0.5,), bright=30.0):
    """Tissue in the middle, air around it."""
    image = np.stack([rayleigh(rng, shape[1:], s) for s in sigma])
    image[:, :, 10:30, 9:27] += np.float32(bright)
    return image


def test_the_moments_of_air_are_those_of_a_rayleigh_distribution():
    air = Air(np.array([0.5, 2.0]), 0.3)
    magnitude = scipy.stats.rayleigh(scale=air.sigma)
    np.testing.assert_allclose(air.mean, magnitude.mean())
    np.testing.assert_allclose(air.variance, magnitude.var())
    np.testing.assert_allclose(air.limit(1), magnitude.mean() + 4.0 * magnitude.std())
    np.testing.assert_allclose(air.limit(8), magnitude.mean() + 4.0 * magnitude.std() / np.sqrt(8.0))


def test_the_shell_is_a_sixteenth_of_each_axis_and_a_voxel_at_least():
    border = shell((2, 50, 20, 1))
    inside = np.zeros((50, 20), dtype=bool)
    inside[3:47, 1:19] = True
    np.testing.assert_array_equal(border[0, ..., 0], ~inside)
    np.testing.assert_array_equal(border[1], border[0])
    assert shell((1, 3, 3, 3)).sum() == 26
    assert not shell((1, 1, 1, 1)).any()


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("sigma", [(0.5,), (0.5, 2.0)])
def test_sigma_and_share_of_air_are_those_of_the_dark_voxels(sigma, missing):
    rng = np.random.default_rng(0)
    image = head(rng, sigma=sigma)
    image[:, rng.uniform(size=image.shape[1:]) < missing] = np.nan
    where = shell(image.shape[1:])
    air = find_air(image, where)
    seen = image[:, where & ~np.isnan(image[0])].astype(float)
    for values, sigma_found in zip(seen, air.sigma):
        # From the darker half on, what fits is taken in, until nearly all does.
        limit = np.quantile(values, 0.5)
        for _ in range(20):
            expected = np.sqrt(np.mean(values[values <= limit] ** 2) / 2.0)
            limit = max(3.5 * expected, limit)
            if np.mean(values <= limit) > 0.999:
                break
        assert sigma_found == pytest.approx(expected, rel=1e-6)
    limit = air.limit(1)[:, None]
    dark = np.all(image.reshape(len(sigma), -1) <= limit, axis=0)
    assert air.share == pytest.approx(np.mean(dark))


def test_tissue_that_reaches_the_border_is_left_out_of_the_estimate():
    rng = np.random.default_rng(0)
    image = head(rng)
    image[:, :, :14] += 30.0  # a third of the border
    air = find_air(image, shell(image.shape[1:]))
    assert air.sigma[0] == pytest.approx(0.5, rel=0.2)
    few = head(rng)
    few[:, :, :25] += 30.0  # most of it: the darker half is no air then
    found = find_air(few, shell(few.shape[1:]))
    assert found is None or found.sigma[0] > 5.0


def test_air_is_looked_for_only_where_it_is_sure_to_be_seen():
    image = head(np.random.default_rng(0))
    assert find_air(image, np.zeros(image.shape[1:], dtype=bool)) is None
    image[:, shell(image.shape[1:])] = np.nan
    assert find_air(image, shell(image.shape[1:])) is None


def test_too_little_air_too_much_of_it_or_too_bright_air_is_none():
    rng = np.random.default_rng(0)
    little = 30.0 + head(rng)
    where = np.zeros(little.shape[1:], dtype=bool)
    where[0, :5, :5] = True
    little[:, where] -= 30.0
    assert np.mean(where) < 0.02
    assert find_air(little, where) is None
    where[0, :9, :9] = True
    more = np.where(where, rayleigh(rng, little.shape, 0.5), np.float32(40.0) + head(rng))
    assert find_air(more, where).share == pytest.approx(np.mean(where), abs=0.005)
    assert find_air(rayleigh(rng, (1, 1, 40, 40, 1), 1.0), shell((1, 40, 40, 1))) is None
    dim = rayleigh(rng, (1, 1, 40, 36, 1), 1.0)
    dim[:, :, 10:30, 9:27] = 5.0  # beyond what may be air, but not by far from its mean
    assert find_air(dim, shell(dim.shape[1:])) is not None
    dim[:, :, 10:30, 9:27] = 2.4
    assert find_air(dim, shell(dim.shape[1:])) is None


@pytest.mark.parametrize("axis", [2, 3, 4])
def test_neighbours_that_are_alike_are_no_noise(axis):
    rng = np.random.default_rng(0)
    shape = (1, 1, 24, 20, 16)
    image = rayleigh(rng, shape, 0.5)
    image[:, :, 6:18, 5:15, 4:12] += 30.0
    assert find_air(image, shell(shape[1:])) is not None
    smooth = rayleigh(rng, shape, 0.5)
    index = [slice(None)] * 5
    index[axis] = np.repeat(np.arange(shape[axis] // 4), 4) * 4  # steps of four voxels: three in four are equal
    smooth = smooth[tuple(index)]
    smooth[:, :, 6:18, 5:15, 4:12] += 30.0
    assert find_air(smooth, shell(shape[1:])) is None


def test_a_large_image_is_looked_at_in_part(monkeypatch):
    rng = np.random.default_rng(0)
    image = head(rng, (1, 1, 80, 72, 1))
    image[:, :, 1::2] = np.nan
    image[:, :, :, 1::2] = np.nan
    monkeypatch.setattr(background, "N_SEEN", 80 * 72 / 4)  # every second voxel along both axes: those that are left
    found = find_air(image, shell(image.shape[1:]))
    every = image[:, :, ::2, ::2]
    dark = every <= found.limit(1)[0]
    assert found.share == pytest.approx(dark.mean())


def test_blocks_that_may_be_air_in_every_channel_are_left_out():
    values = np.full((2, 2, 5, 4, 1), 10.0, dtype=np.float32)
    values[:, 0, :2, :2] = 0.5
    values[0, 1, 2:4, 2:] = 0.5  # dark in one channel alone
    values[:, 1, 4] = 0.5  # half a block, at the border
    values[:, 0, 2, 0] = np.nan
    volume = Volume(values, (1.0, 2.0, 3.0), start=(2, 0, 0))
    air = Air(np.full(2, 0.5), 0.1)
    expected = values.copy()
    expected[:, 0, :2, :2] = expected[:, 1, 4] = np.nan
    found = without_air(volume, air)
    np.testing.assert_array_equal(found.values, expected)
    assert (found.spacing, found.start) == (volume.spacing, (2, 0, 0))
    assert values[0, 0, 0, 0] == 0.5  # the volume itself stays
    bright = Volume(values[:, :, 2:4, :2], (1.0, 1.0, 1.0))
    assert without_air(bright, air) is bright


def test_a_block_may_be_air_up_to_the_limit_of_its_mean():
    air = Air(np.array([1.0]), 0.5)
    for sides, n in [((2, 2, 1), 4), ((2, 2, 2), 8), ((2, 1, 1), 2)]:
        limit = np.sqrt(np.pi / 2.0) + 4.0 * np.sqrt((2.0 - np.pi / 2.0) / n)
        for factor, present in [(0.999, 0), (1.001, n)]:
            values = np.full((1, 1, *sides), factor * limit, dtype=np.float32)
            assert without_air(Volume(values, (1.0, 1.0, 1.0)), air).present.sum() == present
