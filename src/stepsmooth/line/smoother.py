"""The smoother on a line: the min kernel and the cubic spline in O(n)."""

import numpy as np
from scipy.interpolate import CubicSpline

from stepsmooth.line import statespace
from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.model.smoother import solved_products

# The shortest step, in units of the mean one: its fourth power must not underflow.
SHORTEST = 1e-60


class LineSmoother:
    """f of the min kernel (order 1) or of the cubic smoothing spline (order 2) at points on a line.

    It solves the same problem as `points.DenseSmoother` with `MinKernel` or `CubicSplineKernel`, in O(n) time
    and memory. Points may come in any order and may repeat: repeated x share one value of f.

    Parameters
    ----------
    x : (n,) or (n, 1) array
    weights : (n,) array of positive numbers, optional
    order : {1, 2}
    origin : float, optional
        Where f of order 1 is zero; by default 0 if all x >= 0, else min x. Order 2 has no origin.

    Examples
    --------
    >>> x = np.linspace(0, 1, 5)
    >>> spline = LineSmoother(x, order=2)
    >>> np.round(1.0 + spline.solve(4.0 * x, tau=10.0), 6)  # a straight line is free
    array([1., 2., 3., 4., 5.])
    >>> round(spline.trace(1e9), 6)
    2.0
    """

    def __init__(self, x: Anything, weights: Anything = None, *, order: int = 2, origin: float | None = None) -> None:
        if order not in (1, 2):
            raise ValueError(f"order must be 1 (min kernel) or 2 (cubic spline), got {order!r}.")
        x = np.asarray(x, dtype=np.float64).reshape(-1)
        self.order = order
        self.weights = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
        self.n_effective = float(self.weights.sum())
        self._inverse: Ints | None = None
        self._mass: Floats
        if len(x) and np.all(x[1:] > x[:-1]):
            self._knots, self._mass = x, self.weights
        else:
            knots, inverse = np.unique(x, return_inverse=True)
            self._knots = knots
            self._inverse = inverse.astype(np.int64)
            self._mass = np.asarray(np.bincount(self._inverse, self.weights), dtype=np.float64)
        lowest = float(self._knots[0])
        self.origin = (0.0 if lowest >= 0.0 else lowest) if origin is None else float(origin)
        if order == 1 and lowest < self.origin:
            raise ValueError(f"origin must not lie right of the data, got origin {self.origin:g} and min x {lowest:g}.")
        # At the origin f is 0, whatever was observed.
        at_origin = order == 1 and lowest == self.origin
        self.dof_range = (0.0 if order == 1 else min(2.0, len(self._knots)), float(len(self._knots) - at_origin))
        # The unit of length is the mean step: the state-space numbers stay near 1 whatever the unit of x.
        span = float(self._knots[-1]) - (self.origin if order == 1 else lowest)
        self._unit = span / len(self._knots) if span > 0.0 else 1.0
        start = self.origin if order == 1 else lowest
        self._dx = np.diff(self._knots, prepend=start) / self._unit
        np.maximum(self._dx[1:], SHORTEST, out=self._dx[1:])
        # One attribute, set at once: threads that ask for different tau do not get each other's gains.
        self._factored: tuple[float | None, Floats, Anything] = (None, self._mass, ())

    def solve(self, residual: Floats, tau: float) -> Floats:
        """Return f at the points."""
        f = self._at_knots(residual, tau)[0]
        return f if self._inverse is None else np.asarray(f[self._inverse])

    def at(self, X_new: Anything, residual: Floats, tau: float) -> Floats:
        """Return f at new points: linear (order 1) or cubic (order 2) between the points, as the norm has it."""
        t = np.asarray(X_new, dtype=np.float64).reshape(-1)
        f, second = self._at_knots(residual, tau)
        if f.ndim == 1:
            return self._evaluate(t, f, second)
        return np.column_stack([self._evaluate(t, f[:, c], second[:, c]) for c in range(f.shape[1])])

    def products(self, D: Floats, labels: Ints, residual: Floats, tau: float) -> Floats:
        """Return ZD' W (I - S) (ZD, r), from the innovations of the filter unless points repeat."""
        if self._inverse is not None:
            return solved_products(self, D, labels, residual, tau)
        h, gains = self._factor(tau)
        if self.order == 1:
            F, k = gains
            out: Floats = statespace.products1(F, k, D, labels, residual)
        else:
            F, k, stretch, back, keep = gains
            out = statespace.products2(F, k, stretch, back, keep, self._dx, h, D, labels, residual)
        return self._weighted(out, h)

    def squares(self, y: Floats, Z: Floats, tau: float) -> Floats:
        """Return (y, Z)' W (I - S) (y, Z), what is left of y (n,) and of columns Z (n, M) once f adapts to them."""
        if self._inverse is not None:
            columns = np.column_stack([y, Z])
            return np.asarray((self.weights[:, None] * columns).T @ (columns - self.solve(columns, tau)))
        h, gains = self._factor(tau)
        if self.order == 1:
            F, k = gains
            out: Floats = statespace.squares1(F, k, y, Z)
        else:
            F, k, stretch, back, keep = gains
            out = statespace.squares2(F, k, stretch, back, keep, self._dx, h, y, Z)
        return self._weighted(out, h)

    def _weighted(self, half: Floats, h: Floats) -> Floats:
        """Return products with W (I - S) = lam V^-1, given the upper half of those with V^-1."""
        q = len(half)
        half[:, :q] += np.triu(half[:, :q], 1).T
        return np.asarray(h[0] * self._mass[0] * half)

    def leverage(self, tau: float) -> Floats:
        """Return the diagonal of S."""
        h, gains = self._factor(tau)
        if self.order == 1:
            F, k = gains
            out: Floats = statespace.leverage1(F, k, h)
        else:
            F, k, stretch, back, keep = gains
            out = statespace.leverage2(F, k, stretch, back, keep, self._dx, h)
        # A point shares the leverage of its knot in proportion to its weight.
        return out if self._inverse is None else np.asarray((out / self._mass)[self._inverse] * self.weights)

    def trace(self, tau: float) -> float:
        """Return tr S."""
        return float(self.leverage(tau).sum())

    def logdet(self, tau: float) -> float:
        """Return log det(I + K / tau): the innovation variances, relative to the noise's."""
        h, gains = self._factor(tau)
        line = 0.0
        if self.order == 2 and len(self._knots) > 1:  # the first two points fix the free straight line
            line = float(np.log(self._mass[0] * self._mass[1]) + 2.0 * np.log(self._dx[1] * self._unit))
        return line + float(statespace.log_ratios(gains[0], h))

    def reweighted(self, weights: Floats) -> "LineSmoother":
        """Return the smoother of the same points with other weights."""
        x = self._knots if self._inverse is None else self._knots[self._inverse]
        return LineSmoother(x, weights, order=self.order, origin=self.origin)

    def norm2(self, f: Floats) -> float:
        """Return the norm of the broken line (order 1) or natural cubic spline (order 2) through f."""
        knots, values = self._knots, np.asarray(f, dtype=np.float64)
        if self._inverse is not None:
            values = values[np.unique(self._inverse, return_index=True)[1]]
        if self.order == 1:
            steps, jumps = self._dx * self._unit, np.diff(values, prepend=0.0)
            if steps[0] == 0.0:
                steps, jumps = steps[1:], jumps[1:]
            return float(np.sum(jumps**2 / steps))
        if len(knots) < 3:
            return 0.0
        second = CubicSpline(knots, values, bc_type="natural").derivative(2)(knots)
        left, right = second[:-1], second[1:]
        return float(np.sum(np.diff(knots) * (left**2 + left * right + right**2)) / 3.0)

    def _factor(self, tau: float) -> tuple[Floats, Anything]:
        """Return the noise h and the gains, of which the last are kept."""
        last, h, gains = self._factored
        if last != tau:
            # lam = n tau; a length enters |f|^2 with the power 1 - 2 order.
            h = self.n_effective * tau / self._unit ** (2 * self.order - 1) / self._mass
            gains = (statespace.gains1 if self.order == 1 else statespace.gains2)(self._dx, h)
            self._factored = (tau, h, gains)
        return h, gains

    def _at_knots(self, residual: Floats, tau: float) -> tuple[Floats, Floats]:
        """Return f and f'' (in the unit of length of the state) at the distinct points."""
        h, gains = self._factor(tau)
        r = np.asarray(residual, dtype=np.float64)
        if r.ndim == 2:
            f, second = np.empty((2, len(self._knots), r.shape[1]))
            for c in range(r.shape[1]):
                f[:, c], second[:, c] = self._at_knots(np.ascontiguousarray(r[:, c]), tau)
            return f, second
        data = r
        if self._inverse is not None:
            r = np.bincount(self._inverse, self.weights * r) / self._mass
        if tau == 0.0:
            self._check_interpolable(data, r)
        if self.order == 1:
            F, k = gains
            f = statespace.smooth1(F, k, h, r)
            return f, np.zeros_like(f)
        F, k, stretch, back, keep = gains
        return statespace.smooth2(F, k, stretch, back, keep, self._dx, h, r)

    def _check_interpolable(self, data: Floats, means: Floats) -> None:
        """Refuse to interpolate two values at one point, or a value other than 0 at the origin of order 1."""
        wanted = means if self._inverse is None else means[self._inverse]
        error, size = np.abs(wanted - data).max(), np.abs(data).max()
        if self.order == 1 and self._dx[0] == 0.0:
            error = max(error, abs(means[0]))
        if error > 1e-6 * size:
            raise ValueError(
                "tau = 0 asks for interpolation, but no function of this space passes through the data (points that "
                "coincide with different values, or a value at the origin of the min kernel?); use tau > 0."
            )

    def _evaluate(self, t: Floats, f: Floats, second: Floats) -> Floats:
        knots = self._knots
        if self.order == 1:
            if t.size and t.min() < self.origin:
                raise ValueError(
                    f"kernel='min' starts at origin {self.origin:g}, but x = {t.min():g} was asked for; "
                    "it knows nothing to the left of its origin."
                )
            if knots[0] > self.origin:
                knots, f = np.append(self.origin, knots), np.append(0.0, f)
            return np.interp(t, knots, f)
        if len(knots) == 1:
            return np.full_like(t, f[0])
        # f on [x_j, x_{j+1}] from the values and second derivatives at both ends; straight outside.
        j = np.clip(np.searchsorted(knots, t, side="right") - 1, 0, len(knots) - 2)
        step = (knots[j + 1] - knots[j]) / self._unit
        p = np.clip((t - knots[j]) / (knots[j + 1] - knots[j]), 0.0, 1.0)
        q = 1.0 - p
        bend = (q**3 - q) * second[j] + (p**3 - p) * second[j + 1]
        inside = q * f[j] + p * f[j + 1] + bend * step**2 / 6.0
        below, above = np.minimum(t - knots[0], 0.0) / self._unit, np.maximum(t - knots[-1], 0.0) / self._unit
        return np.asarray(inside + below * self._end_slope(f, second, 0) + above * self._end_slope(f, second, -1))

    def _end_slope(self, f: Floats, second: Floats, end: int) -> float:
        """Return f' at the first (0) or last (-1) point, in the unit of length of the state."""
        steps = self._dx[1:]
        # The chord between two points that nearly coincide has no digits: take the next wide step, and integrate f''.
        j = np.flatnonzero(steps >= 0.5)[end]
        chord, turn = (f[j + 1] - f[j]) / steps[j], (second[:-1] + second[1:]) * steps / 2.0
        if end == 0:
            return float(chord - (2.0 * second[j] + second[j + 1]) * steps[j] / 6.0 - turn[:j].sum())
        return float(chord + (second[j] + 2.0 * second[j + 1]) * steps[j] / 6.0 + turn[j + 1 :].sum())
