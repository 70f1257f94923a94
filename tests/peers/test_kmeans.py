"""k-means peers: what they minimise, with weights."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.model.kmeans import kmeans_1d
from stepsmooth.peers import kmeans_ckwrap, kmeans_sklearn


@given(seed=st.integers(0, 2**32 - 1), n_levels=st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_ckwrap_is_exact_as_ours_is_and_sklearn_is_never_below(seed, n_levels):
    rng = np.random.default_rng(seed)
    y, w = rng.normal(size=40), rng.integers(1, 4, size=40).astype(float)
    levels, labels = kmeans_1d(y, n_levels, w)
    ours = np.sum(w * (y - levels[labels]) ** 2)
    np.testing.assert_allclose(kmeans_ckwrap(y, n_levels, weights=w)[2], ours, rtol=1e-9, atol=1e-12)
    assert kmeans_sklearn(y, n_levels, weights=w)[2] >= ours * (1 - 1e-9)
