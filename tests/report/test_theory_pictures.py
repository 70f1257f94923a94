"""Pictures of the theory: graphs of point clouds, certificates in place, spectra of chains."""

import json
import re
import shutil
import subprocess
from functools import cache
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter
from scipy.spatial.distance import cdist, pdist

from stepsmooth import GridStepSmooth, StepSmooth
from stepsmooth.datasets import make_sine_steps
from stepsmooth.model import MinKernel
from stepsmooth.report import CertificateDisplay, GraphDisplay, SpectralDisplay
from stepsmooth.report import graph_data as drawn
from stepsmooth.report.certificate_words import marked_edges, part_groups
from stepsmooth.report.chain_curves import chain_curves
from stepsmooth.report.graph_data import cloud_graphs
from stepsmooth.report.graph_view import CLOSE, best_view, in_plane, node_places
from stepsmooth.report.palette import CLUSTERS, GOLD
from stepsmooth.topology import Lattice, certify, cluster_distances, connectivity, label_distance, neighbor_graph

DOCS = Path(__file__).parents[2] / "docs"
NASTY = "</script><script>alert('&')</script>\u2028"


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def cloud(seed=0, n=60, d=3, m=3):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % m)
    return rng.normal(size=(n, d)) + 2.0 * rng.normal(size=(m, d))[labels], labels


def scattered():
    rng = np.random.default_rng(0)
    return rng.normal(size=(150, 6)), np.arange(150) % 7


def paused(drop=0.25):
    data = make_sine_steps(400, 3, 1.0, random_state=0)
    seen = (data.x < 0.45) | (data.x > 0.45 + drop)
    return data.X[seen], data.y[seen], data.labels[seen], data.smooth[seen], data.levels


def lettering(figure):
    """Yield every text that is drawn; matplotlib keeps ticks beyond the ends of an axis, undrawn."""
    yield from figure.texts
    for ax in figure.axes:
        yield from (ax._left_title, ax._right_title, *ax.texts)
        if ax.get_legend() is not None:
            yield from ax.get_legend().get_texts()
        for axis in (ax.xaxis, ax.yaxis):
            yield axis.label
            low, high = sorted(axis.get_view_interval())
            yield from (tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high)


def lettering_fits(figure):
    figure.canvas.draw()
    texts = [text for text in lettering(figure) if text.get_visible() and text.get_text().strip()]
    boxes, page = [text.get_window_extent() for text in texts], figure.bbox.padded(1.0)
    inside = all(page.x0 <= b.x0 and b.x1 <= page.x1 and page.y0 <= b.y0 and b.y1 <= page.y1 for b in boxes)
    return inside and not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


# ---- graphs ----


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", MinKernel()])
@pytest.mark.parametrize("seed", range(3))
def test_the_graphs_drawn_are_those_of_the_theory(seed, metric):
    X, labels = cloud(seed, d=2 if seed else 4)
    if isinstance(metric, MinKernel):
        X = np.abs(X)
    graphs = cloud_graphs(X, labels, metric=metric)
    assert graphs.rho_min == connectivity(X, metric=metric)
    assert graphs.delta == label_distance(X, labels, metric=metric)
    full = neighbor_graph(X, graphs.rho_min, metric=metric)
    assert graphs.complete
    assert 2 * len(graphs.edges) == full.nnz
    assert all(full[i, j] for i, j in graphs.edges)
    between = cluster_distances(X, labels, metric=metric)
    assert_array_equal(graphs.distances, [between[k, other] for k, other in graphs.clusters])
    assert_array_equal(labels[graphs.nearest], graphs.clusters)
    if isinstance(metric, str):
        assert_allclose([cdist(X[[i]], X[[j]], metric).item() for i, j in graphs.nearest], graphs.distances)


def test_without_the_critical_edge_the_neighbour_graph_falls_apart():
    from scipy.sparse.csgraph import connected_components

    X, labels = cloud(1)
    graphs = cloud_graphs(X, labels)
    full = neighbor_graph(X, graphs.rho_min).tolil()
    assert connected_components(full.tocsr())[0] == 1
    i, j = graphs.critical
    full[i, j] = full[j, i] = False
    rest = full.tocsr()
    rest.eliminate_zeros()
    assert connected_components(rest)[0] == 2


