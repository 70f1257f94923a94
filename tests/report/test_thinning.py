"""Thinning keeps what can be seen: extremes, rare labels, stretches."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.report.thinning import label_runs, sample_points, thin_curve

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 3000))
def test_a_thinned_curve_keeps_the_ends_and_the_extremes_of_every_column(seed, n):
    rng = np.random.default_rng(seed)
    x, values = np.sort(rng.random(n)), rng.standard_normal(n)
    kept = thin_curve(x, values, columns=50)
    assert len(kept) <= max(200, min(n, 200))
    assert {0, n - 1} <= set(kept)
    if n > 200:
        column = np.minimum((x - x[0]) / ((x[-1] - x[0]) / 50), 49).astype(int)
        for c in np.unique(column):
            inside, drawn = values[column == c], values[kept][column[kept] == c]
            assert (drawn.min(), drawn.max()) == (inside.min(), inside.max())


@given(seeds, st.integers(1, 400), st.integers(1, 5))
def test_the_runs_of_all_labels_tile_the_line(seed, n, n_levels):
    rng = np.random.default_rng(seed)
    x, labels = np.sort(rng.random(n)), rng.integers(n_levels, size=n)
    runs = np.concatenate([label_runs(x, labels, k) for k in range(n_levels)])
    runs = runs[np.argsort(runs[:, 0], kind="stable")]
    np.testing.assert_allclose(runs[:, 1] - runs[:, 0] >= 0, True)
    np.testing.assert_allclose(np.sum(runs[:, 1] - runs[:, 0]), x[-1] - x[0], atol=1e-12)


def test_runs_closer_than_a_pixel_are_joined_and_others_kept_apart():
    x = np.arange(10_000.0)
    labels = np.zeros(10_000, dtype=int)
    labels[::2] = 1
    labels[4_000:5_000] = 0
    runs = label_runs(x, labels, 1, columns=100)
    np.testing.assert_allclose(runs, [[0, 3_998.5], [4_999.5, 9_998.5]])


@given(seeds, st.integers(1, 500), st.integers(1, 6))
def test_a_sample_is_full_without_repetition_and_holds_every_label(seed, n, n_levels):
    labels = np.random.default_rng(seed).integers(n_levels, size=n)
    drawn = sample_points(labels, limit=60)
    assert len(drawn) == min(n, 60) == len(set(drawn))
    assert set(labels[drawn]) == set(labels)
