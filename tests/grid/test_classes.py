"""Finding classes: starts by k-means, EM, and moves that merge and split, against plain formulas."""

import numpy as np
import pytest
from scipy.stats import norm

from stepsmooth.grid.classes import (
    Sample,
    _merged,
    _misfit,
    _moved,
    _moves,
    _starts,
    _unexplained,
    crowded,
    find_classes,
    regroup,
    run_em,
    split_and_merge,
)
from stepsmooth.grid.mixture import Classes, class_sums, least_variance, outlier_density, updated


def test_a_class_without_members_is_moved_to_where_they_are():
    rng = np.random.default_rng(0)
    Y = np.concatenate([rng.normal(0.0, 0.1, 200), rng.normal(1.0, 0.1, 200), rng.normal(2.0, 0.1, 200)])[:, None]
    sample = Sample(Y, np.ones(600), np.zeros(600), np.ones(600))
    lost = Classes(np.array([[0.0], [1.5], [1e9]]), np.full((3, 1), 0.01), np.full(3, 1 / 3), outlier_density(Y))
    found, _ = split_and_merge(sample, lost, -np.inf)
    np.testing.assert_allclose(np.sort(found.levels[:, 0]), [0.0, 1.0, 2.0], atol=0.05)


# --- starts, moves and what they are made of


def a_sample(rng, groups, p=1, noise=0.1, field=0.0):
    """Observations of groups (level, count) under a field of random gains."""
    truth = np.concatenate([np.full((n, p), m) for m, n in groups])
    gain = np.exp(field * rng.normal(size=len(truth)))
    Y = gain[:, None] * truth + noise * rng.normal(size=truth.shape)
    return Sample(Y, gain, np.zeros(len(Y)), rng.uniform(0.5, 2.0, len(Y)))


def test_a_sample_is_corrected_for_its_field_and_thinned_evenly():
    rng = np.random.default_rng(0)
    sample = Sample(rng.normal(size=(11, 2)), rng.uniform(1.0, 2.0, 11), rng.normal(size=11), rng.uniform(size=11))
    np.testing.assert_allclose(sample.corrected, [(y - s) / g for y, g, s in zip(sample.Y, sample.gain, sample.shift)])
    assert sample.thinned(11) is sample
    few = sample.thinned(3)
    for name in ("Y", "gain", "shift", "weights"):
        np.testing.assert_array_equal(getattr(few, name), getattr(sample, name)[[0, 5, 10]])


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("adds", [False, True])
def test_a_start_is_the_least_squares_of_the_groups_of_k_means(p, adds):
    rng = np.random.default_rng(0)
    sample = a_sample(rng, [(1.0, 60), (5.0, 40), (9.0, 50)], p, field=0.0 if adds else 0.02)
    truth = np.repeat([0, 1, 2], [60, 40, 50])
    if adds:
        shift = 0.1 * rng.normal(size=150)
        sample = Sample(sample.Y + shift[:, None], sample.gain, shift, sample.weights)
    starts = _starts(sample, 3, 0)
    assert len(starts) == (1 if adds else 2)  # the second of logarithms, where f multiplies
    for start in starts:
        start = start.ordered()
        squares = np.zeros((3, p))
        for k in range(3):
            own = truth == k
            w, g = sample.weights[own], sample.gain[own]
            level = (w * g) @ (sample.Y[own] - sample.shift[own, None]) / (w @ g**2)
            np.testing.assert_allclose(start.levels[k], level)
            squares[k] = w @ (sample.Y[own] - g[:, None] * level - sample.shift[own, None]) ** 2
        mass = np.bincount(truth, sample.weights)
        pooled = squares.sum(axis=0) / mass.sum()
        np.testing.assert_allclose(start.variances, (squares + 10.0 * pooled) / (mass[:, None] + 10.0))
        np.testing.assert_allclose(start.proportions, mass / mass.sum())
        assert start.outlier_density == outlier_density(sample.Y)


