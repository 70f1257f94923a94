"""How large and how small numbers may be: within these bounds squares and cubes stay within floating point.

Beyond them the answer would be wrong without a word, or a warning from deep inside; a change of units is all it takes.
"""

import numpy as np

from stepsmooth.estimators.settings import Settings
from stepsmooth.model.arrays import Anything, Floats

# Of values, whose squares are summed and multiplied.
SMALL, LARGE = 1e-80, 1e80
# Of lengths, of which a cubic spline takes the third power.
NEAR, FAR = 1e-30, 1e30
# Of weights, which are ratios of noise variances or numbers of observations.
LIGHT, HEAVY = 1e-12, 1e12
# Of tau, in units of the third (spline) or first (min) power of the extent of x.
SOFT, STIFF = 1e-60, 1e60
# Of what is subtracted from each other, in units of the difference: double precision keeps 16 digits.
DIGITS = 1e12


def check_fit(X: Floats, Y: Floats, weights: Floats, settings: Settings) -> None:
    """Refuse points, observations, weights and settings of `StepSmooth` that are beyond the bounds."""
    check_values("y", Y)
    check_weights("sample_weight", weights)
    if settings.precomputed:
        check_new_values("X", X)
    else:
        check_points(X)
    if not isinstance(settings.tau, str):
        power = {"spline": 3, "min": 1}.get(settings.kernel, 0) if isinstance(settings.kernel, str) else 0
        check_tau(settings.tau, float(np.ptp(X)), power)
    if settings.known is not None:
        check_known(settings.known, Y)
    check_mean(settings.mean, Y)


def check_values(name: str, values: Anything, small: float = SMALL, large: float = LARGE) -> None:
    """Refuse numbers whose size or spread is beyond the bounds; equal ones have no spread, and pass.

    Examples
    --------
    >>> check_values("y", [1.0, 2.0])
    >>> check_values("y", [0.0, 1e200])
    Traceback (most recent call last):
    ...
    ValueError: y must not exceed 1e+80 in size, for its squares would overflow, got 1e+200; change its unit.
    """
    low, high = float(np.min(values)), float(np.max(values))
    _check_size(name, max(-low, high), large)
    if low < high and high - low < small:
        raise ValueError(
            f"{name} must vary by at least {small:g}, for its squares would underflow, got {high - low:g}; "
            "change its unit."
        )


def check_new_values(name: str, values: Anything) -> None:
    """Refuse new observations of more than the largest size; they need not vary."""
    _check_size(name, float(np.max(np.abs(values))), LARGE)


def _check_size(name: str, size: float, large: float) -> None:
    if size > large:
        raise ValueError(
            f"{name} must not exceed {large:g} in size, for its squares would overflow, got {size:g}; change its unit."
        )


def check_points(X: Floats) -> None:
    """Refuse points (n, d) that lie too far out or, along an axis, too close together.

    Examples
    --------
    >>> check_points(np.array([[0.0], [1e-40]]))
    Traceback (most recent call last):
    ...
    ValueError: X must vary by at least 1e-30, for its squares would underflow, got 1e-40; change its unit.
    """
    for axis in X.T:
        check_values("X", axis, NEAR, FAR)


def check_weights(name: str, weights: Floats) -> None:
    """Refuse positive weights beyond the bounds; zero means absent, and passes."""
    inside = weights[weights > 0.0]
    if inside.size and (inside.min() < LIGHT or inside.max() > HEAVY):
        raise ValueError(
            f"{name} must be 0 or lie between {LIGHT:g} and {HEAVY:g}, got {inside.min():g} to {inside.max():g}; "
            "only their ratios matter to the joint solver, and to AltMin their sum is the number of observations."
        )


def check_tau(tau: float, extent: float, power: int) -> None:
    """Refuse a tau beyond which f is y itself, or as stiff as it can be, but for overflow.

    Examples
    --------
    >>> check_tau(1e-3, 1.0, 3)
    >>> check_tau(1e79, 1.0, 3)
    Traceback (most recent call last):
    ...
    ValueError: tau must lie between 1e-60 and 1e+60 for these points (there f is as rough or as stiff as can be), got
    1e+79.
    """
    unit = (extent or 1.0) ** power
    if not SOFT * unit <= tau <= STIFF * unit:
        raise ValueError(
            f"tau must lie between {SOFT * unit:g} and {STIFF * unit:g} for these points (there f is as rough or as "
            f"stiff as can be), got {tau:g}."
        )


def check_known(levels: Floats, Y: Floats) -> None:
    """Refuse known levels (M, p) that rounding cannot tell apart next to observations (n, p).

    Examples
    --------
    >>> check_known(np.array([[0.0], [1e-15]]), np.array([[0.0], [1.0]]))
    Traceback (most recent call last):
    ...
    ValueError: levels must differ by more than rounding next to y: at least by 1e-12, got 1e-15.
    """
    check_values("levels", levels, 0.0)
    if len(levels) < 2:
        return
    apart = np.max(np.abs(levels[:, None] - levels[None]), axis=2)
    gap = float(apart[~np.eye(len(levels), dtype=bool)].min())
    far = float(
        max(np.max(np.abs(Y.max(axis=0) - levels.min(axis=0))), np.max(np.abs(levels.max(axis=0) - Y.min(axis=0))))
    )
    if gap * DIGITS < far:
        raise ValueError(
            f"levels must differ by more than rounding next to y: at least by {far / DIGITS:g}, got {gap:g}."
        )


def check_mean(mean: float, Y: Floats) -> None:
    """Refuse a gauge so far from the data that subtracting it would leave no digits of them."""
    spread = float(np.ptp(Y)) or float(np.max(np.abs(Y)))
    if abs(mean) > DIGITS * (spread or LARGE / DIGITS):
        raise ValueError(f"mean must not exceed {DIGITS:g} times the spread of y, {spread:g}, got {mean:g}.")
