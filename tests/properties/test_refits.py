"""A second fit gives the same bits, whatever was fitted in between, and so does a copy of the estimator."""

import pickle

import numpy as np
import pytest
from cases import GRID_ALTMIN, GRID_JOINT, LINE_ALTMIN, LINE_JOINT, SEEDS, named, scene, share, signal
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from stepsmooth import GridStepSmooth, StepSmooth

NAMES = ("labels_", "levels_", "smooth_", "noise_variance_", "proportions_", "tau_", "objective_", "n_iter_")


def same_bits(one, other, more=()):
    for name in (*NAMES, *more):
        np.testing.assert_array_equal(getattr(other, name), getattr(one, name), err_msg=name)


@pytest.mark.parametrize(
    "ways",
    [
        pytest.param(LINE_ALTMIN, id="altmin"),
        pytest.param(LINE_JOINT, id="joint"),
    ],
)
@given(seed=SEEDS, data=st.data(), channels=st.sampled_from([None, 2]))
@share(0.05)
def test_signals(ways, seed, data, channels):
    m = StepSmooth(2, random_state=0, **ways[data.draw(named(ways))])
    (X, y, _), (other_X, other_y, _) = signal(seed, channels=channels), signal(seed + 1, n=11)
    X.setflags(write=False), y.setflags(write=False)
    once = pickle.loads(pickle.dumps(m.fit(X, y)))
    more = ("probabilities_", "levels_se_", "smooth_se_", "effective_dof_")
    same_bits(once, m.fit(other_X, other_y).fit(X, y), more)
    same_bits(once, clone(m).fit(X.copy(order="F"), np.array(y)), more)
    np.testing.assert_array_equal(once.predict(X), m.predict(X))
    assert once.score(X, y) == m.score(X, y)


@pytest.mark.parametrize("ways", [pytest.param(GRID_ALTMIN, id="altmin"), pytest.param(GRID_JOINT, id="joint")])
@given(seed=SEEDS, data=st.data())
@share(0.05)
def test_images(ways, seed, data):
    params = ways[data.draw(named(ways))]
    g = GridStepSmooth(2, random_state=0, **params)
    image, _ = scene(seed, multiplicative=params.get("multiplicative", True))
    between, _ = scene(seed + 1, (8, 9), multiplicative=params.get("multiplicative", True))
    image.setflags(write=False)
    once = pickle.loads(pickle.dumps(g.fit(image)))
    same_bits(once, g.fit(between).fit(image), ("corrected_", "margin_", "knots_"))
    same_bits(once, clone(g).fit(np.array(image)), ("corrected_", "margin_", "knots_"))
    np.testing.assert_array_equal(once.probabilities(), g.probabilities())
