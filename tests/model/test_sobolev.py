"""The Sobolev kernels reproduce: <K(x, .), g> = g(x) under the paper's inner product, sum over k of int f^(k) g^(k)."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Polynomial
from numpy.polynomial.legendre import leggauss

from stepsmooth.model import SobolevKernel

DOMAINS = [(0.0, 1.0), (-1.0, 0.5), (0.0, 30.0), (10.0, 12.5)]
NODES, WEIGHTS = leggauss(60)


def pieces(points):
    """Return quadrature nodes and weights on the intervals between the points, where K(x, .) is smooth."""
    ends = np.sort(points)
    half = np.diff(ends) / 2.0
    nodes = (ends[:-1] + half)[:, None] + half[:, None] * NODES
    return nodes.ravel(), (half[:, None] * WEIGHTS).ravel()


def smooth_functions(domain):
    """Return triples g, g', g'': polynomials and waves on a domain."""
    low, high = domain
    t = Polynomial([-low / (high - low), 1.0 / (high - low)])
    polynomials = [(p, p.deriv(), p.deriv(2)) for p in (Polynomial([1.0]), t, t**2, t**3 - t, t**5)]
    waves = [
        (lambda u, w=w: np.cos(w * u), lambda u, w=w: -w * np.sin(w * u), lambda u, w=w: -w * w * np.cos(w * u))
        for w in (1.0 / (high - low), 2.0)
    ]
    return polynomials + waves


def derivatives(kernel, x):
    """Return quadrature nodes, weights and K(x, .), K', K'' there: analytic on either side of x."""
    sides = []
    for side in ((kernel.domain[0], x), (x, kernel.domain[1])):
        k = Chebyshev.interpolate(lambda u: kernel([[x]], u[:, None])[0], 60, side)
        nodes, weights = pieces(side)
        sides.append(np.stack([nodes, weights, k(nodes), k.deriv()(nodes), k.deriv(2)(nodes)]))
    nodes, weights, *K = np.concatenate(sides, axis=1)
    return nodes, weights, K


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("alpha", [1, 2])
def test_the_inner_product_with_the_kernel_is_evaluation(alpha, domain):
    kernel = SobolevKernel(alpha, domain)
    low, high = domain
    for x in low + (high - low) * np.array([0.07, 0.5, 0.81]):
        nodes, weights, K = derivatives(kernel, x)
        for g in smooth_functions(domain):
            product = sum(np.sum(weights * K[k] * g[k](nodes)) for k in range(alpha + 1))
            assert product == pytest.approx(float(g[0](x)), abs=1e-6)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("alpha", [1, 2])
def test_the_kernel_integrates_to_one(alpha, domain):
    """<K(x, .), 1> = int K(x, u) du, because 1 has no derivative."""
    kernel = SobolevKernel(alpha, domain)
    x = np.linspace(*domain, 9)
    for t in x:
        nodes, weights = pieces([domain[0], t, domain[1]])
        assert kernel([[t]], nodes[:, None])[0] @ weights == pytest.approx(1.0, abs=1e-9)


def test_sobolev1_is_the_textbook_formula():
    x = np.linspace(0.0, 1.0, 7)
    low, high = np.minimum.outer(x, x), np.maximum.outer(x, x)
    np.testing.assert_allclose(SobolevKernel(1)(x), np.cosh(low) * np.cosh(1 - high) / np.sinh(1), rtol=1e-13)


@pytest.mark.parametrize("alpha", [1, 2])
def test_a_domain_of_ten_thousand_units_does_not_overflow(alpha):
    kernel = SobolevKernel(alpha, (0.0, 1e4))
    K = kernel(np.array([0.0, 1.0, 5e3, 1e4]))
    assert np.all(np.isfinite(K))
    # In the middle the ends are not felt: the kernel of the whole line.
    expected = 0.5 if alpha == 1 else 1.0 / (2.0 * np.sqrt(3.0))
    assert K[2, 2] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("length", [0.02, 0.1, 1.0, 100.0])
def test_sobolev2_keeps_six_digits_down_to_its_shortest_domain(length):
    kernel = SobolevKernel(2, (0.0, length))
    x = np.linspace(0.0, length, 11)
    K = kernel(x)
    np.testing.assert_allclose(K, K.T, rtol=1e-6)
    nodes, weights = pieces([0.0, x[3], length])
    assert kernel(x[3:4], nodes[:, None])[0] @ weights == pytest.approx(1.0, rel=1e-5)
