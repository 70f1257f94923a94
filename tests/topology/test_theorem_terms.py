"""Corollary 1 and the sample size of Theorem 1, term by term."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.topology import Recovery, cluster_recovery, level_bound, limit_of_recovery, sample_size

SEEDS = st.integers(0, 10**6)


@given(SEEDS)
def test_each_term_of_corollary_1_is_its_formula(seed):
    rng = np.random.default_rng(seed)
    n, lipschitz = np.cumsum(rng.integers(1, 50, 6)), rng.uniform(0.5, 2.0)
    rho, delta, gap = rng.uniform(0.01, 0.3, 6), rng.uniform(0.01, 0.3, 6), rng.uniform(0.5, 2.0, 6)
    levels, mean = rng.integers(2, 6, 6), rng.normal(size=6)
    found = limit_of_recovery(n, rho, delta, gap, levels, lipschitz, mean=mean)
    holds = [lipschitz * rho[i] < gap[i] / (2 * levels[i]) for i in range(6)]
    assert found.recovered.tolist() == holds
    later = [i for i in range(6) if all(holds[i:])]
    assert found.recovered_from == (later[0] if later else None)
    np.testing.assert_allclose(found.products, levels * lipschitz * delta)
    np.testing.assert_allclose(found.bounds, 2 * (levels - 1) * lipschitz * delta + np.abs(mean))
    x, y = np.log(n), np.log(levels * lipschitz * delta)
    slope = np.sum((x - x.mean()) * (y - y.mean())) / np.sum((x - x.mean()) ** 2)
    assert found.rate == pytest.approx(slope)


def test_labels_that_touch_at_once_have_products_of_zero_which_fall_at_any_rate():
    found = limit_of_recovery([10, 20], 0.0, [0.1, 0.0], 1.0, 2, 1.0)
    assert found.products.tolist() == [0.2, 0.0]
    assert found.rate == -np.inf
    assert found.bounds.tolist() == [0.2, 0.0]
    assert found.recovered_from == 0


@pytest.mark.parametrize("n", [[5], 7, [3, 3], [[1, 2]]])
def test_sizes_that_are_no_ascending_list_are_refused(n):
    with pytest.raises(ValueError, match="at least two sizes in ascending order"):
        limit_of_recovery(n, 0.1, 0.1, 1.0, 2, 1.0)


@given(st.floats(0.3, 40.0), st.integers(2, 4), st.sampled_from([0.5, 1.0]))
def test_the_sample_size_is_the_first_at_which_theorem_1_holds(lipschitz, m, power):
    levels = 2.0 * np.arange(m)

    def rho_of(n):
        return 0.5 * n**-power

    first = next(n for n in range(2, 10**6) if lipschitz * rho_of(n) < 2.0 / (2 * m))
    assert sample_size(rho_of, levels, lipschitz) == first


def test_the_sample_size_heeds_the_norm_of_vector_levels():
    levels = [[0.0, 0.0], [3.0, 4.0]]
    # Shared by both channels: |(1, 1)| / n < gap / 4, with gaps of 7, 5 and 4 and norms of 2, sqrt(2) and 1.
    assert [sample_size(lambda n: 10.0 / n, levels, 1.0, norm=norm) for norm in (1, 2, np.inf)] == [12, 12, 11]


def test_what_is_left_of_the_condition_is_a_share_of_what_is_allowed():
    assert Recovery(0.25, 1.0).margin == 0.75
    assert Recovery(2.0, 1.0).margin == -1.0
    assert Recovery(0.0, 0.0).margin == -np.inf
    assert not Recovery(1.0, 1.0).holds
    assert cluster_recovery(0.5, [0.0, 3.0, 4.5], 0.4) == Recovery(0.2, 1.5 / 6)


def test_one_level_is_bounded_by_the_mean_alone():
    assert level_bound(0.5, 1, 3.0, mean=-0.2) == pytest.approx(0.2)
    assert level_bound(0.5, 2, 3.0, mean=[2.0, 0.5], prescribed=[1.0, 0.0], norm=np.inf) == 4.0
