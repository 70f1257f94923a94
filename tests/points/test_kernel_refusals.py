"""Kernels that are none: each gets its sentence."""

from dataclasses import dataclass

import numpy as np
import pytest

from stepsmooth.model import CubicSplineKernel, MinKernel
from stepsmooth.points import DenseSmoother, NystroemSmoother

X = np.linspace(0.1, 1.0, 6)[:, None]
R = np.arange(6.0)


@dataclass
class Made:
    """A kernel out of a function of two arrays that broadcast."""

    function: object

    def __call__(self, X, Y=None):
        return self.function(X, (X if Y is None else Y)[:, 0])

    def diag(self, X):
        return np.diag(self(X))


INDEFINITE = Made(lambda x, y: 1.0 + np.abs(x - y))
NEGATIVE = Made(lambda x, y: -np.exp(-np.abs(x - y)))
ASYMMETRIC = Made(lambda x, y: np.exp(-np.abs(x - y)) + 1e-3 * (x > y))
ZERO = Made(lambda x, y: 0.0 * (x + y))
NAN = Made(lambda x, y: np.where(x == y, np.nan, 0.0))
NAN_ELSEWHERE = Made(lambda x, y: np.where(x == y, 1.0, np.nan))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: DenseSmoother(X, kernel=INDEFINITE).trace(1.0), "positive semi-definite, but its matrix has eigen"),
        (lambda: DenseSmoother(X, kernel=NEGATIVE).solve(R, 1e-3), "must be positive semi-definite"),
        (lambda: DenseSmoother(X, kernel=NEGATIVE).norm2(R), "must be positive semi-definite"),
        (lambda: DenseSmoother(X, kernel=ASYMMETRIC), r"must be symmetric, but K\(x, y\) differs from K\(y, x\)"),
        (lambda: DenseSmoother(X, kernel=NAN), "must be finite at all pairs of points"),
        (lambda: DenseSmoother(np.full((3, 3), np.inf)), "must be finite at all pairs of points"),
        (lambda: DenseSmoother(np.ones((3, 4))), r"must return an \(3, 3\) matrix for 3 points, got one of shape"),
        (lambda: DenseSmoother(np.ones((3, 3))).solve(np.ones(3), 1e-30), "kernel matrix is singular and tau = 1e-30"),
        (lambda: DenseSmoother(np.ones((3, 3))).solve(np.arange(3.0), 0.0), "tau = 0 asks for interpolation, but the"),
        (lambda: DenseSmoother(np.ones((3, 3))).norm2(np.arange(3.0)), "no function of this space passes through"),
        (
            lambda: DenseSmoother(X[[0, 1, 1]], kernel=MinKernel()).solve(R[:3], 0.0),
            "points that coincide with different values",
        ),
        (lambda: DenseSmoother(X[:1], kernel=CubicSplineKernel()), "needs at least 2 distinct points"),
        (lambda: DenseSmoother(X[[1, 1, 1]], kernel=CubicSplineKernel()), "needs at least 2 distinct points"),
        (lambda: NystroemSmoother(X, kernel=INDEFINITE), "positive semi-definite, but it leaves a negative variance"),
        (lambda: NystroemSmoother(X, kernel=NEGATIVE), r"positive semi-definite, but K\(x, x\) = -1 at some point"),
        (lambda: NystroemSmoother(X, kernel=ASYMMETRIC), r"must be symmetric, but K\(x, y\) differs from K\(y, x\)"),
        (lambda: NystroemSmoother(X, kernel=ZERO), r"positive somewhere, but K\(x, x\) is zero at every point"),
        (lambda: NystroemSmoother(X, kernel=NAN), "must be finite at all pairs of points"),
        (lambda: NystroemSmoother(X, kernel=NAN_ELSEWHERE), "must be finite at all pairs of points"),
    ],
)
def test_the_sentence_says_what_is_wrong(ask, words):
    with pytest.raises(ValueError, match=words):
        ask()


def test_rounding_is_not_taken_for_an_indefinite_kernel():
    """Three points, two of them one: what the free line leaves of the kernel is rounding alone."""
    for seed in range(50):
        x = np.random.default_rng(seed).uniform(0.0, 1.0, (2, 1))
        smoother = DenseSmoother(x[[0, 1, 0]], kernel=CubicSplineKernel())
        assert smoother.dof_range == (2.0, 2.0)
        assert smoother.trace(1.0) == pytest.approx(2.0)