def test_logarithms_are_tried_only_where_enough_is_positive():
    rng = np.random.default_rng(0)
    assert len(_starts(a_sample(rng, [(1.0, 40), (3.0, 60)], noise=0.05), 2, 0)) == 2
    assert len(_starts(a_sample(rng, [(-1.0, 60), (3.0, 40)], noise=0.05), 2, 0)) == 1  # most are negative
    assert len(_starts(a_sample(rng, [(1.0, 6), (3.0, 6)], noise=0.05), 2, 0)) == 1  # fewer than ten a class
    mixed = _starts(a_sample(rng, [(-1.0, 10), (1.0, 45), (100.0, 45)], noise=0.05), 2, 0)
    np.testing.assert_allclose(np.sort(mixed[1].levels[:, 0])[1], 100.0, atol=0.2)


def test_channels_count_in_units_of_their_spread():
    """Only the second channel tells the groups apart, in a unit a thousand times smaller."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    Y = np.column_stack([rng.uniform(-1.0, 1.0, 200), 1e-3 * (truth + 0.02 * rng.normal(size=200))])
    start = _starts(Sample(Y, np.ones(200), np.zeros(200), np.ones(200)), 2, 0)[0]
    np.testing.assert_allclose(np.sort(start.levels[:, 1]), [0.0, 1e-3], atol=5e-5)


@pytest.mark.parametrize("keep", [False, True])
def test_em_repeats_its_step_and_weighs_the_end(keep):
    rng = np.random.default_rng(0)
    sample = a_sample(rng, [(1.0, 100), (1.4, 100)], field=0.1)
    classes = Classes(np.array([[0.8], [1.5]]), np.full((2, 1), 0.05), np.full(2, 0.5), outlier_density(sample.Y))
    given = (sample.Y, sample.gain, sample.shift, sample.weights)
    expected = classes
    for _ in range(4):
        expected = updated(class_sums(*given, expected), expected, least_variance(sample.Y), keep_levels=keep)
    found, loglik = run_em(sample, classes, 4, keep_levels=keep)
    np.testing.assert_allclose(found.levels, expected.levels)
    np.testing.assert_allclose(found.variances, expected.variances)
    assert loglik == pytest.approx(class_sums(*given, expected).loglik)
    settled, best = run_em(sample, classes, 2000, keep_levels=keep)
    assert best >= loglik - 1e-4 * abs(loglik)
    assert run_em(sample, settled, 1, keep_levels=keep)[1] == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("n_levels", [1, 2, 3, 5])
def test_classes_are_found_in_order_with_their_likelihood(n_levels):
    rng = np.random.default_rng(0)
    groups = [(1.0 + k, 40 + 30 * k) for k in range(n_levels)]
    sample = a_sample(rng, groups, noise=0.05, field=0.1)
    classes, loglik = find_classes(sample, n_levels)
    np.testing.assert_allclose(classes.levels[:, 0], [m for m, _ in groups], atol=0.05)
    counts = np.bincount(np.repeat(np.arange(n_levels), [n for _, n in groups]), sample.weights)
    np.testing.assert_allclose(classes.proportions, counts / counts.sum(), atol=0.02)
    exact = class_sums(sample.Y, sample.gain, sample.shift, sample.weights, classes).loglik
    assert loglik == pytest.approx(exact / sample.weights.sum())


def test_classes_found_alike_have_one_variance_through_all_moves():
    # Of two close groups one goes without a class if mixed observations may have a wide one of their own.
    rng = np.random.default_rng(0)
    groups = [(0.2, 900), (0.41, 400), (0.44, 900), (0.6, 900), (1.0, 100)]
    Y = np.concatenate([rng.normal(m, 0.01, n) for m, n in groups] + [rng.normal(0.5, 0.09, 300)])[:, None]
    sample = Sample(Y, np.ones(len(Y)), np.zeros(len(Y)), np.ones(len(Y)))
    own, alike = (find_classes(sample, 5, alike=one)[0] for one in (False, True))
    np.testing.assert_allclose(alike.levels.ravel(), [m for m, _ in groups], atol=0.01)
    assert np.ptp(alike.variances) == 0.0
    assert np.abs(own.levels.ravel() - [m for m, _ in groups]).max() > 0.02


def test_merging_gives_the_mean_by_shares_and_frees_a_class():
    classes = Classes(np.array([[1.0], [2.0], [5.0]]), np.array([[0.1], [0.3], [0.2]]), np.array([0.1, 0.3, 0.6]), 0.4)
    merged = _merged(classes, 0, 1, np.array([9.0]), np.array([0.7]), 0.25)
    np.testing.assert_allclose(merged.levels, [[1.75], [9.0], [5.0]])
    np.testing.assert_allclose(merged.variances, [[0.3], [0.7], [0.2]])
    np.testing.assert_allclose(merged.proportions, np.array([0.4, 0.25, 0.6]) / 1.25)
    assert merged.outlier_density == 0.4
    np.testing.assert_array_equal(classes.levels, [[1.0], [2.0], [5.0]])


def test_a_move_splits_a_class_across_its_widest_direction():
    rng = np.random.default_rng(0)
    along = np.concatenate([np.full(50, -1.0), np.full(50, 1.0)])
    Y = np.outer(along, [3.0, 4.0]) + 0.01 * rng.normal(size=(100, 2)) + [20.0, 0.0]
    sample = Sample(Y, np.ones(100), np.zeros(100), np.ones(100))
    classes = Classes(
        np.array([[0.0, 0.0], [0.0, 1.0], [20.0, 0.0]]), np.array([[1.0, 1.0], [2.0, 0.5], [8.0, 6.0]]),
        np.array([0.25, 0.25, 0.5]), 0.01,
    )  # fmt: skip
    moved = _moved(sample, classes, np.tile([0.0, 0.0, 1.0], (100, 1)), 0, 1, 2)
    np.testing.assert_allclose(moved.levels[0], [0.0, 0.5])
    split = moved.levels[1:][np.argsort(moved.levels[1:, 0])]
    np.testing.assert_allclose(split, [[17.0, -4.0], [23.0, 4.0]], atol=0.02)
    np.testing.assert_allclose(moved.variances, [[2.0, 1.0], [4.0, 3.0], [4.0, 3.0]])
    np.testing.assert_allclose(moved.proportions, np.array([0.5, 0.25, 0.25]))


def test_bright_observations_say_more_about_where_to_split():
    Y, gain = np.array([[1.0], [-1.0], [8.0], [-8.0]]), np.array([1.0, 1.0, 2.0, 2.0])
    sample = Sample(Y, gain, np.zeros(4), np.array([1.0, 1.0, 0.5, 0.5]))
    classes = Classes(np.array([[50.0], [60.0], [0.0]]), np.ones((3, 1)), np.full(3, 1.0 / 3.0), 0.01)
    q = np.array([[0.0, 0.0, 1.0]] * 4)
    moved = _moved(sample, classes, q, 0, 1, 2)
    step = np.sqrt((2.0 * 1.0 + 2.0 * 0.5 * 4.0 * 16.0) / (2.0 + 4.0))
    np.testing.assert_allclose(np.sort(moved.levels[1:, 0]), [-step, step])


def test_the_misfit_is_the_gap_between_cdfs_times_the_root_of_the_mass():
    n = 4000
    gaussian, two = norm.ppf((np.arange(n) + 0.5) / n), np.repeat([-1.0, 1.0], n // 2)
    sample = Sample(
        np.concatenate([gaussian, 10.0 + two])[:, None], np.ones(2 * n), np.zeros(2 * n), np.full(2 * n, 0.5)
    )
    classes = Classes(np.array([[0.0], [10.0], [30.0]]), np.ones((3, 1)), np.full(3, 1.0 / 3.0), 0.01)
    q = np.zeros((2 * n, 3))
    q[:n, 0] = q[n:, 1] = 1.0
    found = _misfit(sample, classes, q)
    assert found[0] / np.sqrt(0.5 * n) < 0.01
    assert found[1] / np.sqrt(0.5 * n) == pytest.approx(norm.cdf(1.0) - 0.5, abs=0.05)
    assert found[2] == 0.0
    spread = Sample(4.0 * sample.Y, np.full(2 * n, 2.0), np.zeros(2 * n), sample.weights)  # the same, under a field
    wide = Classes(2.0 * classes.levels, np.full((3, 1), 16.0), classes.proportions, 0.01)
    np.testing.assert_allclose(_misfit(spread, wide, q), found, atol=1e-9)


def test_what_no_class_explains_is_sorted_into_groups():
    rng = np.random.default_rng(0)
    Y = np.concatenate([np.zeros(50), 5.0 + 0.1 * rng.normal(size=20), 9.0 + 0.1 * rng.normal(size=12)])[:, None]
    sample = Sample(Y, np.ones(82), np.zeros(82), rng.uniform(0.5, 2.0, 82))
    classes = Classes(np.zeros((3, 1)), np.array([[0.1], [0.7], [0.2]]), np.full(3, 1.0 / 3.0), 0.01)
    q = np.where(np.arange(82)[:, None] < 50, np.full(3, 1.0 / 3.0), 0.1)
    groups = sorted(_unexplained(sample, classes, q), key=lambda group: group[0])
    share = sum(group[2] for group in groups)
    assert share == pytest.approx(sample.weights[50:].sum() / sample.weights.sum())
    assert len(groups) == 3  # at least eight in each on average
    for level, variance, _ in groups:
        assert np.min(np.abs(level - [5.0, 9.0])) < 0.3
        np.testing.assert_array_equal(variance, [0.2])
    few = np.where(np.arange(82)[:, None] < 75, np.full(3, 1.0 / 3.0), 0.1)
    assert _unexplained(sample, classes, few) == []
    one = np.where(np.arange(82)[:, None] < 74, np.full(3, 1.0 / 3.0), 0.1)
    (only,) = _unexplained(sample, classes, one)
    np.testing.assert_allclose(only[0], Y[74:].mean(axis=0))


def test_two_classes_on_one_level_are_merged_and_the_widest_is_split():
    rng = np.random.default_rng(0)
    sample = a_sample(rng, [(0.0, 300), (3.0, 300), (4.0, 300), (8.0, 300)])
    stuck = Classes(np.array([[0.0], [0.01], [3.5], [8.0]]), np.array([[0.01], [0.01], [0.26], [0.01]]),
                    np.array([0.125, 0.125, 0.5, 0.25]), outlier_density(sample.Y))  # fmt: skip
    before = run_em(sample, stuck, 1)[1]
    found, loglik = split_and_merge(sample, stuck, before)
    np.testing.assert_allclose(np.sort(found.levels[:, 0]), [0.0, 3.0, 4.0, 8.0], atol=0.05)
    assert loglik > before + 5.0
    again, same = split_and_merge(sample, found, loglik)
    assert again is found
    assert same == loglik
    np.testing.assert_allclose(regroup(sample, stuck).levels[:, 0], [0.0, 3.0, 4.0, 8.0], atol=0.05)


def test_moves_merge_pairs_and_split_others_never_one_of_the_pair():
    rng = np.random.default_rng(0)
    sample = a_sample(rng, [(0.0, 100), (3.0, 100), (8.0, 100)])
    classes = Classes(np.array([[0.0], [3.0], [8.0]]), np.full((3, 1), 0.01), np.array([0.4, 0.4, 0.2]), 0.1)
    moves = _moves(sample, classes)
    assert len(moves) == 3  # three pairs, one class to split for each; the rarest and its nearest are one of them
    merged = [1.5, 1.6 / 0.6, 2.8 / 0.6]  # the means of the pairs, by their shares
    for level in merged:
        assert sum(bool(np.isclose(move.levels, level).any()) for move in moves) == 1
    two = Classes(classes.levels[:2], classes.variances[:2], np.full(2, 0.5), 0.1)
    assert _moves(Sample(sample.Y[:200], sample.gain[:200], sample.shift[:200], sample.weights[:200]), two) == []


def test_classes_are_crowded_within_one_and_a_half_standard_deviations():
    def at(gap, variances=(1.0, 4.0, 1.0)):
        levels = np.array([[0.0], [gap], [50.0]])
        return crowded(Classes(levels, np.array(variances)[:, None], np.full(3, 1.0 / 3.0), 0.1))

    assert at(1.45)
    assert not at(1.55)
    assert at(1.45, (4.0, 1.0, 1.0))
    assert not at(1.55, (4.0, 1.0, 1.0))
    tiny = (1e-8, 1e-8, 1e-8)  # hardly any noise: a hundredth of the range counts
    assert at(0.74, tiny)
    assert not at(0.76, tiny)
    channels = Classes(np.array([[0.0, 0.0], [1.2, 1.2]]), np.ones((2, 2)), np.full(2, 0.5), 0.1)
    assert not crowded(channels)  # both channels together
    assert not crowded(Classes(np.zeros((1, 1)), np.ones((1, 1)), np.ones(1), 0.1))
