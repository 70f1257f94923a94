"""The smoother of AltMin on grids: tensor products of cubic smoothing splines, as csaps computes them.

Along an axis of n_a voxels the spline of the paper has S_a = (I + n_a tau K_a)^-1, K_a the roughness matrix of natural
cubic splines; on the grid S is their tensor product. It minimises |r - f|^2 + f'(S^-1 - I) f. With weights or a mask
the first term becomes a weighted sum, and f solves (W + S^-1 - I) f = W r by conjugate gradients in u = S^-1/2 f.
"""

from functools import cached_property, reduce

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from stepsmooth.grid.volume import Bools
from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.model.smoother import solved_products

# Relative residual at which the iteration stops.
TOLERANCE = 1e-10
MOST_STEPS = 2000
# Modes that keep more than this are solved for exactly, up to so many of them.
SLOW, MOST_SLOW = 0.02, 1500
# Voxels in a row say nothing of the slope across it: such directions of f get this little curvature, and stay at zero.
RIDGE = 1e-9
# Random signs that estimate a trace where the grid has holes.
N_PROBES = 8


SlowModes = tuple[tuple[slice, ...], tuple[Floats, bool], float]


class TensorSmoother:
    """Smooth values at the voxels of a mask.

    Parameters
    ----------
    present : array of bool, any number of dimensions
        Where values are given; f is defined everywhere.
    weights : (n,) array of positive numbers, optional
        One for each present voxel; only their ratios matter.
    spacing : tuple of float, optional
        The distance of voxels along each axis.

    Examples
    --------
    >>> smoother = TensorSmoother(np.ones((4, 5), dtype=bool))
    >>> plane = np.add.outer(np.arange(4.0), np.arange(5.0)).ravel()
    >>> bool(np.allclose(smoother.solve(plane, 0.1), plane))
    True
    """

    def __init__(self, present: Bools, weights: Floats | None = None, spacing: tuple[float, ...] | None = None) -> None:
        self.present = present
        self.weights = np.ones(int(present.sum())) if weights is None else weights
        self.spacing = (1.0,) * present.ndim if spacing is None else spacing
        self._full = bool(present.all()) and bool(np.all(self.weights == self.weights[0]))
        self._mass = np.zeros(present.shape)
        self._mass[present] = self.weights / self.weights.mean()
        self._slow: dict[float, SlowModes] = {}

    @cached_property
    def _axes(self) -> list[tuple[Floats, Floats]]:
        """Return the eigenvalues and eigenvectors of the roughness matrix of each axis."""
        return [axis_modes(n, h) for n, h in zip(self.present.shape, self.spacing)]

    @property
    def dof_range(self) -> tuple[float, float]:
        """Return tr S as tau -> infinity, the number of multilinear functions, and as tau -> 0."""
        return float(np.prod([min(n, 2) for n in self.present.shape])), float(len(self.weights))

    def solve(self, residual: Floats, tau: float) -> Floats:
        """Return f at the present voxels."""
        if residual.ndim == 2:
            return np.stack([self.solve(column, tau) for column in residual.T], axis=1)
        return np.asarray(self.everywhere(residual, tau)[self.present])

    def everywhere(self, residual: Floats, tau: float) -> Floats:
        """Return f on the whole grid, for a residual (n,)."""
        image = np.zeros(self.present.shape)
        image[self.present] = residual
        modes = [vectors for _, vectors in self._axes]
        shrink = self._shrinkage(tau)
        if self._full:
            return _transform(shrink * _transform(image, modes, adjoint=True), modes)
        root = np.sqrt(shrink)

        corner, factor, ridge = self._slow_modes(tau, root)

        def apply(v: Floats) -> Floats:
            f = _transform(root * v, modes)
            return np.asarray((1.0 + ridge) * v + root * _transform((self._mass - 1.0) * f, modes, adjoint=True))

        def precondition(v: Floats) -> Floats:
            solved = v.copy()
            solved[corner] = cho_solve(factor, v[corner].ravel()).reshape(v[corner].shape)
            return solved

        target = root * _transform(self._mass * image, modes, adjoint=True)
        return _transform(root * conjugate_gradients(apply, target, precondition), modes)

    def _slow_modes(self, tau: float, root: Floats) -> SlowModes:
        """Return the corner of modes that smoothing lets through, the factored equations within it, and their ridge.

        Beyond that corner the equations are nearly the identity: solving the corner exactly makes the iteration short.
        """
        if tau not in self._slow:
            counts = [int(np.count_nonzero(1.0 / (1.0 + n * tau * values) > SLOW)) for n, (values, _) in self._sized()]
            while np.prod(counts) > MOST_SLOW:
                counts[int(np.argmax(counts))] -= 1
            corner = tuple(slice(0, k) for k in counts)
            holes = self._mass - 1.0
            for a in reversed(range(len(counts))):
                low = self._axes[a][1][:, : counts[a]]
                pairs = (low[:, :, None] * low[:, None, :]).reshape(len(low), -1)
                holes = np.moveaxis(np.tensordot(holes, pairs, axes=(a, 0)), -1, a)
            size = int(np.prod(counts))
            paired = holes.reshape([k for count in counts for k in (count, count)])
            order = [2 * a for a in range(len(counts))] + [2 * a + 1 for a in range(len(counts))]
            scale = root[corner].ravel()
            system = scale[:, None] * paired.transpose(order).reshape(size, size) * scale
            system[np.diag_indices(size)] += 1.0
            self._slow = {tau: (corner, *_factored(system))}  # the last one only: it is the one in use
        return self._slow[tau]

    def at(self, X_new: Anything, residual: Floats, tau: float) -> Floats:
        """Return the same f at any voxels, given by their flat indices."""
        if residual.ndim == 2:
            return np.stack([self.at(X_new, column, tau) for column in residual.T], axis=1)
        return np.asarray(self.everywhere(residual, tau).ravel()[np.asarray(X_new)])

    def trace(self, tau: float) -> float:
        """Return tr S: exact on a full grid, estimated from random signs (always the same) where it has holes."""
        if self._full:
            return float(np.sum(self._shrinkage(tau)))
        return float(np.sum(self.leverage(tau)))

    products = solved_products

    def leverage(self, tau: float) -> Floats:
        """Return the diagonal of S, exact or estimated as in `trace`."""
        if self._full:
            squares = [(vectors**2) @ (1.0 / (1.0 + n * tau * values)) for n, (values, vectors) in self._sized()]
            return np.asarray(reduce(np.multiply.outer, squares).ravel())
        rng = np.random.default_rng(0)
        signs = rng.choice([-1.0, 1.0], size=(len(self.weights), N_PROBES))
        return np.asarray(np.mean(signs * self.solve(signs, tau), axis=1))

    def logdet(self, tau: float) -> float:
        """Refuse: the determinant of the masked problem is not known."""
        raise NotImplementedError("the restricted likelihood is not available for tensor splines; use tau='gcv'.")

    def reweighted(self, weights: Floats) -> "TensorSmoother":
        """Return the smoother of the same voxels with other weights."""
        return TensorSmoother(self.present, weights, self.spacing)

    def _sized(self) -> list[tuple[int, tuple[Floats, Floats]]]:
        return list(zip(self.present.shape, self._axes))

    def _shrinkage(self, tau: float) -> Floats:
        """Return the eigenvalues of S, on the grid of modes."""
        return np.asarray(
            reduce(np.multiply.outer, [1.0 / (1.0 + n * tau * values) for n, (values, _) in self._sized()])
        )


