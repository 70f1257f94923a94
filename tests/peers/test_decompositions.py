"""What every peer's decomposition holds to: our label order, our gauge, inputs untouched, seeds obeyed."""

import sys
from functools import partial

import numpy as np
import pytest

from stepsmooth import peers

DECOMPOSITIONS = {
    "kmeans": peers.kmeans_levels,
    "mixture": peers.mixture_levels,
    "mixture, detrended": partial(peers.mixture_levels, trend="local"),
    "detrend spline": peers.detrend_kmeans,
    "detrend polynomial": partial(peers.detrend_kmeans, trend="polynomial"),
    "detrend local": partial(peers.detrend_kmeans, trend="local"),
    "csaps altmin": partial(peers.csaps_altmin, tau=1e-6),
    "csaps altmin, kmeans first": partial(peers.csaps_altmin, tau=1e-6, start="kmeans"),
    "hmm": partial(peers.hmm_levels, n_init=2),
    "hmm, detrended": partial(peers.hmm_levels, n_init=2, trend="polynomial"),
}
every = pytest.mark.parametrize("decompose", DECOMPOSITIONS.values(), ids=DECOMPOSITIONS)


def signal(seed, n=200, wave=0.75):
    rng = np.random.default_rng(seed)
    x = np.arange(1, n + 1) / n
    labels = rng.integers(3, size=n)
    return x, labels + wave * np.sin(2 * np.pi * x) + 0.1 * rng.normal(size=n), labels


@every
def test_labels_ascend_with_the_levels_and_the_smooth_part_is_centred(decompose):
    x, y, _ = signal(0)
    d = decompose(x, y, 3)
    assert np.all(np.diff(d.levels) > 0)
    assert set(d.labels) <= {0, 1, 2}
    assert abs(d.smooth.mean()) < 1e-12


@every
def test_levels_and_smooth_part_explain_y(decompose):
    x, y, _ = signal(1, wave=0.0)
    d = decompose(x, y, 3)
    assert np.std(y - d.smooth - d.levels[d.labels]) < 0.2


@every
def test_without_a_wave_the_labels_are_found(decompose):
    x, y, labels = signal(2, wave=0.0)
    assert np.mean(decompose(x, y, 3).labels == labels) > 0.9


@every
def test_the_same_call_gives_the_same_bits_and_leaves_its_input(decompose):
    x, y, _ = signal(3)
    before = x.copy(), y.copy()
    first, second = decompose(x, y, 3), decompose(x, y, 3)
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.levels, second.levels)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(y, before[1])


@every
def test_a_shift_of_y_shifts_the_levels_only(decompose):
    x, y, _ = signal(4)
    here, there = decompose(x, y, 3), decompose(x, y + 10.0, 3)
    assert np.mean(here.labels == there.labels) > 0.98
    np.testing.assert_allclose(there.levels, here.levels + 10.0, atol=0.05)


@every
def test_probabilities_are_those_of_the_labels(decompose):
    x, y, _ = signal(5)
    d = decompose(x, y, 3)
    if d.probabilities is not None:
        np.testing.assert_allclose(d.probabilities.sum(axis=1), 1.0)
        np.testing.assert_array_equal(d.probabilities.argmax(axis=1), d.labels)


def test_detrending_and_csaps_see_through_a_wave_that_kmeans_does_not():
    x, y, labels = signal(6, n=400)
    names = ("kmeans", "detrend spline", "detrend local", "csaps altmin")
    blind, *seeing = (np.mean(DECOMPOSITIONS[name](x, y, 3).labels == labels) for name in names)
    assert blind < 0.8 < 0.9 < min(seeing)


def test_vector_observations_work_where_the_peer_has_them():
    _, y, labels = signal(7, wave=0.0)
    both = np.column_stack([y, -y])
    for decompose in (peers.kmeans_levels, peers.mixture_levels, peers.hmm_levels):
        d = decompose(None, both, 3)
        assert d.levels.shape == (3, 2)
        assert np.mean(d.labels == labels) > 0.9


def test_local_lines_follow_a_robust_fit_past_outliers():
    x = np.linspace(0.0, 1.0, 200)
    y = 2.0 * x
    y[::20] += 50.0
    plain, robust = peers.trend_local(x, y), peers.trend_local(x, y, n_robust=4)
    assert np.abs(robust - 2.0 * x).max() < 0.05 < np.abs(plain - 2.0 * x).max()


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("csaps", lambda x, y: peers.spline_csaps(x, y, 0.1)),
        ("csaps", lambda x, y: peers.csaps_altmin(x, y, 2)),
        ("ckwrap", lambda x, y: peers.kmeans_ckwrap(y, 2)),
        ("hmmlearn", lambda x, y: peers.hmm_levels(x, y, 2)),
    ],
)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(package, call, monkeypatch):
    x, y, _ = signal(8)
    for name in [m for m in sys.modules if m.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf"'{package}' is not installed: pip install stepsmooth\[peers\]"):
        call(x, y)


def test_unknown_names_are_answered_with_the_known_ones():
    x, y, _ = signal(9)
    with pytest.raises(ValueError, match="choose one of spline, polynomial, local"):
        peers.detrend_kmeans(x, y, 3, trend="loess")
    with pytest.raises(ValueError, match="choose smooth or kmeans"):
        peers.csaps_altmin(x, y, 3, start="random")


def test_csaps_altmin_says_when_it_was_stopped():
    x, y, _ = signal(10)
    assert not peers.csaps_altmin(x, y, 3, tau=1e-4, max_iter=1, start="kmeans").converged
