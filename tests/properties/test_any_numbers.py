"""Whatever finite numbers go in, finite ones come out: labels in the order of the levels, probabilities that add up."""

import warnings

import numpy as np
import pytest
from cases import share
from hypothesis import given, reject
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.gaussian_process.kernels import RBF

from stepsmooth import GridStepSmooth, StepSmooth

# Wild, but of nine digits: the ends of floating point are looked at in tests/extremes. Few whole numbers bring ties.
NUMBERS = st.one_of(st.integers(-(10**9), 10**9).map(lambda k: k / 1000.0), st.integers(-3, 3).map(float))
POSITIVE = st.one_of(st.integers(0, 10**6).map(lambda k: k / 100.0), st.integers(0, 3).map(float))


def fitted(estimator, *data):
    """Fit; what the estimator has to say about such data is not of interest here, what numpy says would be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return estimator.fit(*data)


def sound_signal(m, n):
    for name in ("labels_", "levels_", "smooth_", "probabilities_", "proportions_", "noise_variance_", "objective_"):
        assert np.all(np.isfinite(getattr(m, name))), name
    for name in ("tau_", "effective_dof_"):
        assert np.all(np.isfinite(getattr(m, name))), name
    assert m.labels_.shape == m.smooth_.shape == (n,)
    np.testing.assert_allclose(m.probabilities_.sum(axis=1), 1.0, atol=1e-9)
    assert np.all(m.probabilities_ >= 0.0)
    assert np.all(np.asarray(m.noise_variance_) >= 0.0)
    in_order(m)


def in_order(m):
    first = m.levels_ if m.levels_.ndim == 1 else m.levels_[:, 0]
    assert np.all(np.diff(first) >= 0.0)
    assert m.labels_.max() < m.n_levels_ == len(m.levels_)


@st.composite
def signals(draw, channels=(None, 2)):
    n, p = draw(st.integers(2, 14)), draw(st.sampled_from(channels))
    x = draw(arrays(float, (n, 1), elements=NUMBERS))
    y = draw(arrays(float, n if p is None else (n, p), elements=NUMBERS))
    weights = draw(st.none() | arrays(float, n, elements=st.sampled_from([0.5, 1.0, 3.0])))
    return x, y, weights, draw(st.integers(1, min(n, 4)))


@pytest.mark.parametrize("kernel", ["spline", "min", RBF(0.5)], ids=str)
@given(case=signals(), tau=st.sampled_from(["gcv", "reml", 1e-6, 1.0, 1e6]))
@share(0.25)
def test_altmin_on_a_line(kernel, case, tau):
    X, y, weights, n_levels = case
    m = StepSmooth(n_levels, kernel=kernel, tau=tau, solver="altmin", random_state=0)
    sound_signal(fitted(m, X, y, weights), len(y))
    assert np.all(np.isfinite(m.predict(X)))


@pytest.mark.parametrize("kernel", ["spline", "min"])
@given(case=signals(), prior=st.sampled_from(["uniform", "proportions", "markov", "auto"]))
@share(0.1)
def test_joint_on_a_line(kernel, case, prior):
    X, y, weights, n_levels = case
    m = StepSmooth(n_levels, kernel=kernel, solver="joint", label_prior=prior, random_state=0)
    sound_signal(fitted(m, X, y, weights), len(y))
    assert np.all(np.isfinite(m.predict(X)))


@st.composite
def images(draw, numbers):
    shape = draw(array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=7).filter(lambda s: np.prod(s) >= 6))
    image = draw(arrays(float, shape, elements=numbers))
    holes = draw(arrays(bool, shape, elements=st.sampled_from([False, False, False, True])))
    image = np.where(holes, np.nan, image)
    if np.count_nonzero(image > 0.0) < 4:
        image.flat[:4] = [1.0, 2.0, 3.0, 4.0]
    return image


def sound_image(g, image):
    present = ~np.isnan(image)
    assert np.all(np.isfinite(g.smooth_))
    for name in ("levels_", "noise_variance_", "proportions_", "objective_", "tau_"):
        assert np.all(np.isfinite(getattr(g, name))), name
    assert np.all(np.isfinite(g.corrected_[present]))
    assert np.all(g.labels_[~present] == -1)
    assert g.labels_.shape == g.smooth_.shape == image.shape
    in_order(g)
    found = g.probabilities()[g.labels_ >= 0]
    assert np.all((found >= 0.0) & (found <= 1.0 + 1e-6))


@pytest.mark.parametrize("multiplicative", [True, False])
@given(data=st.data(), n_levels=st.integers(1, 3), tau=st.sampled_from(["gcv", 1e-3, 1.0, 1e3]))
@share(0.5)
def test_altmin_on_images(multiplicative, data, n_levels, tau):
    image = data.draw(images(POSITIVE if multiplicative else NUMBERS))
    g = GridStepSmooth(n_levels, solver="altmin", tau=tau, multiplicative=multiplicative)
    sound_image(fitted(g, image), image)


@pytest.mark.parametrize("multiplicative", [True, False])
@given(data=st.data(), n_levels=st.integers(1, 3), knots=st.sampled_from(["auto", None, 60.0]))
@share(0.1)
def test_joint_on_images(multiplicative, data, n_levels, knots):
    image = data.draw(images(POSITIVE if multiplicative else NUMBERS))
    g = GridStepSmooth(n_levels, knots=knots, multiplicative=multiplicative)
    try:
        fitted(g, image)
    except ValueError as refusal:
        if "the field of this image is not determined" in str(refusal):  # a handful of voxels
            reject()
        raise
    sound_image(g, image)
