"""Images at the ends of floating point: the right labels, or one sentence that says what to change."""

import numpy as np
import pytest

from stepsmooth import GridStepSmooth

SOLVERS = pytest.mark.parametrize("solver", ["altmin", "joint"])
MULTIPLIES = pytest.mark.parametrize("multiplicative", [True, False], ids=["multiplies", "adds"])


def fitted(solver, multiplicative, image, n_levels=2, mask=None, weights=None, **params):
    """Return a fit that has been asked everything it can answer, all of it finite."""
    g = GridStepSmooth(n_levels, solver=solver, multiplicative=multiplicative, **params).fit(image, mask, weights)
    parts = (g.levels_, g.smooth_, g.corrected_, g.noise_variance_, g.objective_, g.tau_)
    assert all(np.all(np.isfinite(part)) for part in parts)
    g.probabilities()
    g.summary()
    g.correct(image)
    return g


@SOLVERS
@MULTIPLIES
@pytest.mark.parametrize("scale", [1e-79, 1e-30, 1e30, 1e79])
def test_labels_do_not_depend_on_the_unit_of_the_image(solver, multiplicative, scale, image):
    values, labels = image(multiplicative)
    g = fitted(solver, multiplicative, scale * values)
    np.testing.assert_array_equal(g.labels_, labels)
    g.certificate()


@SOLVERS
@pytest.mark.parametrize("shift", [1e6, 1e9, 1e12])
def test_a_field_that_adds_stands_a_huge_offset(solver, shift, image):
    values, labels = image(False)
    g = fitted(solver, False, shift + values)
    np.testing.assert_array_equal(g.labels_, labels)
    assert np.diff(g.levels_) == pytest.approx(2.0, abs=0.1)


def test_a_field_that_multiplies_stands_an_offset_as_far_as_precision_goes(image):
    values, labels = image()
    np.testing.assert_array_equal(fitted("altmin", True, 1e9 + values).labels_, labels)
    for solver, shift in (("joint", 1e9), ("altmin", 1e15)):
        with pytest.raises(ValueError, match="too little for a field that multiplies; use multiplicative=False"):
            fitted(solver, True, shift + values)


@SOLVERS
@MULTIPLIES
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("end", ["largest", "least normal", "subnormal"])
def test_single_and_half_precision_are_taken_to_their_limits(solver, multiplicative, dtype, end, image):
    values, labels = image(multiplicative)
    limits = np.finfo(dtype)
    unit = {"largest": limits.max / 6, "least normal": 4 * limits.tiny, "subnormal": 16 * limits.smallest_subnormal}
    g = fitted(solver, multiplicative, (values * float(unit[end])).astype(dtype))
    np.testing.assert_array_equal(g.labels_, labels)


@SOLVERS
@MULTIPLIES
@pytest.mark.parametrize(
    ("scale", "sentence"),
    [(1e300, r"image must not exceed 1e\+80 in size"), (1e-300, "image must vary by at least 1e-80")],
)
def test_what_squares_cannot_hold_is_a_sentence(solver, multiplicative, scale, sentence, image):
    with pytest.raises(ValueError, match=f"{sentence}.*change its unit"):
        fitted(solver, multiplicative, scale * image(multiplicative)[0])


@SOLVERS
@MULTIPLIES
@pytest.mark.parametrize("spacing", [1e-12, 1e-5, 0.01, 0.5, 30.0, 1e3, 1e12, (1.0, 1e5)], ids=str)
def test_labels_do_not_depend_on_the_size_of_voxels(solver, multiplicative, spacing, image):
    values, labels = image(multiplicative)
    g = fitted(solver, multiplicative, values, spacing=spacing)
    assert np.mean(g.labels_ == labels) > 0.99
    g.certificate()


@SOLVERS
@pytest.mark.parametrize("spacing", [1e-80, 1e80])
def test_voxels_beyond_all_are_a_sentence(solver, spacing, image):
    with pytest.raises(ValueError, match=r"spacing must lie between 1e-30 and 1e\+30"):
        fitted(solver, True, image()[0], spacing=spacing)


def test_the_joint_solver_takes_no_voxels_like_needles(image):
    with pytest.raises(ValueError, match=r"spacing may be up to 1e\+06 times as large .*, got 1, 1e-12"):
        fitted("joint", True, image()[0], spacing=(1.0, 1e-12))
    assert np.mean(fitted("altmin", True, image()[0], spacing=(1.0, 1e-12)).labels_ == image()[1]) > 0.99


@MULTIPLIES
def test_knots_as_fine_as_voxels_are_taken_and_finer_ones_are_a_sentence(multiplicative, image):
    values, _ = image(multiplicative, n=16)
    assert fitted("joint", multiplicative, values, knots=1.0).knots_ <= 1.5
    for knots, spacing in ((0.5, 1.0), (1e-12, 1.0), (1.0, 30.0)):
        with pytest.raises(ValueError, match="knots must be at least the distance of voxels"):
            fitted("joint", multiplicative, values, knots=knots, spacing=spacing)


