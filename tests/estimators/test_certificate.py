"""The certificate of a fit is that of its labels on its own data."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from stepsmooth import StepSmooth
from stepsmooth.datasets import make_sine_steps
from stepsmooth.topology import certify


def test_a_noiseless_fit_is_certified_like_its_labels():
    data = make_sine_steps(400, 3, 3.0, random_state=0)
    m = StepSmooth(n_levels=3, solver="altmin").fit(data.X, data.y)
    found = m.certificate()
    assert found.verdict == "identified"
    assert found.margin == certify(data.X, m.labels_, m.levels_, y=data.y).margin
    assert m.certificate(c=8.0).margin < found.margin
    assert pickle.loads(pickle.dumps(m)).certificate().margin == found.margin


def test_a_fit_that_fails_is_not_certified():
    # Twenty points under three periods: AltMin misses labels, and nothing may say otherwise.
    for seed in range(10):
        data = make_sine_steps(20, 3, 3.0, random_state=seed)
        assert StepSmooth(n_levels=3, solver="altmin").fit(data.X, data.y).certificate().verdict != "identified"


def test_a_noisy_fit_is_certified_by_regions_and_counts_flips():
    data = make_sine_steps(8000, 2, 1.0, noise_variance=0.02, random_state=0)
    found = StepSmooth(n_levels=2, solver="altmin").fit(data.X, data.y).certificate()
    assert found.verdict == "identified"
    assert found.region > 1
    assert found.flips is not None


def test_later_changes_of_the_callers_arrays_do_not_matter():
    data = make_sine_steps(300, 2, 1.0, random_state=0)
    X, y = data.X.copy(), data.y.copy()
    m = StepSmooth(n_levels=2, solver="altmin").fit(X, y)
    before = m.certificate().margin
    X[:], y[:] = 0.0, 0.0
    assert m.certificate().margin == before


def test_missing_observations_absent_points_and_channels():
    data = make_sine_steps(400, 2, 1.0, random_state=0)
    y = data.y.copy()
    y[[3, 50]] = np.nan
    weights = np.ones(400)
    weights[7] = 0.0
    holes = StepSmooth(n_levels=2, missing="drop", solver="altmin").fit(data.X, y, weights)
    assert holes.certificate().verdict == "identified"
    both = np.column_stack([data.y, data.smooth + 2 * data.levels[data.labels]])
    assert StepSmooth(n_levels=2, solver="altmin").fit(data.X, both).certificate().verdict == "identified"


def test_a_precomputed_kernel_is_certified_in_its_own_metric():
    data = make_sine_steps(300, 2, 1.0, random_state=0)
    K = np.minimum(data.X, data.X.T)
    found = StepSmooth(n_levels=2, kernel="precomputed").fit(K, data.y).certificate()
    assert found.verdict == "identified"


def test_without_a_fit_or_with_one_level_there_is_nothing_to_certify():
    with pytest.raises(NotFittedError):
        StepSmooth(solver="altmin").certificate()
    data = make_sine_steps(50, 2, 1.0, random_state=0)
    with pytest.raises(ValueError, match="levels must be at least two; found one"):
        StepSmooth(n_levels=1, solver="altmin").fit(data.X, data.y).certificate()
