"""Dwell times, amplitudes and residuals of a recording: what the displays draw, say and refuse."""

import re
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from stepsmooth import StepSmooth, events
from stepsmooth.datasets import make_markov_steps, make_sine_steps
from stepsmooth.report import AmplitudeDisplay, DwellDisplay, ResidualDisplay
from stepsmooth.report.dwell_bins import PER_DECADE, dwell_edges, exponential_density, geometric_density, log_histogram

DISPLAYS = [DwellDisplay, AmplitudeDisplay, ResidualDisplay]
PAGE = Path(__file__).parents[2] / "docs" / "recordings.md"


@pytest.fixture(scope="module")
def markov():
    data = make_markov_steps(500, 3, 2.0, switching=0.1, noise_variance=0.02, random_state=0)
    return data, StepSmooth(3, solver="joint", label_prior="markov").fit(data.X, data.y)


@pytest.fixture(scope="module")
def plain():
    data = make_sine_steps(300, 3, 2, noise_variance=0.02, random_state=1)
    return data, StepSmooth(3, solver="altmin").fit(data.X, data.y)


@pytest.fixture(scope="module")
def channels():
    data = make_sine_steps(200, 3, 2, n_channels=2, noise_variance=0.01, random_state=0)
    return data, StepSmooth(3, random_state=0, solver="altmin").fit(data.X, data.y)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def integral(ax):
    """Return the events under the bars of a dwell panel."""
    bars = ax.patches[0].get_data()
    return np.sum(bars.values * np.diff(np.log10(bars.edges))) * PER_DECADE


def test_bars_count_the_complete_events_of_their_level(markov):
    data, m = markov
    table = events(m, data.X, data.y)
    display = DwellDisplay.from_estimator(m, data.X, data.y)
    for label, ax in enumerate(display.axes_):
        mine = table[table["complete"] & (table["label"] == label)]
        assert_allclose(integral(ax), len(mine))
        assert ax.texts[0].get_text().startswith(f"{len(mine)} events\nmean ")


def test_the_exponential_peaks_at_the_mean_dwell(markov):
    data, m = markov
    table = events(m, data.X, data.y)
    display = DwellDisplay.from_estimator(m, data.X, data.y)
    for label, ax in enumerate(display.axes_):
        t, height = ax.lines[0].get_data()
        mean = table["dwell"][table["complete"] & (table["label"] == label)].mean()
        assert_allclose(t[np.argmax(height)], mean, rtol=0.02)


def test_a_markov_prior_adds_its_dashed_curve_and_a_dead_time_takes_it_away(markov, plain):
    data, m = markov
    assert [len(ax.lines) for ax in DwellDisplay.from_estimator(m, data.X, data.y).axes_] == [2, 2, 2]
    dead = DwellDisplay.from_estimator(m, data.X, data.y, min_dwell=3 / 500)
    assert [len(ax.lines) for ax in dead.axes_] == [1, 1, 1]
    data, m = plain
    assert [len(ax.lines) for ax in DwellDisplay.from_estimator(m, data.X, data.y).axes_] == [1, 1, 1]


@pytest.mark.parametrize("stay", [0.3, 0.9, 0.99])
def test_the_geometric_curve_holds_in_each_bin(stay):
    dwells = np.arange(1.0, 400.0)
    edges = dwell_edges(dwells, 1.0)
    for low, high in pairwise(edges):
        t = np.geomspace(low, high, 2001)
        area = np.trapezoid(geometric_density(t, stay, 1.0, 1), np.log10(t)) * PER_DECADE
        assert_allclose(area, stay ** (low - 0.5) - stay ** (high - 0.5), atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_large_sample_of_exponential_dwells_follows_the_curve(seed):
    dwells = np.random.default_rng(seed).exponential(2.0, size=100_000)
    edges = dwell_edges(dwells, 0.01)
    wide = edges[(edges > 0.3) & (edges < 8.0)]
    middles = np.sqrt(wide[1:] * wide[:-1])
    assert_allclose(log_histogram(dwells, wide), exponential_density(middles, 2.0, 100_000), rtol=0.06)


def test_every_dwell_falls_into_a_bin_and_no_bin_is_narrower_than_a_sample():
    rng = np.random.default_rng(0)
    for dwells in (np.array([1.0]), rng.integers(1, 5000, 60).astype(float), rng.exponential(0.3, 50)):
        edges = dwell_edges(dwells, 1.0)
        assert np.histogram(dwells, edges)[0].sum() == len(dwells)
        assert np.diff(edges)[edges[:-1] >= 0.5].min() > 0.999


def test_a_level_without_a_complete_event_says_so():
    x = np.arange(30.0)
    y = np.where(x < 12, 0.0, 4.0) + 0.01 * np.sin(9.0 * x)
    m = StepSmooth(2, tau=1e6, start="kmeans").fit(x[:, None], y)
    display = DwellDisplay.from_estimator(m, x, y)
    assert [ax.texts[0].get_text() for ax in display.axes_] == ["no complete event"] * 2


def test_all_samples_are_in_the_amplitude_histogram_and_the_mixture_has_their_area(plain):
    data, m = plain
    (ax,) = AmplitudeDisplay.from_estimator(m, data.X, data.y).axes_
    bars = ax.patches[-1].get_data()
    assert bars.values.sum() == 300
    curve = next(line for line in ax.lines if line.get_color() == "#222222" and len(line.get_xdata()) > 2)
    width = bars.edges[1] - bars.edges[0]
    assert_allclose(np.trapezoid(curve.get_ydata(), curve.get_xdata()) / width, 300, rtol=0.02)
    marks = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2]
    assert_allclose(marks, m.levels_)


