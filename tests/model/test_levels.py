"""Level models: free, known, and known up to a shift."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.model import FreeLevels, KnownLevels, ShiftedLevels, candidate_set, kmeans_1d
from stepsmooth.model.levels import EXACT_UP_TO, N_FOR_START, best_shift, nearest_level

SEEDS = st.integers(0, 2**32 - 1)


def draw(seed, p=1, n=30, n_levels=3):
    rng = np.random.default_rng(seed)
    known = rng.normal(size=(n_levels, p))
    known = known[np.argsort(known[:, 0])]
    return rng.normal(scale=2.0, size=(n, p)), rng.uniform(0.2, 2.0, n), known


def cost(residual, weights, levels, labels):
    return float(np.sum(weights[:, None] * (residual - levels[labels]) ** 2))


def models(known):
    return [FreeLevels(len(known)), KnownLevels(known), ShiftedLevels(known)]


@given(seed=SEEDS, n_levels=st.integers(1, 4))
def test_the_best_shift_beats_every_shift_of_a_fine_grid(seed, n_levels):
    residual, w, known = draw(seed, n_levels=n_levels)
    r, mu = residual[:, 0], known[:, 0]

    def at(s):
        return np.sum(w * np.min((r[:, None] - mu - s) ** 2, axis=1))

    grid = np.linspace(r.min() - mu.max() - 1.0, r.max() - mu.min() + 1.0, 4001)
    step = grid[1] - grid[0]
    found, least = at(best_shift(r, mu, w)), min(at(s) for s in grid)
    assert found <= least + 1e-9
    assert least - found <= w.sum() * step**2  # near the minimum the grid is as good as its step


@given(seed=SEEDS, offset=st.sampled_from([1e6, -1e6]))
def test_the_best_shift_follows_an_offset(seed, offset):
    residual, w, known = draw(seed)
    r = np.round(residual[:, 0] * 2**20) / 2**20
    assert best_shift(r + offset, known[:, 0], w) - offset == pytest.approx(best_shift(r, known[:, 0], w), abs=1e-8)


@given(seed=SEEDS, scale=st.floats(1e-3, 1e3), offset=st.floats(-100, 100))
def test_evenly_spaced_levels_that_tie_take_the_lowest_shift(seed, scale, offset):
    """Two groups a gap apart fit the lower two of three levels as well as the upper two."""
    rng = np.random.default_rng(seed)
    groups = np.append([0, 2], 2 * rng.integers(2, size=28))
    r = scale * (groups + 0.1 * rng.normal(size=30)) + offset
    mu = scale * np.array([0.0, 2.0, 4.0])
    shift = best_shift(r, mu, np.ones(30))
    assert nearest_level(r[:, None], (mu + shift)[:, None]).min() == 1


@given(seed=SEEDS, p=st.integers(1, 3))
def test_the_nearest_level_is_the_nearest(seed, p):
    residual, _, levels = draw(seed, p=p)
    np.testing.assert_array_equal(
        nearest_level(residual, levels), np.sum((residual[:, None] - levels) ** 2, axis=2).argmin(axis=1)
    )


def test_a_tie_goes_to_the_lower_level():
    assert nearest_level(np.array([[0.5]]), np.array([[0.0], [1.0]])).tolist() == [0]
    assert nearest_level(np.array([[0.5, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])).tolist() == [0]


@given(seed=SEEDS, p=st.integers(1, 3))
def test_an_update_is_never_worse_than_the_levels_it_came_from(seed, p):
    residual, w, known = draw(seed, p=p)
    rng = np.random.default_rng(seed)
    for model in models(known):
        # Levels that the model allows: anything, the known ones, the known ones shifted.
        move = model.directions(len(known)) @ rng.normal(size=(model.directions(len(known)).shape[1], p))
        before = known + move
        before = before[np.argsort(before[:, 0])] if isinstance(model, FreeLevels) else before
        levels, labels = model.update(residual, w, before)
        old = cost(residual, w, before, nearest_level(residual, before))
        assert cost(residual, w, levels, labels) <= old * (1.0 + 1e-12)


@given(seed=SEEDS, p=st.integers(1, 2))
def test_levels_move_only_along_their_directions(seed, p):
    residual, w, known = draw(seed, p=p)
    for model in models(known)[1:]:
        for levels in (model.start(residual, w)[0], model.update(residual, w, known)[0]):
            moved = levels - known
            D = model.directions(len(known))
            inside = D @ np.linalg.lstsq(D, moved)[0] if D.shape[1] else np.zeros_like(moved)
            np.testing.assert_allclose(moved, inside, atol=1e-12)


def test_free_levels_of_a_line_are_the_exact_kmeans():
    residual, w, _ = draw(3)
    levels, labels = FreeLevels(3).start(residual, w)
    expected, same = kmeans_1d(residual[:, 0], 3, w)
    np.testing.assert_array_equal(levels[:, 0], expected)
    np.testing.assert_array_equal(labels, same)


def test_free_levels_start_the_same_way_every_time():
    residual, w, _ = draw(4, p=2)
    model = FreeLevels(3, seed=7)
    np.testing.assert_array_equal(model.start(residual, w)[0], model.start(residual, w)[0])


def test_a_long_signal_takes_lloyd_steps_that_are_as_good():
    rng = np.random.default_rng(0)
    residual = (rng.integers(3, size=EXACT_UP_TO + 1) + 0.1 * rng.normal(size=EXACT_UP_TO + 1))[:, None]
    w = np.ones(len(residual))
    levels, labels = FreeLevels(3).update(residual, w, np.array([[0.1], [1.1], [2.1]]))
    assert cost(residual, w, levels, labels) == pytest.approx(cost(residual, w, *FreeLevels(3).start(residual, w)))


def test_known_levels_start_with_labels_up_to_a_shift():
    labels = np.array([0, 1, 2, 1, 0, 2])
    known = np.array([[0.0], [1.0], [3.0]])
    found = KnownLevels(known).start(known[labels] + 50.0, np.ones(6))
    np.testing.assert_array_equal(found[0], known)
    np.testing.assert_array_equal(found[1], labels)


@given(seed=SEEDS, p=st.integers(1, 3), shift=st.floats(-100, 100))
def test_shifted_levels_find_the_shift(seed, p, shift):
    rng = np.random.default_rng(seed)
    known = np.cumsum(rng.uniform(1.0, 2.0, (3, p)), axis=0)
    labels = np.arange(30) % 3
    levels, found = ShiftedLevels(known).start(known[labels] + shift, np.ones(30))
    np.testing.assert_allclose(levels, known + shift, atol=1e-11)
    np.testing.assert_array_equal(found, labels)


def test_the_true_f_is_one_entry_of_each_row_of_the_candidate_set():
    rng = np.random.default_rng(0)
    f, mu, z = rng.uniform(1.0, 2.0, 20), np.array([0.5, 1.0, 4.0]), rng.integers(3, size=20)
    rows = np.arange(20)
    np.testing.assert_allclose(candidate_set(f + mu[z], mu)[rows, z], f)
    np.testing.assert_allclose(candidate_set(f * mu[z], mu, multiplicative=True)[rows, z], f)


def test_candidate_sets_need_positive_levels_to_divide_by():
    with pytest.raises(ValueError, match="levels must be positive if multiplicative, got a smallest level of -1"):
        candidate_set(np.ones(3), np.array([-1.0, 1.0]), multiplicative=True)


def test_a_long_signal_starts_from_a_part_of_its_points_and_is_as_good():
    # The levels alternate with the length of a stretch: every k-th point would see one of them only.
    n = 4 * N_FOR_START
    r = np.array([0.0, 1.0, 3.0, 1.0])[np.arange(n) % 4] + 0.2 * np.random.default_rng(0).normal(size=n)
    levels, labels = FreeLevels(3).start(r[:, None], np.ones(n))
    exact, _ = kmeans_1d(r, 3)
    np.testing.assert_allclose(levels[:, 0], exact, atol=2e-3)
    near = np.abs(r[:, None] - levels[:, 0]).argmin(axis=1)
    assert np.mean(labels != near) < 1e-3
