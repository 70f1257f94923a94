"""Item 1: the neighbour graph and the cluster graph of a point cloud, flat and to be turned in space."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.experiments.outcome import Claim, Outcome, Row, judge
from stepsmooth.experiments.running import Runner


def embedded_cloud(n_points: int = 200, *, random_state: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw four drawn-out clusters in space, three of which touch the fourth: a star, as in the paper.

    Examples
    --------
    >>> X, labels = embedded_cloud()
    >>> X.shape, np.bincount(labels).tolist()
    ((200, 3), [50, 50, 50, 50])
    """
    rng = np.random.default_rng(random_state)
    labels = np.arange(n_points) % 4
    arms = np.array([[1.0, 0.2, 0.3], [0.0, 0.0, 0.0], [-0.6, 0.9, -0.2], [-0.4, -0.9, 0.5]])
    along = rng.uniform(0.25, 1.0, n_points)
    X = 4.0 * arms[labels] * along[:, None] + 0.35 * rng.standard_normal((n_points, 3))
    X[labels == 1] += 0.45 * rng.standard_normal((int(np.sum(labels == 1)), 3))
    return X, labels


def published_cloud(path: Path) -> dict[str, NDArray[Any]]:
    """Read the paper's cloud: `X`, `labels`, and the edges and colours of its pages."""
    with np.load(path, allow_pickle=False) as kept:
        return {key: np.asarray(kept[key]) for key in ("X", "labels", "label_colours", "edges")}


def run(runner: Runner) -> Outcome:
    """Draw the graphs and compare them with what the paper says of them."""
    from stepsmooth.report import GraphDisplay
    from stepsmooth.topology import cluster_distances, cluster_graph, connectivity, label_distance, neighbor_graph

    runner.progress.begin("graphs of a point cloud", 2)
    file = runner.settings.file("newsgroups", "newsgroups_umap3d.npz")
    out = Outcome()
    if file is not None:
        kept = published_cloud(file)
        X, labels = kept["X"], kept["labels"].astype(np.int64)
        names, title = [f"topic {k}" for k in range(4)], "Four topics of 20 Newsgroups, UMAP"
    else:
        kept = {}
        (X, labels), names, title = embedded_cloud(), ["arm 0", "hub", "arm 2", "arm 3"], "A cloud of our own"
        out.missing.append("The paper's cloud: set STEPSMOOTH_DATA to a folder with newsgroups/newsgroups_umap3d.npz.")
    rho, delta = connectivity(X), label_distance(X, labels)
    distances = np.asarray(cluster_distances(X, labels))
    graph = neighbor_graph(X, rho)
    edges = graph.nnz // 2
    tree = cluster_graph(X, labels, delta).toarray()
    degrees = tree.sum(axis=1)
    star = bool(tree.sum() == 2 * (len(names) - 1) and degrees.max() == len(names) - 1)
    hub = names[int(degrees.argmax())]
    colour = str(kept["label_colours"][degrees.argmax()]) if kept else ""  # that the paper's page gives it
    runner.progress.step()

    display = GraphDisplay.from_points(X, labels, names=names)
    out.figures["graphs"] = display.figure_
    out.captions["graphs"] = f"{title}: neighbour graph at rho_min = {rho:.4g} and cluster graph."
    out.pages["graphs_in_space"] = partial(display.save_page, title=title)
    out.tables["cluster_distances"] = _pairs(distances, names, delta)
    out.tables["graphs"] = [
        {"points": len(X), "rho_min": rho, "edges": edges, "label_distance": delta, "star": star, "hub": hub}
    ]
    out.settings = {"cloud": title, "points": len(X), "metric": "euclidean"}
    runner.progress.step()

    words = f"delta_lbl = {delta:.4f}: the cluster graph has {int(tree.sum() // 2)} edges, {hub} meets {degrees.max()}"
    words += f" and is {colour} in the paper" if kept else ""
    where = "Figure 2"
    out.claims.append(
        Claim(
            where,
            "The final cluster graph is a tree with a connecting hub at the blue cluster.",
            words if kept else f"The cloud is not at hand; on ours: {words}.",
            judge(star and "blue" in colour if kept else None),
            "graphs",
        )
    )
    same = None
    if kept:
        ours = {tuple(map(int, pair)) for pair in np.argwhere(np.triu(graph.toarray()))}
        same = ours == {tuple(sorted(map(int, pair))) for pair in kept["edges"]}
    out.claims.append(
        Claim(
            where,
            "The neighbour graph is drawn at the connectivity rho_min, the length of its gold edge.",
            f"rho_min = {rho:.6f}, {edges:,} edges"
            + ("" if same is None else f"; {'the same' if same else 'not the same'} as the edges of the paper's page"),
            judge(same),
            "graphs",
        )
    )
    return out


def _pairs(distances: NDArray[np.float64], names: list[str], delta: float) -> list[Row]:
    rows: list[Row] = []
    for k in range(len(names)):
        for j in range(k):
            solid = bool(distances[k, j] <= delta)
            rows.append({"one": names[j], "other": names[k], "distance": float(distances[k, j]), "within_delta": solid})
    return rows
