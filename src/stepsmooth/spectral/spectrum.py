"""The empirical eigenvalues and eigenvectors of a kernel at the points, and signals expanded in them.

The paper's kernel matrix is K(x_i, x_j) / n. Its figure for the min kernel, lambda_n ~ 1 / (4 n), and the slope -1 that
follows from it hold for the matrix without the division; with it, lambda_n ~ 1 / (4 n^2). Both are here, by name.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.fft import rfft
from scipy.linalg import eigh

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.model.kernels import Kernel

SCALINGS = ("K/n", "K")


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues in descending order, and the way from a signal to its coefficients.

    Attributes
    ----------
    eigenvalues : (n,) array
    scaling : {"K/n", "K"}
        Of which matrix: the paper's, or the kernel matrix itself.
    coefficients : callable
        Takes signals of shape (..., n) and returns V' g of the same shape.
    """

    eigenvalues: Floats
    scaling: str
    coefficients: Callable[[Anything], Floats]


def dense_spectrum(kernel: Kernel, X: Anything, *, scaling: str = "K/n") -> Spectrum:
    """Return the spectrum of any kernel at any points, in O(n^3).

    Parameters
    ----------
    kernel : Kernel
    X : (n, d) array
    scaling : {"K/n", "K"}, default="K/n"

    Returns
    -------
    Spectrum

    Examples
    --------
    >>> from stepsmooth.model import MinKernel
    >>> dense_spectrum(MinKernel(), [[0.5], [1.0]]).eigenvalues.round(4)
    array([0.6545, 0.0955])
    """
    points = np.asarray(X, dtype=np.float64)
    n = len(points)
    matrix = np.asarray(kernel(points), dtype=np.float64) / (n if check_scaling(scaling) == "K/n" else 1.0)
    values, vectors = eigh(matrix)
    descending = vectors[:, ::-1]
    return Spectrum(np.maximum(values[::-1], 0.0), scaling, lambda g: np.asarray(_signals(g, n) @ descending))


def min_kernel_spectrum(n: int, *, scaling: str = "K/n") -> Spectrum:
    """Return the spectrum of the min kernel at x = 1/n, ..., 1, in closed form; coefficients in O(n log n).

    The j-th eigenvalue of K is 1 / (4 n sin^2((2 j - 1) pi / (2 (2 n + 1)))), and its eigenvector has the entries
    2 / sqrt(2 n + 1) sin(i (2 j - 1) pi / (2 n + 1)).

    Parameters
    ----------
    n : int
    scaling : {"K/n", "K"}, default="K/n"

    Returns
    -------
    Spectrum

    Examples
    --------
    >>> spectrum = min_kernel_spectrum(1000, scaling="K")
    >>> round(4 * 1000 * float(spectrum.eigenvalues[-1]), 3)  # the paper's 1 / (4 n)
    1.0
    >>> g = np.sign(np.sin(np.arange(1000)))
    >>> bool(np.isclose(np.sum(spectrum.coefficients(g) ** 2), np.sum(g**2)))
    True
    """
    if n < 1:
        raise ValueError(f"n must be at least 1; found {n!r}.")
    j = np.arange(1, n + 1)
    values = 1.0 / (4.0 * n * np.sin((2 * j - 1) * np.pi / (2 * (2 * n + 1))) ** 2)
    return Spectrum(
        values / n if check_scaling(scaling) == "K/n" else values, scaling, lambda g: _sines(_signals(g, n))
    )


def min_kernel_vectors(n: int) -> Floats:
    """Return the eigenvectors of the min kernel at x = 1/n, ..., 1 as columns: the reference for the fast transform.

    Examples
    --------
    >>> V = min_kernel_vectors(3)
    >>> bool(np.allclose(V.T @ V, np.eye(3)))
    True
    """
    i = np.arange(1, n + 1)
    return np.asarray(2.0 / np.sqrt(2 * n + 1) * np.sin(np.outer(i, 2 * i - 1) * np.pi / (2 * n + 1)))


def check_scaling(scaling: str) -> str:
    """Return the scaling, if it is one.

    Examples
    --------
    >>> check_scaling("n")
    Traceback (most recent call last):
    ...
    ValueError: scaling must be 'K/n' (the paper's matrix) or 'K' (the kernel matrix itself); found 'n'.
    """
    if scaling not in SCALINGS:
        raise ValueError(
            f"scaling must be 'K/n' (the paper's matrix) or 'K' (the kernel matrix itself); found {scaling!r}."
        )
    return scaling


def _signals(g: Anything, n: int) -> Floats:
    array = np.asarray(g, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != n:
        raise ValueError(
            f"signals must hold {n} values along their last axis, one for each point; found {array.shape}."
        )
    return array


def _sines(g: Floats) -> Floats:
    # At t = pi / (2 n + 1), sin(i (2 j - 1) t) = (-1)^(i + 1) sin(2 i (n + 1 - j) t): a transform of length 2 n + 1.
    n = g.shape[-1]
    alternating = np.zeros((*g.shape[:-1], 2 * n + 1))
    alternating[..., 1 : n + 1] = g * (1.0 - 2.0 * (np.arange(n) % 2))
    waves = rfft(alternating, axis=-1)[..., 1 : n + 1]
    return np.asarray(-2.0 / np.sqrt(2 * n + 1) * waves.imag[..., ::-1])
