"""The dense reference: the paper's representer formula, weights, free functions, interpolation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.kernel_ridge import KernelRidge

from stepsmooth.model import CubicSplineKernel, MinKernel
from stepsmooth.points import DenseSmoother

SEEDS = st.integers(0, 2**32 - 1)
LOG_TAUS = st.floats(-5, 3)


def draw(seed, n=20, d=2):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.0, 1.0, (n, d)), rng.uniform(0.2, 3.0, n), rng.normal(size=n)


@given(seed=SEEDS, log_tau=LOG_TAUS)
def test_it_is_the_paper_s_formula(seed, log_tau):
    X, _, r = draw(seed, d=1)
    tau, n = 10.0**log_tau, len(r)
    K = MinKernel()(X) / n
    alpha = np.linalg.solve(K + tau * np.eye(n), r / np.sqrt(n))
    smoother = DenseSmoother(X, kernel=MinKernel())
    np.testing.assert_allclose(smoother.solve(r, tau), np.sqrt(n) * K @ alpha, atol=1e-9)
    new = np.linspace(0.0, 2.0, 7)[:, None]
    np.testing.assert_allclose(smoother.at(new, r, tau), MinKernel()(new, X) @ alpha / np.sqrt(n), atol=1e-9)


@given(seed=SEEDS, log_tau=LOG_TAUS)
def test_it_is_kernel_ridge_with_n_tau(seed, log_tau):
    X, w, r = draw(seed)
    tau = 10.0**log_tau
    ridge = KernelRidge(alpha=w.sum() * tau, kernel=RBF(0.5)).fit(X, r, sample_weight=w)
    smoother = DenseSmoother(X, w, RBF(0.5))
    np.testing.assert_allclose(smoother.solve(r, tau), ridge.predict(X), atol=1e-8)
    np.testing.assert_allclose(smoother.at(X + 0.1, r, tau), ridge.predict(X + 0.1), atol=1e-8)


@pytest.mark.parametrize("kernel", [MinKernel(), CubicSplineKernel(), RBF(0.3)], ids=repr)
@given(seed=SEEDS, log_tau=LOG_TAUS)
def test_leverage_trace_and_logdet_are_those_of_the_matrix_s(kernel, seed, log_tau):
    X, w, _ = draw(seed, n=12, d=1)
    tau, n = 10.0**log_tau, len(X)
    smoother = DenseSmoother(X, w, kernel)
    S = smoother.solve(np.eye(n), tau)
    np.testing.assert_allclose(smoother.leverage(tau), np.diag(S), atol=1e-8)
    assert smoother.trace(tau) == pytest.approx(np.trace(S), abs=1e-7)
    covariance = np.sqrt(np.outer(w, w)) * kernel(X) / w.sum() / tau + np.eye(n)
    # det(V) det(T' V^-1 T) with T the free functions, that is nothing or a line.
    T = np.sqrt(w)[:, None] * kernel.null_space(X) if hasattr(kernel, "null_space") else np.zeros((n, 0))
    expected = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(T.T @ np.linalg.solve(covariance, T))[1]
    assert smoother.logdet(tau) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kernel", [MinKernel(), CubicSplineKernel(), Matern(0.5, nu=1.5)], ids=repr)
@given(seed=SEEDS, log_tau=LOG_TAUS)
def test_a_weight_of_two_is_the_point_twice(kernel, seed, log_tau):
    X, _, r = draw(seed, n=8, d=1)
    tau, times = 10.0**log_tau, 1 + np.arange(8) % 3
    weighted = DenseSmoother(X, times.astype(float), kernel)
    repeated = DenseSmoother(np.repeat(X, times, axis=0), kernel=kernel)
    copies = repeated.solve(np.repeat(r, times), tau)
    np.testing.assert_allclose(np.repeat(weighted.solve(r, tau), times), copies, atol=1e-8)
    assert weighted.trace(tau) == pytest.approx(repeated.trace(tau), abs=1e-7)
    assert weighted.logdet(tau) == pytest.approx(repeated.logdet(tau), rel=1e-7, abs=1e-7)


@given(seed=SEEDS, log_tau=LOG_TAUS)
def test_a_kernel_matrix_is_as_good_as_its_kernel(seed, log_tau):
    X, w, r = draw(seed)
    tau, kernel = 10.0**log_tau, RBF(0.4)
    given, made = DenseSmoother(kernel(X), w), DenseSmoother(X, w, kernel)
    np.testing.assert_array_equal(given.solve(r, tau), made.solve(r, tau))
    np.testing.assert_allclose(given.at(kernel(X + 1.0, X), r, tau), made.at(X + 1.0, r, tau), atol=1e-12)
    np.testing.assert_array_equal(
        given.reweighted(np.ones(20)).solve(r, tau), DenseSmoother(X, None, kernel).solve(r, tau)
    )


@given(seed=SEEDS)
def test_tau_zero_gives_the_interpolant_and_small_tau_comes_close(seed):
    X, w, r = draw(seed, n=8, d=2)
    smoother = DenseSmoother(X, w, Matern(1.0, nu=0.5))
    np.testing.assert_allclose(smoother.solve(r, 0.0), r, atol=1e-7)
    np.testing.assert_allclose(smoother.solve(r, 1e-11), r, atol=1e-6)


@given(seed=SEEDS)
def test_no_interpolant_has_a_smaller_norm(seed):
    X, _, r = draw(seed, n=8, d=2)
    kernel = Matern(1.0, nu=0.5)
    smoother, more = DenseSmoother(X, kernel=kernel), np.random.default_rng(seed + 1).uniform(0.0, 1.0, (3, 2))
    finer = DenseSmoother(np.vstack([X, more]), kernel=kernel)
    between = smoother.at(more, r, 0.0)
    assert finer.norm2(np.append(r, between)) == pytest.approx(smoother.norm2(r), rel=1e-5)
    assert finer.norm2(np.append(r, between + 0.1)) > smoother.norm2(r)


def test_repeated_points_with_one_value_are_interpolated():
    X, r = np.array([[0.2], [0.7], [0.2]]), np.array([1.0, 2.0, 1.0])
    np.testing.assert_allclose(DenseSmoother(X, kernel=MinKernel()).solve(r, 0.0), r, atol=1e-10)


def test_the_norm_takes_repeated_points_once():
    rng = np.random.default_rng(0)
    X, f = rng.uniform(0.0, 1.0, (6, 2)), rng.normal(size=6)
    kernel = Matern(1.0, nu=0.5)
    twice = DenseSmoother(np.vstack([X, X]), kernel=kernel)
    assert twice.norm2(np.append(f, f)) == pytest.approx(DenseSmoother(X, kernel=kernel).norm2(f))
    assert twice.dof_range == (0.0, 6.0)


def test_columns_are_smoothed_one_by_one():
    X, w, r = draw(0)
    smoother = DenseSmoother(X, w, RBF(0.3))
    R = np.column_stack([r, r[::-1]])
    for c in range(2):
        np.testing.assert_allclose(smoother.solve(R, 0.1)[:, c], smoother.solve(R[:, c], 0.1), atol=1e-14)
        np.testing.assert_allclose(smoother.at(X, R, 0.1)[:, c], smoother.at(X, R[:, c], 0.1), atol=1e-14)
