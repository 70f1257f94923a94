"""What the functions of the theory accept: each check returns a plain array, or refuses with one sentence."""

import numpy as np

from stepsmooth.model.arrays import Anything, Floats, Ints


def point_cloud(X: Anything) -> Floats:
    """Return points as a finite (n, d) array of at least two distinct points; numbers alone lie on a line.

    Examples
    --------
    >>> point_cloud([1.0, 2.0])
    array([[1.],
           [2.]])
    >>> point_cloud([[0.0, 1.0]])
    Traceback (most recent call last):
    ...
    ValueError: X must hold at least two points; found 1.
    """
    array = np.asarray(X, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"X must be points of shape (n, d), or (n,) on a line; found shape {array.shape}.")
    if len(array) < 2:
        raise ValueError(f"X must hold at least two points; found {len(array)}.")
    wrong = int(np.sum(~np.isfinite(array)))
    if wrong:
        raise ValueError(f"X must be finite; found {wrong} of {array.size} values NaN or infinite.")
    if np.all(array == array[0]):
        raise ValueError(f"X must hold at least two distinct points; all {len(array)} are equal.")
    return array


def distance_matrix(X: Anything) -> Floats:
    """Return precomputed distances, if they are a symmetric matrix of at least two distinct points.

    Examples
    --------
    >>> distance_matrix([[0.0, 1.0], [2.0, 0.0]])
    Traceback (most recent call last):
    ...
    ValueError: X must be a symmetric matrix if metric="precomputed"; entries (0, 1) and (1, 0) are 1 and 2.
    """
    array = np.asarray(X, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f'X must be a square matrix if metric="precomputed"; found shape {array.shape}.')
    if len(array) < 2:
        raise ValueError(f"X must hold at least two points; found {len(array)}.")
    for i in range(len(array)):  # row by row, so that memory stays linear
        row, column = array[i], array[:, i]
        if not np.all(np.isfinite(row)) or row.min() < 0.0 or row[i] != 0.0:
            raise ValueError(
                f'X must be finite, at least 0 and 0 on the diagonal if metric="precomputed"; row {i} is not.'
            )
        if not np.allclose(row, column, rtol=1e-10, atol=0.0):
            j = int(np.argmax(np.abs(row - column)))
            raise ValueError(
                'X must be a symmetric matrix if metric="precomputed"; '
                f"entries ({i}, {j}) and ({j}, {i}) are {row[j]:g} and {column[j]:g}."
            )
    if not array.any():
        raise ValueError(f"X must hold at least two distinct points; all {len(array)} are equal.")
    return array


def label_codes(labels: Anything, n: int, n_levels: int | None = None) -> Ints:
    """Return labels as ints, if they number at least two clusters from 0, none of them empty.

    Examples
    --------
    >>> label_codes([0, 2, 2], 3)
    Traceback (most recent call last):
    ...
    ValueError: labels must use every number from 0 to 2; no point has the label 1.
    """
    array = np.asarray(labels)
    if array.shape != (n,):
        raise ValueError(f"labels must hold one label for each of the {n} points, ({n},); found shape {array.shape}.")
    with np.errstate(invalid="ignore"):
        codes = array.astype(np.int64)
    if np.any(codes != array) or codes.min() < 0:
        wrong = array[(codes != array) | (codes < 0)][0].item()
        raise ValueError(f"labels must be whole numbers from 0; found {wrong!r}.")
    count = int(codes.max()) + 1 if n_levels is None else n_levels
    if codes.max() >= count:
        raise ValueError(f"labels must be below the number of levels, {count}; found {codes.max()}.")
    if count < 2:
        raise ValueError("labels must form at least two clusters; found one.")
    sizes = np.bincount(codes, minlength=count)
    if sizes.min() == 0:
        raise ValueError(
            f"labels must use every number from 0 to {count - 1}; no point has the label {int(np.argmin(sizes))}."
        )
    return codes


def level_columns(levels: Anything) -> Floats:
    """Return at least two distinct levels as a finite (M, p) array, scalar ones as one column.

    Examples
    --------
    >>> level_columns([1.0, 2.0])
    array([[1.],
           [2.]])
    """
    array = np.asarray(levels, dtype=np.float64)
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"levels must be of shape (M,) or (M, p); found shape {array.shape}.")
    if len(array) < 2:
        raise ValueError("levels must be at least two; found one, so there are no labels to recover.")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"levels must be finite; found {int(np.sum(~np.isfinite(array)))} that are not.")
    return array.reshape(len(array), -1)


def positive(name: str, value: Anything, *, zero: bool = False) -> float:
    """Return a finite number above 0, or at least 0 if `zero`.

    Examples
    --------
    >>> positive("rho", -1)
    Traceback (most recent call last):
    ...
    ValueError: rho must be a finite number above 0; found -1.
    """
    number = float(value)
    if not np.isfinite(number) or number < 0.0 or (number == 0.0 and not zero):
        raise ValueError(f"{name} must be a finite number {'of at least' if zero else 'above'} 0; found {value!r}.")
    return number
