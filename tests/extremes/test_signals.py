"""Signals at the ends of floating point: the right labels, or one sentence that says what to change."""

import numpy as np
import pytest

from stepsmooth import StepSmooth

SOLVERS = pytest.mark.parametrize("solver", ["altmin", "joint"])
KERNELS = pytest.mark.parametrize("kernel", ["spline", "min"])


def fitted(solver, kernel, x, y, weights=None, n_levels=2, **params):
    """Return a fit that has been asked everything it can answer, all of it finite."""
    m = StepSmooth(n_levels, solver=solver, kernel=kernel, **params).fit(x[:, None], y, weights)
    parts = (m.levels_, m.levels_se_, m.smooth_, m.probabilities_, m.noise_variance_, m.objective_, m.tau_)
    assert all(np.all(np.isfinite(part)) for part in parts)
    m.summary()
    m.predict(x[:, None])
    m.score(x[:, None], y)
    return m


@SOLVERS
@KERNELS
@pytest.mark.parametrize("scale", [1e-79, 1e79])
def test_labels_do_not_depend_on_the_unit_of_y(solver, kernel, scale, signal):
    x, y, labels = signal()
    m = fitted(solver, kernel, x, scale * y)
    np.testing.assert_array_equal(m.labels_, labels)
    m.certificate()


@SOLVERS
@KERNELS
@pytest.mark.parametrize("scale", [1e-29, 1e29])
def test_labels_do_not_depend_on_the_unit_of_x(solver, kernel, scale, signal):
    x, y, labels = signal()
    np.testing.assert_array_equal(fitted(solver, kernel, scale * x, y).labels_, labels)


@SOLVERS
@KERNELS
@pytest.mark.parametrize("shift", [1e9, -1e12])
def test_a_small_signal_on_a_huge_offset_keeps_its_labels_and_gap(solver, kernel, shift, signal):
    x, y, labels = signal()
    m = fitted(solver, kernel, x, shift + y)
    np.testing.assert_array_equal(m.labels_, labels)
    assert np.diff(m.levels_) == pytest.approx(2.0, abs=0.2)


@SOLVERS
@KERNELS
@pytest.mark.parametrize("shift", [1e9])
def test_late_times_are_as_good_as_early_ones(solver, kernel, shift, signal):
    x, y, labels = signal()
    np.testing.assert_array_equal(fitted(solver, kernel, shift + x, y).labels_, labels)


@SOLVERS
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("end", ["largest", "least normal", "subnormal"])
def test_single_and_half_precision_are_taken_to_their_limits(solver, dtype, end, signal):
    x, y, labels = signal()
    limits = np.finfo(dtype)
    unit = {"largest": limits.max / 4, "least normal": limits.tiny, "subnormal": 16 * limits.smallest_subnormal}[end]
    m = fitted(solver, "spline", x, (y * float(unit)).astype(dtype))
    np.testing.assert_array_equal(m.labels_, labels)


@SOLVERS
@KERNELS
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda x, y: (x, 1e300 * y), r"y must not exceed 1e\+80 in size.*change its unit"),
        (lambda x, y: (x, 1e-300 * y), "y must vary by at least 1e-80.*change its unit"),
        (lambda x, y: (x, np.where(x == 1.0, 1e300, y)), r"y must not exceed 1e\+80 in size"),
        (lambda x, y: (1e300 * x, y), r"X must not exceed 1e\+30 in size.*change its unit"),
        (lambda x, y: (1e-300 * x, y), "X must vary by at least 1e-30.*change its unit"),
        (lambda x, y: (np.where(x == 1.0, 1e300, x), y), r"X must not exceed 1e\+30 in size"),
    ],
    ids=["y 1e300", "y 1e-300", "one y 1e300", "x 1e300", "x 1e-300", "one x 1e300"],
)
def test_what_squares_cannot_hold_is_a_sentence(solver, kernel, change, sentence, signal):
    x, y = change(*signal()[:2])
    with pytest.raises(ValueError, match=sentence):
        fitted(solver, kernel, x, y)


@SOLVERS
@KERNELS
@pytest.mark.parametrize("tau", [1e6, 1e59])
def test_an_ever_larger_tau_ends_at_the_stiffest_f(solver, kernel, tau, signal):
    x, y, _ = signal()
    stiff = fitted(solver, kernel, x, y, tau=tau)
    np.testing.assert_allclose(stiff.smooth_, fitted(solver, kernel, x, y, tau=1e9).smooth_, atol=1e-5)
    assert stiff.effective_dof_ == pytest.approx(2.0 if kernel == "spline" else 0.0, abs=1e-4)


@KERNELS
@pytest.mark.parametrize("tau", [1e-30, 1e-50])
def test_a_tau_that_lets_f_explain_everything_is_a_warning(kernel, tau, signal):
    x, y, _ = signal()
    with pytest.warns(UserWarning, match=r"at tau = .* f explains (y|it) without them"):
        m = fitted("altmin", kernel, x, y, tau=tau)
    assert m.levels_[m.labels_] + m.smooth_ == pytest.approx(y)


