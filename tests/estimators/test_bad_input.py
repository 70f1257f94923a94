"""Bad input, each with its sentence: what is wrong, what was found, what is accepted."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from stepsmooth import StepSmooth

N = 20
X = np.linspace(0.1, 1.0, N)[:, None]
Y = np.sin(5.0 * X[:, 0]) + 2.0 * (np.arange(N) % 2)
PLANE = np.column_stack([X, X**2])


def spoil(array, value, at=3):
    array = array.copy()
    array[at] = value
    return array


def fit(params=None, X=X, y=Y, w=None):
    return StepSmooth(**(params or {})).fit(X, y, sample_weight=w)


PARAMETERS = [
    ({"n_levels": 0}, "n_levels must be a whole number of at least 1.* got 0"),
    ({"n_levels": -1}, "n_levels must be a whole number of at least 1.* got -1"),
    ({"n_levels": 1.5}, "n_levels must be a whole number of at least 1.* got 1.5"),
    ({"n_levels": True}, "n_levels must be a whole number of at least 1.* got True"),
    ({"n_levels": "three"}, "n_levels must be one of 'auto', 'cv', or a whole number of at least 1, got 'three'"),
    ({"n_levels": N + 1}, f"n_levels={N + 1} needs at least {N + 1} point.*, but there are n_samples = {N}"),
    ({"tau": -1.0}, "tau must be a finite number above 0, 'gcv', 'cv', 'reml' or 'auto', got -1.0"),
    ({"tau": 0}, "tau must be a finite number above 0.* got 0"),
    ({"tau": np.nan}, "tau must be a finite number above 0.* got nan"),
    ({"tau": np.inf}, "tau must be a finite number above 0.* got inf"),
    ({"tau": None}, "tau must be a finite number above 0.* got None"),
    ({"tau": "foo"}, "tau must be one of 'auto', 'gcv', 'cv', 'reml', or a number above 0, got 'foo'"),
    ({"kernel": "foo"}, "kernel must be one of 'auto', 'min', .* a callable or a scikit-learn kernel, got 'foo'"),
    ({"kernel": 3}, "kernel must be a name, a callable or a scikit-learn kernel, got 3"),
    ({"solver": "foo"}, "solver must be one of 'auto', 'altmin'.* got 'foo'"),
    ({"start": "foo"}, "start must be one of 'auto', 'smooth', 'kmeans', or an array of labels, got 'foo'"),
    ({"start": np.zeros(N - 1, dtype=int)}, f"or an array of {N} labels 0, 1, .*got int64 values of shape \\({N - 1},"),
    ({"start": np.zeros(N)}, "labels 0, 1, .*got float64 values"),
    ({"start": np.arange(N) % 2 - 1}, "labels 0, 1, "),
    ({"start": np.arange(N) % 3}, "start must use 2 different labels, one for each level, got 3"),
    ({"start": np.zeros(N, dtype=int)}, "start must use 2 different labels, one for each level, got 1"),
    (
        {"start": np.arange(N) % 2, "n_levels": "auto"},
        "start as labels needs a number of levels, .* n_levels is 'auto'",
    ),
    ({"label_prior": "foo"}, "label_prior must be one of 'auto', 'uniform'.* got 'foo'"),
    ({"label_prior": "markov", "solver": "altmin"}, "label_prior='markov' does not go with solver='altmin'.*'uniform'"),
    ({"label_prior": "proportions", "solver": "altmin"}, "'proportions' does not go with solver='altmin'"),
    ({"robust": True, "solver": "altmin"}, "robust=True does not go with solver='altmin'.* use False"),
    ({"field": "foo"}, "field must be one of 'shared', 'per_channel', got 'foo'"),
    ({"missing": "foo"}, "missing must be one of 'raise', 'drop', got 'foo'"),
    ({"levels": [1.0, np.nan]}, "levels must be finite, of shape"),
    ({"levels": [[1.0, 2.0], [3.0, 4.0]]}, r"of shape \(M,\) or \(M, 1\) for y of 1 channel.* got shape \(2, 2\)"),
    ({"levels": []}, r"levels must be finite, .* got shape \(0,\)"),
    ({"levels": 3.0}, r"levels must be finite, .* got shape \(\)"),
    ({"levels": [1.0, 2.0, 1.0]}, "levels must be distinct, but some are given twice"),
    ({"levels": "foo"}, "levels must be None, 'ladder' or an array of known levels.* got 'foo'"),
    ({"free_shift": True}, "free_shift=True needs known levels, but levels is None"),
    ({"mean": np.inf}, "mean must be a finite number, got inf"),
    ({"mean": "foo"}, "mean must be a finite number, got 'foo'"),
    ({"n_init": 0}, "n_init must be a whole number of at least 1, got 0"),
    ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
    ({"tol": -1.0}, "tol must be a finite number of at least 0, got -1.0"),
    ({"rank": 0}, "rank must be a whole number of at least 1, got 0"),
    ({"callback": 3}, "callback must be None or callable, got 3"),
]

DATA = [
    ("NaN in X", lambda: fit(X=spoil(X, np.nan)), "Input X contains NaN"),
    ("infinity in X", lambda: fit(X=spoil(X, np.inf)), "Input X contains infinity"),
    ("NaN in y", lambda: fit(y=spoil(Y, np.nan)), "Input y contains NaN"),
    ("infinity in y", lambda: fit(y=spoil(Y, np.inf)), "Input y contains infinity"),
    ("infinite y, NaN allowed", lambda: fit({"missing": "drop"}, y=spoil(Y, np.inf)), "Input y contains infinity"),
    ("nothing", lambda: fit(X=X[:0], y=Y[:0]), r"Found array with 0 sample\(s\)"),
    ("no y", lambda: fit(y=None), "requires y to be passed, but the target y is None"),
    ("no column", lambda: fit(X=np.empty((N, 0))), r"0 feature\(s\)"),
    ("X without columns", lambda: fit(X=X[:, 0]), "Expected 2D array, got 1D array instead"),
    ("y in three dimensions", lambda: fit(y=np.zeros((N, 2, 2))), r"y must be of shape \(n,\) or \(n, p\), got"),
    ("lengths that differ", lambda: fit(y=Y[:-1]), "inconsistent numbers of samples"),
    ("only missing y", lambda: fit({"missing": "drop"}, y=np.full(N, np.nan)), "n_samples = 0 with a y and a weight"),
    (
        "only missing y, levels to be counted",
        lambda: fit({"missing": "drop", "n_levels": "auto"}, y=np.full(N, np.nan)),
        "n_samples = 0 with a y and a weight",
    ),
    ("too few present", lambda: fit(w=np.eye(N)[0]), "needs at least 2 point.*n_samples = 1 with a y and a weight"),
    ("a negative weight", lambda: fit(w=spoil(np.ones(N), -1.0)), "sample_weight must be finite and not negative"),
    ("a NaN weight", lambda: fit(w=spoil(np.ones(N), np.nan)), "sample_weight must be finite and not negative"),
    ("no weight at all", lambda: fit(w=np.zeros(N)), "must be positive somewhere, but all weights are zero"),
    (
        "a weight too many",
        lambda: fit(w=np.ones(N + 1)),
        rf"one number for each of the {N} points, got shape \({N + 1}",
    ),
    ("a line's kernel in a plane", lambda: fit({"kernel": "spline"}, X=PLANE), "'spline' needs points on a line, .* 2"),
    ("the min kernel in a plane", lambda: fit({"kernel": "min"}, X=PLANE), "use 'matern' or 'rbf'"),
    ("a wrong kernel matrix", lambda: fit({"kernel": "precomputed"}), r"square kernel matrix .* got shape \(20, 1\)"),
    ("a domain of no length", lambda: fit({"kernel": "sobolev2"}, X=0 * X + 3.0), "must be at least 0.02 long, got 0"),
    ("a callable of wrong shape", lambda: fit({"kernel": lambda A, B: np.ones(3)}), r"got shape \(3,\)"),
    (
        "a callable with NaN",
        lambda: fit({"kernel": lambda A, B: np.nan * A @ B.T}),
        "kernel must be finite at all pairs",
    ),
    ("an indefinite callable", lambda: fit({"kernel": lambda A, B: 1 + abs(A - B.T)}), "positive semi-definite"),
    ("an asymmetric callable", lambda: fit({"kernel": lambda A, B: np.exp(A - B.T)}), "positive semi|symmetric"),
    ("a callable of zeros", lambda: fit({"kernel": lambda A, B: 0.0 * A @ B.T}), "zero at every point"),
    (
        "an indefinite matrix",
        lambda: fit({"kernel": "precomputed", "tau": 9.0}, X=-np.eye(N)),
        "positive semi-definite",
    ),
    ("an asymmetric matrix", lambda: fit({"kernel": "precomputed"}, X=np.tri(N)), "kernel must be symmetric"),
    (
        "a singular matrix",
        lambda: fit({"kernel": "precomputed", "tau": 1e-30}, X=np.ones((N, N))),
        "kernel matrix is singular and tau = 1e-30 is too small to help; raise tau",
    ),
    (
        "left of the origin",
        lambda: fit({"kernel": "min"}).predict([[-0.5]]),
        "starts at origin 0, but x = -0.5 was asked for",
    ),
    ("outside the domain", lambda: fit({"kernel": "sobolev1"}).predict([[1.5]]), r"lives on \[0, 1\]"),
    ("a column too many", lambda: fit().predict(PLANE), "X has 2 features, but StepSmooth is expecting 1"),
    ("a channel too many", lambda: fit().score(X, np.zeros((N, 2))), r"y must have 1 channel\(s\), as in fit, got 2"),
    ("a channel too few", lambda: fit(y=np.column_stack([Y, Y])).assign(X, Y), r"must have 2 channel\(s\), as in fit"),
    ("a missing y to score", lambda: fit().score(X, spoil(Y, np.nan)), "Input y contains NaN"),
    ("weights to score", lambda: fit().score(X, Y, sample_weight=-np.ones(N)), "sample_weight must be finite"),
]


@pytest.mark.parametrize(("params", "words"), PARAMETERS, ids=[str(p) for p, _ in PARAMETERS])
def test_a_bad_parameter_gets_its_sentence(params, words):
    with pytest.raises(ValueError, match=words):
        fit(params)


@pytest.mark.parametrize(("ask", "words"), [row[1:] for row in DATA], ids=[row[0] for row in DATA])
def test_bad_data_get_their_sentence(ask, words):
    with pytest.raises(ValueError, match=words):
        ask()


@pytest.mark.parametrize("method", ["predict", "assign", "score", "simulate", "summary"])
def test_an_estimator_that_is_not_fitted_says_so(method):
    arguments = {"predict": (X,), "assign": (X, Y), "score": (X, Y)}.get(method, ())
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(StepSmooth(solver="altmin"), method)(*arguments)
