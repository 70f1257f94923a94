"""tau by effective degrees of freedom: found for any unit of x, refused where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import Matern

from stepsmooth.altmin import tau_of_dof
from stepsmooth.altmin.selection import N_CANDIDATES, tau_candidates
from stepsmooth.line import LineSmoother
from stepsmooth.points import DenseSmoother, NystroemSmoother


def smoothers(unit, seed=0):
    x = unit * np.sort(np.random.default_rng(seed).uniform(0.0, 1.0, 30))
    kernel = Matern(0.5 * unit, nu=1.5)
    return [
        LineSmoother(x, order=1),
        LineSmoother(x, order=2),
        DenseSmoother(x[:, None], kernel=kernel),
        NystroemSmoother(x[:, None], kernel=kernel, rank=15),
    ]


@pytest.mark.parametrize("which", range(4))
@given(share=st.floats(0.05, 0.9), log_unit=st.floats(-9, 9))
def test_the_tau_has_the_degrees_of_freedom_asked_for(which, share, log_unit):
    smoother = smoothers(10.0**log_unit)[which]
    low, high = smoother.dof_range
    dof = low + share * (high - low)
    assert smoother.trace(tau_of_dof(smoother, dof)) == pytest.approx(dof, abs=2e-3 * high)


@pytest.mark.parametrize("dof", [2.0, 30.0, -1.0, 31.0, np.nan])
def test_impossible_degrees_of_freedom_get_a_sentence(dof):
    smoother = smoothers(1.0)[1]
    with pytest.raises(ValueError, match="dof must lie between 2 and 30 for these points, got"):
        tau_of_dof(smoother, dof)


@pytest.mark.parametrize("which", range(4))
def test_candidates_run_from_nearly_straight_to_half_the_points(which):
    smoother = smoothers(1.0)[which]
    low, high = smoother.dof_range
    taus = tau_candidates(smoother)
    dof = [smoother.trace(tau) for tau in taus]
    assert len(taus) == N_CANDIDATES
    assert np.all(np.diff(dof) > 0.0)
    assert dof[0] == pytest.approx(low + 1.0, abs=0.01)
    assert dof[-1] == pytest.approx((low + high) / 2.0, abs=0.05)


@pytest.mark.parametrize("x", [[1.0], [1.0, 1.0], [1.0, 2.0], [1.0, 2.0, 3.0], [0.0], [0.0, 0.0]])
@pytest.mark.parametrize("order", [1, 2])
def test_there_is_a_candidate_however_few_the_points(x, order):
    taus = tau_candidates(LineSmoother(np.array(x), order=order))
    assert len(taus) >= 1
    assert np.all(np.isfinite(taus))
    assert np.all(taus > 0.0)