def test_solid_edges_join_all_clusters_and_need_the_longest_of_them():
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    for seed in range(5):
        X, labels = cloud(seed, m=5)
        graphs = cloud_graphs(X, labels)
        for kept, parts in ((np.array(graphs.near), 1), (graphs.distances < graphs.delta, 2)):
            pairs = graphs.clusters[kept]
            graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(5, 5))
            assert min(connected_components(graph, directed=False)[0], 2) == parts


def test_the_critical_edge_is_gold_and_farther_clusters_are_dashed():
    X, labels = cloud(2, m=4)
    display = GraphDisplay.from_points(X, labels, names=["a", "b", "c", "d"])
    left, right = display.axes_
    gold = [line for line in left.lines if to_hex(line.get_color()).upper() == GOLD]
    assert len(gold) == 1
    assert_allclose(gold[0].get_xydata(), in_plane(display.graphs)[display.graphs.critical])
    paths = [line for line in right.lines if len(line.get_xdata()) == 4]
    assert [line.get_linestyle() == "-" for line in paths] == display.graphs.near
    assert [t.get_text() for t in right.texts] == ["a", "b", "c", "d"]
    assert GOLD not in CLUSTERS


def test_a_cloud_in_space_is_turned_and_never_stretched():
    X, labels = cloud(3)
    graphs = cloud_graphs(X, labels)
    axes = best_view(graphs)
    assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    flat = cloud_graphs(X[:, :2], labels)
    assert_array_equal(in_plane(flat), X[:, :2])


def test_nodes_of_clusters_never_cover_each_other():
    X, labels = scattered()
    graphs = cloud_graphs(X, labels)
    plane = in_plane(graphs)
    places, ring = node_places(graphs, plane)
    assert ring
    assert pdist(places).min() > CLOSE * np.linalg.norm(np.ptp(plane, axis=0))


def test_of_too_many_edges_the_tree_is_drawn_and_said_to_be(monkeypatch):
    monkeypatch.setattr(drawn, "MAX_EDGES", 40)
    X, labels = cloud(0)
    display = GraphDisplay.from_points(X, labels)
    assert (len(display.graphs.edges), display.graphs.complete) == (40, False)
    assert "the 40 longest edges of the tree" in display.axes_[0].get_xlabel()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": np.arange(6.0)}, "one column"),
        ({"metric": "precomputed"}, "knows only distances"),
        ({"names": ["one"]}, "one name for each of 2 clusters"),
        ({"labels": np.zeros(6, dtype=int)}, "at least two clusters"),
    ],
)
def test_graphs_refuse_in_one_sentence(change, words):
    X = np.random.default_rng(0).random((6, 2))
    arguments = {"X": X, "labels": np.array([0, 0, 0, 1, 1, 1]), **change}
    with pytest.raises(ValueError, match=words):
        GraphDisplay.from_points(**arguments)


# ---- the page ----


