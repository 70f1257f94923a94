"""Dense peers of the kernel smoother solve the paper's representer equation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.line import LineSmoother
from stepsmooth.peers import min_gram, ridge_cholesky, ridge_sklearn


def draw(seed, n=30):
    rng = np.random.default_rng(seed)
    return np.sort(rng.uniform(0.05, 1.0, n)), rng.normal(size=n), rng.uniform(0.5, 2.0, n)


@given(seed=st.integers(0, 2**32 - 1), tau=st.floats(-5, 0).map(lambda e: 10.0**e))
@settings(max_examples=30, deadline=None)
def test_kernel_ridge_cholesky_and_our_ordered_path_agree_with_weights(seed, tau):
    x, r, w = draw(seed)
    gram = min_gram(x)
    ours = LineSmoother(x, w, order=1).solve(r, tau)
    np.testing.assert_allclose(ridge_cholesky(gram, r, tau, weights=w), ours, atol=1e-8)
    np.testing.assert_allclose(ridge_sklearn(gram, r, tau, weights=w), ours, atol=1e-8)


@pytest.mark.parametrize("smoother", [ridge_cholesky, ridge_sklearn])
def test_it_is_the_papers_formula(smoother):
    x, r, _ = draw(0)
    n = len(x)
    scaled = min_gram(x) / n
    alpha = np.linalg.solve(scaled + 0.01 * np.eye(n), r) / np.sqrt(n)
    np.testing.assert_allclose(smoother(min_gram(x), r, 0.01), np.sqrt(n) * scaled @ alpha, atol=1e-12)


@pytest.mark.parametrize("smoother", [ridge_cholesky, ridge_sklearn])
def test_inputs_are_not_changed(smoother):
    x, r, w = draw(1)
    gram = min_gram(x)
    before = gram.copy(), r.copy(), w.copy()
    smoother(gram, r, 0.01, weights=w)
    for kept, now in zip(before, (gram, r, w)):
        np.testing.assert_array_equal(kept, now)
