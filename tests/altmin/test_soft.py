"""Soft labels: the bound rises with every iteration, and lies below the evidence summed over all labellings."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from stepsmooth.altmin import Problem, altmin, evidence, refine, soften
from stepsmooth.altmin.soft import LEAST_CURVATURE
from stepsmooth.line import LineSmoother
from stepsmooth.model import CubicSplineKernel, FreeLevels, MinKernel

KERNELS = {1: MinKernel(), 2: CubicSplineKernel()}


def tiny(seed, order=1, p=1, per_channel=False, noise=0.4, wave=1.0, n=7, n_levels=2):
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.5, 1.5, n)) / n
    mu = np.arange(n_levels)[:, None] * np.linspace(1.0, 0.5, p)
    labels = np.append(np.arange(n_levels), rng.integers(n_levels, size=n - n_levels))
    Y = wave * np.sin(3.0 * x)[:, None] + mu[labels] + noise * rng.normal(size=(n, p))
    return x, Problem(Y, LineSmoother(x, order=order), FreeLevels(n_levels), per_channel=per_channel)


def covariance(x, problem, tau):
    """Return V = (noise + f) / sigma^2 of the stacked channels, and the free functions."""
    n, p = problem.Y.shape
    kernel = KERNELS[problem.smoother.order]
    together = np.eye(p) if problem.per_channel else np.ones((p, p))
    free = kernel.null_space(x) if hasattr(kernel, "null_space") else np.zeros((n, 0))
    # A free function of all channels has the length that it has in one: a constant, the same for all tau and M.
    fields = np.eye(p) if problem.per_channel else np.full((p, 1), np.sqrt(1.0 / p))
    return np.eye(n * p) + np.kron(together, kernel(x) / (n * tau)), np.kron(fields, free)


def exact_evidence(x, problem, fit):
    """Return log p(y) = log of the mean over all labellings of the Gaussian marginal, free functions integrated out."""
    n, p = problem.Y.shape
    V, T = covariance(x, problem, fit.tau)
    inverse = np.linalg.inv(V)
    information = T.T @ inverse @ T
    if T.shape[1]:
        inverse = inverse - inverse @ T @ np.linalg.solve(information, T.T @ inverse)
    logdet = np.linalg.slogdet(V)[1] + (np.linalg.slogdet(information)[1] if T.shape[1] else 0.0)
    size, s2 = n * p - T.shape[1], fit.noise_variance
    terms = []
    for labels in product(range(len(fit.levels)), repeat=n):
        r = (problem.Y - fit.levels[list(labels)]).T.ravel()
        terms.append(-0.5 * (size * np.log(2.0 * np.pi * s2) + logdet + r @ inverse @ r / s2))
    return logsumexp(terms) - n * np.log(len(fit.levels))


CASES = {"order": st.integers(1, 2), "p": st.integers(1, 2), "per_channel": st.booleans()}


@given(seed=st.integers(0, 2**32 - 1), log_tau=st.floats(-3, 0), **CASES)
def test_the_bound_never_decreases(seed, log_tau, order, p, per_channel):
    _, problem = tiny(seed, order, p, per_channel, n=30, n_levels=3)
    fit = altmin(problem, 10.0**log_tau)
    bounds = [soften(problem, fit, max_iter=k, tol=-1.0).bound for k in range(1, 15)]
    assert np.all(np.diff(bounds) >= -1e-8 * np.abs(bounds[0]))


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), log_tau=st.floats(-3, 0), **CASES)
def test_the_bound_is_below_the_evidence(seed, log_tau, order, p, per_channel):
    x, problem = tiny(seed, order, p, per_channel)
    for max_iter in (1, 100):
        fit = soften(problem, altmin(problem, 10.0**log_tau), max_iter=max_iter)
        assert fit.bound <= exact_evidence(x, problem, fit) + 1e-8


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), **CASES)
def test_the_bound_is_the_evidence_where_labels_are_certain(seed, order, p, per_channel):
    """Little noise, and a stiff f, which cannot make up for a wrong label."""
    x, problem = tiny(seed, order, p, per_channel, noise=0.02, wave=0.0)
    fit = soften(problem, altmin(problem, 10.0, start="kmeans"), tol=1e-10)
    assert fit.bound == pytest.approx(exact_evidence(x, problem, fit), abs=1e-6)


def test_the_constants_of_the_bound_are_those_of_the_evidence():
    """One level: there is nothing to label, so the bound is exact."""
    for order in (1, 2):
        for per_channel in (False, True):
            x, problem = tiny(0, order, p=2, per_channel=per_channel, n_levels=1)
            fit = soften(problem, altmin(problem, 1e-2), tol=1e-12)
            assert fit.bound == pytest.approx(exact_evidence(x, problem, fit), abs=1e-8)
            assert evidence(problem, fit) == pytest.approx(fit.bound, abs=1e-10)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), log_tau=st.floats(-2, 0))
def test_the_evidence_is_laplace_s_formula(seed, log_tau):
    """log p(y, f) at its mode, plus half the log determinant of 2 pi over the curvature there."""
    x, problem = tiny(seed)
    fit = soften(problem, altmin(problem, 10.0**log_tau), max_iter=20_000, tol=1e-13)
    n, s2, mu, y = len(x), fit.noise_variance, fit.levels[:, 0], problem.Y[:, 0]
    prior = s2 * MinKernel()(x) / (n * fit.tau)
    f = fit.smooth[:, 0]
    each = -0.5 * np.log(2.0 * np.pi * s2) - (y[:, None] - mu - f[:, None]) ** 2 / (2.0 * s2)
    joint = np.sum(logsumexp(each, axis=1) - np.log(len(mu)))
    joint -= 0.5 * (f @ np.linalg.solve(prior, f) + np.linalg.slogdet(2.0 * np.pi * prior)[1])
    spread = fit.probabilities @ mu**2 - (fit.probabilities @ mu) ** 2
    curvature = np.diag(np.clip(1.0 - spread / s2, LEAST_CURVATURE, 1.0)) / s2 + np.linalg.inv(prior)
    laplace = joint + 0.5 * (n * np.log(2.0 * np.pi) - np.linalg.slogdet(curvature)[1])
    assert evidence(problem, fit) == pytest.approx(laplace, abs=1e-4)


@given(seed=st.integers(0, 2**32 - 1), **CASES)
def test_laplace_adds_to_the_bound_and_refining_tau_raises_it(seed, order, p, per_channel):
    _, problem = tiny(seed, order, p, per_channel, n=25)
    fit = soften(problem, altmin(problem, 1e-3))
    assert evidence(problem, fit) >= fit.bound - 1e-9
    better = refine(problem, fit)
    assert better.bound >= fit.bound
    np.testing.assert_allclose(better.probabilities.sum(axis=1), 1.0)
