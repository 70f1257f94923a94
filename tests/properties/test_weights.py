"""Weights: 2 is the point twice where weights are frequencies (AltMin), their unit is that of the noise in joint."""

import numpy as np
import pytest
from cases import GRID_ALTMIN, GRID_JOINT, LINE_ALTMIN, LINE_JOINT, SEEDS, named, scene, share, signal
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth import GridStepSmooth, StepSmooth

WAYS = LINE_ALTMIN | {
    "min, reml": {"kernel": "min", "tau": "reml"},
    "spline, gcv": {"kernel": "spline", "tau": "gcv"},
    "rbf, gcv": {"kernel": LINE_ALTMIN["rbf"]["kernel"], "tau": "gcv"},
    "known levels": {"kernel": "spline", "tau": 1e-4, "levels": [0.0, 2.0], "solver": "altmin"},
}


@given(seed=SEEDS, way=named(WAYS))
@share(0.5)
def test_a_weight_of_two_is_the_point_twice(seed, way):
    X, y, _ = signal(seed)
    times = np.random.default_rng(seed).integers(1, 4, len(y))
    weighted = StepSmooth(2, **WAYS[way]).fit(X, y, sample_weight=times)
    repeated = StepSmooth(2, **WAYS[way]).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_array_equal(np.repeat(weighted.labels_, times), repeated.labels_)
    np.testing.assert_allclose(np.repeat(weighted.smooth_, times), repeated.smooth_, atol=1e-5)
    np.testing.assert_allclose(np.repeat(weighted.smooth_se_, times), repeated.smooth_se_, rtol=1e-3)
    for name in ("levels_", "levels_se_", "proportions_", "noise_variance_", "effective_dof_", "tau_", "objective_"):
        one, other = getattr(weighted, name), getattr(repeated, name)
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-6, err_msg=name)
    assert weighted.score(X, y, sample_weight=times) == pytest.approx(
        repeated.score(np.repeat(X, times, axis=0), np.repeat(y, times)), rel=1e-3, abs=1e-6
    )


@pytest.mark.parametrize("ways", [pytest.param(WAYS, id="altmin"), pytest.param(LINE_JOINT, id="joint")])
@given(seed=SEEDS, data=st.data())
@share(0.05)
def test_a_weight_of_zero_is_absent(ways, seed, data):
    way = ways[data.draw(named(ways))]
    X, y, _ = signal(seed, n=30)
    weights = (np.random.default_rng(seed).permutation(30) > 5).astype(float)
    kept = weights > 0.0
    m = StepSmooth(2, **way).fit(X, np.where(kept, y, 1e6), weights)
    alone = StepSmooth(2, **way).fit(X[kept], y[kept])
    np.testing.assert_array_equal(m.labels_[kept], alone.labels_)
    np.testing.assert_allclose(m.levels_, alone.levels_, atol=1e-9)
    np.testing.assert_allclose(m.smooth_[~kept], alone.predict(X[~kept]), atol=1e-9)


@given(seed=SEEDS, way=named(LINE_JOINT), by=st.sampled_from([0.25, 3.0, 100.0]))
@share(0.05)
def test_in_joint_the_unit_of_the_weights_is_that_of_the_noise(seed, way, by):
    X, y, _ = signal(seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    one, other = (StepSmooth(2, **LINE_JOINT[way]).fit(X, y, w) for w in (weights, by * weights))
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_allclose(other.smooth_, one.smooth_, atol=1e-6)
    np.testing.assert_allclose(other.noise_variance_, by * one.noise_variance_, rtol=1e-6)


@pytest.mark.parametrize("ways", [pytest.param(GRID_ALTMIN, id="altmin"), pytest.param(GRID_JOINT, id="joint")])
@given(seed=SEEDS, data=st.data())
@share(0.05)
def test_a_voxel_of_weight_zero_or_without_a_value_is_absent(ways, seed, data):
    params = ways[data.draw(named(ways))]
    image, _ = scene(seed, multiplicative=params.get("multiplicative", True))
    absent = np.zeros(image.shape, dtype=bool)
    absent[2:5, 3:9] = True
    by_weight = GridStepSmooth(2, **params).fit(np.where(absent, 50.0, image), weights=(~absent).astype(float))
    by_nan = GridStepSmooth(2, **params).fit(np.where(absent, np.nan, image))
    np.testing.assert_array_equal(by_weight.labels_[~absent], by_nan.labels_[~absent])
    np.testing.assert_allclose(by_weight.smooth_, by_nan.smooth_, atol=1e-5)
    np.testing.assert_allclose(by_weight.levels_, by_nan.levels_, rtol=1e-5)
