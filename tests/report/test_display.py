"""DecompositionDisplay: what it draws, what it says, what it refuses."""

from types import SimpleNamespace

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from stepsmooth import StepSmooth
from stepsmooth.datasets import make_sine_steps
from stepsmooth.report import DecompositionDisplay, contrast_figure


class Fitted(BaseEstimator):
    """An estimator that has been given its answer."""

    def fit(self, X, y):
        return self


def answered(labels, levels, smooth, **more):
    m = Fitted()
    m.labels_, m.levels_, m.smooth_ = labels, np.asarray(levels, dtype=float), smooth
    for name, value in more.items():
        setattr(m, name, value)
    return m


def solved(signal, **more):
    return answered(signal.labels, signal.levels, signal.smooth, **more)


@pytest.fixture
def signal():
    return make_sine_steps(300, 3, 2, noise_variance=0.02, random_state=1)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def texts(display):
    found = [text for ax in display.figure_.axes for text in ax.texts if text.get_text()]
    for ax in display.figure_.axes:
        found += [ax.title, ax._left_title, ax._right_title, ax.xaxis.label]
    return [text for text in found if text.get_text()]


def test_a_real_fit_is_drawn_with_its_truth(signal):
    m = StepSmooth(n_levels=3, solver="altmin").fit(signal.X, signal.y)
    display = DecompositionDisplay.from_estimator(m, signal.X, signal.y, truth=signal)
    right = np.mean(m.labels_ == signal.labels)
    assert f"{right:.1%} of 300 labels right" in display.axes_[0, 0].get_title("right")


def test_the_rows_are_aligned_and_the_histograms_stand_beside_their_panels(signal):
    display = DecompositionDisplay.from_estimator(solved(signal), signal.X, signal.y)
    display.figure_.draw_without_rendering()
    observations, smooth, steps, raw, flattened = (ax.get_position() for ax in display.axes_[0])
    assert observations.x0 == smooth.x0 == steps.x0
    assert observations.x1 == smooth.x1 == steps.x1
    assert (raw.y0, raw.y1) == (observations.y0, observations.y1)
    assert (flattened.y0, flattened.y1) == (steps.y0, steps.y1)
    assert display.axes_[0, 4].get_ylim() == display.axes_[0, 2].get_ylim()


@pytest.mark.parametrize("levels", [[-1, 0, 1], [0.0, 0.01, 0.02], [-1e5, 0, 2e5]])
def test_no_lettering_is_clipped_or_overlaps(signal, levels):
    y = signal.smooth + np.asarray(levels)[signal.labels]
    m = answered(signal.labels, levels, signal.smooth, levels_se_=np.full(3, 0.012))
    display = DecompositionDisplay.from_estimator(m, signal.X, y, truth=signal)
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in texts(display)]
    page = display.figure_.bbox
    assert all(page.x0 <= b.x0 and b.x1 <= page.x1 and page.y0 <= b.y0 and b.y1 <= page.y1 for b in boxes)
    assert not any(one.overlaps(two) for i, one in enumerate(boxes) for two in boxes[:i])


def test_exactly_the_wrong_labels_are_ringed(signal):
    found = signal.labels.copy()
    found[[3, 50, 200]] = (found[[3, 50, 200]] + 1) % 3
    m = answered(found, signal.levels, signal.smooth)
    display = DecompositionDisplay.from_estimator(m, signal.X, signal.y, truth=signal)
    rings = display.axes_[0, 0].collections[-1].get_offsets()
    np.testing.assert_allclose(rings, np.column_stack([signal.x, signal.y])[[3, 50, 200]])


def test_the_true_smooth_part_is_drawn_at_the_mean_of_the_recovered_one(signal):
    truth = SimpleNamespace(smooth=signal.smooth + 7.0)
    display = DecompositionDisplay.from_estimator(solved(signal), signal.X, signal.y, truth=truth)
    recovered, true = display.axes_[0, 1].lines
    np.testing.assert_allclose(true.get_ydata(), recovered.get_ydata(), atol=1e-12)


def test_the_band_is_two_standard_errors_wide(signal):
    m = solved(signal, smooth_se_=np.full(300, 0.1))
    display = DecompositionDisplay.from_estimator(m, signal.X, signal.y)
    (band,) = display.axes_[0, 1].collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(signal.smooth.max() + 0.2)
    assert heights.min() == pytest.approx(signal.smooth.min() - 0.2)


def test_the_order_of_the_points_does_not_matter(signal):
    mixed = np.random.default_rng(0).permutation(300)
    m = answered(signal.labels[mixed], signal.levels, signal.smooth[mixed])
    display = DecompositionDisplay.from_estimator(m, signal.X[mixed], signal.y[mixed])
    np.testing.assert_allclose(display.axes_[0, 1].lines[0].get_xydata(), np.c_[signal.x, signal.smooth])


