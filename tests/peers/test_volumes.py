"""Peers on images: clusters within a mask, N4, LapGM and csaps on grids, each on a small head."""

import sys
from functools import partial

import numpy as np
import pytest

from stepsmooth import peers
from stepsmooth.datasets import make_head_phantom
from stepsmooth.metrics import field_rmse, label_accuracy

BRAIN = ["CSF", "GM", "WM"]


def head(seed=0, shape=(60, 72), **scan):
    return make_head_phantom(shape, **{"classes": BRAIN, "ratio": 3.0, "noise": 2.0, "random_state": seed, **scan})


def n4_clustered(image, n_levels, *, mask=None, **settings):
    return peers.cluster_volume(image, n_levels, mask=mask, smooth=peers.n4_field(image, mask=mask, shrink=1))


def lapgm_clustered(image, n_levels, *, mask=None, **settings):
    field = peers.lapgm_field(image, n_levels, mask=mask, tau=1e-3)
    return peers.cluster_volume(image, n_levels, mask=mask, smooth=field)


DECOMPOSITIONS = {
    **{
        f"{method} {domain}": partial(peers.cluster_volume, method=method, domain=domain)
        for method in ("kmeans", "mixture")
        for domain in ("raw", "log")
    },
    "N4": n4_clustered,
    "LapGM": lapgm_clustered,
    "csaps": partial(peers.grid_csaps_altmin, p=1e-3),
}
every = pytest.mark.parametrize("decompose", DECOMPOSITIONS.values(), ids=DECOMPOSITIONS)


@every
def test_labels_ascend_with_the_levels_and_the_log_field_is_centred(decompose):
    scan = head()
    d = decompose(scan.image, 3, mask=scan.mask)
    assert d.labels.shape == d.smooth.shape == (scan.mask.sum(),)
    assert np.all(np.diff(d.levels) > 0)
    assert set(d.labels) <= {0, 1, 2}
    assert abs(d.smooth.mean()) < 1e-6


@every
def test_without_a_field_the_labels_and_the_levels_are_found(decompose):
    scan = head(1, field=None)
    d = decompose(scan.image, 3, mask=scan.mask)
    assert label_accuracy(scan.labels[scan.mask], d.labels) > 0.97
    np.testing.assert_allclose(d.levels, scan.levels, atol=0.08)


@every
def test_the_same_call_gives_the_same_bits_and_leaves_its_input(decompose):
    scan = head(2)
    before = scan.image.copy(), scan.mask.copy()
    first, second = (decompose(scan.image, 3, mask=scan.mask) for _ in range(2))
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.levels, second.levels)
    np.testing.assert_array_equal(scan.image, before[0])
    np.testing.assert_array_equal(scan.mask, before[1])


@every
def test_what_lies_outside_the_mask_does_not_matter(decompose):
    scan = head(3)
    other = np.where(scan.mask, scan.image, 0).astype(np.float32)
    here, there = (decompose(image, 3, mask=scan.mask) for image in (scan.image, other))
    np.testing.assert_array_equal(here.labels, there.labels)


@every
def test_a_brighter_image_has_higher_levels_and_the_same_labels(decompose):
    scan = head(4)
    here, there = (decompose(factor * scan.image, 3, mask=scan.mask) for factor in (1.0, 50.0))
    assert np.mean(here.labels == there.labels) > 0.98
    np.testing.assert_allclose(there.levels, 50 * here.levels, rtol=0.02)


@pytest.mark.parametrize("shape", [(60, 72), (30, 36, 30)])
def test_n4_finds_a_bias_field_in_two_and_three_dimensions(shape):
    scan = head(5, shape)
    field = peers.n4_field(scan.image, mask=scan.mask, spacing=scan.spacing, shrink=1)
    assert field.shape == shape
    assert field.dtype == np.float32
    assert field_rmse(scan.smooth[scan.mask], field[scan.mask]) < 0.6 * scan.smooth[scan.mask].std()


def test_lapgm_finds_a_bias_field_and_repeats_its_edge_beyond_the_box_of_the_mask():
    scan = head(5)
    field = peers.lapgm_field(scan.image, 3, mask=scan.mask)
    assert field_rmse(scan.smooth[scan.mask], field[scan.mask]) < 0.6 * scan.smooth[scan.mask].std()
    np.testing.assert_array_equal(field[0], field[1])
    thinned = peers.lapgm_field(scan.image, 3, mask=scan.mask, downscale=2)
    assert thinned.shape == scan.image.shape


