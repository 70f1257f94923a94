"""The compiled beam, number by number, against the plain one: chains, outliers, class variances, pruning, merging."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stepsmooth.line import beam

EXACT = (4096, 0.0, 1e9)
ORDERS = pytest.mark.parametrize("order", [1, 2])


def problem(order, n=5, n_levels=2, seed=0):
    """Return y, uneven steps and noise, where f begins, and everything else that the beam takes."""
    rng = np.random.default_rng(seed)
    dx, h = rng.uniform(0.4, 1.6, n), rng.uniform(0.3, 2.0, n)
    levels = np.sort(rng.normal(scale=1.5, size=n_levels))
    y = np.cumsum(rng.normal(size=n)) + levels[rng.integers(n_levels, size=n)]
    return {
        "y": y,
        "dx": dx,
        "h": h,
        "first": np.array([4.0, 0.7])[:order],
        "scale": 0.4,
        "start": 0.3,
        "levels": levels,
        "proportions": rng.dirichlet(np.full(n_levels, 3.0)),
        "ratio": rng.uniform(0.3, 3.0, n_levels),
        "transition": rng.dirichlet(np.full(n_levels, 2.0), size=n_levels),
        "extra": rng.normal(scale=0.3, size=(n, n_levels)),
    }


def found(p, width, *, outlier=0.0, markov=True):
    """Return what the compiled beam makes of it."""
    slope = p["first"][1] if len(p["first"]) == 2 else 0.0
    run = beam.forward(
        p["y"], p["dx"], p["h"], (p["first"][0], slope), len(p["first"]), p["scale"],
        p["start"], p["levels"], p["ratio"], np.log(p["proportions"]),
        np.log(p["transition"]), markov, p["extra"], outlier, *width,
    )  # fmt: skip
    return run[0], *beam.backward(len(p["levels"]), width[0], *run[1:])


def assert_equal_to_plain(plain_beam, p, width, *, outlier=0.0, markov=True):
    size, merge, drop = width
    plain = p if markov else {**p, "transition": None}
    expected = plain_beam(**plain, outlier=outlier, width=size, merge=merge, drop=drop)
    total, gamma, pairs = found(p, width, outlier=outlier, markov=markov)
    assert_allclose(total, expected[0], rtol=1e-9)
    assert_allclose(gamma, expected[1], atol=1e-9)
    if markov:
        assert_allclose(pairs, expected[2], atol=1e-9)


@ORDERS
def test_the_gains_are_those_of_a_kalman_filter_with_matrices(order, transition_over):
    p = problem(order, n=6)
    P = np.diag(p["first"])
    got = (p["first"][0], 0.0, p["first"][-1] if order == 2 else 0.0)
    for t in range(6):
        A, Q = transition_over(p["dx"][t], order)
        if t:
            P, got = A @ P @ A.T + Q, beam.predict(*got, p["dx"][t], order)
        F, k0, k1, *got = beam.update(*got, p["h"][t])
        gain = P[:, 0] / (P[0, 0] + p["h"][t])
        assert_allclose([F, k0, k1], [P[0, 0] + p["h"][t], gain[0], gain[1] if order == 2 else 0.0])
        P = P - np.outer(gain, gain) * F
        assert_allclose(got, [P[0, 0], P[0, 1], P[1, 1]] if order == 2 else [P[0, 0], 0.0, 0.0])


@ORDERS
@pytest.mark.parametrize("outlier", [0.0, 0.2])
@pytest.mark.parametrize("markov", [True, False])
def test_all_histories_with_chains_class_variances_and_outliers(plain_beam, order, outlier, markov):
    for seed in range(2):
        assert_equal_to_plain(plain_beam, problem(order, seed=seed), EXACT, outlier=outlier, markov=markov)


@ORDERS
@pytest.mark.parametrize("markov", [True, False])
@pytest.mark.parametrize("width", [(5, 0.0, 1e9), (40, 0.6, 9.0), (20, 0.0, 3.0), (6, 0.5, 5.0), (1, 0.3, 5.0)])
def test_pruned_and_merged_histories_are_those_of_the_plain_beam(plain_beam, order, markov, width):
    for seed in range(2):
        p = problem(order, n=6, n_levels=3, seed=seed)
        assert_equal_to_plain(plain_beam, p, width, outlier=0.05, markov=markov)


def test_hypotheses_of_different_last_labels_stay_apart_in_a_chain(plain_beam):
    # Two levels that are one: all histories have the same f, and only the chain tells them apart.
    p = problem(2) | {"levels": np.array([0.7, 0.7]), "ratio": np.ones(2)}
    assert_equal_to_plain(plain_beam, p, (64, 0.5, 1e9))
    total, gamma, _ = found(p, (64, 0.5, 1e9))
    chain = [p["proportions"] * np.exp(p["extra"][0])]
    for extra in p["extra"][1:]:
        chain.append(chain[-1] @ p["transition"] * np.exp(extra))
    assert_allclose(gamma[-1], chain[-1] / chain[-1].sum())
    alone, *_ = found(p | {"levels": np.array([0.7]), "ratio": np.ones(1), "proportions": np.ones(1),
                           "transition": np.ones((1, 1)), "extra": np.zeros((5, 1))}, EXACT)  # fmt: skip
    assert_allclose(total, alone + np.log(chain[-1].sum()))


def test_more_branches_than_there_was_room_for(plain_beam):
    p = problem(1, n=4, n_levels=6)
    assert_equal_to_plain(plain_beam, p, EXACT, outlier=0.05)
    assert sum(6**t for t in range(1, 5)) > 4 * 4 + 1024


def test_an_even_grid_on_which_the_gains_settle(plain_beam):
    n = 40
    rng = np.random.default_rng(0)
    p = problem(1, n=n) | {"dx": np.ones(n), "h": np.ones(n), "y": 3.0 * rng.integers(2, size=n) + rng.normal(size=n)}
    assert_equal_to_plain(plain_beam, p, (4, 0.5, 6.0), outlier=0.01)


def test_a_label_that_cannot_be_has_no_part_in_it(plain_beam):
    p = problem(2) | {"transition": np.array([[0.5, 0.5], [1e-300, 1.0]])}
    assert_equal_to_plain(plain_beam, p, (64, 0.0, 30.0))


def test_an_outlier_far_away_overflows_nothing():
    p = problem(1, n=3)
    p["y"][1] += 1e4
    total, gamma, _ = found(p, (64, 0.5, 12.0), outlier=0.1)
    assert np.isfinite(total)
    assert_allclose(gamma.sum(axis=1), 1.0)


@pytest.mark.parametrize("n", [3, 60])
def test_values_are_ranked_from_the_largest(n):
    values = np.random.default_rng(n).normal(size=n)
    rank = np.empty(n, np.int64)
    assert beam._descending(values, n, -np.inf, rank) == n
    assert_allclose(values[rank], np.sort(values)[::-1])
    assert sorted(rank) == list(range(n))
    count = beam._descending(values, n, 0.0, rank)
    assert count == np.sum(values > 0.0)
    assert_allclose(values[rank[:count]], np.sort(values[values > 0.0])[::-1])


def test_a_longer_array_begins_with_the_shorter_one():
    longer = beam._longer(np.array([4, 5, 6], np.int32), 7)
    assert longer.dtype == np.int32
    assert len(longer) == 7
    np.testing.assert_array_equal(longer[:3], [4, 5, 6])


def test_going_back_shares_a_merged_hypothesis_by_weight():
    # Two points, two labels; at the second all four branches end in one hypothesis.
    parent, label = np.array([0, 0, 0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1, 0, 1], np.int16)
    child, weight = np.array([0, 1, 0, 0, 0, 0], np.int32), np.array([0.5, 1.0, 1.0, 0.25, 0.5, 0.25])
    gamma, pairs = beam.backward(2, 3, parent, label, child, weight, np.array([0, 2, 6]), np.array([3.0]))
    assert_allclose(pairs, [[0.5, 0.125], [0.25, 0.125]])
    assert_allclose(gamma, [[0.625, 0.375], [0.75, 0.25]])


def test_going_back_visits_the_histories_in_proportion_to_their_weight():
    p = problem(2, n=4)
    total, gamma, pairs = found(p, EXACT)
    weights = {}
    for path in product(range(2), repeat=4):
        only = [np.where(np.arange(2) == k, 0.0, -60.0) for k in path]
        weights[path] = found(p | {"extra": p["extra"] + np.array(only)}, EXACT)[0]
    share = np.exp(np.array(list(weights.values())) - total)
    assert_allclose(share.sum(), 1.0, rtol=1e-9)
    for path_pairs in [(0, 1), (1, 1)]:
        count = [sum(pair == path_pairs for pair in pairwise(path)) for path in weights]
        assert_allclose(pairs[path_pairs], share @ count, rtol=1e-9)
    assert_allclose(gamma[2, 1], share @ [path[2] for path in weights], rtol=1e-9)
