"""GridStepSmooth: what it recovers, its layouts, its invariances, and a sentence for each bad input."""

import pickle

import numba
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from stepsmooth import GridStepSmooth

LEVELS = np.array([1.0, 1.6, 2.4])


def scene(shape=(64, 60), noise=0.04, strength=0.4, patch=8, seed=0, levels=LEVELS):
    """Return an image of patches under a field, the labels and f (mean zero)."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(len(levels), size=tuple(-(-n // patch) for n in shape))
    for axis in range(len(shape)):
        labels = np.repeat(labels, patch, axis=axis)
    labels = labels[tuple(slice(0, n) for n in shape)]
    axes = np.meshgrid(*(np.linspace(-1.0, 1.0, n) for n in shape), indexing="ij")
    f = strength * (np.sin(1.5 * axes[0]) + axes[-1] ** 2)
    f -= f.mean()
    image = np.abs(np.asarray(levels)[labels] * np.exp(f) + noise * rng.normal(size=shape))
    return image, labels, f


IMAGE, LABELS, F = scene()
MASK = np.ones(IMAGE.shape, dtype=bool)
MASK[:6, :9] = False


@pytest.fixture(scope="module")
def fitted():
    return GridStepSmooth(3).fit(IMAGE, MASK)


def test_labels_levels_and_field_are_recovered(fitted):
    assert np.mean(fitted.labels_[MASK] == LABELS[MASK]) > 0.99
    np.testing.assert_allclose(fitted.levels_ / fitted.levels_[0], LEVELS, rtol=0.03)
    assert np.std(fitted.smooth_[MASK] - F[MASK]) < 0.03
    assert fitted.converged_


def test_outside_the_mask_labels_are_minus_one_and_the_image_stays(fitted):
    assert np.all(fitted.labels_[~MASK] == -1)
    np.testing.assert_array_equal(fitted.corrected_[~MASK], IMAGE[~MASK])
    assert np.all(np.isnan(fitted.margin_[~MASK]))
    assert np.all(np.isfinite(fitted.smooth_))


def test_the_field_has_mean_zero_over_the_mask_and_levels_carry_the_scale(fitted):
    assert fitted.smooth_[MASK].mean() == pytest.approx(0.0, abs=1e-5)
    np.testing.assert_allclose(fitted.levels_, LEVELS * np.exp(F[MASK].mean()), rtol=0.03)
    np.testing.assert_allclose(fitted.corrected_[MASK] * fitted.field_[MASK], IMAGE[MASK], rtol=1e-6)


def test_probabilities_and_margins_agree(fitted):
    q = fitted.probabilities()
    assert q.shape == (*IMAGE.shape, 3)
    np.testing.assert_allclose(q[MASK].sum(axis=1), 1.0, atol=1e-6)
    ordered = np.sort(q[MASK], axis=1)
    np.testing.assert_allclose(fitted.margin_[MASK], ordered[:, -1] - ordered[:, -2], atol=1e-3)


def test_a_fitted_field_corrects_another_image(fitted):
    np.testing.assert_allclose(fitted.correct(fitted.field_), 1.0, rtol=1e-6)
    assert fitted.correct(IMAGE.astype(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match=r"must lie on the grid of the fit, \(64, 60\).* got shape \(3, 3\)"):
        fitted.correct(np.ones((3, 3)))


def test_the_summary_speaks_of_classes_field_and_labels(fitted):
    words = fitted.summary()
    assert "3 class(es) under a field that multiplies" in words
    assert "class 2:" in words
    assert "knots" in words


def test_the_input_is_not_changed_and_a_repeated_fit_is_the_same():
    image = IMAGE.copy()
    first, second = GridStepSmooth(3).fit(image), GridStepSmooth(3).fit(image)
    np.testing.assert_array_equal(image, IMAGE)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(first.smooth_, second.smooth_)


def test_results_are_the_same_bits_for_one_and_two_threads():
    image, _, _ = scene(shape=(48, 44, 24))
    found = []
    before = numba.get_num_threads()
    for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        numba.set_num_threads(threads)
        found.append(GridStepSmooth(3, knots=20.0).fit(image))
        numba.set_num_threads(before)
    np.testing.assert_array_equal(found[0].smooth_, found[1].smooth_)
    np.testing.assert_array_equal(found[0].labels_, found[1].labels_)
    np.testing.assert_array_equal(found[0].levels_, found[1].levels_)


@pytest.mark.parametrize("factor", [1e-3, 500.0])
def test_the_unit_of_the_image_scales_the_levels_alone(fitted, factor):
    scaled = GridStepSmooth(3).fit(factor * IMAGE, MASK)
    np.testing.assert_array_equal(scaled.labels_, fitted.labels_)
    np.testing.assert_allclose(scaled.levels_, factor * fitted.levels_, rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint16, np.int32])
def test_any_real_type_is_taken(dtype):
    g = GridStepSmooth(3).fit((1000.0 * IMAGE).astype(dtype))
    assert np.mean(g.labels_ == LABELS) > 0.99
    assert g.labels_.dtype == np.int16
    assert g.smooth_.dtype == (np.float64 if dtype in (np.float64, np.int32) else np.float32)


def test_memory_layout_does_not_matter(fitted):
    strided = np.empty((IMAGE.shape[1], 2 * IMAGE.shape[0]))[:, ::2].T
    strided[...] = IMAGE
    g = GridStepSmooth(3).fit(strided, np.asfortranarray(MASK))
    np.testing.assert_array_equal(g.labels_, fitted.labels_)


def test_missing_voxels_get_no_label_but_a_field():
    image = IMAGE.copy()
    image[20:24, 30:33] = np.nan
    g = GridStepSmooth(3).fit(image)
    assert np.all(g.labels_[20:24, 30:33] == -1)
    assert np.all(np.isfinite(g.smooth_))
    assert np.mean(g.labels_[g.labels_ >= 0] == LABELS[g.labels_ >= 0]) > 0.99


def test_weight_zero_is_outside_the_mask():
    by_mask = GridStepSmooth(3).fit(IMAGE, MASK)
    by_weight = GridStepSmooth(3).fit(IMAGE, weights=MASK.astype(float))
    assert np.mean(by_mask.labels_ == by_weight.labels_) > 0.99


@pytest.mark.parametrize("axis", [0, -1])
def test_channels_share_one_field(axis):
    other = np.array([2.0, 1.2, 1.7])[LABELS] * np.exp(F)
    image = np.stack([IMAGE, other + 0.04], axis=axis)
    g = GridStepSmooth(3, channel_axis=axis, random_state=0).fit(image)
    assert np.mean(g.labels_ == LABELS) > 0.99
    assert g.levels_.shape == g.noise_variance_.shape == (3, 2)
    assert g.corrected_.shape == image.shape
    assert g.smooth_.shape == IMAGE.shape


def test_a_series_shares_one_field_and_has_labels_of_its_own():
    frames = [scene(seed=s) for s in range(3)]
    image = np.stack([frame[0] for frame in frames], axis=-1)
    truth = np.stack([frame[1] for frame in frames], axis=-1)
    g = GridStepSmooth(3, series_axis=2).fit(image)
    assert g.labels_.shape == image.shape
    assert g.smooth_.shape == image.shape[:2]
    assert np.mean(g.labels_ == truth) > 0.99
    assert g.probabilities().shape == (*image.shape, 3)
    np.testing.assert_allclose(g.correct(image), g.corrected_, rtol=1e-6)


def test_a_volume_with_thick_slices():
    image, labels, f = scene(shape=(40, 36, 16))
    g = GridStepSmooth(3, spacing=(1.0, 1.0, 3.0), knots=30.0).fit(image)
    assert np.mean(g.labels_ == labels) > 0.98
    assert np.std(g.smooth_ - f) < 0.05


@pytest.mark.parametrize("side", [30.0, 45.0, 59.0, 1e-4])
def test_what_is_smaller_than_a_head_is_as_stiff_for_its_size(fitted, side):
    unit = side / max(IMAGE.shape)
    g = GridStepSmooth(3, spacing=unit).fit(IMAGE, MASK)
    np.testing.assert_array_equal(g.labels_, fitted.labels_)
    assert g.knots_ == pytest.approx(unit * fitted.knots_)
    assert g.selection_["stiffness"]["chosen"] == pytest.approx(unit * fitted.selection_["stiffness"]["chosen"])
    assert g.tau_ == pytest.approx(unit**2 * fitted.tau_, rel=1e-3)
    again = GridStepSmooth(3, spacing=unit, knots=g.knots_, tau=g.tau_).fit(IMAGE, MASK)
    np.testing.assert_allclose(again.smooth_, g.smooth_, atol=1e-3)


def test_a_field_that_adds():
    image = LEVELS[LABELS] + F + 0.04 * np.random.default_rng(0).normal(size=F.shape) - 5.0
    g = GridStepSmooth(3, multiplicative=False).fit(image)
    assert np.mean(g.labels_ == LABELS) > 0.99
    np.testing.assert_allclose(g.levels_, LEVELS - 5.0, atol=0.05)
    np.testing.assert_allclose(g.corrected_ + g.field_, image, atol=1e-6)


def test_no_field_is_found_where_there_is_none():
    image, _, _ = scene(strength=0.0)
    g = GridStepSmooth(3).fit(image)
    assert g.knots_ == np.inf
    assert np.all(g.smooth_ == 0.0)
    assert "field: none" in g.summary()


def test_air_becomes_a_background_without_a_mask():
    rng = np.random.default_rng(1)
    image = np.zeros((96, 92))
    image[16:80, 16:76] = IMAGE
    noisy = np.hypot(image + 0.05 * rng.normal(size=image.shape), 0.05 * rng.normal(size=image.shape))
    g = GridStepSmooth(3).fit(noisy)
    truth = np.full(image.shape, -1)
    truth[16:80, 16:76] = LABELS
    assert g.has_background_
    assert np.mean(g.labels_ == truth) > 0.98


@pytest.mark.parametrize("prior", ["uniform", "proportions", "potts"])
def test_every_label_prior_labels(prior):
    g = GridStepSmooth(3, label_prior=prior, knots=30.0).fit(IMAGE)
    assert g.label_prior_ == prior
    assert np.mean(g.labels_ == LABELS) > 0.98


def test_known_levels_fix_the_scale_of_the_field():
    g = GridStepSmooth(levels=LEVELS).fit(IMAGE)
    np.testing.assert_allclose(g.levels_, LEVELS, rtol=1e-5)
    assert np.mean(g.labels_ == LABELS) > 0.99
    assert np.abs(np.mean(g.smooth_ - F)) < 0.03
    ratios = GridStepSmooth(levels=7.0 * LEVELS, free_shift=True).fit(IMAGE)
    np.testing.assert_allclose(ratios.levels_ / ratios.levels_[0], LEVELS, rtol=1e-5)
    assert ratios.smooth_.mean() == pytest.approx(0.0, abs=1e-5)


def test_the_number_of_levels_is_found():
    g = GridStepSmooth("auto").fit(IMAGE)
    assert g.n_levels_ == 3
    assert g.selection_["n_levels"]["chosen"] == 3


def test_a_rician_floor_is_taken_away():
    rng = np.random.default_rng(2)
    clean = np.array([0.3, 1.0])[np.minimum(LABELS, 1)]
    image = np.hypot(clean + 0.12 * rng.normal(size=clean.shape), 0.12 * rng.normal(size=clean.shape))
    plain, rician = (GridStepSmooth(2, noise=noise, knots=None).fit(image) for noise in ("gaussian", "rician"))
    assert abs(rician.levels_[0] - 0.3) < abs(plain.levels_[0] - 0.3)


def test_altmin_is_the_papers_alternation_on_an_image():
    image, labels, _ = scene(shape=(40, 36), strength=0.1, noise=0.02)
    states = []
    g = GridStepSmooth(3, solver="altmin", tau=1.0, callback=states.append).fit(image, None)
    assert np.all(np.diff(g.objective_history_) <= 1e-12)
    assert len(states) == g.n_iter_
    assert np.mean(g.labels_ == labels) > 0.85
    assert g.probabilities().shape == (40, 36, 3)
    assert g.smooth_.mean() == pytest.approx(0.0, abs=1e-9)


def test_voxels_of_zero_that_altmin_leaves_out_are_counted_aloud():
    image = scene(shape=(16, 14), noise=0.02, patch=3)[0]
    image[:4, :5] = 0.0
    with pytest.warns(UserWarning, match=r"image is 0 at 20 voxels.*mask them out.*solver='joint'"):
        g = GridStepSmooth(3, solver="altmin", tau=1.0).fit(image)
    assert np.all(g.labels_[:4, :5] == -1)
    assert np.all(g.labels_[4:] >= 0)
    GridStepSmooth(3, solver="altmin", tau=1.0).fit(image, image > 0.0)  # what is masked out is left out without a word


def test_altmin_chooses_tau_by_gcv():
    image, _, _ = scene(shape=(16, 14), strength=0.1, noise=0.02, patch=3)
    g = GridStepSmooth(3, solver="altmin").fit(image)
    assert g.tau_ in g.selection_["tau"]["tau"]


def test_fewer_distinct_values_than_levels_are_said():
    image = np.where(LABELS == 0, 1.0, 2.0)
    with pytest.warns(UserWarning, match="supports only 2 of the n_levels=3"):
        g = GridStepSmooth(3).fit(image)
    assert g.n_levels_ == 2


def test_a_mask_in_pieces_is_said():
    mask = MASK.copy()
    mask[30:34] = False
    with pytest.warns(UserWarning, match="mask is in 2 pieces that do not touch"):
        g = GridStepSmooth(3).fit(IMAGE, mask)
    assert np.mean(g.labels_[mask] == LABELS[mask]) > 0.98


def test_clone_pickle_and_repr(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    np.testing.assert_array_equal(again.probabilities(), fitted.probabilities())
    assert clone(fitted).get_params() == fitted.get_params()
    assert repr(GridStepSmooth(3)) == "GridStepSmooth(n_levels=3)"


def spoil(image, value):
    image = image.copy()
    image[3, 3] = value
    return image


BAD = [
    (
        "a mask of another shape",
        lambda: GridStepSmooth(3).fit(IMAGE, MASK[:-1]),
        r"mask must have the shape of .* \(64",
    ),
    ("an empty mask", lambda: GridStepSmooth(3).fit(IMAGE, ~(MASK | True)), "mask is empty"),
    ("an image of zeros", lambda: GridStepSmooth(3).fit(0.0 * IMAGE), "image is zero at every present voxel"),
    ("a negative value", lambda: GridStepSmooth(3).fit(spoil(IMAGE, -1.0)), r"negative values \(the lowest is -1\)"),
    ("infinity", lambda: GridStepSmooth(3).fit(spoil(IMAGE, np.inf)), "image must be finite"),
    ("one voxel", lambda: GridStepSmooth(2).fit(np.ones((1, 1))), "at least 2 voxels, but only 1 are present"),
    ("nothing present", lambda: GridStepSmooth(2).fit(np.full((4, 4), np.nan)), "no voxel is present"),
    ("words", lambda: GridStepSmooth(2).fit(np.array(["a", "b"])), "array of real numbers"),
    ("a number", lambda: GridStepSmooth(2).fit(3.0), "array of real numbers"),
    ("a negative weight", lambda: GridStepSmooth(2).fit(IMAGE, weights=-IMAGE), "weights must be finite and not neg"),
    (
        "weights of another shape",
        lambda: GridStepSmooth(2).fit(IMAGE, weights=IMAGE[1:]),
        "weights must have the shape",
    ),
]
PARAMETERS = [
    ({"channel_axis": 2}, r"channel_axis must be None or an axis of the image, from -2 to 1, got 2"),
    ({"series_axis": -3}, r"series_axis must be None or an axis of the image"),
    ({"channel_axis": 0, "series_axis": 0}, "channel_axis and series_axis must differ"),
    ({"solver": "altmin", "series_axis": 0}, "series_axis does not go with solver='altmin'"),
    ({"spacing": (1.0, 2.0, 3.0)}, "spacing must be a positive number, or 2 of them"),
    ({"spacing": 0.0}, "spacing must be a positive number"),
    ({"n_levels": 0}, "n_levels must be a whole number of at least 1"),
    ({"n_levels": "many"}, "n_levels must be one of 'auto'"),
    ({"solver": "foo"}, "solver must be one of"),
    ({"start": "foo"}, "start must be one of"),
    ({"start": "smooth"}, "solver='joint' starts from 'differences' or 'kmeans'"),
    ({"start": "differences", "solver": "altmin"}, "start='differences' does not go with solver='altmin'"),
    ({"label_prior": "markov"}, "label_prior must be one of 'auto', 'uniform', 'proportions', 'potts'"),
    ({"label_prior": "potts", "solver": "altmin"}, "label_prior='potts' does not go with solver='altmin'"),
    ({"n_levels": "auto", "solver": "altmin"}, "n_levels='auto' does not go with solver='altmin'"),
    ({"tau": "reml", "solver": "altmin"}, "tau='reml' does not go with solver='altmin'"),
    ({"tau": "gcv"}, "tau='gcv' does not go with solver='joint'"),
    ({"tau": -1.0}, "tau must be a finite number above 0"),
    ({"knots": 0.0}, "knots must be a finite number above 0"),
    ({"knots": 30.0, "solver": "altmin"}, "knots does not go with solver='altmin'"),
    ({"levels": "ladder"}, "levels='ladder' is not available on grids"),
    ({"levels": [-1.0, 1.0]}, "levels must be positive if multiplicative=True"),
    ({"free_shift": True}, "free_shift=True needs known levels"),
    ({"noise": "poisson"}, "noise must be one of 'gaussian', 'rician'"),
    ({"noise": "rician", "solver": "altmin"}, "noise='rician' does not go with solver='altmin'"),
    ({"noise": "rician", "multiplicative": False}, "noise='rician' is the noise of magnitude images"),
    ({"callback": 3}, "callback must be None or callable, got 3"),
    ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
]


@pytest.mark.parametrize(("ask", "words"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_data_get_their_sentence(ask, words):
    with pytest.raises(ValueError, match=words):
        ask()


@pytest.mark.parametrize(("params", "words"), PARAMETERS, ids=[str(p) for p, _ in PARAMETERS])
def test_a_bad_parameter_gets_its_sentence(params, words):
    with pytest.raises(ValueError, match=words):
        GridStepSmooth(**params).fit(IMAGE)


def test_four_axes_of_space_are_for_altmin():
    image = 1.0 + np.random.default_rng(0).integers(2, size=(4, 4, 3, 3))
    with pytest.raises(ValueError, match="joint' takes up to three axes of space, but the image has 4"):
        GridStepSmooth(2).fit(image)
    assert GridStepSmooth(2, solver="altmin", tau=10.0).fit(image).labels_.shape == image.shape


@pytest.mark.parametrize("method", ["summary", "probabilities", "correct"])
def test_an_estimator_that_is_not_fitted_says_so(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(GridStepSmooth(), method)(*([IMAGE] if method == "correct" else []))
