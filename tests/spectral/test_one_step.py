"""Survival function, r_n, beta_n, the terms of one step and the bound of Proposition 3, against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from stepsmooth.model import MinKernel, SobolevKernel
from stepsmooth.points import DenseSmoother
from stepsmooth.spectral import (
    chain_spectra,
    dense_spectrum,
    last_component,
    leakage_bound,
    markov_chains,
    min_kernel_spectrum,
    minimax_tau,
    noise_ratio,
    one_step_mse,
    proposition_3,
    residual_norm,
    sobolev_rates,
    spectral_filter,
    step_energy,
    survival,
    tail_exponent,
)

seeds = st.integers(0, 10**6)


def chain(n, switching, seed):
    return markov_chains(n, switching, 1, np.random.default_rng(seed))[0]


@given(seeds, st.integers(1, 30))
def test_the_survival_function_is_its_sum(seed, n):
    rng = np.random.default_rng(seed)
    g, values = rng.normal(size=n), np.sort(rng.choice([1.0, 2.0, 3.0, 5.0], size=n))[::-1]
    t = rng.choice([0.5, 1.0, 2.5, 3.0, 6.0], size=4)
    expected = [np.sum(g[values > level] ** 2) / n for level in t]
    np.testing.assert_allclose(survival(g, values, t), expected)
    np.testing.assert_allclose(survival(np.stack([g, 2 * g]), values, t), [expected, 4 * np.array(expected)])


@given(seeds, st.integers(5, 60), st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_beta_is_the_largest_exponent_that_bounds_the_tail(seed, n, switching):
    spectrum, g = min_kernel_spectrum(n), chain(n, switching, seed)
    values, coefficients = spectrum.eigenvalues, spectrum.coefficients(g)
    beta, last = tail_exponent(coefficients, values, 1.0), values[last_component(coefficients) - 1]
    t = np.concatenate([values * (1 - 1e-12), np.geomspace(values[-1] / 10, values[0] * 10, 500)])
    energy = survival(coefficients, values, t)

    def holds(exponent):
        return np.all(energy <= (last / t) ** exponent * (1 + 1e-9))

    assert holds(beta)
    assert not holds(beta * 1.01 + 1e-3)


def test_r_n_leaves_out_what_is_rounding_and_all_energy_at_the_end_has_no_bound():
    assert last_component([1.0, 0.0, 3.0, 1e-16]) == 3
    assert last_component([1.0, 0.0, 3.0, 1e-16], zero=0.0) == 4
    assert tail_exponent([0.0, 0.0, 1.0], [3.0, 2.0, 1.0], 1.0) == np.inf
    assert noise_ratio([1.0, 0.0, 0.0], [4.0, 2.0, 1.0], tau=2.0) == 2.0


@pytest.mark.parametrize("jumps", [1, 4])
def test_the_energy_of_a_step_signal_is_its_squared_norm_and_grows_like_n(jumps):
    for n in (120, 240):
        g = np.repeat(np.arange(jumps + 1) % 2, n // (jumps + 1)).astype(float)
        spectrum = min_kernel_spectrum(len(g))
        expected = len(g) * np.sum(np.diff(np.r_[0.0, g]) ** 2)  # int g'^2 of the interpolant, x = i/n
        assert step_energy(spectrum.coefficients(g), spectrum.eigenvalues) == pytest.approx(expected)


def test_the_smoothers_error_is_the_one_step_error():
    rng, n, tau, variance = np.random.default_rng(0), 60, 0.003, 0.2
    x = np.arange(1, n + 1)[:, None] / n
    f, g = np.sin(5 * x[:, 0]), chain(n, 0.4, 1)
    found = one_step_mse(f, g, variance, tau, min_kernel_spectrum(n))
    smoother = DenseSmoother(x, np.ones(n), MinKernel())
    assert np.mean((smoother.solve((f + g)[:, None], tau)[:, 0] - f) ** 2) == pytest.approx(found.mse - found.variance)
    noise = rng.normal(scale=np.sqrt(variance), size=(n, 4000))
    assert np.mean(smoother.solve(noise, tau) ** 2) == pytest.approx(found.variance, rel=0.03)


@given(seeds, st.floats(1e-5, 1e-1), st.floats(0.0, 1.0))
def test_the_papers_three_terms_bound_the_error(seed, tau, variance):
    n = 50
    f, g = np.cumsum(np.random.default_rng(seed).normal(size=n)) / n, chain(n, 0.5, seed)
    found = one_step_mse(f, g, variance, tau, min_kernel_spectrum(n))
    assert found.mse <= found.bound * (1 + 1e-12)
    spectrum = min_kernel_spectrum(n)
    assert found.leakage == pytest.approx(float(residual_norm(spectrum.coefficients(g), spectrum.eigenvalues, tau)))


@pytest.mark.parametrize("kernel", ["min", "sobolev"])
@given(seed=seeds, switching=st.sampled_from([0.05, 0.3, 0.7, 1.0]), tau=st.floats(1e-6, 10.0))
def test_proposition_3_bounds_what_smoothing_leaves_of_a_chain(kernel, seed, switching, tau):
    n = 40
    x = np.arange(1, n + 1)[:, None] / n
    spectrum = min_kernel_spectrum(n) if kernel == "min" else dense_spectrum(SobolevKernel(1), x)
    norm, bound = proposition_3(chain(n, switching, seed), tau, spectrum)
    assert norm <= bound


@given(st.floats(1e-6, 10.0), st.floats(0.0, 3.0))
def test_the_bound_takes_the_best_exponent_below_beta(xi, beta):
    def term(exponent):
        return 2 / (2 - exponent) * xi**exponent

    below = minimize_scalar(term, bounds=(0.0, min(beta, 2 - 1e-9)), method="bounded", options={"xatol": 1e-10})
    least = min(below.fun, term(0.0), term(min(beta, 2 - 1e-9)))
    assert leakage_bound(xi, beta, 3.0) == pytest.approx(18 * max(xi**2, least), rel=1e-6)


@pytest.mark.parametrize("xi", [1e-4, 1e-2, 0.1, 0.5])
def test_for_large_beta_the_bound_is_the_appendixs_closed_form(xi):
    log = np.log(1 / xi)
    assert leakage_bound(xi, np.inf) == pytest.approx(4 * log * xi ** (2 - 1 / log))


@pytest.mark.parametrize(("scaling", "slope"), [("K", -1.02), ("K/n", -1.52)])
def test_the_alternating_chain_decays_with_the_slope_of_its_scaling(scaling, slope):
    sizes, norms = [100, 225, 400, 900, 1600, 3600], []
    for n in sizes:
        spectrum = min_kernel_spectrum(n, scaling=scaling)
        g = spectrum.coefficients(chain(n, 1.0, 0))
        norms.append(float(residual_norm(g, spectrum.eigenvalues, np.sqrt(spectrum.eigenvalues[-1]))))
    assert np.polyfit(np.log(sizes), np.log(norms), 1)[0] == pytest.approx(slope, abs=0.02)


def test_rougher_chains_are_filtered_more_and_their_survival_falls_faster():
    spectrum = min_kernel_spectrum(300)
    found = [chain_spectra(spectrum, p, 0.01, chains=1500, points=50) for p in (0.1, 0.5, 0.9)]
    medians = [c.residual[1] for c in found]
    assert medians[0] > medians[1] > medians[2]
    for c in found:
        assert np.all(np.diff(c.survival, axis=1) <= 1e-6)
        assert np.all(np.diff(c.survival, axis=0) >= -1e-6)
        assert c.survival[:, 0] == pytest.approx(1.0)  # all energy of a chain of -1 and 1
    assert np.all(found[0].survival[1][5:-5] >= found[2].survival[1][5:-5])


def test_the_one_step_error_goes_to_zero_if_the_chain_switches_often():
    # Corollary 2: tau_n = n^(-2/3) takes bias and variance to zero, and a rough chain leaks less and less.
    errors = []
    for n in (100, 1000, 10_000):
        f, g = np.sin(np.pi * np.arange(1, n + 1) / n), chain(n, 0.5, n)
        errors.append(one_step_mse(f, g, 0.1, n ** (-2 / 3), min_kernel_spectrum(n)).mse)
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.02


def test_chains_switch_as_often_as_asked_and_repeat_with_the_seed():
    g = markov_chains(1000, 0.3, 200, np.random.default_rng(0))
    assert set(np.unique(g)) == {-1.0, 1.0}
    assert np.mean(g[:, 1:] != g[:, :-1]) == pytest.approx(0.3, abs=0.005)
    spectrum = min_kernel_spectrum(50)
    one, other = (chain_spectra(spectrum, 0.3, 0.1, chains=30, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(one.survival, other.survival)


@pytest.mark.parametrize("alpha", [1, 2])
def test_sobolev_rates_follow_from_the_decay_of_the_eigenvalues(alpha):
    rates = sobolev_rates(alpha)
    assert rates.xi == pytest.approx(-2 * alpha - rates.tau)  # lambda_n / tau_n
    assert minimax_tau(10**6, alpha) == pytest.approx(10 ** (6 * rates.tau))
    # The MSE of KRR with eigenvalues i^(-2 alpha) and f on the boundary of the ball falls at the same rate.
    sizes, errors = np.array([10**3, 10**4, 10**5]), []
    for n in sizes:
        values, tau = np.arange(1.0, n + 1) ** (-2 * alpha), minimax_tau(int(n), alpha)
        worst = np.max(tau**2 * values / (values + tau) ** 2)
        errors.append(worst + np.sum(spectral_filter(values, tau)) / n)
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(rates.mse, abs=0.02)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: survival([1.0, 2.0], [1.0], 0.0), "one number for each eigenvalue"),
        (lambda: survival([1.0, 2.0], [1.0, 2.0], 0.0), "descending order"),
        (lambda: last_component([0.0, 0.0]), "must not all be 0"),
        (lambda: tail_exponent(np.ones((2, 2)), [2.0, 1.0], 1.0), "coefficients of one signal"),
        (lambda: noise_ratio([1.0], [1.0], 0.0), "tau must be above 0"),
        (lambda: spectral_filter([1.0], -1.0), "tau must be above 0"),
        (lambda: step_energy([1.0, 1.0], [1.0, 0.0]), "cannot tell the points apart"),
        (lambda: one_step_mse([1.0], [1.0], -1.0, 1.0, min_kernel_spectrum(1)), "noise_variance must be at least 0"),
        (lambda: leakage_bound(0.0, 1.0), "xi must be above 0"),
        (lambda: sobolev_rates(0), "alpha must be above 0"),
        (lambda: minimax_tau(0, 1), "n must be at least 1"),
        (lambda: markov_chains(5, 1.5, 1, np.random.default_rng(0)), "switching must be a probability"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
