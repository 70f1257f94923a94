"""The M-step against sums over all labellings, dense generalised least squares and numbers worked out by hand."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from stepsmooth.line import maximise as m
from stepsmooth.line.chain import Expectation, Signal, Theta

ORDERS = pytest.mark.parametrize("order", [1, 2])
CHANNELS = pytest.mark.parametrize("p", [1, 2])
STEP = float(np.exp(m.STEP))


def problem(order=2, p=1, n=7, n_levels=2, hard=False, seed=0):
    """A signal far from zero and probabilities of its labels, all of them 0 or 1 if they are hard."""
    rng = np.random.default_rng(seed)
    x, w = np.cumsum(rng.uniform(0.5, 1.5, n)), rng.uniform(0.5, 2.0, n)
    labels = np.append(np.arange(n_levels), rng.integers(n_levels, size=n - n_levels))
    Y = 5.0 + np.sin(x)[:, None] + 1.5 * labels[:, None] + 0.3 * rng.normal(size=(n, p))
    gamma = np.eye(n_levels)[labels]
    gamma = gamma if hard else rng.dirichlet(np.ones(n_levels), n)
    return Signal(x, Y, w, order=order), Expectation(0.0, gamma, np.zeros((n_levels, n_levels)))


def left_by_f(signal, tau):
    """Return W (I - S), dense."""
    n = len(signal)
    S = np.column_stack([signal.smoother.solve(e, tau) for e in np.eye(n)])
    return np.diag(signal.weights) @ (np.eye(n) - S)


def labellings(gamma):
    """Return every labelling as indicators (paths, n, M), and its probability."""
    n, n_levels = gamma.shape
    paths = np.array(list(product(range(n_levels), repeat=n)))
    return np.eye(n_levels)[paths], np.prod(gamma[np.arange(n), paths], axis=1)


def expected_squares(signal, gamma, levels, tau):
    """Return E sum over channels of (y - mu_z - f)' W (y - mu_z - f) + n tau |f|^2, least over one f for all."""
    p = signal.Y.shape[1]
    Z, share = labellings(gamma)
    rest = signal.Y - Z @ levels
    mean = rest.mean(axis=2)
    shared = np.sum(mean @ left_by_f(signal, tau / p) * mean, axis=1)
    contrasts = np.sum((rest - mean[:, :, None]) ** 2, axis=2) @ signal.weights
    return share @ (p * shared + contrasts)


def theta_of(p=1, n_levels=2, tau=0.05, **more):
    levels = 5.0 + np.linspace(0.0, 1.4, n_levels)[:, None] + 0.2 * np.arange(p)
    return Theta(levels, tau, 0.1, np.full(n_levels, 1.0 / n_levels), **more)


def test_levels_move_freely_together_apart_or_not_at_all():
    assert m.directions("known", 3).shape == (3, 0)
    assert_array_equal(m.directions("shifted", 3), [[1.0], [1.0], [1.0]])
    assert_array_equal(m.directions("ladder", 3), [[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]])
    assert_array_equal(m.directions("ladder", 2), [[1.0, -0.5], [1.0, 0.5]])
    assert_array_equal(m.directions("free", 2), np.eye(2))


@ORDERS
@CHANNELS
def test_what_is_left_once_f_is_profiled_out_is_the_mean_over_all_labellings(order, p):
    signal, found = problem(order, p)
    here = m.profile(signal, found.gamma, 0.05)
    R = left_by_f(signal, 0.05 / p)
    y = signal.Y.mean(axis=1) - signal.centre
    Z, share = labellings(found.gamma)
    both = np.concatenate([np.broadcast_to(y[:, None], (len(Z), len(y), 1)), Z], axis=2)
    squares = np.einsum("s,sia,ij,sjb->ab", share, both, R, both, optimize=True)
    assert_allclose(here.squares, squares, atol=1e-10)
    assert_allclose(here.information, squares[1:, 1:], atol=1e-10)
    S = np.eye(len(y)) - R / signal.weights[:, None]
    assert_allclose(here.leverage, np.diag(S))
    level = np.array([-0.3, 0.8])
    v = np.append(1.0, -level)
    assert here.sum_of_squares(level) == pytest.approx(v @ squares @ v)


