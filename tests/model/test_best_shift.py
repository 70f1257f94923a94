"""The best common shift of known levels: no other shift is better, and of equal ones the lowest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.model.levels import best_shift


def cost(s, r, levels, weights):
    return np.sum(weights * np.min((r[:, None] - levels - s) ** 2, axis=1))


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 4))
def test_no_shift_is_better(seed, n, n_levels):
    rng = np.random.default_rng(seed)
    r, weights = rng.normal(scale=2.0, size=n), rng.uniform(0.2, 3.0, size=n)
    levels = np.sort(rng.normal(size=n_levels))
    found = best_shift(r, levels, weights)
    others = np.linspace(r.min() - levels.max() - 1.0, r.max() - levels.min() + 1.0, 400)
    least = min(cost(s, r, levels, weights) for s in others)
    assert cost(found, r, levels, weights) <= least + 1e-9


@pytest.mark.parametrize("value", [0.0, 2.0, 1e9])
def test_of_equal_shifts_the_lowest_wins(value):
    """Points that coincide may have any of the levels: they get the top one."""
    assert best_shift(np.full(3, value), np.array([0.0, 1.0]), np.array([1.0, 2.0, 3.0])) == pytest.approx(value - 1.0)
