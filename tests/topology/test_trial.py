"""One size of neighbourhoods: its figures written out, its parts against all labellings of few means."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from noisy_cases import noisy_sample
from scipy.sparse.csgraph import connected_components
from scipy.sparse.csgraph import minimum_spanning_tree as scipy_tree
from scipy.spatial.distance import cdist
from scipy.stats import chi2

from stepsmooth.topology.alternatives import same_division
from stepsmooth.topology.kdtree import build
from stepsmooth.topology.modulus import as_modulus
from stepsmooth.topology.pooling import Means, pool, single_points, sums_at
from stepsmooth.topology.trial import THRESHOLDS, Premises, Trial, trials

SEEDS = st.integers(0, 10**6)
LIPSCHITZ = 0.7
NORMS = st.sampled_from([1, 2, np.inf])


def check_figures(trial, doubt):
    """The variation of f and of noise on each edge is that of its two ends."""
    means, premises, p = trial.means, trial.premises, trial.means.Y.shape[1]
    quantile, (i, j) = np.sqrt(chi2.isf(doubt / len(trial.edges), p)), trial.edges.T
    noise = quantile * np.sqrt(means.deviation[i] ** 2 + means.deviation[j] ** 2) + means.bias[i] + means.bias[j]
    np.testing.assert_allclose(trial.noise, noise * (np.sqrt(p) if premises.norm == 1 else 1.0))
    change = (means.smooth[i] - means.smooth[j]) * np.ones(p)
    fitted = [np.linalg.norm(row, ord=premises.norm) for row in change]
    np.testing.assert_allclose(trial.fitted, fitted, atol=1e-14)
    smooth = np.full(len(i), premises.c * max(fitted))
    if premises.modulus is not None:  # LIPSCHITZ, in each of p channels
        sides = np.maximum(means.high[i], means.high[j]) - np.minimum(means.low[i], means.low[j])
        smooth = LIPSCHITZ * np.sqrt(np.sum(sides**2, axis=1)) * np.linalg.norm(np.ones(p), ord=premises.norm)
    np.testing.assert_allclose(trial.smooth, smooth)
    assert trial.covered == np.mean(means.member >= 0)
    gaps = [np.linalg.norm(a - b, ord=premises.norm) for i, a in enumerate(trial.levels) for b in trial.levels[:i]]
    assert trial.gap == pytest.approx(min(gaps))


def check_tree(trial):
    """Exact means are joined by their spanning tree, others to their nearest exact one."""
    means = trial.means
    core, inside = np.flatnonzero(means.exact), means.exact[trial.edges].all(axis=1)
    D = cdist(means.X, means.X)
    assert inside.sum() == len(core) - 1
    lengths = D[trial.edges[:, 0], trial.edges[:, 1]]
    assert lengths[inside].sum() == pytest.approx(scipy_tree(D[np.ix_(core, core)]).sum())
    nearest, ends = trial.edges[~inside].T
    np.testing.assert_array_equal(np.sort(ends), np.flatnonzero(~means.exact))
    np.testing.assert_allclose(D[nearest, ends], D[np.ix_(ends, core)].min(axis=1, initial=np.inf))
    assert len(trial.edges) == len(means.labels) - 1


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("modulus", [None, LIPSCHITZ])
@settings(max_examples=4)
@given(seed=SEEDS, p=st.integers(1, 2), multiplicative=st.booleans(), norm=NORMS, sd=st.sampled_from([0.03, 0.2]))
def test_trials_go_through_all_sizes_of_neighbourhoods_that_cover_enough(
    alone, modulus, seed, p, multiplicative, norm, sd
):
    n, doubt = 600, 0.1
    sample = noisy_sample(seed, p, multiplicative, n=n, deviation=sd)
    belief = None if modulus is None else as_modulus(modulus)
    found = list(trials(sample.X, sample, Premises(1.5, belief, norm, doubt), alone=alone))
    tree, share = build(sample.X), doubt / (3 + alone) / 2.0  # depths 7, 6 and 5
    expected = []
    if alone:
        means = single_points(sample, share)
        quantile = np.sqrt(chi2.isf(share / n, p))
        gap = min(np.linalg.norm(sample.levels[k] - sample.levels[j]) for k in range(3) for j in range(k))
        expected += [(1, means)] if quantile * np.median(means.deviation) < gap else []
    for depth in (7, 6, 5):
        first = 2**depth - 1
        box = tree.low[first : 2 * first + 1], tree.high[first : 2 * first + 1]
        means = pool(sample, *sums_at(sample, tree, depth), box, share)
        covers = np.mean(means.member >= 0) >= 0.9 or depth == 5
        if covers and len(np.unique(means.X[means.exact], axis=0)) > 1:
            expected.append((int(tree.end[first] - tree.begin[first]), means))
    assert [trial.region for trial in found] == [region for region, _ in expected]
    for trial, (_, means) in zip(found, expected):
        np.testing.assert_array_equal(trial.means.member, means.member)
        np.testing.assert_allclose(trial.means.Y, means.Y, rtol=1e-9)
        np.testing.assert_allclose(trial.means.bias, means.bias, rtol=1e-7, atol=1e-12)
        assert trial.premises == Premises(1.5, belief, norm, share)
        check_figures(trial, share)
        check_tree(trial)


@settings(max_examples=4)
@given(seed=SEEDS, modulus=st.sampled_from([None, LIPSCHITZ]))
@example(seed=0, modulus=None)
@example(seed=1, modulus=None)
def test_a_trimmed_trial_keeps_the_least_piece_that_covers_enough_when_long_edges_are_cut_first(seed, modulus):
    moved = 20 if seed % 2 else 300
    sample = noisy_sample(seed, n=600, deviation=0.02)
    sample.X[:moved] += 5.0  # without half of the points too little is covered, so nothing can be cut
    belief = None if modulus is None else as_modulus(modulus)
    for trial in trials(sample.X, sample, Premises(2.0, belief, 2, 0.05), alone=False):
        means, n = trial.means, len(sample.X)
        lengths = np.linalg.norm(np.diff(means.X[trial.edges], axis=1)[:, 0], axis=1)
        part, limit = np.arange(len(means.labels)), 0.0
        for e in np.argsort(lengths):
            if np.bincount(part, means.counts).max() >= 0.9 * n:
                break
            part[part == part[trial.edges[e, 0]]] = part[trial.edges[e, 1]]
            limit = lengths[e]
        mass = np.bincount(part, means.counts)
        kept = np.flatnonzero(part == mass.argmax())
        trimmed = trial.trimmed()
        for name in ("labels", "counts", "X", "Y", "smooth", "deviation", "bias", "low", "high", "exact"):
            np.testing.assert_array_equal(getattr(trimmed.means, name), getattr(means, name)[kept])
        back = np.append(kept, -1)[trimmed.means.member]
        np.testing.assert_array_equal(back, np.where(np.isin(means.member, kept), means.member, -1))
        inside = [tuple(e) for e, far in zip(trial.edges, lengths) if far <= limit and np.isin(e, kept).all()]
        assert [tuple(e) for e in kept[trimmed.edges]] == inside
        assert (trimmed.region, trimmed.premises) == (trial.region, trial.premises)
        check_figures(trimmed, trial.premises.doubt)


def pieces(n, edges):
    graph = np.zeros((n, n))
    graph[edges[:, 0], edges[:, 1]] = 1.0
    return connected_components(graph, directed=False)[1]


def few_means(seed, modulus=None, m=2):
    """Return a path of means with two ends that hang on it, some of them uncertain."""
    rng = np.random.default_rng(seed)
    n, levels = 7, np.array([0.0, 1.0, 2.6])[:m, None]
    labels, counts = rng.integers(m, size=n), rng.integers(1, 9, n).astype(float)
    f = np.cumsum(rng.choice([0.01, 0.1, 0.25], n) * rng.normal(size=n))[:, None]
    Y = levels[labels] + f + rng.choice([0.0, 0.2]) * rng.normal(size=(n, 1))
    exact = np.array([True] * (n - 2) + [bool(seed % 2)] * 2)
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [1, 5], [3, 6]])
    member = rng.permutation(np.repeat(np.arange(-1, n), np.r_[3, counts.astype(int)]))
    X = np.arange(float(n))[:, None]
    means = Means(member, labels, counts, X, Y, f, np.zeros(n), np.zeros(n), X, X, exact)
    fitted, c = np.abs(f[edges[:, 0]] - f[edges[:, 1]])[:, 0], 1.5
    smooth = np.full(n - 1, c * fitted.max()) if modulus is None else np.full(n - 1, modulus)
    belief = None if modulus is None else as_modulus(lambda t: modulus + 0.0 * t)
    return Trial(means, levels, Premises(c, belief, 2, 0.05), 9, edges, fitted, smooth, rng.uniform(0.0, 0.3, n - 1))


def labellings(trial, tolerance, own):
    """Return every labelling of the means `own` that keeps f within the tolerances of the edges between them."""
    every = np.array(list(product(range(len(trial.levels)), repeat=len(own))))
    f = trial.means.Y[own, 0] - trial.levels[every, 0]
    fits = np.ones(len(every), dtype=bool)
    for e, (i, j) in enumerate(trial.edges):
        if i in own and j in own:
            fits &= np.abs(f[:, own == i] - f[:, own == j])[:, 0] <= tolerance[e]
    return every[fits]


def is_sure(trial, tolerance, own):
    """Whether each label of the first mean leaves one labelling at most, and all divide as the given one."""
    fits, labels = labellings(trial, tolerance, own), trial.means.labels[own]
    first = [z[0] for z in fits]
    return (
        any(np.array_equal(z, labels) for z in fits)
        and len(set(first)) == len(first)
        and all(same_division(z, labels) for z in fits)
    )


def expected_parts(trial):
    """Return the cut edges and the sure parts: the largest that any threshold of the variation leaves."""
    means, premises, levels = trial.means, trial.premises, trial.levels[:, 0]
    rest = means.Y[:, 0] - levels[means.labels]
    best = -1.0, None, None
    values = [premises.c * np.quantile(trial.fitted, q) for q in THRESHOLDS]
    for t in [trial.smooth] if premises.modulus is not None else sorted(values):
        cut = np.zeros(len(trial.edges), dtype=bool)
        for e, (i, j) in enumerate(trial.edges):
            gaps = [abs(levels[means.labels[j]] - mu) for k, mu in enumerate(levels) if k != means.labels[j]]
            far = np.diff(levels).min() if means.exact[i] and means.exact[j] else min(gaps)
            most = t if np.ndim(t) == 0 else t[e]
            cut[e] = abs(rest[i] - rest[j]) + most + trial.noise[e] >= far
            cut[e] |= premises.modulus is None and premises.c * trial.fitted[e] > t
        part = pieces(len(means.labels), trial.edges[~cut])
        score = np.sum(np.bincount(part, means.counts) ** 2)
        if score > best[0]:
            best = score, cut, (part, t + trial.noise)
    _, cut, (part, tolerance) = best
    sets = [np.flatnonzero(part == k) for k in range(part.max() + 1)]
    return cut, {tuple(own.tolist()) for own in sets if is_sure(trial, tolerance, own)}


@pytest.mark.parametrize("modulus", [None, 0.2])
@pytest.mark.parametrize("m", [2, 3])
@settings(max_examples=12)
@given(seed=SEEDS)
def test_parts_are_the_largest_that_a_threshold_leaves_and_sure_by_trying_all_labellings(m, modulus, seed):
    trial = few_means(seed, modulus, m)
    part, cut = trial.local
    expected_cut, expected = expected_parts(trial)
    np.testing.assert_array_equal(cut, expected_cut)
    found = [tuple(np.flatnonzero(part == k).tolist()) for k in range(part.max() + 1)]
    assert set(found) == expected
    assert [len(own) for own in found] == sorted(map(len, found), reverse=True)
    sizes = np.array([trial.means.counts[list(own)].sum() for own in found])
    assert trial.together == pytest.approx(np.sum((sizes / len(trial.means.member)) ** 2))


def test_a_threshold_between_calm_and_steep_edges_leaves_the_largest_parts():
    """The steepest edge is cut; by its variation even the edges of middling steepness would be."""
    steps = np.array([0.01, 0.2, 0.01, 0.01, 0.45, 0.01, 0.01, 0.2, 0.01, 0.01, 0.01])
    f, n = np.append(0.0, np.cumsum(steps))[:, None], 12
    labels, X = np.arange(n) % 2, np.arange(float(n))[:, None]
    levels, none, edges = np.array([[0.0], [1.0]]), np.zeros(n), np.column_stack([np.arange(11), np.arange(1, 12)])
    means = Means(np.arange(n), labels, np.ones(n), X, levels[labels] + f, f, none, none, X, X, np.ones(n, dtype=bool))
    trial = Trial(means, levels, Premises(2.0, None, 2, 0.05), 2, edges, steps, np.full(11, 0.9), np.full(11, 0.05))
    assert trial.local[0].tolist() == [1] * 5 + [0] * 7
    assert np.flatnonzero(trial.local[1]).tolist() == [4]
    assert trial.together == pytest.approx((25 + 49) / 144)
    np.testing.assert_allclose(trial.used(trial.smooth), steps + 0.95)


@settings(max_examples=15)
@given(SEEDS, st.integers(2, 3), st.sampled_from([0.5, 1.0, 2.0]))
def test_means_are_unique_just_if_all_labellings_say_so(seed, m, factor):
    trial = few_means(seed, 0.2, m)
    tolerance = factor * (trial.smooth + trial.noise)
    assert trial.unique(factor) == is_sure(trial, tolerance, np.arange(7))


@settings(max_examples=15)
@given(SEEDS, st.integers(2, 3))
def test_other_labels_are_such_as_the_premises_allow(seed, m):
    trial = few_means(seed, 0.3, m)
    allowed = [tuple(z) for z in labellings(trial, trial.smooth + trial.noise, np.arange(7))]
    other = trial.other()
    rivals = [z for z in allowed if not same_division(np.array(z), trial.means.labels)]
    assert tuple(other) in rivals if other is not None else True
    assert other is None if not rivals else True
    # One point alone that may change its label is always found.
    for i, k in product(range(7), range(m)):
        one = trial.means.labels.copy()
        one[i] = k
        if tuple(one) in rivals:
            assert other is not None