@pytest.mark.parametrize("knots", [1e12, 1e300, np.inf])
def test_ever_wider_knots_end_at_a_stiff_field(knots, image):
    g = fitted("joint", False, image(False)[0], knots=knots)
    assert np.abs(np.diff(g.smooth_, n=2, axis=0)).max() < 0.01


@SOLVERS
@MULTIPLIES
def test_an_ever_larger_tau_ends_at_a_stiff_field_or_a_sentence(solver, multiplicative, image):
    values, _ = image(multiplicative)
    g = fitted(solver, multiplicative, values, tau=1e12)
    assert np.abs(np.diff(g.smooth_, n=2, axis=0)).max() < 1e-4
    if solver == "joint":
        with pytest.raises(ValueError, match=r"the field of this image is not determined.* use knots=None"):
            fitted(solver, multiplicative, values, tau=1e80)
    else:
        np.testing.assert_allclose(fitted(solver, multiplicative, values, tau=1e80).smooth_, g.smooth_, atol=1e-6)


@MULTIPLIES
def test_an_ever_smaller_tau_lets_f_explain_everything_and_says_so(multiplicative, image):
    with pytest.warns(UserWarning, match="levels_ coincide: at tau = 1e-80 f explains the image without them"):
        fitted("altmin", multiplicative, image(multiplicative)[0], tau=1e-80)


@SOLVERS
@MULTIPLIES
def test_one_voxel_with_a_weight_is_a_sentence(solver, multiplicative, image):
    values, _ = image(multiplicative)
    weights = np.zeros(values.shape)
    weights[3, 4] = 1.0
    with pytest.raises(ValueError, match="needs an image of at least 2 voxels, but only 1 are present"):
        fitted(solver, multiplicative, values, weights=weights)


@SOLVERS
@MULTIPLIES
def test_two_voxels_with_a_weight_are_fitted_or_a_sentence(solver, multiplicative, image):
    values, _ = image(multiplicative)
    weights = np.zeros(values.shape)
    weights[3, 4] = weights[20, 20] = 1.0
    if solver == "joint":
        with pytest.raises(ValueError, match="the field of this image is not determined: 2 voxels are present"):
            fitted(solver, multiplicative, values, weights=weights)
    else:
        assert fitted(solver, multiplicative, values, weights=weights).labels_.shape == values.shape


@MULTIPLIES
def test_a_mask_of_one_row_leaves_the_slope_across_it_at_zero(multiplicative, image):
    values, _ = image(multiplicative)
    mask = np.zeros(values.shape, dtype=bool)
    mask[3] = True
    g = fitted("altmin", multiplicative, values, mask=mask)
    np.testing.assert_allclose(g.smooth_.mean(axis=1), g.smooth_[3].mean(), atol=1.0)


@SOLVERS
@pytest.mark.parametrize("weight", [1e-300, 1e300])
def test_weights_beyond_all_are_a_sentence(solver, weight, image):
    values, _ = image()
    with pytest.raises(ValueError, match=r"weights must be 0 or lie between 1e-12 and 1e\+12"):
        fitted(solver, True, values, weights=np.full(values.shape, weight))


def test_weights_that_sum_to_one_are_no_frequencies_and_say_so(image):
    values, _ = image()
    with pytest.warns(UserWarning, match="the weights sum to 1 over 576 points"):
        fitted("altmin", True, values, weights=np.full(values.shape, 1 / 576))


@SOLVERS
@MULTIPLIES
@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ([1.0, 1.0], "levels must be distinct"),
        ([1.0, 1.0 + 1e-15], "levels must differ by more than rounding"),
        ([1.0, 1e300], r"levels must not exceed 1e\+80 in size"),
    ],
    ids=str,
)
def test_known_levels_that_coincide_or_explode_are_a_sentence(solver, multiplicative, levels, sentence, image):
    with pytest.raises(ValueError, match=sentence):
        fitted(solver, multiplicative, image(multiplicative)[0], levels=levels)


@SOLVERS
def test_a_known_level_of_nothing_is_a_sentence_where_f_multiplies(solver, image):
    with pytest.raises(ValueError, match=r"levels must be at least .* of the image's largest value"):
        fitted(solver, True, image()[0], levels=[1e-300, 1.0])


@SOLVERS
@MULTIPLIES
@pytest.mark.parametrize("value", [1.0, 1e-30, 1e30])
def test_a_constant_image_has_one_level_and_says_so(solver, multiplicative, value):
    with pytest.warns(UserWarning, match="the image supports only 1 of the n_levels=2 levels"):
        g = fitted(solver, multiplicative, np.full((16, 16), value))
    np.testing.assert_allclose(g.levels_, [value], rtol=1e-6)


@SOLVERS
@MULTIPLIES
def test_an_image_without_noise_is_taken_apart_exactly(solver, multiplicative, image):
    labels = image(multiplicative)[1]
    g = fitted(solver, multiplicative, 1.0 + labels)
    np.testing.assert_array_equal(g.labels_, labels)
    g.certificate()


@SOLVERS
@MULTIPLIES
def test_fifty_levels_of_few_voxels_are_finite(solver, multiplicative, image):
    values, _ = image(multiplicative, n=16)
    assert fitted(solver, multiplicative, values, n_levels=50, max_iter=30).n_levels_ <= 50