def _factored(system: Floats) -> tuple[tuple[Floats, bool], float]:
    """Return the Cholesky factor of the equations, and the ridge that they needed for one."""
    try:
        factor = cho_factor(system, lower=True)
        if np.diag(factor[0]).min() ** 2 > RIDGE:
            return factor, 0.0
    except LinAlgError:
        pass
    system[np.diag_indices(len(system))] += RIDGE
    return cho_factor(system, lower=True), RIDGE


def axis_modes(n: int, spacing: float) -> tuple[Floats, Floats]:
    """Return eigenvalues and eigenvectors of the roughness matrix of natural cubic splines on n even points."""
    if n < 3:
        return np.zeros(n), np.eye(n)
    second = np.zeros((n, n - 2))
    inner = np.arange(n - 2)
    second[inner, inner] = second[inner + 2, inner] = 1.0 / spacing
    second[inner + 1, inner] = -2.0 / spacing
    band = np.diag(np.full(n - 2, 2.0 * spacing / 3.0))
    band += np.diag(np.full(n - 3, spacing / 6.0), 1) + np.diag(np.full(n - 3, spacing / 6.0), -1)
    values, vectors = eigh(second @ np.linalg.solve(band, second.T))
    values[:2] = 0.0  # straight lines cost nothing; rounding says otherwise
    return np.maximum(values, 0.0), vectors


def _transform(image: Floats, modes: list[Floats], *, adjoint: bool = False) -> Floats:
    """Return the image from its modes, or (adjoint) the modes of an image."""
    for a, vectors in enumerate(modes):
        image = np.moveaxis(np.tensordot(vectors, image, axes=(0 if adjoint else 1, a)), 0, a)
    return np.ascontiguousarray(image)


def conjugate_gradients(apply: Anything, target: Floats, precondition: Anything) -> Floats:
    """Return the solution of apply(v) = target for a symmetric positive definite map."""
    v = np.zeros_like(target)
    rest = target.copy()
    enough = TOLERANCE**2 * float(np.vdot(rest, rest))
    pushed = precondition(rest)
    direction = pushed.copy()
    height = float(np.vdot(rest, pushed))
    for _ in range(MOST_STEPS):
        if float(np.vdot(rest, rest)) <= enough:
            break
        moved = apply(direction)
        step = height / float(np.vdot(direction, moved))
        v += step * direction
        rest -= step * moved
        pushed = precondition(rest)
        before, height = height, float(np.vdot(rest, pushed))
        direction = pushed + (height / before) * direction
    return v
