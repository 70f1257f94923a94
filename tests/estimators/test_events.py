"""Events: the runs of one label, how long they last, and what ends them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from stepsmooth import StepSmooth, decompose, events
from stepsmooth.datasets import make_markov_steps


def answered(labels, levels=(0.0, 1.0, 2.0), smooth=None):
    """Return an estimator that has been given its answer, and y to it."""
    m = StepSmooth(len(levels))
    m.labels_, m.levels_ = np.asarray(labels), np.asarray(levels, dtype=float)
    n = len(m.labels_)
    m.n_levels_, m.n_features_in_ = len(levels), 1
    m.smooth_ = np.zeros(n) if smooth is None else smooth
    m.smooth_se_ = np.where(m.labels_ >= 0, 0.1, np.nan)
    m.probabilities_ = np.eye(len(levels))[m.labels_] * 0.7 + 0.1
    m.levels_se_, m.noise_variance_ = 0.1 * np.ones_like(m.levels_), 0.01
    m.proportions_, m.effective_dof_ = np.full(len(levels), 1 / len(levels)), 3.0
    y = m.levels_[m.labels_] + (m.smooth_ if m.levels_.ndim == 1 else m.smooth_[:, None])
    y[m.labels_ < 0] = np.nan
    return m, y


STEPS = st.floats(0.01, 100.0, allow_subnormal=False)
RECORDINGS = st.integers(2, 60).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 2), min_size=n, max_size=n), st.lists(STEPS, min_size=n, max_size=n), st.randoms()
    )
)


@given(RECORDINGS)
def test_events_partition_the_samples_and_neighbours_differ(case):
    labels, steps, _ = case
    m, y = answered(labels)
    table = events(m, np.cumsum(steps), y, gap=np.inf)
    assert_array_equal(np.repeat(table["label"], table["n"]), labels)
    assert np.all(np.diff(table["label"]) != 0)


@given(RECORDINGS)
def test_dwells_sum_to_the_span(case):
    labels, steps, _ = case
    x = np.cumsum(steps)
    m, y = answered(labels)
    table = events(m, x, y, gap=np.inf)
    assert_allclose(table["dwell"].sum(), x[-1] + np.median(np.diff(x)) - x[0])
    assert_array_equal(table["end"][:-1], table["start"][1:])


@given(RECORDINGS, st.floats(0.1, 50.0))
def test_pauses_are_the_time_that_no_event_has(case, gap):
    labels, steps, _ = case
    x = np.cumsum(steps)
    m, y = answered(labels)
    table = events(m, x, y, gap=gap)
    moves, step = np.diff(x), np.median(np.diff(x))
    pauses = moves[moves > gap]
    assert_allclose(table["dwell"].sum(), x[-1] + step - x[0] - np.sum(pauses - step), rtol=1e-9, atol=1e-9)
    # Each pause cuts one event off on either side, and so do the ends of the recording.
    assert (~table["complete"]).sum() <= 2 * (len(pauses) + 1)
    assert table["n"].sum() == len(labels)


@given(RECORDINGS, st.floats(0.0, 30.0))
def test_the_order_of_the_rows_changes_nothing(case, min_dwell):
    labels, steps, random = case
    x = np.round(np.cumsum(steps))  # some x repeat
    order = list(range(len(x)))
    random.shuffle(order)
    m, y = answered(labels)
    mixed, _ = answered(np.asarray(labels)[order])
    one, other = events(m, x, y, min_dwell=min_dwell), events(mixed, x[order], y[order], min_dwell=min_dwell)
    for name in one.dtype.names:
        assert_allclose(other[name], one[name], rtol=1e-12, atol=1e-12)


def test_labels_that_are_equally_probable_at_one_x_do_not_depend_on_the_order_of_the_rows():
    labels = np.array([1, 2, 0, 1, 2, 0])
    orders = [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [1, 2, 0, 5, 3, 4]]
    found = [events(answered(labels[order])[0], np.zeros(6), np.zeros(6)) for order in orders]
    assert [list(one["label"]) for one in found] == [[0], [0], [0]]


@given(RECORDINGS, st.floats(0.01, 30.0))
def test_no_complete_event_is_shorter_than_the_dead_time(case, min_dwell):
    labels, steps, _ = case
    x = np.cumsum(steps)
    m, y = answered(labels)
    table = events(m, x, y, min_dwell=min_dwell)
    assert np.all(table["dwell"][table["complete"]] >= min_dwell)
    whole = events(m, x, y)
    assert_allclose(table["dwell"].sum(), whole["dwell"].sum())
    assert table["n"].sum() == len(x)


def test_a_short_event_becomes_part_of_the_one_before_it():
    m, y = answered([0, 0, 0, 1, 0, 0, 2, 2, 1, 2])
    table = events(m, np.arange(10.0), y, min_dwell=1.5)
    assert_array_equal(table["label"], [0, 2])
    assert_array_equal(table["n"], [6, 4])
    assert_allclose(table["mean"], [1 / 6, 7 / 4])
    assert_allclose(table["probability"], [(5 * 0.8 + 0.1) / 6, (3 * 0.8 + 0.1) / 4])


def test_the_first_and_the_last_event_are_cut_off():
    m, y = answered([0, 1, 1, 2, 0])
    assert_array_equal(events(m, np.arange(5.0), y)["complete"], [False, True, True, False])


def test_a_pause_ends_an_event_and_leaves_both_sides_incomplete():
    m, y = answered([0, 1, 1, 1, 1, 0, 1])
    x = np.array([0.0, 1.0, 2.0, 102.0, 103.0, 104.0, 105.0])
    table = events(m, x, y)
    assert_array_equal(table["label"], [0, 1, 1, 0, 1])
    assert_array_equal(table["complete"], [False, False, False, True, False])
    assert_allclose(table["end"], [1.0, 3.0, 104.0, 105.0, 106.0])
    assert len(events(m, x, y, gap=np.inf)) == 4
    assert len(events(m, x, y, gap=100.0)) == 4, "a step as long as the gap is no pause"


def test_a_dead_time_does_not_reach_across_a_pause():
    m, y = answered([0, 0, 1, 0, 0])
    table = events(m, np.array([0.0, 1.0, 50.0, 51.0, 52.0]), y, min_dwell=5.0)
    assert_array_equal(table["label"], [0, 1, 0])


def test_samples_at_one_x_are_one_instant_with_the_most_probable_label():
    m, y = answered([0, 1, 0, 0, 1])
    table = events(m, np.array([0.0, 1.0, 1.0, 1.0, 2.0]), y)
    assert_array_equal(table["label"], [0, 1])
    assert_array_equal(table["n"], [4, 1])
    assert_allclose(table["dwell"], [2.0, 1.0])


def test_the_mean_is_of_y_without_the_drift():
    drift = np.linspace(0.0, 5.0, 6)
    m, y = answered([0, 0, 1, 1, 1, 0], smooth=drift)
    table = events(m, np.arange(6.0), y + 0.25)
    assert_allclose(table["mean"], table["level"] + 0.25)


def test_channels_have_columns_of_their_own_and_a_frame_takes_them():
    m, y = answered([0, 0, 1, 1], levels=[[0.0, 5.0], [1.0, 7.0]])
    frame = pd.DataFrame(events(m, np.arange(4.0), y))
    assert list(frame.columns) == (
        ["start", "end", "dwell", "label", "level_0", "level_1", "mean_0", "mean_1", "n", "probability", "complete"]
    )
    assert_allclose(frame[["mean_0", "mean_1"]], [[0.0, 5.0], [1.0, 7.0]])


def test_dropped_samples_are_holes_a_long_one_is_a_pause():
    m, y = answered([0, 1, 1, -1, 1, 0] + [-1] * 30 + [0, 1])
    table = events(m, np.arange(38.0), y)
    assert_array_equal(table["n"], [1, 3, 1, 1, 1])
    assert_array_equal(table["complete"], [False, True, False, False, False])


def test_samples_of_weight_0_have_no_event():
    x = np.arange(40.0)
    y = np.where(x < 20, 0.0, 5.0)
    y[10] = 5.0
    m = StepSmooth(2, tau=1e6, start="kmeans").fit(x[:, None], y, sample_weight=np.arange(40) != 10)
    table = events(m, x, y)
    assert_array_equal(table["n"], [19, 20])


def test_one_sample_is_one_event_of_unknown_length():
    table = events(StepSmooth(1).fit([[3.0]], [2.0]), [[3.0]], [2.0])
    assert (table["n"].item(), table["start"].item(), table["complete"].item()) == (1, 3.0, False)
    assert np.isnan(table["dwell"]).all()


def test_a_real_recording_gives_back_its_true_events():
    data = make_markov_steps(300, 2, 1.0, switching=0.05, noise_variance=0.01, random_state=2)
    m = StepSmooth(2, solver="joint", label_prior="markov").fit(data.X, data.y)
    truth, _ = answered(data.labels, data.levels, data.smooth)
    found, true = events(m, data.X, data.y), events(truth, data.X, data.y)
    assert_array_equal(found["label"], true["label"])
    assert_allclose(found["dwell"], true["dwell"])
    assert found["probability"].min() > 0.5


def test_the_axis_is_passed_where_the_kernel_is_a_matrix():
    x = np.arange(20.0)
    y = np.where(x < 9, 0.0, 4.0) + 0.01 * x
    kernel = np.exp(-((x[:, None] - x) ** 2) / 1000.0)
    m = StepSmooth(2, kernel="precomputed", tau=10.0, start="kmeans").fit(kernel, y)
    assert_array_equal(events(m, x, y)["n"], [9, 11])


def test_the_data_stay_as_they_are():
    x, y = np.array([3.0, 1.0, 2.0]), np.array([1.0, 0.0, 1.0])
    m = decompose(y, x, tau=1e6, start="kmeans")
    events(m, x, y, min_dwell=9.0)
    assert_array_equal(x, [3.0, 1.0, 2.0])
    assert_array_equal(y, [1.0, 0.0, 1.0])


def test_what_has_no_events_is_refused_in_a_sentence():
    x = np.arange(4.0)
    m, y = answered([0, 1, 0, 1])
    plane = StepSmooth(2, kernel="rbf").fit(np.random.default_rng(0).normal(size=(9, 2)), np.arange(9.0))
    with pytest.raises(NotFittedError):
        events(StepSmooth(), x, y)
    with pytest.raises(ValueError, match="X and y belong together"):
        events(m, x)
    with pytest.raises(ValueError, match="X must have one column, the axis of the recording, got 2 columns"):
        events(m, np.zeros((4, 2)), y)
    with pytest.raises(ValueError, match="X must have one column, the axis of the recording, got 2 columns"):
        events(plane, np.arange(9.0), np.arange(9.0))
    with pytest.raises(ValueError, match="X has 3 rows and y 4, but the fit has 4"):
        events(m, x[1:], y)
    with pytest.raises(ValueError, match=r"y must have 1 channel\(s\), as in fit, got shape \(4, 2\)"):
        events(m, x, np.zeros((4, 2)))
    with pytest.raises(ValueError, match="y must be finite where the fit has a label"):
        events(m, x, np.full(4, np.nan))
    with pytest.raises(ValueError, match="X must be finite"):
        events(m, np.array([0.0, np.nan, 1.0, 2.0]), y)
    with pytest.raises(ValueError, match="X must be numbers, got dates"):
        events(m, np.arange(4).astype("datetime64[s]"), y)
    for gap in (0.0, -1.0, np.nan, "long"):
        with pytest.raises(ValueError, match=r"gap must be a finite number above 0, numpy\.inf or None, got"):
            events(m, x, y, gap=gap)
    for dead in (-1.0, np.inf, None):
        with pytest.raises(ValueError, match="min_dwell must be a finite number of at least 0, got"):
            events(m, x, y, min_dwell=dead)


def test_the_data_that_the_estimator_keeps_are_the_default():
    data = make_markov_steps(200, 2, 1.0, switching=0.05, noise_variance=0.01, random_state=1)
    m = StepSmooth(2, solver="altmin", tau=1e-2).fit(data.X, data.y)
    assert_array_equal(events(m), events(m, data.X, data.y))