@ORDERS
@pytest.mark.parametrize("structure", ["free", "ladder", "shifted", "known"])
def test_no_move_along_the_directions_is_better(order, structure):
    signal, found = problem(order, n_levels=3, n=9)
    here, D = m.profile(signal, found.gamma, 0.05), m.directions(structure, 3)
    level = np.array([-1.0, 0.1, 0.7])
    move = here.move(level, D)
    assert_allclose(D @ np.linalg.lstsq(D, move)[0] if D.size else np.zeros(3), move, atol=1e-9)
    best = here.sum_of_squares(level + move)
    for way in (*D.T, *-D.T):
        assert here.sum_of_squares(level + move + 0.1 * way) >= best - 1e-9
    if structure == "free":
        gradient = here.squares[1:, 0] - here.information @ (level + move)
        assert_allclose(gradient, 0.0, atol=1e-9)


@ORDERS
@CHANNELS
def test_hard_labels_get_the_levels_of_generalised_least_squares(order, p):
    signal, found = problem(order, p, n=10, hard=True)
    new = m.maximise(signal, theta_of(p), found, "uniform")
    R, Z = left_by_f(signal, 0.05 / p), found.gamma
    gls = np.linalg.pinv(Z.T @ R @ Z, rcond=1e-9) @ Z.T @ R @ signal.Y.mean(axis=1)
    assert_allclose(np.diff(new.levels.mean(axis=1)), np.diff(gls), rtol=1e-6)
    if order == 1:  # without free constants, where the levels lie is decided too
        assert_allclose(new.levels.mean(axis=1), gls, rtol=1e-6)
    # Contrasts of channels do not see f: weighted means.
    contrast = signal.Y - signal.Y.mean(axis=1, keepdims=True)
    means = [np.average(contrast[Z[:, k] == 1], axis=0, weights=signal.weights[Z[:, k] == 1]) for k in range(2)]
    assert_allclose(new.levels - new.levels.mean(axis=1, keepdims=True), means, atol=1e-12)


@ORDERS
@CHANNELS
def test_the_noise_is_what_is_left_a_degree_of_freedom(order, p):
    signal, found = problem(order, p)
    new = m.maximise(signal, theta_of(p), found, "uniform", search_tau=False)
    size = 7 * p - (2 if order == 2 else 0)
    assert new.noise == pytest.approx(expected_squares(signal, found.gamma, new.levels, 0.05) / size)
    assert new.tau == 0.05
    assert_array_equal(new.proportions, [0.5, 0.5])
    assert new.transition is None
    assert new.ratio is None


def test_data_without_noise_keep_a_little():
    x = np.arange(6.0)
    signal = Signal(x, (x + 2.0)[:, None], np.ones(6))
    found = Expectation(0.0, np.ones((6, 1)), np.zeros((1, 1)))
    new = m.maximise(signal, Theta(np.array([[4.5]]), 0.1, 0.1, np.ones(1)), found, "uniform")
    assert new.noise == pytest.approx(1e-9 * 35.0 / 12.0)


@CHANNELS
@pytest.mark.parametrize("structure", ["known", "shifted", "ladder"])
def test_levels_keep_their_structure(structure, p):
    signal, found = problem(1, p, n_levels=3, n=6)
    theta = theta_of(p, 3)
    new = m.maximise(signal, theta, found, "uniform", structure)
    moved = new.levels - theta.levels
    if structure == "known":
        assert_array_equal(moved, 0.0)
        return
    assert np.abs(moved).max() > 1e-3
    assert_allclose(moved, moved[:, :1] * np.ones(p), atol=1e-12)
    assert_allclose(np.diff(moved[:, 0], 1 if structure == "shifted" else 2), 0.0, atol=1e-12)
    # Neither a shift nor, for a ladder, another gap would leave less.
    here = expected_squares(signal, found.gamma, new.levels, 0.05)
    for way in m.directions(structure, 3).T:
        for step in (-0.01, 0.01):
            assert expected_squares(signal, found.gamma, new.levels + step * way[:, None], 0.05) > here


