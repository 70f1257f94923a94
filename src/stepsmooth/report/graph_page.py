"""One HTML file with a point cloud and its graphs in space: no network, no foreign code, nothing to install."""

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files

import numpy as np

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.report.graph_data import CloudGraphs
from stepsmooth.report.graph_view import best_view, in_space, node_places
from stepsmooth.report.palette import GOLD, cluster_colours
from stepsmooth.report.thinning import sample_points

MAX_DOTS = 5_000  # more would not turn smoothly

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{style_hash}'; \
script-src '{script_hash}'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1><p>{summary}</p></header>
<main>
<figure>
<canvas id="cloud" tabindex="0" role="img" aria-label="{summary}"></canvas>
<div id="hint" role="status"></div>
<nav>
<button data-view="neighbors" aria-pressed="true">Neighbour graph</button>
<button data-view="clusters" aria-pressed="false">Cluster graph</button>
<button data-action="turn" aria-pressed="false">Turn</button>
<button data-action="reset">Reset</button>
</nav>
<figcaption>Drag to turn, wheel or pinch to zoom, point at a dot to read it; arrow keys, + and &minus; do the same.
</figcaption>
</figure>
<aside>
<h2>Clusters</h2>
<ul>{clusters}</ul>
<h2>Distances of clusters</h2>
<table><thead><tr><th scope="col">pair</th><th scope="col">distance</th><th scope="col">edge</th></tr></thead>
<tbody>{pairs}</tbody></table>
<p>{notes}</p>
</aside>
</main>
<noscript>The picture needs JavaScript; the distances do not.</noscript>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def graph_page(graphs: CloudGraphs, names: Sequence[str], *, title: str, points: Sequence[str] | None = None) -> str:
    """Write the page.

    Parameters
    ----------
    graphs : CloudGraphs
    names : sequence of str
        Of the clusters.
    title : str
    points : sequence of str, optional
        Of the points; their numbers by default.

    Returns
    -------
    str
        The whole file. All text in it is escaped, and its policy forbids scripts other than its own and every request.

    Examples
    --------
    >>> from stepsmooth.report.graph_data import cloud_graphs
    >>> graphs = cloud_graphs([[0.0, 0.0], [0.0, 1.0], [3.0, 1.0]], [0, 0, 1])
    >>> page = graph_page(graphs, ["<b>", "other"], title="Three points")
    >>> "&lt;b&gt;" in page, "<b>" in page, "http" in page.replace("http-equiv", "")
    (True, False, False)
    """
    n = len(graphs.X)
    if points is not None and len(points) != n:
        raise ValueError(f"points must hold one name for each of the {n} points; found {len(points)}.")
    here = files("stepsmooth.report")
    style, script = (here.joinpath(f"graph_page.{ending}").read_text("utf-8") for ending in ("css", "js"))
    data = _data(graphs, names, points)
    drawn = len(data["points"])
    return PAGE.format(
        title=escape(title),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        summary=escape(
            f"{n:,} points in {graphs.n_clusters} clusters; connectivity {graphs.rho_min:.4g}, "
            f"label distance {graphs.delta:.4g}"
        ),
        clusters="".join(_cluster(graphs, names, k) for k in range(graphs.n_clusters)),
        pairs="".join(_pair(graphs, names, i) for i in np.argsort(graphs.distances, kind="stable")),
        notes=escape(_notes(graphs, drawn)),
        data=in_script(data),
    )


def in_script(data: Anything) -> str:
    r"""Write data as JSON that cannot end the element it stands in.

    Examples
    --------
    >>> in_script(["</script>&"])
    '["\\u003c/script\\u003e\\u0026"]'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII: line separators are escaped already
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _data(graphs: CloudGraphs, names: Sequence[str], points: Sequence[str] | None) -> dict[str, Anything]:
    """Collect what the script draws; edges number the points that are drawn."""
    needed = np.unique(np.concatenate([graphs.critical, graphs.nearest.ravel()]))
    kept = np.union1d(sample_points(graphs.labels, MAX_DOTS), needed)
    place = np.full(len(graphs.X), -1)
    place[kept] = np.arange(len(kept))
    edges = place[graphs.edges]
    space = in_space(graphs.X)
    middle = (space.min(axis=0) + space.max(axis=0)) / 2.0
    unit = float(np.linalg.norm(space - middle, axis=1).max())
    scaled = (space - middle) / unit
    view = best_view(graphs)
    places, ring = node_places(graphs, scaled @ view[:2].T)
    medians = np.array([np.median(scaled[graphs.labels == k], axis=0) for k in range(graphs.n_clusters)])
    return {
        "points": _short(scaled[kept]),
        "at": _short(graphs.X[kept][:, :3], 4),
        "labels": graphs.labels[kept].tolist(),
        "numbers": kept.tolist(),
        "texts": None if points is None else [str(points[i]) for i in kept],
        "names": list(names),
        "colours": cluster_colours(graphs.n_clusters),
        "gold": GOLD,
        "edges": edges[(edges >= 0).all(axis=1)].tolist(),
        "critical": place[graphs.critical].tolist(),
        "middles": _short(places @ view[:2] if ring else medians),
        "bridges": [
            [*pair, *place[ends].tolist(), near]
            for pair, ends, near in zip(graphs.clusters.tolist(), graphs.nearest, graphs.near)
        ],
        "view": np.round(view, 5).ravel().tolist(),
        "rho": f"{graphs.rho_min:.4g}",
    }


def _cluster(graphs: CloudGraphs, names: Sequence[str], k: int) -> str:
    count = int(np.sum(graphs.labels == k))
    return f'<li data-cluster="{k}"><i></i>{escape(names[k])} <small>{count:,} points</small></li>'


def _pair(graphs: CloudGraphs, names: Sequence[str], i: int) -> str:
    one, other = (escape(names[k]) for k in graphs.clusters[i])
    line = "solid" if graphs.near[i] else "dashed"
    return f'<tr><th scope="row">{one} &ndash; {other}</th><td>{graphs.distances[i]:.4g}</td><td>{line}</td></tr>'


def _notes(graphs: CloudGraphs, drawn: int) -> str:
    notes = ["Gold: the critical edge; without it the neighbour graph falls apart. "]
    notes.append("Solid: within the label distance, where the clusters hang together; dashed: farther. ")
    if not graphs.complete:
        notes.append(f"Only the {len(graphs.edges):,} longest edges of the spanning tree are drawn. ")
    if drawn < len(graphs.X):
        notes.append(f"{drawn:,} of {len(graphs.X):,} points are drawn. ")
    if graphs.X.shape[1] > 3:
        notes.append(f"Of {graphs.X.shape[1]} dimensions the three of largest spread are shown; distances are exact.")
    return "".join(notes).strip()


def _short(values: Floats, digits: int = 5) -> Anything:
    return [[float(f"{v:.{digits}g}") for v in row] for row in values]


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
