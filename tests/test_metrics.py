"""Labels, levels and smooth part against the truth, and the classifier that knows all but the labels."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hmmlearn.hmm import GaussianHMM
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.metrics import confusion_matrix

from stepsmooth.datasets import make_markov_steps, make_self_mixing, make_sine_steps
from stepsmooth.metrics import (
    bayes_accuracy,
    bayes_oracle,
    field_rmse,
    label_accuracy,
    level_deviation,
    ordered_accuracy,
)

seeds = st.integers(0, 10**6)
moderate = st.floats(-100, 100)


@st.composite
def label_pairs(draw, classes=5):
    n = draw(st.integers(1, 40))
    one = arrays(np.int64, n, elements=st.integers(0, draw(st.integers(0, classes - 1))))
    other = arrays(np.int64, n, elements=st.integers(0, draw(st.integers(0, classes - 1))))
    return draw(one), draw(other)


# Accuracy


@settings(deadline=None)
@given(label_pairs())
def test_label_accuracy_is_the_best_over_all_permutations(pair):
    counts = confusion_matrix(*pair, labels=range(5))
    best = max(counts[range(5), order].sum() for order in permutations(range(5)))
    assert label_accuracy(*pair) == pytest.approx(best / len(pair[0]))


@settings(deadline=None)
@given(label_pairs(), st.permutations(range(5)))
def test_label_accuracy_ignores_the_names_of_the_classes(pair, names):
    true, found = pair
    assert label_accuracy(true, found) == label_accuracy(true, np.array(names)[found])
    assert label_accuracy(true, found) == label_accuracy(true, np.array(list("abcde"))[found])


@settings(deadline=None)
@given(label_pairs())
def test_label_accuracy_is_symmetric_and_at_least_the_ordered_one(pair):
    assert label_accuracy(*pair) == label_accuracy(*pair[::-1]) >= ordered_accuracy(*pair)


def test_classes_without_a_partner_count_as_wrong():
    assert label_accuracy([0, 0, 0, 0], [0, 1, 2, 2]) == 0.5
    assert label_accuracy([0, 1, 2, 2], [0, 0, 0, 0]) == 0.5


def test_images_are_scored_like_their_pixels():
    true, found = np.random.default_rng(0).integers(3, size=(2, 8, 9))
    assert label_accuracy(true, found) == label_accuracy(true.ravel(), found.ravel())
    assert ordered_accuracy(true, found) == np.mean(true == found)


def test_ordered_accuracy_sees_a_shift_of_all_labels_that_the_best_matching_forgives():
    true = np.array([0, 1, 2, 0, 1, 2])
    assert label_accuracy(true, (true + 1) % 3) == 1.0
    assert ordered_accuracy(true, (true + 1) % 3) == 0.0


@settings(deadline=None)
@given(st.permutations(range(4)), seeds)
def test_ordered_accuracy_undoes_any_numbering_of_the_levels(order, seed):
    rng = np.random.default_rng(seed)
    ascending, true = np.sort(rng.normal(size=4)), rng.integers(4, size=30)
    shuffled, numbering = ascending[list(order)], np.argsort(order)
    assert ordered_accuracy(true, numbering[true], levels=shuffled) == 1.0


def test_vector_levels_are_ordered_by_their_first_channel():
    assert ordered_accuracy([0, 1], [1, 0], levels=[[2.0, -9.0], [1.0, 9.0]]) == 1.0


@pytest.mark.parametrize("metric", [label_accuracy, ordered_accuracy])
def test_labels_that_are_nan_empty_or_of_another_length_are_refused(metric):
    with pytest.raises(ValueError, match="labels must hold a class at every point; found NaN"):
        metric([0, 1], [0, np.nan])
    with pytest.raises(ValueError, match=r"same shape and not be empty; found \(2,\) and \(3,\)"):
        metric([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="not be empty"):
        metric([], [])


@pytest.mark.parametrize(("labels", "found"), [([0, 2], "2"), ([-1, 0], "-1"), ([0.5, 1], "0.5")])
def test_labels_that_point_to_no_level_are_refused(labels, found):
    with pytest.raises(ValueError, match=rf"labels must be whole numbers from 0 to 1; found {found}\."):
        ordered_accuracy([0, 1], labels, levels=[0.0, 1.0])


# Levels and smooth part


@settings(deadline=None)
@given(seeds, moderate, moderate)
def test_a_constant_moved_between_levels_and_smooth_part_changes_nothing(seed, one, other):
    rng = np.random.default_rng(seed)
    mu_true, mu, f_true, f = rng.normal(size=4), rng.normal(size=4), rng.normal(size=20), rng.normal(size=20)
    moved = level_deviation(mu_true + one, mu + other, f_true - one, f - other)
    assert moved == pytest.approx(level_deviation(mu_true, mu, f_true, f), abs=1e-10)
    assert field_rmse(f_true - one, f - other) == pytest.approx(field_rmse(f_true, f), abs=1e-10)


def test_the_deviation_is_the_largest_2_norm_over_channels():
    assert level_deviation([[0, 0], [1, 1]], [[0.1, 0], [1.3, 1.4]]) == pytest.approx(0.5)


def test_each_channel_may_have_a_smooth_part_of_its_own():
    f = np.array([[1.0, -2.0], [3.0, -4.0]])
    assert level_deviation([[0, 0]], [[-2, 3]], smooth=f) == pytest.approx(0.0)
    assert field_rmse(f, f + np.array([5.0, -7.0])) == pytest.approx(0.0)
    assert field_rmse(np.zeros(2), f) == pytest.approx(1.0)


def test_a_smooth_part_that_is_not_given_is_zero_mean():
    assert level_deviation([0, 1], [-3, -2], smooth=[2.0, 4.0]) == pytest.approx(0.0)
    assert level_deviation([0, 1], [-3, -2]) == pytest.approx(3.0)


def test_a_different_number_of_levels_is_an_infinite_deviation():
    assert level_deviation([0, 1], [0, 0.5, 1]) == np.inf


@settings(deadline=None)
@given(seeds)
def test_weights_count_like_repeated_points(seed):
    rng = np.random.default_rng(seed)
    f_true, f, weights = rng.normal(size=10), rng.normal(size=10), rng.integers(0, 4, size=10)
    weights[0] = 1
    repeated = np.repeat(f_true, weights), np.repeat(f, weights)
    assert field_rmse(f_true, f, weights) == pytest.approx(field_rmse(*repeated))
    levels = [0.0, 1.0], [0.5, 2.0]
    assert level_deviation(*levels, f_true, f, weights) == pytest.approx(level_deviation(*levels, *repeated))


@settings(deadline=None)
@given(seeds)
def test_field_rmse_is_the_standard_deviation_of_the_error(seed):
    one, other = np.random.default_rng(seed).normal(size=(2, 15))
    assert field_rmse(one, other) == pytest.approx(np.std(one - other))


@settings(deadline=None)
@given(st.permutations(range(4)))
def test_labels_match_levels_that_come_in_another_order(order):
    levels, labels = np.random.default_rng(0).normal(size=(4, 3)), np.arange(40) % 4
    numbering = np.argsort(order)
    matched = level_deviation(levels, levels[list(order)], labels_true=labels, labels=numbering[labels])
    assert matched == pytest.approx(0.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_levels_and_smooth_parts_that_are_not_finite_are_refused_by_name(bad):
    with pytest.raises(ValueError, match="levels must be finite; found 1 of 2 values"):
        level_deviation([0, 1], [0, bad])
    with pytest.raises(ValueError, match="smooth_true must be finite; found 1 of 2 values"):
        field_rmse([0, bad], [0, 1])


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([1], "one number per point"),
        ([1, -1], "found -1.0"),
        ([0, 0], "only zeros"),
        ([1, np.nan], "found nan"),
    ],
)
def test_bad_weights_are_refused(weights, sentence):
    with pytest.raises(ValueError, match=f"weights must .*{sentence}"):
        field_rmse([0, 1], [0, 1], weights)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"levels": [[0, 1], [1, 2]]}, "same number of channels; found 1 and 2"),
        ({"weights": [1, 1]}, "found neither smooth_true nor smooth"),
        ({"labels": [0, 1]}, "given together; found one without the other"),
        ({"smooth": np.zeros((2, 3))}, "smooth must have one column"),
        ({"smooth": [0, 1], "smooth_true": [0, 1, 2]}, "must hold the same points"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        level_deviation(**{"levels_true": [0, 1], "levels": [0, 1], **arguments})


def test_smooth_parts_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match=r"same points and channels; found shapes \(2,\) and \(3,\)"):
        field_rmse([0, 1], [0, 1, 2])


# The oracle


def random_chain(rng, n_levels):
    return rng.dirichlet(np.ones(n_levels), size=n_levels), rng.dirichlet(np.ones(n_levels))


@settings(deadline=None)
@given(seeds)
def test_the_oracle_is_right_everywhere_when_there_is_no_noise(seed):
    for make in (make_sine_steps, make_markov_steps):
        s = make(50, n_channels=1 + seed % 3, random_state=seed)
        np.testing.assert_array_equal(bayes_oracle(s.y, s.smooth, s.levels, 0.0), s.labels)


@settings(deadline=None)
@given(seeds, st.integers(1, 3))
def test_pointwise_labels_maximise_the_posterior_of_scipy_densities(seed, n_channels):
    rng = np.random.default_rng(seed)
    y, f = rng.normal(size=(2, 30, n_channels))
    mu, variance = rng.normal(size=(3, n_channels)), rng.uniform(0.1, 2, size=(3, n_channels))
    pi = rng.dirichlet(np.ones(3))
    density = norm.logpdf((y - f)[:, None], mu, np.sqrt(variance)).sum(axis=2)
    np.testing.assert_array_equal(bayes_oracle(y, f, mu, variance, pi), (density + np.log(pi)).argmax(axis=1))


@settings(deadline=None)
@given(seeds, st.integers(1, 6))
def test_chain_labels_maximise_the_posterior_summed_over_all_paths(seed, n):
    rng = np.random.default_rng(seed)
    y, f, mu = rng.normal(size=n), rng.normal(size=n), rng.normal(size=3)
    chain, start = random_chain(rng, 3)
    posterior = np.zeros((n, 3))
    for path in map(list, product(range(3), repeat=n)):
        prior = start[path[0]] * chain[path[:-1], path[1:]].prod()
        posterior[range(n), path] += prior * norm.pdf(y, f + mu[path], 0.7).prod()
    np.testing.assert_array_equal(bayes_oracle(y, f, mu, 0.49, start, chain), posterior.argmax(axis=1))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_channels", [1, 2])
def test_chain_labels_are_those_of_hmmlearn(seed, n_channels):
    rng = np.random.default_rng(seed)
    s = make_markov_steps(500, 3, switching=0.1, noise_variance=0.5, n_channels=n_channels, random_state=rng)
    chain, start = random_chain(rng, 3)
    hmm = GaussianHMM(3, covariance_type="spherical")
    hmm.startprob_, hmm.transmat_ = start, chain
    hmm.means_, hmm.covars_ = s.levels.reshape(3, -1), np.full(3, 0.5)
    expected = hmm.predict_proba(s.y.reshape(500, -1) - s.smooth[:, None]).argmax(axis=1)
    np.testing.assert_array_equal(bayes_oracle(s.y, s.smooth, s.levels, 0.5, start, chain), expected)


@settings(deadline=None)
@given(seeds)
def test_a_chain_without_memory_is_the_pointwise_oracle(seed):
    rng = np.random.default_rng(seed)
    pi = rng.dirichlet(np.ones(3))
    s = make_self_mixing(60, 3, noise_variance=0.3, random_state=rng)
    pointwise = bayes_oracle(s.y, s.smooth, s.levels, 0.3, pi)
    np.testing.assert_array_equal(bayes_oracle(s.y, s.smooth, s.levels, 0.3, pi, np.tile(pi, (3, 1))), pointwise)


def test_a_forbidden_transition_holds_against_data_that_underflow():
    stay = np.eye(2)
    assert bayes_oracle([0, 0, 1e3], np.zeros(3), [0, 1e3], 1.0, None, stay).tolist() == [0, 0, 0]
    assert bayes_oracle([0, 1e3, 1e3], np.zeros(3), [0, 1e3], 1.0, None, stay).tolist() == [1, 1, 1]


def test_a_label_that_no_path_reaches_is_never_chosen():
    assert bayes_oracle([1.0, 1.0, 1.0], np.zeros(3), [0, 1], 0.01, [1, 0], np.eye(2)).tolist() == [0, 0, 0]


def test_a_label_of_probability_zero_is_never_chosen():
    assert bayes_oracle([0.0, 1.0], [0, 0], [0, 1], 0.01, [0.0, 1.0]).tolist() == [1, 1]


def test_the_variance_may_differ_by_class_or_by_channel():
    # A far point belongs to the wide class; a noisy channel has little say.
    assert bayes_oracle([-3.0, 0.6], [0, 0], [0, 1], [0.1, 10.0]).tolist() == [1, 0]
    assert bayes_oracle([[0.0, 1.0]], [0], [[0, 0], [1, 1]], [0.1, 10.0]).tolist() == [0]
    assert bayes_oracle([[0.0, 1.0]], [0], [[0, 0], [1, 1]], [10.0, 0.1]).tolist() == [1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"y": [0.0, np.nan]}, "y must be finite; found 1 of 2 values"),
        ({"smooth": [0.0]}, r"smooth must hold one value per row of y.*found shapes \(1,\) and \(2,\)"),
        ({"levels": [[0, 1], [1, 2]]}, "y and levels must have the same number of channels; found 1 and 2"),
        ({"noise_variance": -1.0}, "noise_variance must be finite and positive, or 0 everywhere; found -1.0"),
        ({"noise_variance": [0, 1]}, "noise_variance must be finite and positive"),
        ({"noise_variance": np.nan}, "noise_variance must be finite and positive"),
        ({"noise_variance": [1, 1, 1]}, r"one number or of shape \(2,\); found shape \(3,\)"),
        ({"proportions": [0.5, 0.6]}, "proportions must be probabilities that sum to 1"),
        ({"proportions": [1.0]}, r"proportions must have shape \(2,\); found \(1,\)"),
        ({"transition_matrix": [[1, 0], [np.nan, 1]]}, "transition_matrix must be probabilities"),
        ({"transition_matrix": [[0.5, 1], [0.5, 0]]}, "transition_matrix must be probabilities"),
    ],
)
def test_what_the_oracle_cannot_use_is_refused_in_one_sentence(arguments, sentence):
    good = {"y": [0.0, 1.0], "smooth": [0.0, 0.0], "levels": [0.0, 1.0], "noise_variance": 0.1}
    with pytest.raises(ValueError, match=sentence):
        bayes_oracle(**{**good, **arguments})


# The accuracy to expect


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(1, 5), st.booleans())
def test_the_expected_accuracy_is_the_integral_of_the_highest_curve(seed, n_levels, one_variance):
    rng = np.random.default_rng(seed)
    mu, pi = rng.normal(size=n_levels), rng.dirichlet(np.ones(n_levels))
    variance = np.full(n_levels, 0.3) if one_variance else rng.uniform(0.1, 1, size=n_levels)
    grid = np.linspace(-9, 9, 37)  # quad misses narrow peaks on a long interval
    pieces = [quad(lambda t: np.max(pi * norm.pdf(t, mu, variance**0.5)), a, b)[0] for a, b in pairwise(grid)]
    assert bayes_accuracy(mu, variance, pi) == pytest.approx(sum(pieces), abs=1e-6)


@pytest.mark.parametrize("variance", [0.05, 0.1, 0.15])
def test_the_expected_accuracy_of_the_papers_model_has_the_textbook_form(variance):
    expected = 1 - 4 / 3 * norm.sf(0.5 / np.sqrt(variance))
    assert bayes_accuracy([-1, 0, 1], variance) == pytest.approx(expected)


@pytest.mark.parametrize("variance", [0.01, 0.1, 1.0])
def test_the_pointwise_oracle_reaches_the_expected_accuracy(variance):
    s = make_sine_steps(40000, 4, noise_variance=variance, random_state=0)
    reached = ordered_accuracy(s.labels, bayes_oracle(s.y, s.smooth, s.levels, variance))
    expected = bayes_accuracy(s.levels, variance)
    assert reached == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 40000) + 1e-12)


def test_the_chain_oracle_beats_the_pointwise_one_on_a_chain():
    s = make_markov_steps(5000, 2, switching=0.05, noise_variance=0.5, random_state=0)
    chain = np.where(np.eye(2) > 0, 0.95, 0.05)
    along = ordered_accuracy(s.labels, bayes_oracle(s.y, s.smooth, s.levels, 0.5, None, chain))
    assert along > bayes_accuracy(s.levels, 0.5) + 0.1


def test_nearly_equal_variances_give_the_accuracy_of_equal_ones():
    nearly = bayes_accuracy([0, 1, 2], [0.3, 0.3 + 1e-15, 0.3 + 1e-12])
    assert nearly == pytest.approx(bayes_accuracy([0, 1, 2], 0.3), abs=1e-9)


@settings(deadline=None)
@given(seeds, moderate, st.floats(1e-3, 1e3))
def test_the_expected_accuracy_keeps_under_shift_and_scale(seed, shift, scale):
    rng = np.random.default_rng(seed)
    mu, variance, pi = rng.normal(size=3), rng.uniform(0.1, 1, size=3), rng.dirichlet(np.ones(3))
    changed = bayes_accuracy(scale * mu + shift, scale**2 * variance, pi)
    assert changed == pytest.approx(bayes_accuracy(mu, variance, pi), abs=1e-6)


def test_without_noise_only_equal_levels_are_confused():
    assert bayes_accuracy([0, 1, 2], 0.0) == pytest.approx(1.0)
    assert bayes_accuracy([0, 1, 1], 0.0, [0.2, 0.5, 0.3]) == pytest.approx(0.7)


def test_overwhelming_noise_leaves_the_most_frequent_label():
    assert bayes_accuracy([0, 1, 2], 1e12, [0.2, 0.5, 0.3]) == pytest.approx(0.5)
    assert bayes_accuracy([1, 1], 1.0) == pytest.approx(0.5)
    assert bayes_accuracy([0, 1], 1.0, [1.0, 0.0]) == pytest.approx(1.0)


def test_vector_levels_have_no_closed_form():
    with pytest.raises(ValueError, match=r"levels must be one number per class, \(M,\); found shape \(2, 2\)"):
        bayes_accuracy([[0, 1], [1, 0]], 1.0)