@ORDERS
@CHANNELS
@pytest.mark.parametrize("tau", [0.003, 0.05, 1.0])
def test_tau_moves_by_what_smoothing_saves_over_what_it_costs(order, p, tau):
    signal, found = problem(order, p, seed=3)
    theta = theta_of(p, tau=tau)
    new = m.maximise(signal, theta, found, "uniform", "known")
    near, further = (expected_squares(signal, found.gamma, theta.levels, t) for t in (tau, tau * STEP))
    saved = signal.smoother.logdet(tau / p) - signal.smoother.logdet(tau * STEP / p)
    factor = saved * near / ((7 * p - (2 if order == 2 else 0)) * (further - near))
    assert 1.0 / np.exp(3.0) < factor < np.exp(3.0)
    assert new.tau == pytest.approx(tau * factor, rel=1e-6)
    given = np.clip(saved * theta.noise / (further - near), np.exp(-3.0), np.exp(3.0))
    assert m.retuned(signal, theta, found) == pytest.approx(tau * given, rel=1e-6)
    assert m.maximise(signal, theta, found, "uniform", "known", search_tau=False).tau == tau


def test_tau_settles_where_the_likelihood_under_the_noise_is_largest():
    x = np.linspace(0.0, 1.0, 80)
    y = np.sin(6.0 * x) + 0.3 * np.random.default_rng(0).normal(size=80)
    signal, found = Signal(x, y[:, None], np.ones(80)), Expectation(0.0, np.ones((80, 1)), np.zeros((1, 1)))
    theta = Theta(np.zeros((1, 1)), 1e-3, 0.1, np.ones(1))
    for _ in range(30):
        theta = m.replace(theta, tau=m.retuned(signal, theta, found))

    def deviance(tau):
        return y @ (y - signal.smoother.solve(y, tau)) / 0.1 + signal.smoother.logdet(tau)

    assert deviance(theta.tau) < min(deviance(tau) for tau in np.geomspace(1e-8, 1.0, 100)) + 0.1


def test_tau_moves_by_a_factor_of_e_cubed_at_the_most():
    x = np.linspace(0.0, 1.0, 1000)
    found = Expectation(0.0, np.ones((1000, 1)), np.zeros((1, 1)))
    one = Theta(np.zeros((1, 1)), 1e-5, 0.1, np.ones(1))
    wave = Signal(x, np.sin(6.0 * x)[:, None], np.ones(1000))
    assert m.retuned(wave, m.replace(one, noise=1e-6), found) == pytest.approx(1e-5 * np.exp(-3.0))
    zigzag = Signal(x, np.cos(np.pi * np.arange(1000.0))[:, None], np.ones(1000))
    assert m.retuned(zigzag, m.replace(one, noise=10.0), found) == pytest.approx(1e-5 * np.exp(3.0))


def test_tau_stays_where_nothing_is_left_to_smooth():
    signal = Signal(np.arange(5.0), np.zeros((5, 1)), np.ones(5))
    found = Expectation(0.0, np.ones((5, 1)), np.zeros((1, 1)))
    theta = Theta(np.zeros((1, 1)), 0.3, 0.1, np.ones(1))
    assert m.maximise(signal, theta, found, "uniform", "known").tau == 0.3
    # Where noise is given and nothing bends, f may be as stiff as one likes.
    assert m.retuned(signal, theta, found) == pytest.approx(0.3 * np.exp(3.0))


def test_proportions_are_weighted_shares_with_half_a_point_more_each():
    signal, found = problem()
    new = m.maximise(signal, theta_of(), found, "proportions")
    mass = signal.weights @ found.gamma
    assert_allclose(new.proportions, (mass + 0.5) / (signal.weights.sum() + 1.0))
    assert new.transition is None


