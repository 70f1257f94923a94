"""Theorem 1, Proposition 2 and Corollary 1 as functions, against the paper's figures and against data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.datasets import make_sine_steps
from stepsmooth.model import CubicSplineKernel, MinKernel
from stepsmooth.topology import (
    Modulus,
    as_modulus,
    channel_factor,
    cluster_recovery,
    connectivity,
    label_distance,
    level_bound,
    level_gap,
    limit_of_recovery,
    sample_size,
)

SETTINGS = [(2, 1, 178, 19), (2, 2, 711, 38), (3, 2, 1599, 57), (3, 3, 3598, 85)]


@pytest.mark.parametrize(("m", "beta", "by_norm", "by_edges"), SETTINGS)
def test_theorem_1_asks_for_the_known_sample_sizes(m, beta, by_norm, by_edges):
    levels, radius = np.arange(m), 0.75 * np.sqrt(2) * np.pi * beta
    assert sample_size(lambda n: n**-0.5, levels, (radius, MinKernel())) == by_norm

    def largest_step(n):
        return np.abs(np.diff(0.75 * np.sin(2 * np.pi * beta * np.arange(1, n + 1) / n))).max()

    assert cluster_recovery(largest_step(by_edges), levels, 1.0).holds
    assert not cluster_recovery(largest_step(by_edges - 1), levels, 1.0).holds


def test_the_kernel_metric_and_the_norm_give_the_papers_condition_on_data():
    data = make_sine_steps(200, 2, 1.0, random_state=0)
    omega = as_modulus((0.75 * np.sqrt(2) * np.pi, MinKernel()))
    found = cluster_recovery(connectivity(data.X, metric=omega.metric), data.levels, omega)
    assert found.holds
    assert found.variation == pytest.approx(0.75 * np.sqrt(2) * np.pi / np.sqrt(200))
    assert found.allowed == 0.25
    assert found.margin == pytest.approx(1 - found.variation / 0.25)


def test_the_three_ways_to_give_a_modulus_agree():
    rho, levels = 0.04, [0.0, 1.0]
    ways = [2.0, lambda t: 2.0 * t, (2.0, MinKernel()), Modulus(lambda t: 2.0 * t)]
    assert {cluster_recovery(rho, levels, way).variation for way in ways} == {0.08}


def test_vector_levels_are_measured_in_any_norm_and_a_shared_f_counts_in_every_channel():
    levels = [[0.0, 0.0], [3.0, 4.0]]
    assert [level_gap(levels, norm=k) for k in (1, 2, np.inf)] == [7.0, 5.0, 4.0]
    assert level_gap(levels, norm=lambda rows: np.abs(rows[:, 0])) == 3.0
    assert cluster_recovery(1.0, levels, 1.0).variation == pytest.approx(np.sqrt(2))
    assert cluster_recovery(1.0, levels, 1.0, norm=1).variation == 2.0
    assert cluster_recovery(1.0, levels, 1.0, norm=np.inf).variation == 1.0
    assert cluster_recovery(1.0, levels, 1.0, shared=False).variation == 1.0
    assert channel_factor(9) == pytest.approx(3.0)


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_proposition_2_bounds_the_levels_of_every_exact_decomposition_with_zero_mean(seed, m):
    # Any f within the modulus and zero-mean that leaves the labels right moves levels by no more than the bound.
    rng = np.random.default_rng(seed)
    n = 40
    x, labels = np.sort(rng.random(n)), rng.permutation(np.r_[np.arange(m), rng.integers(m, size=n - m)])
    steep = rng.uniform(0.1, 1.0)
    f = steep * np.abs(x - rng.random())
    other_levels = rng.normal(scale=0.01, size=m)  # y = (f - other[z]) + (mu + other)[z]
    g = f - other_levels[labels]
    gaps = np.abs(x[:, None] - x[None])
    lipschitz = max(steep, (np.abs(g[:, None] - g[None]) / (gaps + np.eye(n))).max())
    deviation = np.abs(other_levels + g.mean()).max()  # levels when g is made zero-mean
    bound = level_bound(label_distance(x, labels), m, lipschitz, mean=f.mean())
    assert deviation <= bound + 1e-12
    prescribed = np.abs(other_levels + g.mean() - 0.3).max()
    assert prescribed <= level_bound(label_distance(x, labels), m, lipschitz, mean=f.mean(), prescribed=0.3) + 1e-12


def test_the_level_bound_takes_vector_means_in_a_norm():
    assert level_bound(0.0, 3, 1.0, mean=[3.0, 4.0]) == 5.0
    assert level_bound(0.0, 3, 1.0, mean=[3.0, 4.0], prescribed=[3.0, 0.0], norm=1) == 4.0


def test_corollary_1_with_bounded_and_with_growing_numbers_of_levels():
    n = np.array([100, 1000, 10_000, 100_000])
    bounded = limit_of_recovery(n, 1 / n, 1 / n, 1.0, 3, 10.0, mean=1 / n)
    assert bounded.recovered.tolist() == [True, True, True, True]
    assert bounded.recovered_from == 0
    assert bounded.rate == pytest.approx(-1.0)
    np.testing.assert_allclose(bounded.bounds, (4 * 10 + 1) / n)
    growing = limit_of_recovery(n, 1 / n, 1 / n, 1.0, np.sqrt(n), 10.0)
    assert growing.rate == pytest.approx(-0.5)
    assert growing.recovered_from == 1
    too_many = limit_of_recovery(n, 1 / n, 1 / n, 1.0, n, 10.0)
    assert too_many.recovered_from is None
    assert too_many.rate == pytest.approx(0.0, abs=1e-12)


def test_a_modulus_that_is_not_monotone_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"modulus must not decrease with the distance; it is .* at .* and .* at"):
        cluster_recovery(1.0, [0.0, 1.0], lambda t: 1.0 + np.sin(4 * t))
    with pytest.raises(ValueError, match="modulus must be at least 0; it is -1 in places"):
        cluster_recovery(1.0, [0.0, 1.0], lambda t: t - 1.0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: cluster_recovery(1.0, [0.0], 1.0), "levels must be at least two; found one"),
        (lambda: cluster_recovery(-1.0, [0.0, 1.0], 1.0), "rho_min must be a finite number of at least 0"),
        (lambda: cluster_recovery(1.0, [0.0, np.nan], 1.0), "levels must be finite"),
        (lambda: cluster_recovery(1.0, [0.0, 1.0], -1.0), "modulus must be a finite number of at least 0"),
        (lambda: cluster_recovery(1.0, [0.0, 1.0], (1.0, 2.0)), r"must be \(norm of f, kernel\)"),
        (lambda: level_gap([[0.0, 1.0], [1.0, 1.0]], norm=3), "norm must be 1, 2, inf or a function"),
        (lambda: level_bound(0.1, 0, 1.0), "n_levels must be at least 1"),
        (lambda: limit_of_recovery([10, 5], 1, 1, 1, 2, 1.0), "at least two sizes in ascending order"),
        (lambda: sample_size(lambda n: 1.0, [0.0, 1.0], 1.0), "does not within 2"),
        (lambda: connectivity([0.0, 1.0], metric=as_modulus((1.0, CubicSplineKernel())).metric), "straight lines"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
