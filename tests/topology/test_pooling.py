"""Pooled means, cell by cell, against plain loops over the points of each cell."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noisy_cases import noisy_sample
from scipy.stats import chi2
from scipy.stats import norm as normal

from stepsmooth.topology.kdtree import build
from stepsmooth.topology.pooling import CLEAR, apart, pool, single_points, sums_at

SEEDS = st.integers(0, 10**6)
KINDS = pytest.mark.parametrize(("p", "multiplicative"), [(1, False), (2, False), (1, True), (2, True)])


def nodes_at(tree, depth):
    first = 2**depth - 1
    return [tree.order[tree.begin[v] : tree.end[v]] for v in range(first, 2 * first + 1)]


def gains(sample):
    return np.ones(len(sample.labels)) if sample.noise.gain is None else sample.noise.gain


@KINDS
@settings(max_examples=5)
@given(seed=SEEDS, depth=st.integers(0, 4))
def test_sums_are_those_over_the_points_of_each_node_and_label(p, multiplicative, seed, depth):
    sample = noisy_sample(seed, p, multiplicative)
    tree, gain = build(sample.X), gains(sample)
    sums, node = sums_at(sample, tree, depth)
    for v, inside in enumerate(nodes_at(tree, depth)):
        assert np.all(node[inside] == v)
        assert sums.gain[v] == gain[inside].max()
        for k in range(3):
            own = inside[sample.labels[inside] == k]
            assert sums.counts[v, k] == len(own)
            np.testing.assert_allclose(sums.X[v, k], sample.X[own].sum(axis=0), atol=1e-12)
            np.testing.assert_allclose(sums.smooth[v, k], sample.smooth[own].sum(axis=0), atol=1e-12)
            np.testing.assert_allclose(sums.rest[v, k], sample.rest[own].sum(axis=0), atol=1e-12)
            assert sums.squares[v, k] == pytest.approx(np.sum(sample.rest[own] ** 2))
            assert sums.power[v, k] == pytest.approx(np.sum(gain[own] ** 2))


@KINDS
@settings(max_examples=5)
@given(seed=SEEDS)
def test_two_neighbourhoods_add_up_to_the_next_coarser_one(p, multiplicative, seed):
    sample = noisy_sample(seed, p, multiplicative)
    tree = build(sample.X)
    finer, coarse = sums_at(sample, tree, 3)[0].coarser(), sums_at(sample, tree, 2)[0]
    for field in fields(coarse):
        np.testing.assert_allclose(getattr(finer, field.name), getattr(coarse, field.name), atol=1e-12)


def mixing(sample, own, k, z):
    """Return the bias that the spread of a cell allows: the larger root for v, then the smaller one for w."""
    noise, m = sample.noise, len(own)
    if m == 1:
        return 0.0
    power = np.mean(gains(sample)[own] ** 2)
    seen = np.sum(np.var(sample.rest[own], axis=0, ddof=1))
    least = noise.variance[k].sum() * power * (1.0 - z * np.sqrt(2.0 / (m - 1)))
    v = max(np.roots([1.0, -2.0 * z * noise.worst[k] * np.sqrt(power / m), -max(seen - least, 0.0)]))
    bias = 0.0
    for other in {0, 1, 2} - {k}:
        far = noise.jumps[k, other]
        share = min(np.roots([1.0, -1.0, (v / far) ** 2])) if v < far / 2.0 else np.inf
        bias = max(bias, share * far)
    return bias


def expected_means(sample, tree, depth, doubt):
    """Yield node, label, points and the figures of each mean that is clear enough to be kept."""
    nodes, noise, p = nodes_at(tree, depth), sample.noise, sample.rest.shape[1]
    sizes = np.array([[np.sum(sample.labels[inside] == k) for k in range(3)] for inside in nodes])
    quantile = np.sqrt(chi2.isf(doubt / np.sum(sizes > 0), p))
    z = normal.isf(doubt / np.sum(sizes > 1))
    distances = np.linalg.norm(sample.levels[:, None] - sample.levels, axis=2) + np.diag([np.inf] * 3)
    for v, inside in enumerate(nodes):
        turned = noise.turned(sizes[v : v + 1].astype(float), gains(sample)[inside].max()[None])[0]
        for k in range(3):
            own = inside[sample.labels[inside] == k]
            if len(own) == 0:
                continue
            deviation = noise.worst[k] * np.sqrt(np.mean(gains(sample)[own] ** 2) / len(own))
            bias = turned[k] + mixing(sample, own, k, z)
            mean, slope = sample.rest[own].mean(axis=0), 1.0
            if noise.in_logs:
                left = 1.0 + mean.min() - (quantile * deviation + bias)
                mean, slope = np.log1p(np.maximum(mean, -1.0 + 1e-9)), 1.0 / left if left > 0.0 else np.inf
            error = (quantile * deviation + bias) * slope
            if error < CLEAR * distances[k].min():
                yield v, k, own, mean, deviation * slope, bias * slope, error < CLEAR * distances.min()


@KINDS
@settings(max_examples=6)
@given(seed=SEEDS, depth=st.integers(1, 4), doubt=st.sampled_from([0.2, 0.01]))
def test_each_mean_is_that_of_its_points_with_the_error_that_noise_and_other_levels_leave(
    p, multiplicative, seed, depth, doubt
):
    sample = noisy_sample(seed, p, multiplicative)
    tree = build(sample.X)
    first = 2**depth - 1
    box = tree.low[first : 2 * first + 1], tree.high[first : 2 * first + 1]
    found = pool(sample, *sums_at(sample, tree, depth), box, doubt)
    member = np.full(len(sample.X), -1)
    expected = list(expected_means(sample, tree, depth, doubt))
    assert len(found.labels) == len(expected)
    for i, (v, k, own, mean, deviation, bias, exact) in enumerate(expected):
        member[own] = i
        assert found.labels[i] == k
        assert found.counts[i] == len(own)
        np.testing.assert_allclose(found.X[i], sample.X[own].mean(axis=0))
        smooth = sample.smooth[own].mean(axis=0)
        np.testing.assert_allclose(found.smooth[i], smooth, atol=1e-14)
        np.testing.assert_allclose(found.Y[i], sample.levels[k] + smooth + mean, atol=1e-12)
        assert found.deviation[i] == pytest.approx(deviation)
        assert found.bias[i] == pytest.approx(bias, rel=1e-6, abs=1e-12)
        assert found.exact[i] == exact
        np.testing.assert_array_equal(found.low[i], box[0][v])
        np.testing.assert_array_equal(found.high[i], box[1][v])
    np.testing.assert_array_equal(found.member, member)


@pytest.mark.parametrize("seed", range(3))
def test_means_are_kept_dropped_and_left_less_exact(seed):
    """The three cases that the loops above speak of do occur."""
    sample = noisy_sample(seed, deviation=0.1)
    tree = build(sample.X)
    kept = [len(list(expected_means(sample, tree, depth, 0.05))) for depth in (1, 5)]
    assert kept[0] > 3
    assert 0 < kept[1] < np.sum(sums_at(sample, tree, 5)[0].counts > 0)
    assert len({exact for *_, exact in expected_means(sample, tree, 4, 0.05)}) == 2


@KINDS
@settings(max_examples=5)
@given(seed=SEEDS)
def test_single_points_are_means_of_themselves(p, multiplicative, seed):
    sample, doubt = noisy_sample(seed, p, multiplicative), 0.05
    found, n, noise = single_points(sample, doubt), len(sample.X), sample.noise
    deviation = noise.worst[sample.labels] * gains(sample)
    shift, slope = sample.rest, np.ones(n)
    if multiplicative:
        left = 1.0 + sample.rest.min(axis=1) - np.sqrt(chi2.isf(doubt / n, p)) * deviation
        with np.errstate(divide="ignore"):
            slope = np.where(left > 0.0, 1.0 / left, np.inf)
        shift = np.log1p(sample.rest)
    np.testing.assert_allclose(found.Y, sample.levels[sample.labels] + sample.smooth + shift)
    np.testing.assert_allclose(found.deviation, deviation * slope)
    np.testing.assert_array_equal(found.member, np.arange(n))
    np.testing.assert_array_equal(found.labels, sample.labels)
    np.testing.assert_array_equal(found.smooth, sample.smooth)
    np.testing.assert_array_equal(found.counts, 1.0)
    np.testing.assert_array_equal(found.bias, 0.0)
    assert found.exact.all()
    for corner in (found.X, found.low, found.high):
        np.testing.assert_array_equal(corner, sample.X)


@given(SEEDS, st.integers(2, 6), st.integers(1, 3))
def test_levels_are_apart_by_the_distance_to_the_nearest_other(seed, m, p):
    levels = np.random.default_rng(seed).normal(size=(m, p))
    nearest = [min(np.linalg.norm(levels[k] - levels[j]) for j in range(m) if j != k) for k in range(m)]
    np.testing.assert_allclose(apart(levels), nearest)