def test_a_chain_is_counted_and_shrunk_towards_one_switching_probability():
    pairs = np.array([[8.0, 2.0, 0.0], [1.0, 5.0, 0.0], [0.0, 1.0, 2.0]])
    signal, found = problem(n_levels=3)
    new = m.maximise(signal, theta_of(n_levels=3), m.replace(found, pairs=pairs), "markov")
    common = (4.0 + 0.5) / (19.0 + 1.0)
    leave = (np.array([2.0, 1.0, 1.0]) + 5.0) / (np.array([10.0, 6.0, 3.0]) + 5.0 / common)
    to = np.array([[0.0, 4.5, 2.5], [3.5, 0.0, 2.5], [2.5, 3.5, 0.0]])
    expected = leave[:, None] * to / to.sum(axis=1, keepdims=True)
    assert_allclose(new.transition, expected + np.diag(1.0 - leave))
    assert_allclose(new.transition.sum(axis=1), 1.0)
    assert_allclose(new.proportions.sum(), 1.0)


def test_a_chain_that_always_switches_stays_a_chain_and_one_level_never_does():
    alternating = m._transition(np.array([[0.0, 1e6], [1e6, 0.0]]))
    assert_allclose(np.diag(alternating), 0.0, atol=1e-5)
    few = m._transition(np.array([[0.0, 10.0], [10.0, 0.0]]))
    assert_allclose(np.diag(few), 1.0 - 15.0 / (10.0 + 5.0 / 0.95))
    assert_array_equal(m._transition(np.array([[7.0]])), [[1.0]])


def test_sticky_and_neighbourly_chains():
    assert_allclose(m.sticky(3, 0.2), [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    assert_array_equal(m.sticky(1, 0.2), [[1.0]])
    near, far = 0.4 / 1.02, 0.4 * 0.02 / 1.02
    assert_allclose(m.neighbourly(3, 0.4), [[0.6, near, far], [0.2, 0.6, 0.2], [far, near, 0.6]])
    assert_allclose(m.neighbourly(2, 0.4), [[0.6, 0.4], [0.4, 0.6]])
    assert_array_equal(m.neighbourly(1, 0.4), [[1.0]])


@ORDERS
def test_class_variances_are_shares_of_the_common_one(order):
    signal, found = problem(order, n=30, hard=True, seed=2)
    new = m.maximise(signal, theta_of(ratio=np.ones(2)), found, "uniform")
    f = signal.smoother.solve(signal.mean - found.gamma @ new.levels[:, 0], 0.05)
    error = (signal.mean - f - found.gamma @ new.levels[:, 0]) ** 2 * signal.weights
    mass, squares = signal.weights @ found.gamma, error @ found.gamma
    common = squares.sum() / mass.sum()
    assert_allclose(new.ratio, (squares + 20.0 * common) / (mass + 20.0) / common, rtol=1e-6)


@pytest.mark.parametrize("every, which, expected", [(2, 0, 1.0 / 9.0), (40, 1, 9.0)])
def test_class_variances_differ_by_a_factor_of_nine_at_the_most(every, which, expected):
    z = (np.arange(2000) % every == 0).astype(int)
    noise = np.random.default_rng(0).normal(size=2000) * np.array([1e-3, 1.0])[z]
    signal = Signal(np.arange(2000.0), (3.0 * z + noise)[:, None], np.ones(2000))
    found = Expectation(0.0, np.eye(2)[z], np.zeros((2, 2)))
    theta = Theta(np.array([[0.0], [3.0]]), 1e6, 0.1, np.full(2, 0.5), ratio=np.ones(2))
    assert m.maximise(signal, theta, found, "uniform").ratio[which] == pytest.approx(expected)


@ORDERS
def test_a_shift_that_f_can_go_as_well_is_left_to_f(order):
    signal, found = problem(order, n_levels=3, n=9)
    move = m.profile(signal, found.gamma, 0.05).move(np.array([0.0, 1.0, 2.0]), m.directions("shifted", 3))
    # A spline is free to shift; what levels could gain from it is rounding over rounding. The min kernel is not.
    assert np.all(move == 0.0) == (order == 2)
