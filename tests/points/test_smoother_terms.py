"""Both smoothers at any rank, against dense formulas; landmarks against the greedy choice written out."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern

from stepsmooth.model import CubicSplineKernel, MinKernel
from stepsmooth.points import DenseSmoother, NystroemSmoother

SEEDS = st.integers(0, 2**32 - 1)


def draw(seed, n=15, d=2):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.0, 1.0, (n, d)), rng.uniform(0.2, 3.0, n), rng.normal(size=n)


@settings(max_examples=15)
@given(seed=SEEDS, rank=st.integers(1, 8), log_tau=st.floats(-3, 1))
def test_a_low_rank_smoother_is_kernel_ridge_with_the_kernel_of_its_landmarks(seed, rank, log_tau):
    X, w, r = draw(seed)
    tau, kernel, new = 10.0**log_tau, Matern(0.6, nu=1.5), draw(seed + 1)[0]
    low = NystroemSmoother(X, w, kernel=kernel, rank=rank)
    assert len(low.landmarks) == rank
    corner, cross = kernel(X[low.landmarks]), kernel(X, X[low.landmarks])
    K = cross @ np.linalg.solve(corner, cross.T)
    S = K @ np.linalg.inv(K + tau * w.sum() * np.diag(1.0 / w))
    np.testing.assert_allclose(low.solve(r, tau), S @ r, atol=1e-7)
    np.testing.assert_allclose(low.solve(np.column_stack([r, 2.0 * r]), tau)[:, 1], 2.0 * S @ r, atol=1e-7)
    np.testing.assert_allclose(low.leverage(tau), np.diag(S), atol=1e-7)
    assert low.trace(tau) == pytest.approx(np.trace(S), abs=1e-7)
    rooted = np.sqrt(np.outer(w, w)) * K / (w.sum() * tau)
    assert low.logdet(tau) == pytest.approx(np.linalg.slogdet(np.eye(15) + rooted)[1], abs=1e-6)
    between = kernel(new, X[low.landmarks]) @ np.linalg.solve(corner, cross.T)
    alpha = np.linalg.solve(K + tau * w.sum() * np.diag(1.0 / w), r)
    np.testing.assert_allclose(low.at(new, r, tau), between @ alpha, atol=1e-7)
    assert low.dof_range == (0.0, float(rank))
    assert low.missed == pytest.approx(1.0 - np.trace(K) / 15.0, abs=1e-9)
    f = low.solve(r, tau)
    assert low.norm2(f) == pytest.approx(f @ np.linalg.pinv(K, rcond=1e-10) @ f, rel=1e-4)
    assert (low.n_effective, low.reweighted(2.0 * w).n_effective) == (w.sum(), 2.0 * w.sum())


@settings(max_examples=15)
@given(seed=SEEDS)
def test_each_landmark_is_the_point_that_the_ones_before_explain_worst(seed):
    X, _, _ = draw(seed)
    kernel = RBF(0.5)
    low = NystroemSmoother(X, kernel=kernel, rank=6)
    middle = (X.min(axis=0) + X.max(axis=0)) / 2.0
    assert low.landmarks[0] == np.argmin(np.linalg.norm(X - middle, axis=1))
    for k in range(1, 6):
        own = low.landmarks[:k]
        cross = kernel(X, X[own])
        left = 1.0 - np.sum(cross * np.linalg.solve(kernel(X[own]), cross.T).T, axis=1)
        assert left[low.landmarks[k]] == pytest.approx(left.max(), abs=1e-9)


def test_the_first_landmark_has_the_largest_variance_if_they_differ():
    X = np.array([[1.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
    low = NystroemSmoother(X, kernel=DotProduct(0.0), rank=3)
    assert low.landmarks.tolist() == [1, 0]  # two directions explain all three points
    assert low.missed == pytest.approx(0.0, abs=1e-12)


def test_without_a_penalty_the_low_rank_fit_is_the_weighted_projection_on_its_span():
    X, w, r = draw(0)
    low = NystroemSmoother(X, w, kernel=RBF(0.7), rank=4)
    F = RBF(0.7)(X, X[low.landmarks])
    c = np.linalg.solve(F.T @ (w[:, None] * F), F.T @ (w * r))
    np.testing.assert_allclose(low.solve(r, 0.0), F @ c, atol=1e-6)


@settings(max_examples=15)
@given(seed=SEEDS, log_tau=st.floats(-3, 1))
@example(seed=20252, log_tau=0.0)
def test_the_dense_spline_minimises_what_it_says_it_does(seed, log_tau):
    """min over (c, b) of 1/n sum w (r - K c - T b)^2 + tau c' K c with T' c = 0, by one linear system."""
    X, w, r = draw(seed, n=10, d=1)
    tau, kernel, n, W = 10.0**log_tau, CubicSplineKernel(), 10, w.sum()
    smoother, new = DenseSmoother(X, w, kernel), np.linspace(0.0, 1.5, 6)[:, None]
    K, T = kernel(X), kernel.null_space(X)
    system = np.block([[K + tau * W * np.diag(1.0 / w), T], [T.T, np.zeros((2, 2))]])
    c, b = np.split(np.linalg.solve(system, np.append(r, [0.0, 0.0])), [n])
    np.testing.assert_allclose(smoother.solve(r, tau), K @ c + T @ b, atol=1e-6)
    np.testing.assert_allclose(smoother.at(new, r, tau), kernel(new, X) @ c + kernel.null_space(new) @ b, atol=1e-6)
    # Points so close that a cubic spline cannot tell them apart in double precision count as one.
    together = np.sum(np.diff(np.sort(X[:, 0])) < 1e-3)
    assert smoother.dof_range[0] == 2.0
    assert 10.0 - together <= smoother.dof_range[1] <= 10.0
    assert smoother.n_effective == pytest.approx(W)
    assert smoother.spectrum.shape == (8,)


def test_the_norm_of_a_spline_is_that_of_the_natural_interpolant():
    x, f, w = np.array([0.0, 0.3, 0.5, 0.9, 1.4]), np.array([0.2, -1.0, 0.7, 0.1, 0.4]), np.array([1.0, 2, 3, 4, 5])
    natural = CubicSpline(x, f, bc_type="natural")
    smoother = DenseSmoother(x[:, None], w, CubicSplineKernel())
    bent = natural.derivative(2)
    knots = bent(x)  # linear in between: Simpson's rule is exact for its square
    middle = bent((x[1:] + x[:-1]) / 2.0)
    energy = np.sum(np.diff(x) * (knots[:-1] ** 2 + 4.0 * middle**2 + knots[1:] ** 2) / 6.0)
    assert smoother.norm2(f) == pytest.approx(energy)
    new = np.linspace(-0.0, 1.4, 9)
    np.testing.assert_allclose(smoother.at(new[:, None], f, 0.0), natural(new), atol=1e-9)
    np.testing.assert_allclose(smoother.solve(f, 0.0), f, atol=1e-9)


@settings(max_examples=15)
@given(seed=SEEDS)
def test_norm_and_degrees_of_freedom_without_free_functions(seed):
    X, w, f = draw(seed, n=8, d=1)
    X = X + np.arange(8.0)[:, None]
    smoother = DenseSmoother(X, w, MinKernel())
    assert smoother.norm2(f) == pytest.approx(f @ np.linalg.solve(MinKernel()(X), f), rel=1e-8)
    assert smoother.dof_range == (0.0, 8.0)
    values = np.linalg.eigvalsh(np.sqrt(np.outer(w, w)) * MinKernel()(X) / w.sum())
    np.testing.assert_allclose(smoother.spectrum, values, rtol=1e-8)


def test_a_kernel_of_few_functions_has_so_many_degrees_of_freedom():
    X = np.random.default_rng(0).normal(size=(9, 3))
    smoother = DenseSmoother(X, kernel=DotProduct(0.0))
    assert smoother.dof_range == (0.0, 3.0)
    assert smoother.trace(1e-9) == pytest.approx(3.0, abs=1e-6)
    assert smoother.spectrum.min() == 0.0
    line = X @ np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(smoother.solve(line, 0.0), line, atol=1e-9)
    assert smoother.norm2(line) == pytest.approx(1.0 + 4.0 + 0.25)


def test_another_tau_is_another_fit_in_any_order_of_asking():
    X, w, r = draw(1)
    smoother = DenseSmoother(X, w, RBF(0.4))
    fresh = [DenseSmoother(X, w, RBF(0.4)).solve(r, tau) for tau in (0.1, 1.0)]
    for k in (0, 1, 0):
        np.testing.assert_array_equal(smoother.solve(r, (0.1, 1.0)[k]), fresh[k])
