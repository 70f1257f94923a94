"""Scattered points at the ends of floating point: the right labels, or one sentence."""

import numpy as np
import pytest

from stepsmooth import StepSmooth

KERNEL = "rbf"


def fitted(X, y, weights=None, n_levels=2, **params):
    m = StepSmooth(n_levels, kernel=KERNEL, **params).fit(X, y, weights)
    parts = (m.levels_, m.levels_se_, m.smooth_, m.probabilities_, m.noise_variance_, m.objective_, m.tau_)
    assert all(np.all(np.isfinite(part)) for part in parts)
    return m


@pytest.mark.parametrize("scale", [1e-79, 1e79])
def test_labels_do_not_depend_on_the_unit_of_y(scale, cloud):
    X, y, labels = cloud()
    m = fitted(X, scale * y)
    np.testing.assert_array_equal(m.labels_, labels)
    m.certificate()


@pytest.mark.parametrize("scale", [1e-29, 1e29])
def test_labels_do_not_depend_on_the_unit_of_x(scale, cloud):
    X, y, labels = cloud()
    m = fitted(scale * X, y)
    np.testing.assert_array_equal(m.labels_, labels)
    m.certificate()


def test_a_huge_offset_of_either_is_no_matter(cloud):
    X, y, labels = cloud()
    np.testing.assert_array_equal(fitted(1e9 + X, 1e9 + y).labels_, labels)


@pytest.mark.parametrize("stretch", [1e-9, 1e9])
def test_axes_of_different_units_are_taken_as_they_are(stretch, cloud):
    X, y, labels = cloud()
    assert fitted(X * [1.0, stretch], y).labels_.shape == labels.shape


@pytest.mark.parametrize("tau", [1e12, 1e59])
def test_an_ever_larger_tau_leaves_kmeans(tau, cloud):
    X, y, _ = cloud()
    m = fitted(X, y, tau=tau)
    np.testing.assert_allclose(m.smooth_, 0.0, atol=1e-8)


def test_an_ever_smaller_tau_lets_f_explain_everything_and_says_so(cloud):
    X, y, _ = cloud()
    with pytest.warns(UserWarning, match=r"at tau = 1e-50 f explains (y|it) without them"):
        StepSmooth(2, kernel="matern", tau=1e-50).fit(X, y)


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (1e300, 1.0, r"X must not exceed 1e\+30 in size"),
        (1e-300, 1.0, "X must vary by at least 1e-30"),
        (1.0, 1e300, r"y must not exceed 1e\+80 in size"),
        (1.0, 1e-300, "y must vary by at least 1e-80"),
    ],
)
def test_what_squares_cannot_hold_is_a_sentence(X, y, sentence, cloud):
    points, values, _ = cloud()
    with pytest.raises(ValueError, match=sentence):
        fitted(X * points, y * values)


def test_two_points_and_two_levels(cloud):
    m = fitted(cloud()[0][:2], [0.0, 3.0])
    np.testing.assert_allclose(m.levels_[m.labels_] + m.smooth_, [0.0, 3.0], atol=1e-9)


def test_fifty_levels_of_eighty_points(cloud):
    X = cloud(n=80)[0]
    labels = np.arange(80) % 50
    m = StepSmooth(50, kernel="spline", solver="altmin", start=labels, tau=1.0).fit(X[:, :1], 10.0 * labels + X[:, 0])
    np.testing.assert_array_equal(m.labels_, labels)


@pytest.mark.parametrize("scale", [1e-79, 1e79])
@pytest.mark.parametrize("solver", ["altmin", "joint"])
def test_channels_have_units_too(solver, scale, signal):
    x, y, labels = signal()
    Y = scale * np.column_stack([y, 0.5 * y])
    m = StepSmooth(2, solver=solver, random_state=0).fit(x[:, None], Y)
    np.testing.assert_array_equal(m.labels_, labels)