def test_of_many_points_a_sample_is_drawn_and_said_to_be_one():
    n = 60_000
    x = np.linspace(0, 1, n)
    labels = np.zeros(n, dtype=int)
    labels[1000:1040] = 1
    smooth = np.sin(9 * x)
    m = answered(labels, [0.0, 3.0], smooth)
    display = DecompositionDisplay.from_estimator(m, x, smooth + m.levels_[labels])
    observations, *_, raw, flattened = display.axes_[0]
    dots = observations.collections[0].get_offsets()
    assert len(dots) == 20_000
    assert "20,000 of 60,000 points drawn" in observations.get_title("right")
    assert np.isin(x[labels == 1], dots[:, 0]).all(), "a rare label is drawn in full"
    for histogram in (raw, flattened):
        assert sum(bar.get_width() for bar in histogram.patches) == n


def test_a_plane_has_four_maps_that_add_up():
    rng = np.random.default_rng(0)
    X, labels = rng.random((200, 2)), rng.integers(2, size=200)
    smooth, levels = X[:, 0] - 0.5, np.array([-1.0, 1.0])
    y = smooth + levels[labels] + 0.1 * rng.standard_normal(200)
    display = DecompositionDisplay.from_estimator(answered(labels, levels, smooth), X, y)
    observed, step, smooth_map, residual = (ax.collections[0].get_array() for ax in display.axes_[0])
    np.testing.assert_allclose(levels[np.asarray(step, dtype=int)] + smooth_map + residual, observed)


def test_every_channel_has_a_block_of_its_own():
    signal = make_sine_steps(100, 3, 2, n_channels=2, random_state=0)
    display = DecompositionDisplay.from_estimator(solved(signal), signal.X, signal.y)
    assert display.axes_.shape == (2, 5)
    assert [ax.get_title("left") for ax in display.axes_[:, 0]] == [
        "Observations, channel 0",
        "Observations, channel 1",
    ]


def test_a_single_level_is_drawn():
    m = answered(np.zeros(4, dtype=int), [1.0], np.zeros(4))
    display = DecompositionDisplay.from_estimator(m, np.arange(4.0), np.array([1.0, 1.1, 1.0, 0.9]))
    assert len(display.axes_[0, 0].collections[0].get_offsets()) == 4


def test_points_that_the_fit_dropped_are_left_out():
    signal = make_sine_steps(200, 3, 2, n_channels=2, noise_variance=0.01, random_state=0)
    y = signal.y.copy()
    y[[5, 70], [0, 1]] = np.nan
    m = StepSmooth(n_levels=3, solver="altmin", missing="drop", random_state=0).fit(signal.X, y)
    display = DecompositionDisplay.from_estimator(m, signal.X, y, truth=signal)
    kept = np.delete(signal.x, [5, 70])
    for observations in display.axes_[:, 0]:
        np.testing.assert_array_equal(observations.collections[0].get_offsets()[:, 0], kept)


def test_it_draws_into_the_axes_it_is_given(signal):
    figure, axes = plt.subplots(1, 5)
    display = DecompositionDisplay.from_estimator(solved(signal), signal.X, signal.y, axes=axes)
    assert display.figure_ is figure
    assert list(display.axes_[0]) == list(axes)
    with pytest.raises(ValueError, match="needs 5 axes, and 2 were given"):
        display.plot(axes=axes[:2])


def test_neither_the_data_nor_the_global_style_is_changed(signal):
    before, copies = dict(mpl.rcParams), (signal.X.copy(), signal.y.copy())
    DecompositionDisplay.from_estimator(solved(signal), signal.X, signal.y)
    assert dict(mpl.rcParams) == before
    np.testing.assert_array_equal(signal.y, copies[1])
    np.testing.assert_array_equal(signal.X, copies[0])


def test_what_cannot_be_drawn_is_refused_in_a_sentence(signal):
    draw, m = DecompositionDisplay.from_estimator, solved(signal)
    with pytest.raises(ValueError, match="X and y belong together"):
        draw(m, signal.X)
    with pytest.raises(ValueError, match="X has 300 rows and y 299, but the fit has 300"):
        draw(m, signal.X, signal.y[1:])
    with pytest.raises(ValueError, match="X has 3 columns and a picture shows one or two"):
        draw(m, np.zeros((300, 3)), signal.y)
    with pytest.raises(NotFittedError):
        draw(Fitted(), signal.X, signal.y)


def test_a_rival_is_shown_above_on_the_same_scale_of_x(signal):
    rival = SimpleNamespace(labels=signal.labels * 0, levels=np.array([0.0]), smooth=np.zeros(300))
    figure = contrast_figure(solved(signal), signal.X, signal.y, rival=rival, name="one level", truth=signal)
    top = next(ax for ax in figure.axes if ax.get_title("left") == "one level")
    assert top.get_title("right") == f"{np.mean(signal.labels == 0):.1%} of 300 labels right"
    assert top.get_xlim() == figure.axes[0].get_xlim()
