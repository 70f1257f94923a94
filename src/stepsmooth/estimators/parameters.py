"""What the parameters may be; each refusal is a sentence: the argument, what was found, what is accepted."""

import numbers
from collections.abc import Collection

import numpy as np

from stepsmooth.model.arrays import Anything, Floats, Ints

KERNELS = ("auto", "min", "sobolev1", "sobolev2", "spline", "rbf", "matern", "precomputed")
SOLVERS = ("auto", "altmin", "joint")
STARTS = ("auto", "smooth", "kmeans")
TAU_METHODS = ("auto", "gcv", "cv", "reml")
LABEL_PRIORS = ("auto", "uniform", "proportions", "markov")
FIELDS = ("shared", "per_channel")
MISSING = ("raise", "drop")


def check_choice(name: str, value: Anything, accepted: Collection[str], *, also: str = "") -> str:
    """Return `value` if it is one of the accepted names."""
    if not isinstance(value, str) or value not in accepted:
        names = ", ".join(repr(a) for a in accepted)
        raise ValueError(f"{name} must be one of {names}{also}, got {value!r}.")
    return value


def check_number(name: str, value: Anything, least: float, *, strict: bool = False, also: str = "") -> float:
    """Return `value` as a float if it is a finite number, at least (or, if strict, above) `least`."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not number or value < least or (strict and value == least):
        bound = "" if least == -np.inf else f" above {least:g}" if strict else f" of at least {least:g}"
        raise ValueError(f"{name} must be a finite number{bound}{also}, got {value!r}.")
    return float(value)


def check_count(name: str, value: Anything, least: int = 1, *, also: str = "") -> int:
    """Return `value` as an int if it is a whole number of at least `least`."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}{also}, got {value!r}.")
    return int(value)


def check_kernel(kernel: Anything) -> None:
    """Refuse what is neither a name nor something that can be called."""
    if isinstance(kernel, str):
        check_choice("kernel", kernel, KERNELS, also=", a callable or a scikit-learn kernel")
    elif not callable(kernel):
        raise ValueError(f"kernel must be a name, a callable or a scikit-learn kernel, got {kernel!r}.")


def check_start(start: Anything, n_samples: int) -> str | Ints:
    """Return the name of a start, or an array of labels."""
    if isinstance(start, str):
        name = check_choice("start", start, STARTS, also=", or an array of labels")
        return "smooth" if name == "auto" else name
    labels = np.asarray(start)
    if labels.shape != (n_samples,) or not np.issubdtype(labels.dtype, np.integer) or labels.min() < 0:
        raise ValueError(
            f"start must be one of {', '.join(map(repr, STARTS))}, or an array of {n_samples} labels 0, 1, ..., "
            f"got {labels.dtype} values of shape {labels.shape}."
        )
    return labels.astype(np.int64)


def check_levels(levels: Anything, free_shift: bool, n_channels: int) -> Floats | None:
    """Return known levels as an ascending (M, p) array, or None if they are free."""
    if levels is None:
        if free_shift:
            raise ValueError("free_shift=True needs known levels, but levels is None; give their values up to a shift.")
        return None
    if isinstance(levels, str):
        raise ValueError(f"levels must be None, 'ladder' or an array of known levels, got {levels!r}.")
    known = np.asarray(levels, dtype=np.float64)
    known = known[:, None] if known.ndim == 1 else known
    if known.ndim != 2 or len(known) < 1 or known.shape[1] != n_channels or not np.all(np.isfinite(known)):
        raise ValueError(
            f"levels must be finite, of shape (M,) or (M, {n_channels}) for y of {n_channels} channel(s), "
            f"got shape {np.shape(levels)}."
        )
    if len(np.unique(known, axis=0)) < len(known):
        raise ValueError("levels must be distinct, but some are given twice.")
    return np.asarray(known[np.argsort(known[:, 0], kind="stable")])


def check_plain(name: str, values: Anything) -> None:
    """Refuse dates, whose unit a number does not keep, and masks, which a plain array loses."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries; put NaN there in y and use missing='drop', or leave them out.")
    if np.asarray(values).dtype.kind in "mM":
        raise ValueError(f"{name} must be numbers, got dates; express times as numbers, for example in seconds.")


def count_distinct(Y: Floats, most: int) -> int:
    """Return the number of distinct rows, but no more than `most`."""
    # Nearly always a few rows settle it, and a million need not be sorted.
    for part in (Y[:1000], Y):
        distinct = len(np.unique(part, axis=0))
        if distinct >= most:
            return most
    return distinct


def check_weights(sample_weight: Anything, n: int) -> Floats:
    """Return the weights as an array of our own, ones by default."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must be numbers, got {sample_weight!r}.") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must be one number for each of the {n} points, got shape {weights.shape}.")
    if not np.all(np.isfinite(weights)) or weights.min() < 0.0:
        raise ValueError("sample_weight must be finite and not negative, but some are NaN, infinite or below 0.")
    if not weights.any():
        raise ValueError("sample_weight must be positive somewhere, but all weights are zero.")
    return weights
