"""Stiffness by held-out cubes: no field where there is none, a bending one where there is, and the rule itself."""

import numpy as np
import pytest

from stepsmooth import GridStepSmooth
from stepsmooth.datasets import make_head_phantom
from stepsmooth.grid.background import Air, find_air, shell, without_air
from stepsmooth.grid.blocks import pure_blocks
from stepsmooth.grid.classes import Sample
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.partial import with_partial_volume
from stepsmooth.grid.proof import BEYOND_DOUBT
from stepsmooth.grid.scored_voxels import cubes
from stepsmooth.grid.search import Search, search
from stepsmooth.grid.stiffness import choose_stiffness


def test_an_image_without_field_gets_none(patches, volume_of):
    image, _, _ = patches(shape=(100, 96), strength=0.0)
    volume = volume_of(image)
    fit, selection, _ = search(volume, pure_blocks(volume), Search(3, True))
    assert fit.field.basis is None
    assert selection["stiffness"]["chosen"] == np.inf


def test_a_strong_field_is_found(patches, volume_of):
    image, _, _ = patches(shape=(100, 96), strength=0.6)
    volume = volume_of(image)
    fit, selection, _ = search(volume, pure_blocks(volume), Search(3, True))
    assert fit.field.basis is not None
    assert selection["stiffness"]["behind"][0] > 0.1


def test_the_stiffest_within_one_standard_error_is_chosen():
    mass = np.full(50, 100.0)
    noise = np.random.default_rng(0).normal(scale=5.0, size=50)
    best = np.zeros(50)
    clearly_worse, as_good = best - 20.0 + noise, best - 0.1 + noise
    curve = choose_stiffness([np.inf, 60.0, 30.0], [clearly_worse, as_good, best], mass)
    assert curve.chosen == 1
    assert choose_stiffness([np.inf, 60.0], [best, best - 1.0], mass).chosen == 0


def test_neighbouring_cubes_are_in_different_folds():
    shape = (10, 10, 10)
    coordinates = [10.0 * np.arange(10.0)] * 3
    _, fold = cubes(np.arange(1000), shape, coordinates, 10.0)
    grid = fold.reshape(shape)
    for axis in range(3):
        assert np.all(np.diff(grid, axis=axis) != 0)
    assert np.ptp(np.bincount(fold)) <= 10


def test_air_is_found_at_the_border_and_left_out(volume_of):
    rng = np.random.default_rng(0)
    image = np.zeros((60, 64))
    image[15:45, 15:50] = 1.0
    noisy = np.hypot(image + 0.05 * rng.normal(size=image.shape), 0.05 * rng.normal(size=image.shape))
    volume = volume_of(noisy)
    air = find_air(volume.values, shell(volume.grid))
    assert air.sigma[0] == pytest.approx(0.05, rel=0.1)
    kept = without_air(volume, air).present[0, ..., 0]
    assert kept[16:44, 16:48].all()
    assert np.mean(kept[image == 0.0]) < 0.06


def test_an_image_without_air_has_none(patches, volume_of):
    image, _, _ = patches(shape=(60, 56))
    volume = volume_of(image)
    assert find_air(volume.values, shell(volume.grid)) is None


def test_exact_zeros_are_air(volume_of):
    image = np.zeros((40, 40))
    image[10:30, 10:30] = 2.0
    volume = volume_of(image)
    air = find_air(volume.values, shell(volume.grid))
    assert isinstance(air, Air)
    assert air.sigma[0] == 0.0
    np.testing.assert_array_equal(without_air(volume, air).present[0, ..., 0], image > 0.0)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_mixed_voxels_are_found_where_there_are_any(share):
    rng = np.random.default_rng(0)
    n = 20_000
    filled = np.where(rng.uniform(size=n) < share, rng.uniform(size=n), rng.integers(2, size=n))
    Y = (1.0 + filled + 0.05 * rng.normal(size=n))[:, None]
    sample = Sample(Y, np.ones(n), np.zeros(n), np.ones(n))
    classes = Classes(np.array([[1.0], [2.0]]), np.full((2, 1), 0.01), np.full(2, 0.5), 0.3)
    components = with_partial_volume(sample, classes)
    assert components.mixed == (share > 0.0)
    if share:
        assert components.shares[2:].sum() == pytest.approx(share, abs=0.05)
        assert np.sqrt(components.variances[:2]) == pytest.approx(0.05, rel=0.15)


@pytest.mark.parametrize(("ratio", "bends"), [(1.0, False), (1.4, True)])
def test_mixed_voxels_and_texture_are_not_taken_for_a_field(ratio, bends):
    # Where tissue is thin its voxels are mixed and darker: a slow field predicts that in all voxels, in quiet ones not.
    scan = make_head_phantom(
        (128, 128), classes=("CSF", "GM", "WM"), field="coil" if bends else None, ratio=ratio, texture=0.1,
        partial_volume=1.5, random_state=1,
    )  # fmt: skip
    model = GridStepSmooth(3, spacing=scan.spacing).fit(scan.image, mask=scan.mask)
    curve = model.selection_["stiffness"]
    assert curve["behind"][0] > curve["error"][0], "all voxels together speak for a field"
    ahead, error = curve["proof"]
    assert (ahead > BEYOND_DOUBT * error) == bends
    assert np.isfinite(curve["chosen"]) == bends
