"""The gauge: a constant moves between f and the levels, and nothing else changes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.model import centre


@given(seed=st.integers(0, 2**32 - 1), p=st.integers(1, 3), shared=st.booleans(), mean=st.floats(-10, 10))
def test_the_weighted_mean_is_as_asked_and_the_sum_is_unchanged(seed, p, shared, mean):
    rng = np.random.default_rng(seed)
    smooth, levels = rng.normal(size=(20, 1 if shared else p)), rng.normal(size=(3, p))
    weights, labels = rng.uniform(0.1, 2.0, 20), rng.integers(3, size=20)
    f, mu, shift = centre(smooth, levels, weights, mean)
    np.testing.assert_allclose(weights @ f / weights.sum(), mean, atol=1e-12)
    np.testing.assert_allclose(f + mu[labels], smooth + levels[labels], atol=1e-12)
    np.testing.assert_allclose(smooth - f, np.broadcast_to(shift, f.shape), atol=1e-12)