def test_the_residual_panels_show_residuals_quantiles_correlations_and_sds(plain):
    data, m = plain
    along, quantiles, correlation, spread = ResidualDisplay.from_estimator(m, data.X, data.y, n_lags=7).axes_[0]
    residual = data.y - m.smooth_ - m.levels_[m.labels_]
    assert_allclose(along.collections[0].get_offsets()[:, 1], residual)
    x, y = quantiles.lines[1].get_data()
    assert np.all(np.diff(x) > 0)
    assert np.all(np.diff(y) >= 0)
    assert_array_equal(correlation.lines[1].get_xdata(), np.arange(1, 8))
    heights = [line.get_ydata()[0] for line in spread.lines if len(line.get_xdata()) == 1]
    assert_allclose(heights, [np.sqrt(np.mean(residual[m.labels_ == k] ** 2)) for k in range(3)])


def test_channels_have_panels_of_their_own(channels):
    data, m = channels
    assert [D.from_estimator(m, data.X, data.y).axes_.shape for D in DISPLAYS] == [(3,), (2,), (2, 4)]


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("case", ["markov", "plain", "channels"])
def test_no_lettering_is_clipped_or_overlaps(display, case, request):
    data, m = request.getfixturevalue(case)
    figure = display.from_estimator(m, data.X, data.y, unit="ms").figure_
    figure.canvas.draw()
    texts = [text for ax in figure.axes for text in [*ax.texts, ax._left_title, ax._right_title, ax.xaxis.label]]
    texts += [text for legend in figure.legends for text in legend.get_texts()]
    for ax in figure.axes:
        low, high = ax.get_xlim()
        texts += [tick.label1 for tick in ax.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    boxes = [box for box in boxes if box.width > 0]
    page = figure.bbox
    assert all(page.x0 <= b.x0 and b.x1 <= page.x1 and page.y0 <= b.y0 and b.y1 <= page.y1 for b in boxes)
    assert not any(one.overlaps(two) for i, one in enumerate(boxes) for two in boxes[:i])


@pytest.mark.parametrize("display", DISPLAYS)
def test_units_are_on_the_axes(plain, display):
    data, m = plain
    axes = display.from_estimator(m, data.X, data.y, unit="ms").axes_
    assert "(ms)" in axes.flat[0].get_xlabel()


@pytest.mark.parametrize("display, panels", zip(DISPLAYS, [3, 1, 4]))
def test_it_draws_into_the_axes_it_is_given(plain, display, panels):
    data, m = plain
    figure, axes = plt.subplots(1, panels, squeeze=False)
    drawn = display.from_estimator(m, data.X, data.y, axes=axes)
    assert drawn.figure_ is figure
    assert list(drawn.axes_.flat) == list(axes.flat)
    with pytest.raises(ValueError, match=f"needs {panels} axes, and {panels + 1} were given"):
        drawn.plot(axes=[*axes.flat, axes.flat[0]])


@pytest.mark.parametrize("display", DISPLAYS)
def test_the_smallest_recordings_are_drawn(display):
    display.from_estimator(StepSmooth(1, solver="altmin").fit([[3.0]], [2.0]), [[3.0]], [2.0]).figure_.canvas.draw()
    x, y = np.arange(12.0), np.tile([0.0, 0.0, 4.0], 4)
    m = StepSmooth(levels=[0.0, 4.0, 9.0], tau=1e6, solver="altmin").fit(
        x[:, None], y
    )  # no noise, and a level that never occurs
    display.from_estimator(m, x, y).figure_.canvas.draw()


@pytest.mark.parametrize("display", DISPLAYS)
def test_many_levels_are_drawn(display):
    x, labels = np.arange(900.0), np.arange(900) // 3 % 9
    y = 1.0 * labels + 0.05 * np.random.default_rng(0).normal(size=900)
    m = StepSmooth(levels=np.arange(9.0), tau=1e9, solver="altmin").fit(x[:, None], y)
    display.from_estimator(m, x, y).figure_.canvas.draw()


@pytest.mark.parametrize("display", DISPLAYS)
def test_neither_the_data_nor_the_global_style_is_changed(plain, display):
    data, m = plain
    before, copies = dict(mpl.rcParams), (data.X.copy(), data.y.copy())
    display.from_estimator(m, data.X, data.y)
    assert dict(mpl.rcParams) == before
    assert_array_equal(data.X, copies[0])
    assert_array_equal(data.y, copies[1])


@pytest.mark.parametrize("display", DISPLAYS)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(plain, display):
    data, m = plain
    with pytest.raises(NotFittedError):
        display.from_estimator(StepSmooth(solver="altmin"), data.X, data.y)
    with pytest.raises(ValueError, match="X and y belong together"):
        display.from_estimator(m, data.X)
    with pytest.raises(ValueError, match="X must have one column, the axis of the recording, got 2 columns"):
        display.from_estimator(m, np.zeros((300, 2)), data.y)


def test_the_code_of_the_page_runs_and_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page, names = PAGE.read_text(encoding="utf-8"), {}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(block, names)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["amplitude.png", "dwell.png", "residuals.png"]
    assert "a line at frequency 50 " in capsys.readouterr().out
    assert "a line at frequency 50 " in page