def test_correction_helps_where_the_field_hides_the_levels():
    scan = head(6, (90, 108), ratio=5.0)
    names = ("kmeans raw", "N4", "csaps")
    plain, *corrected = (
        label_accuracy(scan.labels[scan.mask], DECOMPOSITIONS[name](scan.image, 3, mask=scan.mask).labels)
        for name in names
    )
    assert plain + 0.05 < min(corrected)


def test_several_sequences_are_clustered_together():
    scan = head(7, contrasts=["T1w", "T2w"], field=None, noise=6.0)
    both = peers.cluster_volume(scan.image, 3, mask=scan.mask, channel_axis=-1)
    one = peers.cluster_volume(scan.image[..., 0], 3, mask=scan.mask)
    assert both.levels.shape == (3, 2)
    true = scan.labels[scan.mask]
    assert label_accuracy(true, both.labels) > label_accuracy(true, one.labels)
    field = peers.lapgm_field(scan.image, 3, mask=scan.mask, channel_axis=-1, tau=1e-6, max_iter=5)
    assert np.abs(field).max() < 0.2


def test_zeros_have_a_logarithm_and_no_mask_means_everywhere():
    scan = head(8, strip=True, noise=0.0, field=None)
    d = peers.cluster_volume(scan.image, 4, domain="log")
    assert d.labels.shape == (scan.image.size,)
    assert label_accuracy(scan.labels.ravel(), d.labels) > 0.999


def test_csaps_altmin_converges_or_says_that_it_was_stopped():
    scan = head(9, (30, 36))
    assert peers.grid_csaps_altmin(scan.image, 3, mask=scan.mask, p=1e-2).converged
    assert not peers.grid_csaps_altmin(scan.image, 3, mask=scan.mask, p=1e-2, max_iter=1).converged


def test_csaps_altmin_adds_where_data_add():
    steps = np.add.outer(np.arange(30), np.arange(24)) // 3 % 2
    ramp = np.linspace(-1.0, 1.0, 30)[:, None] + np.zeros((30, 24))
    d = peers.grid_csaps_altmin(ramp + steps - 5.0, 2, p=1e-4, multiplicative=False)
    np.testing.assert_array_equal(d.labels, steps.ravel())
    np.testing.assert_allclose(d.levels, [-5.0, -4.0], atol=0.1)


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("SimpleITK", lambda image: peers.n4_field(image)),
        ("lapgm", lambda image: peers.lapgm_field(image, 2)),
        ("csaps", lambda image: peers.grid_csaps(image, 0.5)),
    ],
)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(package, call, monkeypatch):
    for name in [m for m in sys.modules if m.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf"'{package}' is not installed: pip install stepsmooth\[peers\]"):
        call(np.ones((8, 8)))


@pytest.mark.parametrize("mask", [np.ones((3, 3), dtype=bool), np.zeros((8, 8), dtype=bool), np.ones((8, 8))])
@pytest.mark.parametrize("call", [peers.voxels, peers.n4_field, partial(peers.lapgm_field, n_levels=2)])
def test_a_mask_that_does_not_fit_is_refused(call, mask):
    with pytest.raises(ValueError, match=r"^mask must be an array of booleans of the grid's shape \(8, 8\)"):
        call(np.ones((8, 8)), mask=mask)


def test_unknown_names_are_answered_with_the_known_ones():
    image = np.arange(1.0, 65.0).reshape(8, 8)
    with pytest.raises(ValueError, match="choose raw or log"):
        peers.cluster_volume(image, 2, domain="square")
    with pytest.raises(ValueError, match="choose kmeans or mixture"):
        peers.cluster_volume(image, 2, method="median")
    with pytest.raises(ValueError, match="choose smooth or kmeans"):
        peers.grid_csaps_altmin(image, 2, start="random")
    with pytest.raises(ValueError, match=r"two or three dimensions for N4; found shape \(8,\)"):
        peers.n4_field(image[0])
    with pytest.raises(ValueError, match=r"^image must be positive somewhere"):
        peers.cluster_volume(np.zeros((4, 4)), 2, domain="log")
