"""A fitted estimator keeps data of its own."""

import numpy as np
import pytest

from stepsmooth import StepSmooth
from stepsmooth.datasets import make_sine_steps


@pytest.mark.parametrize("solver", ["altmin", "joint"])
def test_what_the_caller_does_to_the_data_afterwards_does_not_reach_the_fit(solver):
    d = make_sine_steps(120, 2, 2.0, random_state=0)
    X, y, weights = d.X.copy(), d.y.copy(), np.ones(120)
    m = StepSmooth(2, solver=solver).fit(X, y, sample_weight=weights)
    before = m.predict(d.X), m.certificate().margin
    X[:], y[:], weights[:] = 0.5, 7.0, 3.0
    np.testing.assert_array_equal(m.predict(d.X), before[0])
    assert m.certificate().margin == before[1]
