"""What must not matter does not: container, threads, the global state; tests/properties moves the data themselves."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern
from threadpoolctl import threadpool_limits

from stepsmooth import StepSmooth, decompose

WAYS = pytest.mark.parametrize(
    "params",
    [
        {"kernel": "min", "tau": "gcv"},
        {"kernel": "spline", "tau": "reml"},
        {"kernel": "spline", "tau": 1e-4, "start": "kmeans"},
        {"kernel": "sobolev1", "tau": 1e-4},
        {"kernel": "min", "levels": [0.0, 2.0, 4.0], "free_shift": True, "tau": 1e-4, "solver": "altmin"},
    ],
    ids=str,
)
FITTED = ("labels_", "levels_", "smooth_", "probabilities_", "levels_se_", "smooth_se_", "tau_", "objective_")


def same_bits(one, other):
    for name in FITTED:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@WAYS
def test_inputs_are_never_modified(signal, params):
    X, y, _ = signal()
    w = np.linspace(0.0, 2.0, len(y))
    kept = X.copy(), y.copy(), w.copy()
    for array in (X, y, w):
        array.setflags(write=False)
    m = StepSmooth(3, **params).fit(X, y, sample_weight=w)
    m.predict(X), m.assign(X, y), m.score(X, y, sample_weight=w)
    for array, before in zip((X, y, w), kept):
        np.testing.assert_array_equal(array, before)


def test_no_seed_is_needed_for_scalar_y(signal):
    X, y, _ = signal()
    np.random.seed(0)  # noqa: NPY002  # the global state, which must not matter
    one = StepSmooth(3, solver="altmin").fit(X, y)
    np.random.seed(1)  # noqa: NPY002
    same_bits(one, StepSmooth(3, solver="altmin").fit(X, y))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_gives_the_same_bits_as_an_array(signal, frame):
    X, y, _ = signal()
    one = StepSmooth(3, solver="altmin").fit(X, y)
    table = frame({"position": X[:, 0]})
    other = StepSmooth(3, solver="altmin").fit(table, frame({"y": y})["y"])
    same_bits(one, other)
    # Older releases of scikit-learn do not know the names of polars' columns.
    assert list(getattr(other, "feature_names_in_", ["position"])) == ["position"]
    np.testing.assert_array_equal(other.predict(table), one.predict(X))
    assert other.score(table, frame({"y": y})["y"]) == one.score(X, y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_of_channels_gives_the_same_bits_as_an_array(cloud, frame):
    X, Y, _ = cloud(p=2)
    one = StepSmooth(2, kernel=RBF(0.5), tau=1e-3, random_state=0, solver="altmin").fit(X, Y)
    other = StepSmooth(2, kernel=RBF(0.5), tau=1e-3, random_state=0, solver="altmin").fit(
        frame({"a": X[:, 0], "b": X[:, 1]}), frame({"red": Y[:, 0], "green": Y[:, 1]})
    )
    same_bits(one, other)


def test_lists_and_integers_are_taken_too(signal):
    X, y, _ = signal()
    rounded = np.round(10.0 * y)
    one = StepSmooth(3, solver="altmin").fit(X, rounded)
    same_bits(one, StepSmooth(3, solver="altmin").fit(X.tolist(), rounded.astype(int).tolist()))


@pytest.mark.parametrize("params", [{}, {"kernel": RBF(0.5)}, {"kernel": Matern(0.5), "field": "per_channel"}], ids=str)
def test_the_number_of_threads_does_not_matter(cloud, params):
    X, Y, _ = cloud(n=3000, d=3 if params else 1, p=2)
    new = np.random.default_rng(1).uniform(0.0, 1.0, (500, X.shape[1]))
    fits, predictions, scores = [], [], []
    for limit in (1, 2):
        with threadpool_limits(limit):
            fits.append(StepSmooth(2, tau=1e-3, rank=200, random_state=0, **params).fit(X, Y))
            predictions.append(fits[-1].predict(new))
            scores.append(fits[-1].score(X, Y))
    same_bits(*fits)
    np.testing.assert_array_equal(*predictions)
    assert scores[0] == scores[1]


def test_decompose_is_fit_with_0_1_2_as_points(signal):
    _, y, _ = signal()
    one = StepSmooth(3, solver="altmin").fit(np.arange(90.0)[:, None], y)
    same_bits(one, decompose(y, n_levels=3, solver="altmin"))
    same_bits(one, decompose(y.tolist(), x=list(range(90)), n_levels=3, solver="altmin"))


def test_decompose_takes_points_on_a_line_only():
    with pytest.raises(ValueError, match=r"x must have one number for each observation, got shape .* use StepSmooth"):
        decompose(np.zeros(5), x=np.zeros((5, 2)), solver="altmin")
