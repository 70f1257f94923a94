"""The hidden Markov peer gets a fair start."""

import logging
import warnings

import numpy as np
import pytest

from stepsmooth.peers import hmm_levels


def chain(seed, n=1_000, stay=0.98):
    """Three uneven levels, long dwell times, noise of a third of the smallest gap."""
    rng = np.random.default_rng(seed)
    labels = np.empty(n, dtype=int)
    labels[0] = 0
    for i in range(1, n):
        labels[i] = labels[i - 1] if rng.random() < stay else rng.integers(3)
    return np.array([0.0, 1.0, 3.0])[labels] + 0.33 * rng.normal(size=n), labels


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_dwelling_levels(seed):
    y, labels = chain(seed)
    assert np.mean(hmm_levels(None, y, 3).labels == labels) > 0.98


def test_it_is_not_below_hmmlearns_own_start():
    from hmmlearn.hmm import GaussianHMM

    fair, own = [], []
    for seed in range(4):
        y, labels = chain(seed, n=400)
        fair.append(np.mean(hmm_levels(None, y, 3).labels == labels))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GaussianHMM(3, random_state=seed).fit(y[:, None])
        rank = np.argsort(np.argsort(model.means_[:, 0]))
        own.append(np.mean(rank[model.predict(y[:, None])] == labels))
    assert np.mean(fair) >= np.mean(own)


def test_the_unit_of_y_does_not_matter():
    y, _ = chain(7)
    here, there = hmm_levels(None, y, 3, n_init=2), hmm_levels(None, 1e-6 * y, 3, n_init=2)
    np.testing.assert_array_equal(here.labels, there.labels)
    np.testing.assert_allclose(there.levels, 1e-6 * here.levels, rtol=1e-6)


def test_points_in_any_order_are_one_chain():
    y, _ = chain(8)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = hmm_levels(np.arange(len(y))[order], y[order], 3, n_init=2)
    np.testing.assert_array_equal(shuffled.labels, hmm_levels(None, y, 3, n_init=2).labels[order])


def test_the_log_level_of_hmmlearn_is_left_as_it_was():
    logger = logging.getLogger("hmmlearn")
    before = logger.level
    hmm_levels(None, chain(9, n=100)[0], 3, n_init=1)
    assert logger.level == before
