"""What a fitted estimator answers: predict, assign, score, simulate, summary, probabilities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, norm
from sklearn.gaussian_process.kernels import RBF

from stepsmooth import StepSmooth
from stepsmooth.line import LineSmoother


def test_prediction_at_the_points_is_the_smooth_part(signal):
    X, y, _ = signal()
    for kernel in ("spline", "min", "sobolev1", "sobolev2", RBF(0.3)):
        m = StepSmooth(3, kernel=kernel, tau=1e-4, solver="altmin").fit(X, y)
        np.testing.assert_allclose(m.predict(X), m.smooth_, atol=1e-7)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_prediction_elsewhere_is_the_smoother_s_up_to_the_gauge(signal, seed):
    X, y, _ = signal(seed)
    m = StepSmooth(3, tau=1e-4, solver="altmin").fit(X, y)
    new = np.linspace(-1.0, 3.0, 30)
    f = LineSmoother(X, order=2).at(new, y - m.levels_[m.labels_], 1e-4)
    np.testing.assert_allclose(m.predict(new[:, None]), f, atol=1e-8)


@pytest.mark.parametrize("proportions", [[0.5, 0.5], [0.9, 0.1]])
def test_score_is_the_mean_log_predictive_density(proportions):
    rng = np.random.default_rng(0)
    x = np.arange(1, 201) / 200
    y = np.sin(5 * x) + 1.5 * rng.choice(2, p=proportions, size=200) + 0.3 * rng.normal(size=200)
    m = StepSmooth(2, solver="altmin").fit(x[:, None], y)
    new, y_new = rng.uniform(0.0, 1.0, (20, 1)), rng.normal(size=20)
    density = sum(
        m.proportions_[k] * norm.pdf(y_new, m.predict(new) + m.levels_[k], np.sqrt(m.noise_variance_)) for k in range(2)
    )
    assert m.score(new, y_new) == pytest.approx(np.mean(np.log(density)))
    w = rng.uniform(0.0, 1.0, 20)
    assert m.score(new, y_new, sample_weight=w) == pytest.approx(np.average(np.log(density), weights=w))


def test_the_density_that_is_scored_integrates_to_one(signal):
    X, y, _ = signal()
    m = StepSmooth(3, solver="altmin").fit(X, y)
    grid, step = np.linspace(-10.0, 15.0, 20_001, retstep=True)
    each = [m.score(X[:1], [v]) for v in grid[::20]]
    assert np.sum(np.exp(each)) * 20 * step == pytest.approx(1.0, abs=1e-3)


def test_a_score_of_vectors_adds_the_channels(cloud):
    X, Y, _ = cloud(p=2)
    m = StepSmooth(2, kernel=RBF(0.5), tau=1e-3, random_state=0, solver="altmin").fit(X, Y)
    s, f = np.sqrt(m.noise_variance_), m.predict(X)[:, None]
    density = sum(m.proportions_[k] * np.prod(norm.pdf(Y, f + m.levels_[k], s), axis=1) for k in range(2))
    assert m.score(X, Y) == pytest.approx(np.mean(np.log(density)))


def test_assign_takes_the_most_probable_level(signal):
    X, y, labels = signal()
    m = StepSmooth(3, solver="altmin").fit(X, y)
    np.testing.assert_array_equal(m.assign(X, y), labels)
    new, z = np.linspace(0.2, 0.9, 30)[:, None], np.arange(30) % 3
    np.testing.assert_array_equal(m.assign(new, m.predict(new) + m.levels_[z]), z)


def test_assign_weighs_the_levels_by_their_share():
    """Half-way between two levels the commoner one is the more probable."""
    rng = np.random.default_rng(0)
    x, z = np.arange(1, 401) / 400, rng.choice(2, p=[0.9, 0.1], size=400)
    m = StepSmooth(2, tau=1e-4, solver="altmin").fit(x[:, None], 3.0 * z + 0.5 * rng.normal(size=400))
    middle = m.predict([[0.5]]) + m.levels_.mean()
    assert m.assign([[0.5]], middle).tolist() == [0]


def test_probabilities_are_those_of_equally_likely_labels(signal):
    X, y, _ = signal(noise=0.6)
    m = StepSmooth(3, solver="altmin").fit(X, y)
    density = norm.pdf(y[:, None], m.smooth_[:, None] + m.levels_, np.sqrt(m.noise_variance_))
    np.testing.assert_allclose(m.probabilities_, density / density.sum(axis=1, keepdims=True), atol=1e-9)
    np.testing.assert_array_equal(m.probabilities_.argmax(axis=1), m.labels_)
    np.testing.assert_allclose(m.proportions_, np.bincount(m.labels_, minlength=3) / 90)
    assert m.label_prior_ == "uniform"


def test_an_exact_fit_still_has_a_density():
    x = np.arange(20.0)
    m = StepSmooth(2, levels=[0.0, 1.0], solver="altmin").fit(x[:, None], np.arange(20) % 2)
    assert np.isfinite(m.score(x[:, None], np.arange(20) % 2))
    assert np.all(np.isfinite(m.probabilities_))


@pytest.mark.parametrize("field", ["shared", "per_channel"])
def test_a_simulation_is_a_sample_of_the_fitted_model(cloud, field):
    X, Y, _ = cloud(n=2000, d=1, p=2, noise=0.4)
    m = StepSmooth(2, field=field, tau=1e-3, random_state=0, solver="altmin").fit(X, Y)
    y, labels = m.simulate(random_state=1)
    assert y.shape == Y.shape
    smooth = m.smooth_ if field == "per_channel" else m.smooth_[:, None]
    noise = (y - smooth - m.levels_[labels]) / np.sqrt(m.noise_variance_)
    assert kstest(noise.ravel(), "norm").pvalue > 1e-4
    assert np.bincount(labels)[1] / 2000 == pytest.approx(m.proportions_[1], abs=0.05)


def test_a_simulation_repeats_with_its_seed_alone(signal):
    X, y, _ = signal()
    m = StepSmooth(3, solver="altmin").fit(X, y)
    one, other, third = m.simulate(random_state=0), m.simulate(random_state=0), m.simulate(random_state=1)
    np.testing.assert_array_equal(one[0], other[0])
    assert one[0].shape == y.shape
    assert not np.array_equal(one[0], third[0])


def test_the_summary_says_what_was_found(signal):
    X, y, _ = signal()
    m = StepSmooth(3, solver="altmin").fit(X, y)
    words = m.summary()
    assert words.startswith("3 level(s) under a smooth part with")
    for k in range(3):
        assert f"level {k}: {m.levels_[k]:.4g} (se {m.levels_se_[k]:.2g})" in words
    assert f"converged in {m.n_iter_} iterations" in words
    assert "the smallest gap is" in words


def test_the_summary_of_one_level_knows_no_gap(signal):
    X, _, _ = signal()
    assert "gap" not in StepSmooth(1, solver="altmin").fit(X, np.sin(X[:, 0])).summary()


def test_the_summary_of_vectors_has_every_channel(cloud):
    X, Y, _ = cloud(d=1, p=2)
    m = StepSmooth(2, tau=1e-3, random_state=0, solver="altmin").fit(X, Y)
    for value in m.levels_.ravel():
        assert f"{value:.4g}" in m.summary()