@SOLVERS
@KERNELS
@pytest.mark.parametrize("tau", [1e-300, 1e-90, 1e90, 1e300])
def test_a_tau_beyond_all_is_a_sentence(solver, kernel, tau, signal):
    x, y, _ = signal()
    with pytest.raises(ValueError, match=r"tau must lie between .* for these points"):
        fitted(solver, kernel, x, y, tau=tau)


def test_a_level_that_no_point_has_gets_no_certificate(signal):
    x, y, _ = signal()
    m = StepSmooth(2, kernel="min", tau=1e-30, solver="joint").fit(x[:, None], y)
    assert len(np.unique(m.labels_)) == 1
    with pytest.raises(ValueError, match="needs points of every level, but the fit gave none the label"):
        m.certificate()


@SOLVERS
@KERNELS
def test_two_points_are_enough_for_two_levels(solver, kernel):
    x, y = np.array([0.4, 0.5]), np.array([0.0, 5.0])
    if (solver, kernel) == ("altmin", "spline"):  # a straight line passes through both
        with pytest.warns(UserWarning, match="supports only 1 of the n_levels=2"):
            m = fitted(solver, kernel, x, y)
    else:
        m = fitted(solver, kernel, x, y)
    if solver == "altmin":  # the joint solver has noise to choose from as well
        np.testing.assert_allclose(m.levels_[m.labels_] + m.smooth_, y, atol=1e-6)


@SOLVERS
@KERNELS
def test_one_point_with_a_weight_is_one_level(solver, kernel, signal):
    x, y, _ = signal()
    weights = np.where(np.arange(40) == 7, 1.0, 0.0)
    m = StepSmooth(1, solver=solver, kernel=kernel).fit(x[:, None], y, weights)
    assert m.levels_[0] + m.smooth_[7] == pytest.approx(y[7])
    with pytest.raises(ValueError, match=r"n_levels=2 needs at least 2 point\(s\), but there are n_samples = 1"):
        StepSmooth(2, solver=solver, kernel=kernel).fit(x[:, None], y, weights)


@SOLVERS
@KERNELS
@pytest.mark.parametrize("weight", [1e-12, 1e12])
def test_one_weight_may_be_far_from_the_others(solver, kernel, weight, signal):
    x, y, labels = signal()
    m = fitted(solver, kernel, x, y, np.where(np.arange(40) == 7, weight, 1.0))
    np.testing.assert_array_equal(np.delete(m.labels_, 7), np.delete(labels, 7))


@SOLVERS
@pytest.mark.parametrize("weights", [[1e-300], [1e300], [1e-300, 1.0]], ids=str)
def test_weights_beyond_all_are_a_sentence(solver, weights, signal):
    x, y, _ = signal()
    with pytest.raises(ValueError, match=r"sample_weight must be 0 or lie between 1e-12 and 1e\+12"):
        fitted(solver, "spline", x, y, np.resize(weights, 40))


def test_weights_that_sum_to_one_are_no_frequencies_and_say_so(signal):
    x, y, _ = signal()
    with pytest.warns(UserWarning, match="the weights sum to 1 over 40 points.* too few to choose tau by"):
        fitted("altmin", "spline", x, y, np.full(40, 1 / 40))


@SOLVERS
def test_fifty_levels_are_told_apart(solver, signal):
    x, y, labels = signal(n=100, n_levels=50, noise=0.02)
    m = fitted(solver, "min", x, y, n_levels=50)
    assert np.mean(m.labels_ == labels) > 0.98
    np.testing.assert_allclose(np.diff(m.levels_), 2.0, atol=0.5)


@SOLVERS
@KERNELS
@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ([1.0, 1.0], "levels must be distinct, but some are given twice"),
        ([1.0, 1.0 + 1e-15], "levels must differ by more than rounding next to y"),
        ([0.0, 1e-300], "levels must differ by more than rounding next to y"),
        ([1e90, 2.0 + 1e90], "levels must be distinct"),
        ([0.0, 1e300], r"levels must not exceed 1e\+80 in size"),
    ],
    ids=str,
)
def test_levels_that_coincide_or_explode_are_a_sentence(solver, kernel, levels, sentence, signal):
    x, y, _ = signal()
    with pytest.raises(ValueError, match=sentence):
        fitted(solver, kernel, x, y, levels=levels)


@SOLVERS
@KERNELS
def test_a_gauge_that_would_swallow_the_data_is_a_sentence(solver, kernel, signal):
    x, y, _ = signal()
    assert np.mean(fitted(solver, kernel, x, y, mean=1e9).smooth_) == pytest.approx(1e9)
    with pytest.raises(ValueError, match=r"mean must not exceed 1e\+12 times the spread of y"):
        fitted(solver, kernel, x, y, mean=1e300)


@pytest.mark.parametrize("value", [1e300, -1e300])
def test_new_data_beyond_all_are_a_sentence(value, signal):
    x, y, _ = signal()
    m = StepSmooth(2).fit(x[:, None], y)
    for ask in (lambda: m.predict([[value]]), lambda: m.assign([[value]], [0.0]), lambda: m.score([[0.5]], [value])):
        with pytest.raises(ValueError, match=r"must not exceed 1e\+80 in size"):
            ask()
