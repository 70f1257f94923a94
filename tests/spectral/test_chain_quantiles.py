"""Chains, survival functions and exponents against plain loops over the components."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.model import MinKernel
from stepsmooth.spectral import (
    chain_spectra,
    dense_spectrum,
    last_component,
    leakage_bound,
    markov_chains,
    min_kernel_spectrum,
    noise_ratio,
    one_step_mse,
    proposition_3,
    residual_norm,
    step_energy,
    survival,
    tail_exponent,
)
from stepsmooth.spectral.chains import _batches

SEEDS = st.integers(0, 10**6)


def test_bands_over_chains_are_quantiles_of_each_chain_alone():
    spectrum, tau = min_kernel_spectrum(30), 0.02
    found = chain_spectra(spectrum, 0.4, tau, chains=23, points=11, random_state=5)
    g = spectrum.coefficients(markov_chains(30, 0.4, 23, np.random.default_rng(5)))
    values = spectrum.eigenvalues
    np.testing.assert_allclose(np.diff(np.log(found.t)), np.log(values[0] / values[-1]) / 10, rtol=1e-6)
    assert found.t[0] < values[-1] < found.t[0] * (1.0 + 1e-8)
    assert found.t[-1] == pytest.approx(values[0])
    curves = np.array([[np.sum(row[values > t] ** 2) / 30 for t in found.t] for row in g])
    norms = np.sum((g * values / (values + tau)) ** 2, axis=1) / 30
    for k, share in enumerate((0.025, 0.5, 0.975)):
        np.testing.assert_allclose(found.survival[k], np.quantile(curves, share, axis=0), atol=1e-6)
        assert found.residual[k] == pytest.approx(np.quantile(norms, share))


def test_many_chains_are_taken_a_thousand_at_a_time():
    assert [(rows.start, rows.stop) for rows in _batches(2300)] == [(0, 1000), (1000, 2000), (2000, 2300)]
    assert [(rows.start, rows.stop) for rows in _batches(1000)] == [(0, 1000)]


def test_chains_start_at_either_value_and_switch_never_or_always_if_asked():
    rng = np.random.default_rng(0)
    calm, wild = markov_chains(6, 0.0, 400, rng), markov_chains(6, 1.0, 400, rng)
    assert np.all(calm == calm[:, :1])
    assert np.all(wild[:, 1:] == -wild[:, :-1])
    for g in (calm, wild):
        assert 0.35 < np.mean(g[:, 0] == 1.0) < 0.65  # six deviations of 400 fair draws
        assert set(np.unique(g)) == {-1.0, 1.0}


@settings(max_examples=25)
@given(SEEDS, st.integers(2, 12), st.floats(0.5, 3.0))
def test_the_exponent_is_the_least_of_its_slopes_over_the_components_with_energy(seed, n, largest):
    rng = np.random.default_rng(seed)
    g, values = rng.normal(size=n) * (rng.random(n) < 0.7), np.sort(rng.uniform(0.1, 5.0, n))[::-1]
    g[rng.integers(n)] = 1.0
    r = max(i for i in range(n) if g[i] != 0.0)
    assert last_component(g) == r + 1
    assert noise_ratio(g, values, 0.5) == pytest.approx(values[r] / 0.5)
    slopes = []
    for i in range(r):
        energy = np.sum(g[: i + 1] ** 2) / n
        if energy > 0.0:
            slopes.append(np.log(largest**2 / energy) / np.log(values[i] / values[r]))
    expected = max(min(slopes), 0.0) if slopes else np.inf
    assert tail_exponent(g, values, largest) == pytest.approx(expected)


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 12))
def test_energies_and_errors_are_sums_over_components(seed, n):
    rng = np.random.default_rng(seed)
    X, tau, variance = np.cumsum(rng.uniform(0.1, 1.0, n))[:, None], rng.uniform(0.01, 1.0), rng.uniform(0.0, 1.0)
    f, g = rng.normal(size=(2, n))
    for scaling, unit in (("K/n", n), ("K", 1.0)):
        spectrum = dense_spectrum(MinKernel(), X, scaling=scaling)
        assert spectrum.scaling == scaling
        K = MinKernel()(X) / unit
        S = K @ np.linalg.inv(K + tau * np.eye(n))
        found = one_step_mse(f, g, variance, tau, spectrum)
        assert found.bias == pytest.approx(np.mean((f - S @ f) ** 2))
        assert found.leakage == pytest.approx(np.mean((S @ g) ** 2))
        assert found.variance == pytest.approx(variance * np.sum(S**2) / n)
        assert found.mse == pytest.approx(np.mean((S @ (f + g) - f) ** 2) + found.variance)
        assert found.bound == pytest.approx(2 * found.bias + 2 * found.leakage + found.variance)
        coefficients = spectrum.coefficients(g)
        assert residual_norm(coefficients, spectrum.eigenvalues, tau) == pytest.approx(found.leakage)
        assert step_energy(coefficients, spectrum.eigenvalues) == pytest.approx(g @ np.linalg.solve(K, g) / n, rel=1e-6)
        norm, bound = proposition_3(g, tau, spectrum)
        assert norm == pytest.approx(found.leakage)
        largest = np.abs(g).max()
        exponent = tail_exponent(coefficients, spectrum.eigenvalues, largest)
        ratio = noise_ratio(coefficients, spectrum.eigenvalues, tau)
        assert bound == pytest.approx(leakage_bound(ratio, exponent, largest))


def test_eigenvalues_that_rounding_makes_negative_are_zero():
    spectrum = dense_spectrum(MinKernel(), [[1.0], [1.0], [1.0], [2.0]])
    assert spectrum.eigenvalues.min() >= 0.0
    np.testing.assert_allclose(spectrum.eigenvalues[2:], 0.0, atol=1e-15)


def test_numbers_and_stacks_have_a_survival_function_too():
    assert survival([1.0, 1.0, 2.0], [3.0, 2.0, 1.0], 1.5).shape == ()
    assert survival(np.ones((2, 5, 3)), [3.0, 2.0, 1.0], [0.0, 2.0]).shape == (2, 5, 2)
    assert survival([1.0, 1.0, 2.0], [3.0, 2.0, 1.0], 2.0) == pytest.approx(1.0 / 3.0)  # above, not at


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: survival(1.0, [1.0], 0.0), "one number for each eigenvalue"),
        (lambda: survival([1.0], [[1.0]], 0.0), "one number for each eigenvalue"),
        (lambda: min_kernel_spectrum(3).coefficients(1.0), "signals must hold 3 values"),
        (lambda: markov_chains(3, -0.1, 1, np.random.default_rng(0)), "must be a probability"),
        (lambda: proposition_3([1.0, -1.0], 1.0, dense_spectrum(MinKernel(), [[1.0], [1.0]])), "positive definite"),
        (lambda: leakage_bound(1.0, -0.1), "beta at least 0"),
        (lambda: noise_ratio([1.0], [1.0], np.nan), "tau must be above 0"),
    ],
)
def test_bad_input_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
