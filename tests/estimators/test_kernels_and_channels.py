"""Every way to name a kernel, and y with several channels."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from stepsmooth import StepSmooth
from stepsmooth.model import CubicSplineKernel, MinKernel, SobolevKernel


def squared_exponential(X, Y):
    return np.exp(-np.sum((X[:, None] - Y[None]) ** 2, axis=2) / (2.0 * 0.4**2))


def agree(one, other, atol=1e-6):
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(one.smooth_, other.smooth_, atol=atol)
    np.testing.assert_allclose(one.levels_, other.levels_, atol=atol)
    assert one.effective_dof_ == pytest.approx(other.effective_dof_, rel=1e-4)


@pytest.mark.parametrize("tau", [1e-3, "gcv", "reml", "cv"])
def test_precomputed_callable_and_object_are_one_kernel(cloud, tau):
    X, y, labels = cloud(n=80)
    kernel = RBF(0.4)
    made = StepSmooth(2, kernel=kernel, tau=tau, solver="altmin").fit(X, y)
    given = StepSmooth(2, kernel="precomputed", tau=tau).fit(kernel(X), y)
    called = StepSmooth(2, kernel=squared_exponential, tau=tau, solver="altmin").fit(X, y)
    np.testing.assert_array_equal(made.labels_, labels)
    # The candidates for tau run up to half of what the points allow, which is rounding for so smooth a kernel.
    tolerance = 1e-6 if tau == 1e-3 else 0.1
    agree(made, called, atol=tolerance)
    np.testing.assert_array_equal(given.labels_, labels)
    np.testing.assert_allclose(given.smooth_, made.smooth_, atol=tolerance)
    new = np.random.default_rng(0).uniform(0.0, 1.0, (5, 2))
    np.testing.assert_allclose(given.predict(kernel(new, X)), made.predict(new), atol=tolerance)
    assert called.kernel_ == "squared_exponential"


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("min", MinKernel()),
        ("spline", CubicSplineKernel()),
        ("sobolev1", SobolevKernel(1)),
        ("sobolev2", SobolevKernel(2)),
    ],
)
def test_a_name_stands_for_its_kernel(signal, name, kernel):
    X, y, _ = signal(n=60, low=0.0)
    X = X / 2.0  # inside [0, 1], the domain of the Sobolev kernels
    one, other = (
        StepSmooth(3, kernel=name, tau=1e-4, solver="altmin").fit(X, y),
        StepSmooth(3, kernel=kernel, tau=1e-4, solver="altmin").fit(X, y),
    )
    agree(one, other)
    new = np.linspace(0.0, 1.0, 9)[:, None]
    np.testing.assert_allclose(one.predict(new), other.predict(new), atol=1e-6)


@pytest.mark.parametrize("kernel", ["min", "spline", "sobolev1", "sobolev2", "rbf", "matern", "auto"])
def test_every_kernel_decomposes_an_easy_signal(signal, kernel):
    X, y, labels = signal(n=120)
    m = StepSmooth(3, kernel=kernel, solver="altmin").fit(X, y)
    np.testing.assert_array_equal(m.labels_, labels)
    np.testing.assert_allclose(np.diff(m.levels_), 2.0, atol=0.2)


@pytest.mark.parametrize("kernel", ["rbf", "matern", "auto"])
@pytest.mark.parametrize("d", [2, 3])
def test_points_in_a_plane_and_in_space(cloud, kernel, d):
    X, y, labels = cloud(n=80, d=d)
    m = StepSmooth(2, kernel=kernel, solver="altmin").fit(X, y)
    np.testing.assert_array_equal(m.labels_, labels)
    assert "length scale" in m.kernel_
    assert m.selection_["kernel"]["chosen"] == m.kernel_
    assert np.argmin(m.selection_["kernel"]["criterion"]) == m.selection_["kernel"]["candidates"].index(m.kernel_)


def test_auto_is_the_spline_on_a_line_and_matern_elsewhere(signal, cloud):
    X, y, _ = signal()
    assert StepSmooth(3, tau=1e-3, solver="altmin").fit(X, y).kernel_ == "spline"
    X, y, _ = cloud(n=40)
    assert StepSmooth(2, tau=1e-3, solver="altmin").fit(X, y).kernel_.startswith("matern")


def test_a_composed_kernel_of_scikit_learn(cloud):
    X, y, labels = cloud()
    m = StepSmooth(2, kernel=ConstantKernel(2.0) * Matern(0.5, nu=1.5) + RBF(2.0), tau=1e-3, solver="altmin").fit(X, y)
    np.testing.assert_array_equal(m.labels_, labels)


def test_units_are_those_of_the_user(signal):
    """The min kernel is anchored at 0 if all x >= 0, else at min x; Sobolev kernels live on [0, 1] or the range."""
    X, y, _ = signal()
    for shift in (0.0, -5.0):
        origin = 0.0 if shift == 0.0 else (X + shift).min()
        named = StepSmooth(3, kernel="min", tau=1e-4, solver="altmin").fit(X + shift, y)
        agree(named, StepSmooth(3, kernel=MinKernel(origin), tau=1e-4, solver="altmin").fit(X + shift, y))
    wide = 3.0 * X
    domain = (float(wide.min()), float(wide.max()))
    named = StepSmooth(3, kernel="sobolev1", tau=1e-4).fit(wide, y)
    agree(named, StepSmooth(3, kernel=SobolevKernel(1, domain), tau=1e-4, solver="altmin").fit(wide, y))


def test_a_smaller_rank_is_a_smaller_space(cloud):
    X, y, _ = cloud()
    m = StepSmooth(2, kernel=RBF(0.4), tau=1e-8, rank=5, solver="altmin").fit(X, y)
    assert m.effective_dof_ <= 5.0


def test_the_same_channel_twice_is_the_channel_at_half_the_tau(signal):
    X, y, _ = signal()
    single = StepSmooth(3, tau=1e-4, solver="altmin").fit(X, y)
    both = np.column_stack([y, y])
    shared = StepSmooth(3, tau=2e-4, random_state=0, solver="altmin").fit(X, both)
    each = StepSmooth(3, tau=1e-4, field="per_channel", random_state=0, solver="altmin").fit(X, both)
    for m in (shared, each):
        np.testing.assert_array_equal(m.labels_, single.labels_)
        np.testing.assert_allclose(m.levels_, np.column_stack([single.levels_] * 2), atol=1e-7)
    np.testing.assert_allclose(shared.smooth_, single.smooth_, atol=1e-7)
    np.testing.assert_allclose(each.smooth_, np.column_stack([single.smooth_] * 2), atol=1e-7)


@pytest.mark.parametrize("field", ["shared", "per_channel"])
@pytest.mark.parametrize("p", [1, 3])
def test_shapes_follow_y(cloud, field, p):
    X, Y, labels = cloud(d=1, p=p)
    m = StepSmooth(2, field=field, tau=1e-3, random_state=0, solver="altmin").fit(X, Y)
    smooth = (150, p) if field == "per_channel" else (150,)
    assert m.smooth_.shape == m.smooth_se_.shape == m.predict(X).shape == smooth
    assert m.levels_.shape == m.levels_se_.shape == (2, p)
    assert m.probabilities_.shape == (150, 2)
    np.testing.assert_array_equal(m.labels_, labels)
    np.testing.assert_array_equal(m.assign(X, Y), labels)


def test_fields_that_differ_by_channel_need_one_each(cloud):
    X, Y, labels = cloud(d=1, n=200, p=2)
    Y = Y + np.column_stack([np.zeros(200), 4.0 * np.cos(5.0 * X[:, 0])])
    each = StepSmooth(2, field="per_channel", random_state=0, solver="altmin").fit(X, Y)
    shared = StepSmooth(2, field="shared", random_state=0, solver="altmin").fit(X, Y)
    np.testing.assert_array_equal(each.labels_, labels)
    assert each.noise_variance_ < 0.1 * shared.noise_variance_


@pytest.mark.parametrize("tau", ["gcv", "reml", "cv"])
@pytest.mark.parametrize("field", ["shared", "per_channel"])
def test_tau_is_chosen_for_vectors_too(cloud, tau, field):
    X, Y, labels = cloud(d=1, n=80, p=2)
    m = StepSmooth(2, tau=tau, field=field, random_state=0, solver="altmin").fit(X, Y)
    np.testing.assert_array_equal(m.labels_, labels)
    assert m.tau_ == m.selection_["tau"]["tau"][m.selection_["tau"]["chosen"]]
