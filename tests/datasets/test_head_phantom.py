"""The head phantom: ten tissues in their places, the scan that its parts explain, the field that was asked for."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.datasets import LabelVolume, make_field, make_head_labels, make_head_phantom, simulate_scan
from stepsmooth.datasets.fields import FIELD_KINDS
from stepsmooth.datasets.head_shapes import Waves
from stepsmooth.datasets.tissues import BRAINWEB_1_5T, BRAINWEB_3T, signal

SMALL = (60, 72)
BRAIN = ["CSF", "GM", "WM"]
seeds = st.integers(0, 2**32 - 1)


def assert_same(one, other):
    for field in dataclasses.fields(one):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), field.name)


@pytest.mark.parametrize("shape", [(181, 217), (60, 72, 60)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ten_tissues_bone_and_air_all_occur(shape, seed):
    labels = make_head_labels(shape, random_state=seed).labels
    counts = np.bincount(labels.ravel(), minlength=12)
    assert np.all(counts > 0)
    assert counts[0] / counts.sum() > 0.3


@given(seed=seeds)
def test_tissues_lie_where_they_belong(seed):
    head = make_head_labels((90, 108), height=40.0, random_state=seed)
    middle = np.argwhere(head.labels > 0).mean(axis=0)
    away = [
        np.median(np.linalg.norm(np.argwhere(head.labels == head.names.index(name)) - middle, axis=1))
        for name in ("WM", "skull", "fat", "muscle/skin")
    ]
    assert np.all(np.diff(away) > 0)


def touching(labels, one, other):
    """Number of neighbours of which one has the one label and one the other."""
    pairs = ((labels[1:], labels[:-1]), (labels[:, 1:], labels[:, :-1]))
    return sum(np.count_nonzero((a == one) & (b == other) | (a == other) & (b == one)) for a, b in pairs)


def test_the_cortex_is_folded():
    # The border of GM and WM is several times longer than the ellipse that an unfolded cortex would make.
    labels = make_head_labels((181, 217), spacing=(1.0, 1.0), height=30.0, random_state=0).labels
    assert touching(labels, 2, 3) > 3 * 2 * np.pi * 65


def test_white_matter_is_wrapped_in_grey_so_that_it_hardly_touches_csf():
    labels = make_head_labels((181, 217), height=30.0, random_state=0).labels
    assert touching(labels, 1, 3) < 0.05 * touching(labels, 2, 3)


def test_the_same_head_at_another_resolution_has_the_same_tissues():
    coarse = make_head_labels((90, 108), spacing=(2.0, 2.0), random_state=3).labels
    fine = make_head_labels((270, 324), spacing=(2 / 3, 2 / 3), random_state=3).labels
    np.testing.assert_array_equal(coarse, fine[1::3, 1::3])


def test_a_slice_of_the_volume_is_the_two_dimensional_head():
    volume = make_head_labels((60, 72, 31), spacing=(3.0, 3.0, 4.0), random_state=5).labels
    flat = make_head_labels((60, 72), spacing=(3.0, 3.0), height=12.0, random_state=5).labels
    np.testing.assert_array_equal(volume[:, :, 18], flat)


def test_voxels_need_not_be_cubes_and_a_small_view_cuts_the_head():
    labels = make_head_labels((40, 30, 5), spacing=(1.0, 2.0, 5.0), random_state=0).labels
    assert labels.shape == (40, 30, 5)
    assert np.all(labels > 0)


@pytest.mark.parametrize("make", [make_head_phantom, make_head_labels])
def test_a_seed_gives_the_same_head_every_time_and_another_seed_another(make):
    assert_same(make(SMALL, random_state=7), make(SMALL, random_state=7))
    assert_same(make(SMALL, random_state=7), make(SMALL, random_state=np.random.default_rng(7)))
    rng = np.random.default_rng(7)
    assert not np.array_equal(make(SMALL, random_state=rng).labels, make(SMALL, random_state=rng).labels)


@pytest.mark.parametrize("contrasts", ["T1w", ["T1w", "T2w", "PDw"]])
def test_without_noise_the_image_is_field_times_level(contrasts):
    head = make_head_phantom(SMALL, contrasts=contrasts, noise=0.0, ratio=8.0, random_state=1)
    factor = head.field[head.mask].reshape(-1, *[1] * (head.levels.ndim - 1))
    np.testing.assert_allclose(head.image[head.mask], factor * head.levels[head.labels[head.mask]], rtol=1e-5)
    assert np.all(head.image[~head.mask] == 0)


def test_labels_ascend_with_the_first_sequence_and_are_minus_one_outside_the_mask():
    head = make_head_phantom(SMALL, contrasts=["T2w", "T1w"], random_state=2)
    assert np.all(np.diff(head.levels[:, 0]) >= 0)
    assert head.labels.dtype == np.int16
    np.testing.assert_array_equal(head.labels >= 0, head.mask)
    assert head.channel_axis == -1


def test_noise_field_and_texture_change_nothing_but_themselves():
    plain = make_head_phantom(SMALL, noise=0.0, random_state=3)
    noisy = make_head_phantom(SMALL, noise=5.0, random_state=3)
    textured = make_head_phantom(SMALL, noise=0.0, texture=0.1, random_state=3)
    flat = make_head_phantom(SMALL, noise=0.0, field=None, random_state=3)
    for other in (noisy, textured):
        np.testing.assert_array_equal(plain.smooth, other.smooth)
        np.testing.assert_array_equal(plain.labels, other.labels)
    assert np.all(flat.smooth == 0)
    np.testing.assert_array_equal(flat.labels, plain.labels)


def test_noise_is_rician_and_a_percentage_of_white_matter():
    scan = make_head_phantom((181, 217), noise=4.0, field=None, random_state=4)
    bright = scan.labels == scan.names.index("fat")
    assert scan.image[bright].std() == pytest.approx(0.04, rel=0.1)
    # In air the magnitude is Rayleigh: its mean is sigma sqrt(pi / 2).
    assert scan.image[:20, :20].mean() == pytest.approx(0.04 * np.sqrt(np.pi / 2), rel=0.05)


def test_texture_varies_each_tissue_by_its_share():
    scan = make_head_phantom((181, 217), noise=0.0, field=None, texture={"WM": 0.05, "CSF": 0.25}, random_state=5)
    for name, share in (("WM", 0.05), ("CSF", 0.25), ("GM", 0.0)):
        k = scan.names.index(name)
        values = scan.image[scan.labels == k] / scan.levels[k]
        assert values.std() == pytest.approx(share, rel=0.15, abs=1e-6)


def test_partial_volume_mixes_neighbours_and_keeps_the_insides():
    crisp = make_head_phantom(SMALL, noise=0.0, field=None, random_state=6)
    mixed = make_head_phantom(SMALL, noise=0.0, field=None, partial_volume=3.0, random_state=6)
    levels = np.concatenate([[0.0], crisp.levels])
    off = np.abs(mixed.image[..., None] - levels).min(axis=-1)
    assert np.mean(off[crisp.mask] > 0.01) > 0.2
    assert mixed.image.mean() == pytest.approx(crisp.image.mean(), rel=0.01)


def test_classes_make_the_mask_and_stripping_empties_the_rest():
    whole = make_head_phantom(SMALL, classes=BRAIN, noise=0.0, random_state=7)
    bare = make_head_phantom(SMALL, classes=BRAIN, strip=True, noise=0.0, random_state=7)
    assert whole.names == bare.names == ("CSF", "GM", "WM")
    np.testing.assert_array_equal(whole.image[whole.mask], bare.image[bare.mask])
    assert np.all(bare.image[~bare.mask] == 0)
    assert np.any(whole.image[~whole.mask] > 0)


def test_tissues_that_no_sequence_tells_apart_are_one_class():
    names = tuple(BRAINWEB_1_5T)
    volume = LabelVolume(np.arange(10, dtype=np.uint8).reshape(2, 5), names, (1.0, 1.0))
    scan = simulate_scan(volume, noise=0.0)
    assert scan.names == ("CSF + skin", "muscle/skin", "GM + glial", "WM + connective", "fat")
    assert scan.labels.ravel().tolist() == [-1, 0, 2, 3, 4, 1, 0, -1, 2, 3]


def test_signals_follow_the_sequences():
    t1, t2 = ([signal(BRAINWEB_3T[n], c) for n in ("CSF", "GM", "WM")] for c in ("T1w", "T2w"))
    assert t1[0] < t1[1] < t1[2]
    assert t2[0] > t2[1] > t2[2]
    assert signal(BRAINWEB_3T["skull"], "PDw") == 0


@pytest.mark.parametrize("kind", FIELD_KINDS)
@pytest.mark.parametrize("shape", [(50,), (24, 30), (12, 14, 10), (5, 6, 4, 3)])
def test_a_field_has_the_ratio_asked_for_and_mean_zero_over_the_mask(kind, shape):
    mask = np.ones(shape, dtype=bool)
    mask[:2] = False
    field = make_field(mask, kind, 7.0, spacing=(4.0,) * len(shape), random_state=0)
    assert np.exp(np.ptp(field[mask])) == pytest.approx(7.0, rel=1e-4)
    assert abs(field[mask].mean(dtype=np.float64)) < 1e-6
    assert np.all(np.isfinite(field))


@pytest.mark.parametrize("kind", FIELD_KINDS)
def test_a_field_lives_in_mm_not_in_voxels(kind):
    # Sampling the box at 2 mm and at 1 mm: every other voxel of the finer one, up to the shifted middle.
    coarse = make_field(np.ones((61, 81), dtype=bool), kind, 5.0, spacing=(2.0, 2.0), random_state=1)
    fine = make_field(np.ones((121, 161), dtype=bool), kind, 5.0, spacing=(1.0, 1.0), random_state=1)
    assert np.abs(np.diff(coarse - fine[::2, ::2])).max() < 0.02


@pytest.mark.parametrize("kind", ["smooth", "rough"])
def test_random_fields_have_the_stated_correlation(kind):
    width = {"smooth": 30.0, "rough": 16.0}[kind]
    mask = np.ones((150, 150), dtype=bool)
    fields = np.stack([make_field(mask, kind, 5.0, spacing=(8.0, 8.0), random_state=s) for s in range(8)])
    fields /= fields.std(axis=(1, 2), keepdims=True)
    lag = 4
    found = np.mean(fields[:, lag:] * fields[:, :-lag])
    assert found == pytest.approx(np.exp(-((lag * 8.0) ** 2) / (4 * width**2)), abs=0.08)


def test_a_field_of_ratio_one_or_over_one_voxel_is_none():
    assert np.all(make_field(np.ones((9, 9), dtype=bool), "poly", 1.0, random_state=0) == 0)
    one = np.zeros((9, 9), dtype=bool)
    one[4, 4] = True
    assert np.all(np.isfinite(make_field(one, "coil", 5.0, random_state=0)))


def test_a_given_field_is_used_up_to_its_mean():
    ramp = np.linspace(0, 1, SMALL[0] * SMALL[1]).reshape(SMALL)
    head = make_head_phantom(SMALL, field=ramp, random_state=8)
    np.testing.assert_allclose(np.diff(head.smooth, axis=0), np.diff(ramp, axis=0), atol=1e-6)
    assert abs(head.smooth[head.mask].mean()) < 1e-6


def test_waves_have_unit_variance_and_their_zeros_are_found():
    wave = Waves.draw(20.0, np.random.default_rng(0), 40)
    rng = np.random.default_rng(1)
    points = [rng.uniform(0, 400, 20000) for _ in range(3)]
    assert wave(points).std() == pytest.approx(1.0, rel=0.05)
    up = [np.zeros(20000), np.zeros(20000), np.ones(20000)]
    near = wave.to_zeros(points, up) < 0.3
    assert np.abs(wave(points))[near].mean() < 0.3 * np.abs(wave(points)).mean()


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("shape", (10,), ValueError),
        ("shape", (0, 10), ValueError),
        ("shape", 10, TypeError),
        ("spacing", (1.0,), ValueError),
        ("spacing", (1.0, -1.0), ValueError),
        ("spacing", "fine", TypeError),
        ("height", 200.0, ValueError),
        ("contrasts", "FLAIR", ValueError),
        ("contrasts", [], ValueError),
        ("classes", ["bone"], ValueError),
        ("classes", "GM", ValueError),
        ("strip", 1, TypeError),
        ("field", "wavy", ValueError),
        ("ratio", 0.5, ValueError),
        ("noise", -1.0, ValueError),
        ("noise", "3 %", TypeError),
        ("partial_volume", -1.0, ValueError),
        ("texture", -0.1, ValueError),
        ("texture", {"bone": 0.1}, ValueError),
        ("random_state", -1, ValueError),
    ],
)
def test_a_bad_argument_is_named_with_what_was_found(argument, value, error):
    with pytest.raises(error, match=rf"^{argument} must .*; found .*\.$"):
        make_head_phantom(**{"shape": SMALL, argument: value})


@pytest.mark.parametrize("field", [np.zeros((3, 3)), np.full(SMALL, np.nan)])
def test_a_field_that_does_not_fit_is_refused(field):
    with pytest.raises(ValueError, match=r"^field must be a finite log field of the volume's shape \(60, 72\); found"):
        make_head_phantom(SMALL, field=field)


@pytest.mark.parametrize("mask", [np.zeros((4, 4), dtype=bool), np.ones((4, 4)), np.array(True)])
def test_a_mask_that_is_none_is_refused(mask):
    with pytest.raises(ValueError, match=r"^mask must be an array of booleans that is somewhere true; found dtype"):
        make_field(mask)


def test_classes_that_do_not_occur_are_refused():
    air = LabelVolume(np.zeros((4, 4), dtype=np.uint8), tuple(BRAINWEB_3T), (1.0, 1.0))
    with pytest.raises(ValueError, match=r"^classes must occur in the volume; found none of GM\.$"):
        simulate_scan(air, classes=["GM"])
    with pytest.raises(ValueError, match=r"^volume must name tissues"):
        simulate_scan(LabelVolume(air.labels, ("air",), (1.0, 1.0)))
    with pytest.raises(ValueError, match=r"^classes must occur"):
        simulate_scan(air)
