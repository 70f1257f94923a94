"""Point clouds that are hard on a spanning tree."""

import numpy as np
from hypothesis import strategies as st

CLOUDS = {
    "uniform": lambda rng, n, d: rng.random((n, d)),
    "two far clusters": lambda rng, n, d: rng.normal(size=(n, d)) + 1e4 * (np.arange(n) % 2)[:, None],
    "clusters of all sizes": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 3, size=(n, 1)),
    "on a line in space": lambda rng, n, d: np.outer(rng.random(n), rng.normal(size=d)),
    "a lattice, full of ties": lambda rng, n, d: rng.integers(0, 5, size=(n, d)).astype(float),
    "mostly repeated": lambda rng, n, d: np.r_[np.zeros((n - 2, d)), rng.random((2, d)) + 1.0],
    "far from the origin": lambda rng, n, d: 1e8 + rng.random((n, d)),
    "huge": lambda rng, n, d: 1e200 * rng.random((n, d)),
    "tiny": lambda rng, n, d: 1e-200 * rng.random((n, d)),
}


@st.composite
def clouds(draw, most=60, dimensions=(2, 3)):
    kind = draw(st.sampled_from(sorted(set(CLOUDS) - {"huge", "tiny"})))  # all pairs over- or underflow there
    n, d = draw(st.integers(4, most)), draw(st.sampled_from(dimensions))
    return CLOUDS[kind](np.random.default_rng(draw(st.integers(0, 10**6))), n, d)


@st.composite
def labelled_clouds(draw, **options):
    X = draw(clouds(**options))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    m = draw(st.integers(2, min(5, len(X))))
    return X, rng.permutation(np.r_[np.arange(m), rng.integers(0, m, len(X) - m)])
