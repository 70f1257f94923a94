"""AltMin: f given (mu, z), then (mu, z) given f, until nothing moves.

The objective is the paper's, 1/n sum_i w_i |y_i - mu_{z_i} - f(x_i)|^2 + tau |f|^2, with squared errors summed over
channels; each half-step minimises it over its own block, so it never increases.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numba import njit

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.model.levels import LevelModel
from stepsmooth.model.smoother import Smoother, loss_and_penalty

# The labels count as settled when at most this share of them (by weight) changes.
SETTLED = 0.01


@dataclass(frozen=True)
class Problem:
    """What is to be decomposed: observations (n, p), a smoother bound to the points, a model of the levels.

    `without(held_out)` returns the problem less some points, and those points' X: cross-validation needs it.
    """

    Y: Floats
    smoother: Smoother
    level_model: LevelModel
    per_channel: bool = False
    without: "Callable[[Ints], tuple[Problem, Anything]] | None" = None
    _dofs: dict[float, float] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def weights(self) -> Floats:
        """Weights of the points."""
        return self.smoother.weights

    def smooth_given(self, levels: Floats, labels: Ints, tau: float) -> tuple[Floats, float, float]:
        """Return f (n, 1) or (n, p), the weighted mean of the squared errors and tau |f|^2: the f-step."""
        residual = _residual(self.Y, levels, labels)
        f = self.smooth_of(residual, tau)
        return f, *loss_and_penalty(f, residual, self.weights)

    def smooth_of(self, residual: Floats, tau: float) -> Floats:
        """Return f for a residual (n, p).

        A shared f sees p squared errors a point: the mean over channels with tau / p is the same problem.
        """
        if self.per_channel:
            return self.smoother.solve(residual, tau)
        p = residual.shape[1]
        mean = residual[:, 0] if p == 1 else residual.mean(axis=1)
        return self.smoother.solve(mean, tau / p)[:, None]

    def half_step(self, tau: float) -> Floats:
        """Return f after the half-step that the paper analyses: smooth y as if there were no steps.

        y is centred first, so that a shift of y shifts only the levels.

        Examples
        --------
        >>> from stepsmooth.line import LineSmoother
        >>> from stepsmooth.model import FreeLevels
        >>> x = np.arange(1, 201) / 200
        >>> steps = np.where(np.arange(200) % 2, 1.0, -1.0)
        >>> problem = Problem((np.sin(6 * x) + steps)[:, None], LineSmoother(x, order=1), FreeLevels(2))
        >>> bool(np.abs(problem.half_step(1e-3)[:, 0] - np.sin(6 * x)).mean() < 0.2)
        True
        """
        return self.smooth_of(self.Y - np.average(self.Y, axis=0, weights=self.weights), tau)

    def smooth_at(self, X_new: Anything, residual: Floats, tau: float) -> Floats:
        """Return the f of `smooth_of` at new points."""
        if self.per_channel:
            return self.smoother.at(X_new, residual, tau)
        return self.smoother.at(X_new, residual.mean(axis=1), tau / residual.shape[1])[:, None]

    def profile_levels(self, levels: Floats, labels: Ints, tau: float) -> Floats:
        """Return the levels to which the alternation tends while the labels stay as they are.

        With the labels fixed the problem is quadratic. Profiling f out leaves D'Z'W(I - S)ZD theta = D'Z'W(I - S) r
        for the moves theta of the levels along `directions` D: the limit of the alternation, which would creep there
        (a common shift of the levels is nearly free), in one solve.
        """
        residual = _residual(self.Y, levels, labels)
        D = self.level_model.directions(len(levels))
        if D.shape[1] == 0:
            return levels
        p = residual.shape[1]
        if self.per_channel or p == 1:
            return levels + D @ self._moves(D, labels, residual, tau)
        # Contrasts between channels do not see a shared f; the mean over channels does.
        mean = residual.mean(axis=1, keepdims=True)
        sizes = np.bincount(labels, self.weights, minlength=len(levels))
        sums = np.stack([np.bincount(labels, self.weights * r, minlength=len(levels)) for r in (residual - mean).T])
        contrasts = np.linalg.lstsq(D.T @ (sizes[:, None] * D), D.T @ sums.T)[0]
        return np.asarray(levels + D @ (contrasts + self._moves(D, labels, mean, tau / p)))

    def _moves(self, D: Floats, labels: Ints, residual: Floats, tau: float) -> Floats:
        found = self.smoother.products(D, labels, residual, tau)
        return least_moves(found[:, : D.shape[1]], found[:, D.shape[1] :], self.weights.sum())

    def information(self, D: Floats, labels: Ints, tau: float) -> Floats:
        """Return D'Z'W(I - S)ZD: what the points say of moves of the levels once f is profiled out."""
        return self.smoother.products(D, labels, np.zeros((len(labels), 0)), tau)

    def dof(self, tau: float) -> float:
        """Return the effective degrees of freedom of the smooth part, over all channels; a trace may be dear."""
        if tau not in self._dofs:
            p = self.Y.shape[1]
            self._dofs[tau] = p * self.smoother.trace(tau) if self.per_channel else self.smoother.trace(tau / p)
        return self._dofs[tau]

    def level_dof(self, n_levels: int) -> int:
        """Return how many numbers the levels have to be estimated: none if they are known."""
        return int(self.level_model.directions(n_levels).shape[1] * self.Y.shape[1])


@njit(cache=True, nogil=True)
def _residual(Y: Floats, levels: Floats, labels: Ints) -> Floats:
    """Return Y - levels[labels], in one pass."""
    out = np.empty_like(Y)
    for i in range(len(Y)):
        for c in range(Y.shape[1]):
            out[i, c] = Y[i, c] - levels[labels[i], c]
    return out


def least_moves(information: Floats, moment: Floats, mass: float) -> Floats:
    """Return the smallest moves theta with information theta = moment, for (q, q) and (q, p) arrays.

    A shift costs nothing where constants are free (the spline): its information is rounding, of size `mass`.
    """
    values, vectors = np.linalg.eigh((information + information.T) / 2.0)
    vectors, values = vectors[:, values > 1e-12 * mass], values[values > 1e-12 * mass]
    return np.asarray(vectors @ ((vectors.T @ moment) / values[:, None]))


@dataclass(frozen=True)
class AltMinState:
    """What a callback sees after each iteration."""

    iteration: int
    objective: float
    levels: Floats
    labels: Ints
    smooth: Floats


@dataclass(frozen=True)
class Decomposition:
    """Labels, levels and the smooth part, as the alternation left them (no gauge applied)."""

    labels: Ints
    levels: Floats
    smooth: Floats
    tau: float
    objective: float
    loss: float
    history: list[float] = field(repr=False)
    n_iter: int
    converged: bool


def start_labels(problem: Problem, start: str | Ints, tau: float) -> tuple[Floats, Ints]:
    """Return the levels and labels that a start gives."""
    Y, model, weights = problem.Y, problem.level_model, problem.weights
    if isinstance(start, str):
        if start == "smooth":
            return model.start(Y - problem.half_step(tau), weights)
        return model.start(Y, weights)
    mass = np.bincount(start, weights)
    sums = np.stack([np.bincount(start, weights * Y[:, c]) for c in range(Y.shape[1])], axis=1)
    # The given labels stand; the levels are the best for them.
    return problem.profile_levels(model.near(np.asarray(sums / mass[:, None])), start, tau), start


def altmin(
    problem: Problem,
    tau: float,
    *,
    start: str | Ints = "smooth",
    max_iter: int = 300,
    tol: float = 1e-8,
    callback: Callable[[AltMinState], object] | None = None,
) -> Decomposition:
    """Run the alternation from one start, for one tau.

    Parameters
    ----------
    problem : Problem
    tau : float
    start : {"smooth", "kmeans"} or (n,) array of labels
        `"smooth"`: f from y first (the paper's one-step order); `"kmeans"`: levels from y first.
    max_iter : int
    tol : float
        Converged when the labels have settled and the objective falls by less than `tol` times itself.
    callback : callable, optional
        Called with an `AltMinState` after each iteration.

    Returns
    -------
    Decomposition

    Examples
    --------
    >>> from stepsmooth.line import LineSmoother
    >>> from stepsmooth.model import FreeLevels
    >>> rng = np.random.default_rng(0)
    >>> x, z = np.arange(1, 401) / 400, rng.integers(2, size=400)
    >>> y = np.sin(6 * x) + 3.0 * z
    >>> fit = altmin(Problem(y[:, None], LineSmoother(x, order=1), FreeLevels(2)), tau=1e-3)
    >>> bool(np.all(fit.labels == z))
    True
    """
    levels, labels = start_labels(problem, start, tau)
    f, loss, cost = problem.smooth_given(levels, labels, tau)
    history = [loss + cost]
    # An exact decomposition falls to the rounding of y, and no further.
    rounding = (10.0 * np.finfo(float).eps) ** 2 * np.average(np.sum(problem.Y**2, axis=1), weights=problem.weights)
    converged = False
    while not converged and len(history) <= max_iter:
        moved_levels, moved = problem.level_model.update(problem.Y - f, problem.weights, levels)
        # Few labels move any more: go to where the alternation would creep.
        settled = problem.weights[moved != labels].sum() <= SETTLED * problem.weights.sum()
        if settled:
            moved_levels = problem.profile_levels(moved_levels, moved, tau)
        moved_f, moved_loss, cost = problem.smooth_given(moved_levels, moved, tau)
        # Only rounding can make the objective rise, and then there is nothing left to gain.
        converged = history[-1] - (moved_loss + cost) <= (max(tol * history[-1], rounding) if settled else 0.0)
        if moved_loss + cost <= history[-1]:
            levels, labels, f, loss = moved_levels, moved, moved_f, moved_loss
        history.append(min(moved_loss + cost, history[-1]))
        if callback is not None:
            callback(AltMinState(len(history) - 1, history[-1], levels, labels, f))
    return Decomposition(labels, levels, f, tau, history[-1], loss, history, len(history) - 1, converged)
