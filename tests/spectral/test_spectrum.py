"""Closed forms and fast transforms of the min kernel against the dense eigen-decomposition; both scalings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.model import MinKernel, SobolevKernel
from stepsmooth.spectral import dense_spectrum, min_kernel_spectrum, min_kernel_vectors


def grid(n):
    return np.arange(1, n + 1)[:, None] / n


@pytest.mark.parametrize("scaling", ["K/n", "K"])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 101])
def test_the_closed_form_equals_the_dense_spectrum(n, scaling):
    fast, dense = min_kernel_spectrum(n, scaling=scaling), dense_spectrum(MinKernel(), grid(n), scaling=scaling)
    np.testing.assert_allclose(fast.eigenvalues, dense.eigenvalues, rtol=1e-9)
    g = np.random.default_rng(n).normal(size=n)
    np.testing.assert_allclose(np.abs(fast.coefficients(g)), np.abs(dense.coefficients(g)), atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_the_closed_form_vectors_diagonalise_the_kernel(n):
    V, K = min_kernel_vectors(n), MinKernel()(grid(n))
    np.testing.assert_allclose(V.T @ V, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(V.T @ K @ V, np.diag(min_kernel_spectrum(n, scaling="K").eigenvalues), atol=1e-11)


@given(st.integers(1, 60), st.integers(0, 10**6))
def test_the_fast_transform_is_the_product_with_the_vectors_for_any_stack_of_signals(n, seed):
    g = np.random.default_rng(seed).normal(size=(2, 3, n))
    np.testing.assert_allclose(min_kernel_spectrum(n).coefficients(g), g @ min_kernel_vectors(n), atol=1e-12)


def test_the_scalings_differ_by_n_and_the_papers_figure_is_that_of_the_plain_matrix():
    n = 2000
    plain, papers = min_kernel_spectrum(n, scaling="K"), min_kernel_spectrum(n)
    np.testing.assert_allclose(plain.eigenvalues, n * papers.eigenvalues)
    assert 4 * n * plain.eigenvalues[-1] == pytest.approx(1.0, rel=1e-3)
    assert 4 * n**2 * papers.eigenvalues[-1] == pytest.approx(1.0, rel=1e-3)


def test_any_kernel_has_a_dense_spectrum():
    spectrum = dense_spectrum(SobolevKernel(1), grid(80))
    g = np.random.default_rng(0).normal(size=80)
    assert np.all(np.diff(spectrum.eigenvalues) <= 0)
    assert np.sum(spectrum.coefficients(g) ** 2) == pytest.approx(np.sum(g**2))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: min_kernel_spectrum(0), "n must be at least 1"),
        (lambda: min_kernel_spectrum(5, scaling="n"), "scaling must be 'K/n'"),
        (lambda: dense_spectrum(MinKernel(), grid(5), scaling="n"), "scaling must be 'K/n'"),
        (lambda: min_kernel_spectrum(5).coefficients(np.ones(4)), "signals must hold 5 values"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
