"""The gauge and the order of labels: conventions that every answer follows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth import StepSmooth

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS, mean=st.floats(-10, 10), weighted=st.booleans())
@settings(max_examples=15)
def test_the_weighted_mean_of_f_is_as_asked(signal, seed, mean, weighted):
    X, y, _ = signal(seed)
    w = np.random.default_rng(seed).uniform(0.0, 2.0, 90) * (np.arange(90) % 7 > 0) if weighted else np.ones(90)
    m = StepSmooth(3, tau=1e-4, mean=mean, solver="altmin").fit(X, y, sample_weight=w)
    assert np.average(m.smooth_, weights=w) == pytest.approx(mean, abs=1e-9)
    np.testing.assert_allclose(m.predict(X), m.smooth_, atol=1e-9)


@given(seed=SEEDS, mean=st.floats(-10, 10))
@settings(max_examples=15)
def test_the_gauge_moves_a_constant_and_nothing_else(signal, seed, mean):
    X, y, _ = signal(seed)
    one, other = (
        StepSmooth(3, tau=1e-4, solver="altmin").fit(X, y),
        StepSmooth(3, tau=1e-4, mean=mean, solver="altmin").fit(X, y),
    )
    np.testing.assert_allclose(other.smooth_ - mean, one.smooth_, atol=1e-9)
    np.testing.assert_allclose(other.levels_ + mean, one.levels_, atol=1e-9)
    np.testing.assert_array_equal(other.labels_, one.labels_)
    assert other.objective_ == one.objective_
    assert other.score(X, y) == pytest.approx(one.score(X, y))


def test_every_channel_of_its_own_has_the_mean(cloud):
    X, Y, _ = cloud(d=1, p=3)
    m = StepSmooth(2, field="per_channel", tau=1e-3, mean=0.5, random_state=0, solver="altmin").fit(X, Y)
    np.testing.assert_allclose(m.smooth_.mean(axis=0), 0.5, atol=1e-9)


def test_known_levels_are_returned_as_given_and_f_is_not_centred(signal):
    X, y, labels = signal()
    m = StepSmooth(levels=[0.0, 2.0, 4.0], solver="altmin").fit(X, y + 10.0)
    np.testing.assert_array_equal(m.levels_, [0.0, 2.0, 4.0])
    np.testing.assert_array_equal(m.labels_, labels)
    assert np.mean(m.smooth_) == pytest.approx(np.mean(y + 10.0 - 2.0 * labels), abs=0.02)
    np.testing.assert_array_equal(m.levels_se_, 0.0)


def test_levels_known_up_to_a_shift_keep_their_differences_and_f_is_centred(signal):
    X, y, labels = signal()
    m = StepSmooth(levels=[100.0, 102.0, 104.0], free_shift=True, solver="altmin").fit(X, y)
    np.testing.assert_allclose(np.diff(m.levels_), 2.0, atol=1e-9)
    np.testing.assert_array_equal(m.labels_, labels)
    assert np.mean(m.smooth_) == pytest.approx(0.0, abs=1e-9)


def test_known_levels_that_nobody_has_stay(signal):
    X, y, labels = signal()
    m = StepSmooth(levels=[0.0, 2.0, 4.0, 400.0], solver="altmin").fit(X, y)
    assert m.n_levels_ == 4
    np.testing.assert_array_equal(m.labels_, labels)
    assert m.proportions_[3] == 0.0
    assert np.isfinite(m.score(X, y))
    assert "4 level(s)" in m.summary()


def test_known_levels_may_come_in_any_order(signal):
    X, y, labels = signal()
    m = StepSmooth(levels=[4.0, 0.0, 2.0], solver="altmin").fit(X, y)
    np.testing.assert_array_equal(m.levels_, [0.0, 2.0, 4.0])
    np.testing.assert_array_equal(m.labels_, labels)


@given(seed=SEEDS, n_levels=st.integers(1, 5), start=st.sampled_from(["smooth", "kmeans"]))
@settings(max_examples=15)
def test_levels_ascend_and_labels_name_them(signal, seed, n_levels, start):
    X, y, _ = signal(seed, noise=1.0)
    m = StepSmooth(n_levels, tau=1e-4, start=start).fit(X, y)
    assert np.all(np.diff(m.levels_) > 0)
    assert set(m.labels_.tolist()) <= set(range(n_levels))
    np.testing.assert_array_equal(m.labels_, np.abs(y[:, None] - m.smooth_[:, None] - m.levels_).argmin(axis=1))


@pytest.mark.parametrize("field", ["shared", "per_channel"])
def test_vector_levels_ascend_in_their_first_channel(cloud, field):
    X, Y, labels = cloud(d=1, p=2, n_levels=3)
    m = StepSmooth(3, field=field, tau=1e-3, random_state=0, solver="altmin").fit(X, Y * [1.0, -1.0])
    assert np.all(np.diff(m.levels_[:, 0]) > 0)
    assert np.all(np.diff(m.levels_[:, 1]) < 0)
    np.testing.assert_array_equal(m.labels_, labels)
