"""scikit-learn's own checks, with an empty list of expected failures, and its tools."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from stepsmooth import StepSmooth

ESTIMATORS = [
    StepSmooth(),
    StepSmooth(solver="altmin"),
    StepSmooth(kernel=RBF(), tau=0.01, field="per_channel"),
    StepSmooth(kernel="matern", tau="reml", start="kmeans", rank=20, n_init=2, random_state=0),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: {})
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


def draw(n=120, n_levels=2, seed=0):
    rng = np.random.default_rng(seed)
    x = np.arange(1, n + 1) / n
    return x[:, None], np.sin(5.0 * x) + 2.0 * rng.integers(n_levels, size=n) + 0.1 * rng.normal(size=n)


def test_a_clone_has_the_parameters_and_nothing_fitted():
    X, y = draw()
    fitted = StepSmooth(3, tau=0.1, levels=[0.0, 1.0, 3.0], solver="altmin").fit(X, y)
    copy = clone(fitted)
    assert str(copy.get_params()) == str(fitted.get_params())
    assert not hasattr(copy, "labels_")


@pytest.mark.parametrize("kernel", ["spline", "min", "sobolev2", "matern", RBF(0.3)], ids=str)
def test_a_pickle_predicts_the_same_bits(kernel):
    X, y = draw()
    m = StepSmooth(kernel=kernel, tau=1e-4, solver="altmin").fit(X, y)
    again = pickle.loads(pickle.dumps(m))
    np.testing.assert_array_equal(again.predict(X), m.predict(X))
    np.testing.assert_array_equal(again.labels_, m.labels_)
    assert again.score(X, y) == m.score(X, y)


def test_a_grid_search_finds_the_number_of_levels_by_score():
    X, y = draw(300, n_levels=3)
    shuffled = np.random.default_rng(1).permutation(300)
    search = GridSearchCV(StepSmooth(kernel="min", solver="altmin"), {"n_levels": np.arange(1, 4)}, cv=3).fit(
        X[shuffled], y[shuffled]
    )
    assert search.best_params_["n_levels"] == 3
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))


def test_a_grid_search_over_tau_prefers_neither_end():
    X, y = draw(300)
    taus = [1e-12, 1e-5, 1e3]
    shuffled = np.random.default_rng(1).permutation(300)
    search = GridSearchCV(StepSmooth(kernel="min", solver="altmin"), {"tau": taus}, cv=3).fit(X[shuffled], y[shuffled])
    assert search.best_params_["tau"] == 1e-5


def test_parameters_are_kept_as_given():
    levels = [0.0, 1.0]
    m = StepSmooth(levels=levels)
    X, y = draw()
    m.fit(X, y)
    assert m.levels is levels
    assert repr(m) == "StepSmooth(levels=[0.0, 1.0])"
