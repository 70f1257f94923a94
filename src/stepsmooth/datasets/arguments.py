"""What the generators accept: one check per kind of argument, each refusing with one sentence.

The sentence names the argument, what is accepted and what was found.
"""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np

Seed = int | np.random.Generator | None
"""What ``random_state`` may be."""


def whole_number(name: str, value: object, *, least: int) -> int:
    """Return `value` as an int, if it is a whole number of at least `least`.

    Examples
    --------
    >>> whole_number("n_samples", 400, least=1)
    400
    >>> whole_number("n_samples", 0, least=1)
    Traceback (most recent call last):
    ...
    ValueError: n_samples must be a whole number of at least 1; found 0.
    """
    wanted = f"{name} must be a whole number of at least {least}; found {value!r}."
    # bool is an Integral, but True samples is a slip, not a number.
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(wanted)
    if value < least:
        raise ValueError(wanted)
    return int(value)


def real_number(
    name: str,
    value: object,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float | None = None,
) -> float:
    """Return `value` as a float, if it is a finite number in the stated range.

    `least` and `most` belong to the range, `above` does not.

    Examples
    --------
    >>> real_number("switching", 0.05, least=0, most=1)
    0.05
    >>> real_number("gap", 0.0, above=0)
    Traceback (most recent call last):
    ...
    ValueError: gap must be a finite number above 0; found 0.0.
    """
    if above is not None:
        span = f" above {above:g}"
    elif math.isfinite(most):
        span = f" between {least:g} and {most:g}"
    elif math.isfinite(least):
        span = f" of at least {least:g}"
    else:
        span = ""
    wanted = f"{name} must be a finite number{span}; found {value!r}."
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(wanted)
    number = float(value)
    inside = least <= number <= most and (above is None or number > above)
    if not (math.isfinite(number) and inside):
        raise ValueError(wanted)
    return number


def flag(name: str, value: object) -> bool:
    """Return `value` as a bool, if it is one.

    Examples
    --------
    >>> flag("equispaced", "no")
    Traceback (most recent call last):
    ...
    TypeError: equispaced must be True or False; found 'no'.
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; found {value!r}.")
    return bool(value)


def generator(random_state: object) -> np.random.Generator:
    """Return the random generator that `random_state` stands for.

    A generator is used as it is, so that successive calls draw successive data; a number gives the same
    data every time; None gives fresh data.

    Examples
    --------
    >>> bool(generator(0).integers(10) == generator(0).integers(10))
    True
    >>> generator("zero")
    Traceback (most recent call last):
    ...
    TypeError: random_state must be None, a whole number of at least 0 or a numpy Generator; found 'zero'.
    """
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return random_state
    wanted = f"random_state must be None, a whole number of at least 0 or a numpy Generator; found {random_state!r}."
    if isinstance(random_state, bool | np.bool_) or not isinstance(random_state, Integral):
        raise TypeError(wanted)
    if random_state < 0:
        raise ValueError(wanted)
    return np.random.default_rng(int(random_state))
