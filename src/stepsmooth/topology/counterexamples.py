"""Data that two labellings explain, both within the premises: no certificate may call either of them identified."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order

from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.topology.alternatives import same_division
from stepsmooth.topology.certificate import parts_without
from stepsmooth.topology.reference import best_levels
from stepsmooth.topology.spanning import SpanningTree, minimum_spanning_tree

KINDS = ("moved points", "shifted region", "chain", "unrelated")


@dataclass(frozen=True)
class CounterExample:
    """One set of observations, y = smooth + levels[labels] = true_smooth + true_levels[true_labels]."""

    X: Floats
    tree: SpanningTree
    y: Floats
    labels: Ints
    levels: Floats
    smooth: Floats
    true_labels: Ints
    true_levels: Floats
    true_smooth: Floats


def counterexample(
    random_state: int,
    *,
    n_points: int = 20,
    n_levels: int = 3,
    dimensions: int = 1,
    kind: str = "chain",
    c: float = 2.0,
) -> CounterExample:
    """Return data with a wrong labelling that is as hard to refuse as levels can make it.

    Wrong and true labels are drawn; then the true levels are chosen so that the two smooth parts differ as little as
    possible over the edges of the spanning tree (a linear programme), and the difference is divided between the two so
    that the true f varies by just c times as much as the wrong one. By Theorem 1 a small difference cannot be had.

    Parameters
    ----------
    random_state : int
    n_points, n_levels, dimensions : int
    kind : {"moved points", "shifted region", "chain", "unrelated"}
        How the labellings differ; "chain" is the walk of the proof, over all labels and back to the first.
    c : float, default=2.0

    Returns
    -------
    CounterExample

    Examples
    --------
    >>> case = counterexample(0)
    >>> bool(np.allclose(case.smooth + case.levels[case.labels], case.true_smooth + case.true_levels[case.true_labels]))
    True
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; found {kind!r}.")
    rng = np.random.default_rng(random_state)
    X = rng.random((n_points, dimensions))
    tree = minimum_spanning_tree(X)
    even = rng.random() < 0.5
    levels = np.arange(n_levels, dtype=float) if even else np.cumsum(rng.uniform(1.0, 2.0, n_levels))
    labels, true_labels = _pair(rng, tree, n_levels, kind)
    while same_division(labels, true_labels) or len(np.unique(labels)) < n_levels:
        labels, true_labels = _pair(rng, tree, n_levels, "unrelated")
    true_levels = best_levels(tree.edges, levels[labels], true_labels)[0]
    apart = true_levels[true_labels] - levels[labels]  # = smooth - true_smooth
    share = c / (1.0 + c) * (1.0 - 1e-6)
    common = np.cumsum(rng.normal(size=n_points))[np.argsort(np.argsort(X[:, 0]))]
    common *= rng.choice([0.0, 0.01, 0.1]) * np.abs(apart).max() / np.abs(common).max()
    for _ in range(60):  # what both share must not break the premise
        smooth, true_smooth = (1.0 - share) * apart + common, common - share * apart
        if _most(tree, true_smooth) <= c * _most(tree, smooth):
            break
        common /= 2.0
    y = smooth + levels[labels]
    return CounterExample(X, tree, y, labels, levels, smooth, true_labels, true_levels, true_smooth)


def _most(tree: SpanningTree, f: Floats) -> float:
    return float(np.abs(f[tree.edges[:, 0]] - f[tree.edges[:, 1]]).max())


def _pair(rng: np.random.Generator, tree: SpanningTree, n_levels: int, kind: str) -> tuple[Ints, Ints]:
    n = tree.n_points
    labels = rng.permutation(np.r_[np.arange(n_levels), rng.integers(n_levels, size=n - n_levels)])
    true = labels.copy()
    if kind == "unrelated":
        return labels, rng.integers(n_levels, size=n)
    if kind == "moved points":
        some = rng.choice(n, size=rng.integers(1, max(2, n // 4)), replace=False)
        true[some] = rng.integers(n_levels, size=len(some))
        return labels, true
    cut = np.zeros(n - 1, dtype=bool)
    cut[rng.integers(n - 1)] = True
    side = parts_without(tree.edges, cut) == 1
    if kind == "shifted region":
        true[side] = np.minimum(true[side] + 1, n_levels - 1)
        return labels, true
    # The walk of the proof, from x = 0 on: all true labels in turn and back to the first, where the estimate differs.
    labels, true = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    order = _walk(tree)
    stretch = np.minimum(np.arange(n) * (n_levels + 1) // n, n_levels)
    true[order] = stretch % n_levels
    labels[order] = np.where(stretch == n_levels, 1, 0)
    labels[order[-(n_levels - 2) :] if n_levels > 2 else []] = np.arange(2, n_levels)
    return labels, true


def _walk(tree: SpanningTree) -> Ints:
    """Return the points in the order of a breadth-first walk over the tree."""
    graph = coo_array((tree.lengths, (tree.edges[:, 0], tree.edges[:, 1])), shape=(tree.n_points, tree.n_points))
    ends = np.flatnonzero(np.bincount(tree.edges.ravel()) == 1)
    return np.asarray(breadth_first_order(graph.tocsr(), ends[0], directed=False, return_predecessors=False))
