"""Checks that every way in for an image passes, with the answer that arrays have."""

import numpy as np
import pytest
from answers import RefusedError, alike, pairs
from image_doors import ATOL, DOORS


def scene(shape, seed=0, patch=4):
    """Return patches of two levels under a field, and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=tuple(-(-n // patch) for n in shape))
    for axis in range(len(shape)):
        labels = np.repeat(labels, patch, axis=axis)
    labels = labels[tuple(slice(0, n) for n in shape)]
    f = 0.2 * np.sin(np.linspace(-1.5, 1.5, shape[0])).reshape(-1, *(1,) * (len(shape) - 1))
    return (1.0 + labels) * np.exp(f) + 0.02 * rng.normal(size=shape), labels


IMAGE, LABELS = scene((20, 16))
MASK = np.ones(IMAGE.shape, dtype=bool)
MASK[:3, :4] = False
ALTMIN = {"solver": "altmin"}


def joint_labels_are_found(fit):
    np.testing.assert_array_equal(fit(IMAGE).labels, LABELS)


def altmin_labels_are_found(fit):
    assert np.mean(fit(IMAGE, **ALTMIN).labels == LABELS) > 0.9


def a_prior_of_labels_can_be_asked_for(fit):
    np.testing.assert_array_equal(fit(IMAGE, label_prior="proportions").labels, LABELS)


def levels_ascend(fit):
    assert np.all(np.diff(fit(IMAGE, n_levels=3, **ALTMIN).levels) > 0.0)


def outside_the_mask_there_is_no_label_and_the_image_stays(fit):
    found = fit(IMAGE, mask=MASK)
    np.testing.assert_array_equal(found.labels < 0, ~MASK)
    np.testing.assert_allclose(found.corrected[~MASK], IMAGE[~MASK], rtol=1e-6)


def corrected_times_field_is_the_image(fit):
    found = fit(IMAGE, **ALTMIN)
    np.testing.assert_allclose(found.corrected * np.exp(found.smooth), IMAGE, rtol=1e-5)


def f_has_mean_zero_over_the_labels(fit):
    found = fit(IMAGE, mask=MASK, **ALTMIN)
    assert found.smooth[found.labels >= 0].mean() == pytest.approx(0.0, abs=1e-5)


def probabilities_add_up(fit):
    np.testing.assert_allclose(fit(IMAGE, **ALTMIN).probabilities.sum(axis=-1), 1.0, atol=1e-5)


def a_missing_voxel_has_a_field_and_no_label(fit):
    holed = IMAGE.copy()
    holed[5:7, 5:7] = np.nan
    found = fit(holed)
    np.testing.assert_array_equal(found.labels < 0, np.isnan(holed))
    assert np.all(np.isfinite(found.smooth))


def a_weight_of_zero_is_absent(fit):
    spoilt = IMAGE.copy()
    spoilt[:3, :4] = 1e3
    assert fit(spoilt, weights=MASK.astype(float), **ALTMIN).levels.max() < 10.0


def channels_share_one_field(fit):
    other = (2.0 - 0.8 * LABELS) * IMAGE / (1.0 + LABELS)
    found = fit(np.stack([IMAGE, other], axis=-1), channels=True)
    assert found.levels.shape == (2, 2)
    assert found.smooth.shape == IMAGE.shape
    np.testing.assert_array_equal(found.labels, LABELS)


def frames_share_one_field_and_have_labels_of_their_own(fit):
    volume, labels = scene((12, 8, 8))
    frames = np.stack([volume, volume[:, ::-1]], axis=-1)
    found = fit(frames, series=True)
    assert found.smooth.shape == volume.shape
    np.testing.assert_array_equal(found.labels, np.stack([labels, labels[:, ::-1]], axis=-1))


def a_volume_is_taken(fit):
    volume, labels = scene((12, 8, 8))
    np.testing.assert_array_equal(fit(volume).labels, labels)


def a_field_that_adds_is_taken(fit):
    found = fit(1.0 + LABELS + np.log(IMAGE / (1.0 + LABELS)), multiplicative=False)
    np.testing.assert_array_equal(found.labels, LABELS)


def whole_numbers_are_taken(fit):
    np.testing.assert_array_equal(fit((1000.0 * IMAGE).astype(np.int16)).labels, LABELS)


def single_precision_is_taken(fit):
    np.testing.assert_array_equal(fit(IMAGE.astype(np.float32)).labels, LABELS)


def the_unit_of_the_image_scales_the_levels(fit):
    one, other = fit(IMAGE, **ALTMIN), fit(500.0 * IMAGE, **ALTMIN)
    np.testing.assert_array_equal(other.labels, one.labels)
    np.testing.assert_allclose(other.levels, 500.0 * one.levels, rtol=1e-5)


def the_layout_in_memory_does_not_matter(fit):
    one, other = (fit(layout(IMAGE), **ALTMIN) for layout in (np.ascontiguousarray, np.asfortranarray))
    alike(one, other, 0.0)


def a_second_fit_is_the_same(fit):
    alike(fit(IMAGE, **ALTMIN), fit(IMAGE, **ALTMIN), 0.0)


def one_level_is_a_field_alone(fit):
    assert set(fit(IMAGE, n_levels=1, **ALTMIN).labels.ravel()) == {0}


def fewer_distinct_values_than_levels_are_said(fit):
    found = fit(1.0 + LABELS, n_levels=3)
    assert len(found.levels) == 2
    assert any("supports only 2" in words for words in found.said)


def a_mask_in_pieces_is_said(fit):
    pieces = MASK.copy()
    pieces[9:11] = False
    assert any("in 2 pieces" in words for words in fit(IMAGE, mask=pieces, **ALTMIN).said)


def an_empty_mask_is_refused(fit):
    with pytest.raises(RefusedError, match="is empty"):
        fit(IMAGE, mask=MASK & False)


def a_mask_of_another_shape_is_refused(fit):
    with pytest.raises(RefusedError, match=r"\(19, 16\)|19 x 16|19, 16"):
        fit(IMAGE, mask=MASK[:-1])


def negative_values_are_refused_where_the_field_multiplies(fit):
    with pytest.raises(RefusedError, match="negative values"):
        fit(IMAGE - 1.5)


def infinity_is_refused(fit):
    with pytest.raises(RefusedError, match="infinit"):
        fit(np.where(LABELS > 0, IMAGE, np.inf))


def an_image_of_zeros_is_refused(fit):
    with pytest.raises(RefusedError, match="zero at every present voxel"):
        fit(0.0 * IMAGE)


def an_image_without_a_value_is_refused(fit):
    with pytest.raises(RefusedError, match=r"no voxel is present|no value|missing"):
        fit(np.full(IMAGE.shape, np.nan))


def more_levels_than_voxels_are_refused(fit):
    with pytest.raises(RefusedError, match="needs an image of at least 9 voxels"):
        fit(IMAGE[:2, :2], n_levels=9)


def a_prior_that_the_solver_does_not_have_is_refused(fit):
    with pytest.raises(RefusedError, match="which takes all labels as equally likely"):
        fit(IMAGE, label_prior="potts", **ALTMIN)


CHECKS = [
    joint_labels_are_found,
    altmin_labels_are_found,
    a_prior_of_labels_can_be_asked_for,
    levels_ascend,
    outside_the_mask_there_is_no_label_and_the_image_stays,
    corrected_times_field_is_the_image,
    f_has_mean_zero_over_the_labels,
    probabilities_add_up,
    a_missing_voxel_has_a_field_and_no_label,
    a_weight_of_zero_is_absent,
    channels_share_one_field,
    frames_share_one_field_and_have_labels_of_their_own,
    a_volume_is_taken,
    a_field_that_adds_is_taken,
    whole_numbers_are_taken,
    single_precision_is_taken,
    the_unit_of_the_image_scales_the_levels,
    the_layout_in_memory_does_not_matter,
    a_second_fit_is_the_same,
    one_level_is_a_field_alone,
    fewer_distinct_values_than_levels_are_said,
    a_mask_in_pieces_is_said,
    an_empty_mask_is_refused,
    a_mask_of_another_shape_is_refused,
    negative_values_are_refused_where_the_field_multiplies,
    infinity_is_refused,
    an_image_of_zeros_is_refused,
    an_image_without_a_value_is_refused,
    more_levels_than_voxels_are_refused,
    a_prior_that_the_solver_does_not_have_is_refused,
]


@pytest.mark.parametrize("check, door", pairs(CHECKS, DOORS))
def test_image(check, door, tmp_path, expected):
    def fit(image, **options):
        given = {name: np.asarray(value).tobytes() for name, value in options.items()}
        kept, key = image.copy(), (image.tobytes(), str(image.dtype), str(given))
        found = DOORS[door](tmp_path, image, **options)
        np.testing.assert_array_equal(image, kept)
        if key not in expected:
            expected[key] = found if door == "array" else DOORS["array"](tmp_path, image, **options)
        alike(expected[key], found, ATOL)
        return found

    check(fit)