class Reader(HTMLParser):
    """Collects elements, attributes and what stands in scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.links, self.scripts, self.inside = [], [], [], False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "action", "srcset")]
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data


def page(tmp_path):
    X, labels = cloud(0)
    display = GraphDisplay.from_points(X, labels, names=[NASTY, "b", "c"])
    path = display.save_page(tmp_path / "cloud.html", title=NASTY, points=[f"{NASTY} {i}" for i in range(len(X))])
    assert list(tmp_path.iterdir()) == [path]
    return display, path, path.read_text(encoding="utf-8")


def test_the_page_stands_alone_and_text_in_it_stays_text(tmp_path):
    display, _, text = page(tmp_path)
    reader = Reader()
    reader.feed(text)
    assert reader.links == []
    assert reader.tags.count("script") == 2
    assert not {"link", "iframe", "img", "object"} & set(reader.tags)
    assert not re.search(r"https?:|//[a-z]|\bimport\b|fetch\(|XMLHttp|innerHTML|eval\(", text)
    assert "default-src 'none'" in text
    assert NASTY not in text
    assert escape(NASTY) in text
    data = json.loads(reader.scripts[0])
    assert data["names"][0] == NASTY
    assert data["texts"][3] == f"{NASTY} 3"
    assert_array_equal(data["edges"], display.graphs.edges)
    assert_array_equal(data["critical"], display.graphs.critical)
    assert [bridge[4] for bridge in data["bridges"]] == display.graphs.near
    assert np.linalg.norm(data["points"], axis=1).max() == pytest.approx(1.0, abs=1e-4)


def test_a_large_cloud_is_sampled_on_the_page_with_the_edges_that_matter(tmp_path, monkeypatch):
    from stepsmooth.report import graph_page

    monkeypatch.setattr(graph_page, "MAX_DOTS", 20)
    display, _, text = page(tmp_path)
    reader = Reader()
    reader.feed(text)
    data = json.loads(reader.scripts[0])
    assert 20 <= len(data["points"]) < 60
    assert f"{len(data['points'])} of 60 points are drawn" in text
    assert_array_equal(np.array(data["numbers"])[data["critical"]], display.graphs.critical)
    assert all(0 <= i < len(data["points"]) for edge in data["edges"] for i in edge)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium")
def test_the_page_runs_in_a_browser_under_its_own_policy(tmp_path):
    _, path, _ = page(tmp_path)
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--enable-logging=stderr",
    ]
    command = [
        "chromium",
        *options,
        f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom",
        f"{path.as_uri()}#clusters",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert 'data-view="clusters" aria-pressed="true"' in done.stdout
    assert "background: rgb(0, 114, 178)" in done.stdout
    assert "CONSOLE" not in done.stderr


# ---- spectra ----


def test_slopes_in_the_legend_are_those_of_the_medians_and_of_the_theory():
    display = SpectralDisplay.from_chains([0.3, 1.0], n=100, sizes=[100, 400, 1600], chains=30)
    for ax, scaling, expected in zip(display.axes_[1:], ("K/n", "K"), (-1.53, -1.02)):
        slopes = display.curves.slopes(scaling)
        assert slopes[1] == pytest.approx(expected, abs=0.02)
        said = " ".join(t.get_text() for t in ax.texts).replace("\N{MINUS SIGN}", "-")
        assert all(f"p = {p:.1f}, slope {slope:.2f}" in said for p, slope in zip((0.3, 1.0), slopes))
        assert scaling in ax.get_title("right")


def test_bands_hold_their_medians_and_a_chain_without_chance_has_none():
    curves = chain_curves([0.2, 1.0], n=100, sizes=[50, 100], chains=40)
    for bands in (curves.survival, *curves.residual.values()):
        assert np.all(np.diff(bands, axis=1) >= -1e-6)
    display = SpectralDisplay(curves=curves).plot()
    assert [len(ax.collections) for ax in display.axes_] == [1, 1, 1]
    assert [len(ax.lines) for ax in display.axes_] == [2, 4, 4]


def test_one_size_has_no_slope():
    with pytest.raises(ValueError, match="at least two different"):
        chain_curves([0.5], n=50, sizes=[100, 100], chains=5)


# ---- certificates ----


def test_the_breaking_edge_is_shaded_where_it_is_and_each_part_has_its_bar():
    X, y, labels, smooth, levels = paused()
    found = certify(X, labels, levels, y=y, modulus=1.0)
    display = CertificateDisplay.from_certificate(found, X, labels, y=y, levels=levels, smooth=smooth)
    above, bars = display.axes_
    (shade,) = above.patches
    before, after = X[X < 0.5].max(), X[X > 0.5].min()
    assert_allclose(shade.get_extents().intervalx, above.transData.transform([[before, 0], [after, 0]])[:, 0])
    assert above.get_title("left").startswith("? cannot tell")
    ends = [c.get_segments() for c in bars.collections]
    assert [len(e) for e in ends] == [1, 1]
    assert ends[0][0][1, 0] < 0.46
    assert ends[1][0][0, 0] > 0.69
    assert found.premise.split(",")[0] in display.figure_._supxlabel.get_text()


def test_other_labels_are_drawn_where_they_differ():
    X, y, labels, smooth, levels = paused()
    found = certify(X, labels, levels, y=y)
    display = CertificateDisplay.from_certificate(found, X, labels, y=y, levels=levels, smooth=smooth)
    assert display.axes_.shape == (3,)
    rings = display.axes_[1].collections[-1].get_offsets()
    changed = np.flatnonzero(found.alternative != labels)
    assert_array_equal(np.sort(rings[:, 0]), np.sort(X[changed, 0]))
    assert "shaded: 1 edge breaks the condition" in display.axes_[0].get_title("right")


def test_where_edges_break_everywhere_the_worst_are_marked():
    X, _, labels, _, levels = paused()
    found = certify(X, labels, levels, smooth=np.random.default_rng(0).normal(size=len(X)))
    display = CertificateDisplay.from_certificate(found, X, labels)
    assert len(found.edges) > 100
    assert "the 10 worst are marked" in display.axes_[0].get_title("right")
    assert len(display.axes_[0].patches) == 10


def test_a_fit_that_is_identified_says_so_and_marks_nothing():
    data = make_sine_steps(400, 3, 3.0, random_state=0)
    m = StepSmooth(3, solver="altmin").fit(data.X, data.y)
    display = CertificateDisplay.from_estimator(m)
    assert display.certificate.verdict == "identified"
    assert "identified" in display.axes_[0].get_title("left")
    assert len(display.axes_[0].patches) == 0


def test_the_order_of_points_changes_nothing():
    X, y, labels, _, levels = paused()
    mixed = np.random.default_rng(0).permutation(len(X))
    bars = []
    for order in (np.arange(len(X)), mixed):
        found = certify(X[order], labels[order], levels, y=y[order], modulus=1.0)
        display = CertificateDisplay.from_certificate(found, X[order], labels[order], y=y[order])
        bars.append([c.get_segments()[0] for c in display.axes_[-1].collections])
    assert_allclose(bars[0], bars[1])


def islands():
    mask = np.ones((12, 40), dtype=bool)
    mask[:, 15:25] = False
    labels = np.indices(mask.shape).sum(axis=0) % 3
    return Lattice(mask, (2.0, 1.0)), labels, np.array([0.0, 1.0, 2.0])


def test_an_image_shows_the_bridge_and_two_parts():
    lattice, labels, levels = islands()
    y = levels[labels] + 0.01 * np.indices(labels.shape)[1]
    found = certify(lattice, labels, levels, y=y, modulus=0.06)
    display = CertificateDisplay.from_certificate(found, lattice, labels, y=y)
    image, _, parts = display.axes_
    ends = image.collections[-1].get_segments()
    assert [abs(end[1, 0] - end[0, 0]) for end in ends] == [11.0]
    shown = parts.images[0].get_array()
    assert np.ma.getmaskarray(shown).sum() == 120 or np.isnan(shown).sum() == 120
    assert (shown[3, 2], shown[3, 30]) == (0, 1)
    assert [t.get_text() for t in parts.get_legend().get_texts()] == ["part 1: 180 points", "part 2: 180 points"]


@cache
def steep_volume():
    """Two tissues in five slices, whose field rises steeply in the middle of the last two."""
    rng, shape = np.random.default_rng(0), (48, 64, 5)
    labels = np.repeat((gaussian_filter(rng.normal(size=shape[:2]), 3.0) > 0).astype(int)[:, :, None], 5, axis=2)
    rise = 1.0 / (1.0 + np.exp(-(np.indices(shape)[1] - 32) / 2.0)) * (np.arange(5) > 2)
    image = np.exp(rise) * np.array([1.0, 2.0])[labels] + 0.03 * rng.normal(size=shape)
    g = GridStepSmooth(2, knots=6.0, spacing=1.0, label_prior="proportions").fit(image)
    g.smooth_, g.labels_ = rise.astype(np.float32), labels.astype(np.int16)
    g.corrected_ = image / g.field_
    return g


def test_a_volume_shows_the_slice_that_most_breaking_edges_cross():
    g = steep_volume()
    display = CertificateDisplay.from_estimator(g)
    assert display.certificate.verdict == g.certificate().verdict == "cannot tell"
    shown = int(re.search(r"slice (\d) across axis 2", display.axes_[1].get_xlabel())[1])
    assert shown >= 2
    assert display.axes_[0].images[0].get_array().shape == (48, 64)
    ends = np.array(display.axes_[0].collections[-1].get_segments())
    assert np.all(np.abs(ends[:, :, 0] - 32) < 24)
    calm = CertificateDisplay.from_estimator(g, index=0)
    assert "slice 0 across axis 2" in calm.axes_[1].get_xlabel()
    assert len(calm.axes_[0].collections) < len(display.axes_[0].collections) or len(calm.certificate.edges) < len(ends)
    with pytest.raises(ValueError, match="index must be a slice along axis 2"):
        CertificateDisplay.from_estimator(g, index=9)


def test_a_fitted_image_is_drawn_on_its_own_pixels():
    rng = np.random.default_rng(0)
    labels = (gaussian_filter(rng.normal(size=(40, 50)), 3.0) > 0).astype(int)
    image = np.exp(np.linspace(0.0, 0.3, 50)) * np.array([1.0, 2.0])[labels]
    g = GridStepSmooth(2, knots=60.0, spacing=1.0, label_prior="proportions").fit(image)
    display = CertificateDisplay.from_estimator(g)
    assert "identified" in display.axes_[0].get_title("left")
    assert_allclose(display.axes_[0].images[0].get_array(), image, rtol=1e-5)


def test_points_in_a_plane_are_drawn_as_dots():
    rng = np.random.default_rng(0)
    X, labels = rng.random((80, 2)), np.arange(80) % 2
    found = certify(X, labels, [0.0, 1.0], modulus=2.0)
    display = CertificateDisplay.from_certificate(found, X, labels)
    assert_array_equal(display.axes_[1].collections[0].get_offsets(), X)


@pytest.mark.parametrize(
    ("X", "labels", "words"),
    [
        (np.zeros((300, 3)), np.zeros(300), "on a line or in a plane"),
        (np.arange(4.0), np.zeros(5), "labels must hold one row for each of the 4 points"),
        (Lattice(np.ones((2, 2, 1), dtype=bool)), np.zeros(4), "certify one slice"),
    ],
)
def test_certificates_refuse_in_one_sentence(X, labels, words):
    found = certify(np.arange(4.0), [0, 1, 0, 1], [0.0, 1.0], modulus=0.1)
    with pytest.raises(ValueError, match=words):
        CertificateDisplay.from_certificate(found, X, labels)


@pytest.mark.parametrize("seed", range(3))
def test_groups_of_parts_hold_every_point_once(seed):
    rng = np.random.default_rng(seed)
    parts = np.repeat(np.arange(12), np.sort(rng.integers(1, 9, 12))[::-1])
    parts = np.concatenate([parts, np.full(seed, -1)])
    assert_array_equal(np.sum([inside for _, inside in part_groups(parts)], axis=0), np.ones(len(parts)))


def test_few_breaking_edges_are_all_marked():
    found = certify([0.0, 1.0, 2.0, 30.0, 31.0], [0, 1, 0, 1, 0], [0.0, 1.0], modulus=0.1)
    assert_array_equal(marked_edges(found)[0], found.edges)


# ---- all ----


def trace(**options):
    X, y, labels, smooth, levels = paused()
    found = certify(X, labels, levels, y=y, **options)
    return CertificateDisplay.from_certificate(found, X, labels, y=y, levels=levels, smooth=smooth)


def image():
    lattice, labels, levels = islands()
    y = levels[labels] + 0.01 * np.indices(labels.shape)[1]
    return CertificateDisplay.from_certificate(certify(lattice, labels, levels, y=y), lattice, labels, y=y)


DISPLAYS = {
    "not identified": trace,
    "cannot tell": lambda: trace(modulus=1.0),
    "image": image,
    "volume": lambda: CertificateDisplay.from_estimator(steep_volume()),
    "spectra": lambda: SpectralDisplay.from_chains(n=50, sizes=[30, 90], chains=10),
    "graphs": lambda: GraphDisplay.from_points(*cloud(0)),
    "scattered labels": lambda: GraphDisplay.from_points(*scattered()),
}


@pytest.mark.parametrize("which", DISPLAYS)
def test_no_lettering_is_clipped_or_overlaps(which):
    assert lettering_fits(DISPLAYS[which]().figure_)


def test_axes_of_the_caller_are_used_and_counted():
    def make(axes):
        return SpectralDisplay.from_chains([0.5], n=30, sizes=[20, 30], chains=5, axes=axes)

    axes = plt.figure().subplots(1, 3)
    assert make(axes).axes_[0] is axes[0]
    with pytest.raises(ValueError, match="needs 3 axes"):
        make(axes[:2])


def test_the_page_of_the_documentation_draws_its_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, names = (DOCS / "identifiability.md").read_text(encoding="utf-8"), {}
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(block.replace("from_chains()", "from_chains(n=50, sizes=[30, 60], chains=5)"), names)
    made = {path.name for path in tmp_path.iterdir()}
    assert made == set(re.findall(r"\]\(images/(.*?)\)", text))
    assert all((DOCS / "images" / name).exists() for name in made)
