"""Weights: 0 is absent, and still labelled; that 2 is the point twice is a property (tests/properties)."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from stepsmooth import StepSmooth

WAYS = pytest.mark.parametrize(
    "params",
    [
        {"kernel": "min", "tau": "gcv"},
        {"kernel": "min", "tau": "reml"},
        {"kernel": "spline", "tau": "gcv"},
        {"kernel": "spline", "tau": "reml"},
        {"kernel": RBF(0.3), "tau": "gcv"},
        {"kernel": "spline", "tau": 1e-4, "levels": [0.0, 2.0, 4.0], "solver": "altmin"},
    ],
    ids=str,
)


@WAYS
def test_a_weight_of_zero_is_absent_but_labelled(signal, params):
    X, y, labels = signal()
    spoilt, w = y.copy(), np.ones(90)
    w[::9] = 0.0
    spoilt[9] = 1e6
    m = StepSmooth(3, **params).fit(X, spoilt, sample_weight=w)
    alone = StepSmooth(3, **params).fit(X[w > 0], y[w > 0])
    np.testing.assert_array_equal(m.labels_[w > 0], alone.labels_)
    np.testing.assert_allclose(m.levels_, alone.levels_, atol=1e-9)
    np.testing.assert_allclose(m.smooth_[w == 0], alone.predict(X[w == 0]), atol=1e-9)
    absent = (w == 0) & (np.arange(90) != 9)
    np.testing.assert_array_equal(m.labels_[absent], labels[absent])
    assert m.labels_[9] == 2
    assert np.all(np.isnan(m.smooth_se_[w == 0]))
    np.testing.assert_allclose(m.probabilities_.sum(axis=1), 1.0)


def test_precomputed_kernels_lose_the_rows_and_columns_of_absent_points(signal):
    X, y, _ = signal()
    K = np.exp(-((X - X.T) ** 2) / 0.1)
    w = np.ones(90)
    w[:7] = 0.0
    m = StepSmooth(3, kernel="precomputed", tau=1e-3).fit(K, y, sample_weight=w)
    alone = StepSmooth(3, kernel="precomputed", tau=1e-3).fit(K[7:, 7:], y[7:])
    np.testing.assert_array_equal(m.labels_[7:], alone.labels_)
    np.testing.assert_allclose(m.smooth_[:7], alone.predict(K[:7, 7:]), atol=1e-12)
    np.testing.assert_allclose(m.predict(K), m.smooth_, atol=1e-9)


def test_one_weight_for_all_is_that_many_copies(signal):
    X, y, _ = signal()
    one, twice = (
        StepSmooth(3, tau=1e-4, solver="altmin").fit(X, y),
        StepSmooth(3, tau=1e-4, solver="altmin").fit(X, y, sample_weight=2.0),
    )
    np.testing.assert_array_equal(one.labels_, twice.labels_)
    np.testing.assert_allclose(one.smooth_, twice.smooth_, atol=1e-9)
    np.testing.assert_allclose(one.objective_, twice.objective_, rtol=1e-9)


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf", "tau": 1e-4}], ids=str)
def test_missing_y_is_dropped_smoothed_and_labelled_minus_one(signal, params):
    X, y, _ = signal()
    holes = np.arange(90) % 10 == 3
    m = StepSmooth(3, missing="drop", **params).fit(X, np.where(holes, np.nan, y))
    alone = StepSmooth(3, **params).fit(X[~holes], y[~holes])
    assert np.all(m.labels_[holes] == -1)
    np.testing.assert_array_equal(m.labels_[~holes], alone.labels_)
    np.testing.assert_allclose(m.smooth_[holes], alone.predict(X[holes]), atol=1e-9)
    np.testing.assert_allclose(m.probabilities_[holes], 1.0 / 3.0)
    np.testing.assert_array_equal(m.levels_, alone.levels_)


def test_a_row_with_one_missing_channel_is_dropped_whole(cloud):
    X, Y, _ = cloud(p=2)
    Y = Y.copy()
    Y[5, 1] = np.nan
    m = StepSmooth(2, kernel=RBF(0.5), tau=1e-3, missing="drop", random_state=0, solver="altmin").fit(X, Y)
    assert m.labels_[5] == -1
    assert np.all(m.labels_[np.arange(150) != 5] >= 0)
    assert np.isfinite(m.smooth_[5])


def test_a_start_skips_the_missing_points(signal):
    X, y, labels = signal()
    start, holed = labels.copy(), y.copy()
    start[4], holed[4] = 0, np.nan
    m = StepSmooth(3, start=start, missing="drop", tau=1e-4).fit(X, holed)
    present = np.arange(90) != 4
    np.testing.assert_array_equal(m.labels_[present], labels[present])
