"""exp and log by arithmetic: against NumPy's, over all that they are for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from stepsmooth.model.elementary import HIGHEST, LOWEST, exp, log

EPSILON = np.finfo(float).eps


@njit
def of_all(x, out):
    for i in range(len(x)):
        out[0, i] = exp(x[i])
        out[1, i] = log(abs(x[i]) + 1e-300)


@given(st.floats(LOWEST, HIGHEST))
def test_exp_is_right_to_the_last_digits(x):
    assert abs(exp(x) - np.exp(x)) <= 2.0 * EPSILON * np.exp(x)


@given(st.floats(1e-300, 1e300))
def test_log_is_right_to_the_last_digits(x):
    assert abs(log(x) - np.log(x)) <= 2.0 * EPSILON * max(abs(np.log(x)), 1.0)


def test_exp_of_what_does_not_fit_is_that_of_the_ends():
    assert exp(-np.inf) == exp(-1e4) == exp(LOWEST) < 1e-300
    assert exp(1e4) == exp(HIGHEST) > 1e300


def test_a_loop_over_many_gives_what_each_alone_gives():
    x = np.random.default_rng(0).uniform(-50.0, 50.0, 1001)
    out = np.empty((2, len(x)))
    of_all(x, out)
    np.testing.assert_allclose(out[0], np.exp(x), rtol=2.0 * EPSILON)
    np.testing.assert_allclose(out[1], np.log(np.abs(x)), atol=4.0 * EPSILON, rtol=2.0 * EPSILON)
