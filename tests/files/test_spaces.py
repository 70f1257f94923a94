"""Masks and channels are matched by world space: turned where they run otherwise, refused where they lie elsewhere."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.files import ImageFile, InputError, lay_out
from stepsmooth.files.spaces import match

SHAPE = (4, 5, 6)
AFFINE = np.array([[0.9, 0.1, 0.0, -20.0], [-0.1, 0.9, 0.2, 3.0], [0.0, -0.2, 1.9, 8.0], [0, 0, 0, 1.0]])


def image(name, array, affine=AFFINE, axes=None):
    axes = axes or "XYZTC"[: array.ndim]
    return ImageFile(Path(name), "nifti", array, axes, np.dtype("float32"), (1.0,) * min(array.ndim, 3), affine)


def turned(array, affine, order, backwards):
    """Return the same object in the world, with axes that run otherwise."""
    out, moved = np.transpose(array, order), affine.copy()
    moved[:3, :3] = affine[:3, :3][:, list(order)]
    for axis in backwards:
        moved[:3, 3] += moved[:3, axis] * (out.shape[axis] - 1)
        moved[:3, axis] *= -1
        out = np.flip(out, axis)
    return out, moved


@given(st.permutations(range(3)), st.sets(st.integers(0, 2)), st.integers(0, 2**31))
def test_an_image_that_runs_otherwise_is_turned_to_match_and_back(order, backwards, seed):
    values = np.random.default_rng(seed).normal(size=SHAPE)
    other, affine = turned(values, AFFINE, order, backwards)
    found = match(image("mask.nii", other, affine), image("T1w.nii", values))
    np.testing.assert_array_equal(found.to_grid(other), values)
    np.testing.assert_array_equal(found.from_grid(values), other)
    same = list(order) == [0, 1, 2] and not backwards
    assert (found.remark is None) == same


@given(st.permutations(range(3)), st.sets(st.integers(0, 2)))
def test_channels_that_run_otherwise_are_corrected_in_their_own_axes(order, backwards):
    values = np.arange(120.0).reshape(SHAPE)
    other, affine = turned(values + 1000.0, AFFINE, order, backwards)
    layout = lay_out([image("T1w.nii", values), image("T2w.nii", other, affine)])
    np.testing.assert_array_equal(layout.image, [values, values + 1000.0])
    np.testing.assert_array_equal(layout.channel(layout.image, 1), other)
    np.testing.assert_array_equal(layout.channel(layout.image, 0), values)


def test_a_small_difference_is_told_and_a_large_one_refused():
    values, near, far = np.zeros(SHAPE), AFFINE.copy(), AFFINE.copy()
    near[0, 3] += 0.01
    far[0, 3] += 0.2
    assert "lie 0.01 mm apart" in match(image("mask.nii", values, near), image("T1w.nii", values)).remark
    with pytest.raises(InputError, match=r"mask\.nii lies elsewhere than T1w\.nii: corners are up to 0\.2 mm apart"):
        match(image("mask.nii", values, far), image("T1w.nii", values))


def test_another_resolution_is_refused_though_the_shape_is_the_same():
    finer = AFFINE @ np.diag([0.5, 0.5, 0.5, 1.0])
    with pytest.raises(InputError, match="lies elsewhere"):
        match(image("mask.nii", np.zeros(SHAPE), finer), image("T1w.nii", np.zeros(SHAPE)))


def test_different_shapes_are_refused_with_both():
    for affine in (AFFINE, None):
        with pytest.raises(InputError, match="differ in shape: 4 x 5 x 7 and 4 x 5 x 6"):
            match(image("mask.nii", np.zeros((4, 5, 7)), affine), image("T1w.nii", np.zeros(SHAPE)))


def test_without_a_place_in_the_world_the_shape_decides_and_that_is_told():
    found = match(image("mask.npy", np.zeros(SHAPE), None), image("T1w.nii", np.zeros(SHAPE)))
    assert found.remark == "mask.npy and T1w.nii were matched by shape alone: mask.npy has no place in the world."
    assert match(image("a.npy", np.zeros(SHAPE), None), image("b.npy", np.zeros(SHAPE), None)).remark is None


def test_a_mask_with_an_axis_of_length_one_too_many_is_the_same_mask():
    layout = lay_out([image("T1w.nii", np.zeros(SHAPE))])
    mask, remark = layout.on_grid(image("mask.nii", np.ones((*SHAPE, 1))), "--mask")
    assert (mask.shape, remark) == (SHAPE, None)
    with pytest.raises(InputError, match="one volume is needed"):
        layout.on_grid(image("mask.nii", np.ones((*SHAPE, 2))), "--mask")


@pytest.mark.parametrize(
    "shape, axes, fit, channel, series",
    [
        ((4, 5, 6, 3), "XYZT", (4, 5, 6, 3), None, 3),
        ((4, 5, 1, 1, 2), "XYZTC", (2, 4, 5), 0, None),
        ((3, 2, 4, 5), "TCYX", (2, 4, 5, 3), 0, 3),
        ((7, 4, 5), "ZYX", (7, 4, 5), None, None),
        ((4, 5, 3), "YXC", (3, 4, 5), 0, None),
    ],
)
def test_axes_are_ordered_for_the_fit_and_put_back(shape, axes, fit, channel, series):
    values = np.arange(float(np.prod(shape))).reshape(shape)
    layout = lay_out([image("a.tif", values, None, axes)])
    assert (layout.image.shape, layout.channel_axis, layout.series_axis) == (fit, channel, series)
    np.testing.assert_array_equal(layout.channel(layout.image, 0), values)
    if series is not None:
        frames = layout.image if channel is None else layout.image[0]
        kept = values if channel is None else values.take(0, axis=axes.index("C"))
        np.testing.assert_array_equal(layout.each_frame(frames), kept)


def test_an_axis_of_channels_may_be_named():
    layout = lay_out([image("a.npy", np.zeros((4, 5, 3)), None)], channel_axis=-1)
    assert (layout.image.shape, layout.channel_axis, layout.series_axis) == ((3, 4, 5), 0, None)
    with pytest.raises(InputError, match="--channel-axis 7 is no axis"):
        lay_out([image("a.npy", np.zeros((4, 5, 3)), None)], channel_axis=7)


def test_a_spacing_may_be_given_instead_of_the_files():
    assert lay_out([image("mouse.nii", np.zeros((10, 20, 10)))], spacing=(1, 1, 2)).spacing == (1, 1, 2)
    with pytest.raises(InputError, match="--spacing needs 3 positive numbers"):
        lay_out([image("mouse.nii", np.zeros((10, 20, 10)))], spacing=(1, -1, 2))


def test_files_with_other_numbers_of_volumes_do_not_share_a_field():
    with pytest.raises(InputError, match="same number of volumes"):
        lay_out([image("a.nii", np.zeros((*SHAPE, 2))), image("b.nii", np.zeros((*SHAPE, 3)))])
