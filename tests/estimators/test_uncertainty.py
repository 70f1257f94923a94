"""Noise and standard errors: their formulas, and what they promise on repeated data."""

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.gaussian_process.kernels import RBF

from stepsmooth import StepSmooth
from stepsmooth.model import MinKernel
from stepsmooth.points import DenseSmoother


def replicate(params, p=None, reps=200, n=80, noise=0.3):
    """Return errors of the centred levels and their standard errors over repeated noise, labels and f fixed."""
    rng = np.random.default_rng(0)
    x, labels = np.arange(1, n + 1) / n, rng.integers(3, size=n)
    mu = 4.0 * np.arange(3.0)[:, None] * np.ones(p or 1)
    clean = np.sin(5.0 * x)[:, None] + mu[labels]
    errors, claimed = [], []
    for _ in range(reps):
        Y = clean + noise * rng.normal(size=clean.shape)
        m = StepSmooth(3, start=labels, **params).fit(x[:, None], Y if p else Y[:, 0])
        # In the gauge mean f = 0 the true levels carry the mean of the true f.
        errors.append(m.levels_.reshape(3, -1) - mu - np.sin(5.0 * x).mean())
        claimed.append(m.levels_se_.reshape(3, -1))
    return np.array(errors), np.array(claimed)


@pytest.mark.parametrize(
    ("params", "p"),
    [
        ({"kernel": "min", "tau": 1e-3}, None),
        ({"kernel": "spline", "tau": 1e-5}, None),
        ({"kernel": "spline", "tau": 1e-5, "levels": [0.0, 4.0, 8.0], "free_shift": True}, None),
        ({"kernel": "spline", "tau": 1e-5}, 2),
        ({"kernel": "spline", "tau": 1e-5, "field": "per_channel"}, 2),
    ],
    ids=str,
)
def test_levels_scatter_as_their_standard_errors_say(params, p):
    errors, claimed = replicate(params, p)
    np.testing.assert_allclose(errors.std(axis=0), claimed.mean(axis=0), rtol=0.25)


@pytest.mark.parametrize("field", ["shared", "per_channel"])
@pytest.mark.parametrize("levels", [None, [[0.0, 0.0], [3.0, 1.5], [6.0, 3.0]]])
def test_levels_have_the_standard_errors_of_generalised_least_squares(field, levels):
    """Both channels written out: Cov(mu) = s2 D (D'Z'V^-1 ZD)^-1 D', seen from the mean of the levels."""
    X, labels = np.linspace(0.1, 1.0, 40)[:, None], np.arange(40) // 14  # contiguous: f can imitate the steps
    Y = np.outer(labels, [3.0, 1.5]) + 0.1 * np.random.default_rng(0).normal(size=(40, 2))
    params = {} if levels is None else {"levels": levels, "free_shift": True}
    m = StepSmooth(3, kernel="min", tau=0.5, field=field, start=labels, **params).fit(X, Y)
    np.testing.assert_array_equal(m.labels_, labels)
    D = np.eye(3) if levels is None else np.ones((3, 1))
    shares = np.bincount(m.labels_, minlength=3) / 40
    together = np.eye(2) if field == "per_channel" else np.ones((2, 2))
    V = np.eye(80) + np.kron(together, MinKernel()(X) / (40 * m.tau_))
    T = np.kron(np.eye(2), D[m.labels_])
    moves = np.kron(np.eye(2), (np.eye(3) - shares) @ D)
    spread = np.diag(moves @ np.linalg.solve(T.T @ np.linalg.solve(V, T), moves.T))
    expected = np.sqrt(m.noise_variance_ * (1.0 / 40 + spread)).reshape(2, 3).T
    np.testing.assert_allclose(m.levels_se_, expected, rtol=1e-6)


def test_the_smooth_part_has_the_posterior_standard_error(signal):
    X, y, _ = signal()
    w = np.random.default_rng(0).uniform(0.5, 2.0, 90)
    m = StepSmooth(3, kernel="min", tau=1e-3, solver="altmin").fit(X, y, sample_weight=w)
    K = MinKernel()(X) / (w.sum() * m.tau_)
    posterior = K - K @ np.linalg.solve(K + np.diag(1.0 / w), K)
    np.testing.assert_allclose(m.smooth_se_, np.sqrt(m.noise_variance_ * np.diag(posterior)), rtol=1e-6)


def test_shared_and_own_fields_differ_in_their_standard_errors(cloud):
    X, Y, _ = cloud(d=1, p=2)
    each = StepSmooth(2, tau=1e-3, field="per_channel", random_state=0, solver="altmin").fit(X, Y)
    shared = StepSmooth(2, tau=2e-3, random_state=0, solver="altmin").fit(X, Y)
    ratio = np.median(shared.smooth_se_ / each.smooth_se_[:, 0]) / np.sqrt(
        shared.noise_variance_ / each.noise_variance_
    )
    assert ratio == pytest.approx(np.sqrt(0.5), rel=1e-6)


@pytest.mark.parametrize(("levels", "moves"), [(None, 3), ([0.0, 2.0, 4.0], 0)])
def test_the_noise_is_the_residual_over_what_is_left(signal, levels, moves):
    X, y, _ = signal()
    m = StepSmooth(3, kernel=RBF(0.3), tau=1e-3, levels=levels, solver="altmin").fit(X, y)
    rss = np.sum((y - m.smooth_ - m.levels_[m.labels_]) ** 2)
    dof = DenseSmoother(X, kernel=RBF(0.3)).trace(1e-3)
    assert m.noise_variance_ == pytest.approx(rss / (90 - dof - moves), rel=1e-4)
    assert m.effective_dof_ == pytest.approx(dof, rel=1e-4)


def test_the_noise_is_found():
    rng = np.random.default_rng(1)
    x, z = np.arange(1, 401) / 400, rng.integers(2, size=400)
    m = StepSmooth(2, solver="altmin").fit(x[:, None], np.sin(5 * x) + 5.0 * z + 0.3 * rng.normal(size=400))
    left = 400 - m.effective_dof_ - 2
    low, high = chi2.ppf([1e-4, 1.0 - 1e-4], left) / left
    assert low < m.noise_variance_ / 0.09 < high


def test_the_objective_is_the_loss_and_the_penalty(signal):
    X, y, _ = signal()
    m = StepSmooth(3, kernel="min", tau=1e-3, solver="altmin").fit(X, y)
    # Undo the gauge: f of the min kernel starts from 0 at the origin.
    residual = y - m.levels_[m.labels_]
    dense = DenseSmoother(X, kernel=MinKernel())
    shift = m.predict([[0.0]])[0]
    f = m.smooth_ - shift
    loss = np.mean((residual - m.smooth_) ** 2)
    assert m.objective_ == pytest.approx(loss + 1e-3 * dense.norm2(f), rel=1e-6)


@pytest.mark.parametrize("tau", [1e-8, 1e-4, 1.0])
@pytest.mark.parametrize("n", [30, 400])
def test_levels_that_only_shift_are_known_as_well_as_the_mean_of_y(n, tau):
    """The gauge takes the common shift away: what is left is rounding, which must not be divided by rounding."""
    rng = np.random.default_rng(0)
    x, mu = np.sort(rng.random(n)), np.array([0.0, 1.0, 3.0])
    y = np.sin(4.0 * x) + mu[rng.integers(3, size=n)] + 0.1 * rng.normal(size=n)
    m = StepSmooth(levels=mu, free_shift=True, solver="altmin", tau=tau).fit(x[:, None], y)
    np.testing.assert_allclose(m.levels_se_, np.sqrt(m.noise_variance_ / n), rtol=1e-6)
