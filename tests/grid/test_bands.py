"""Band matrices: every entry where the dense matrix has it, whatever the sizes of the axes."""

import numpy as np
import pytest

from stepsmooth.grid.bands import Band, band_layout


def random_sums(layout, rng):
    return rng.normal(size=[len(rows) for rows, _ in layout.pairs])


def dense_of(sizes, layout, sums):
    """Entry by entry: the sum over the pairs of functions along every axis."""
    where = [{(i, j): h for h, (i, j) in enumerate(zip(*map(np.ndarray.tolist, pair)))} for pair in layout.pairs]
    full = np.zeros((int(np.prod(sizes)),) * 2)
    for r, one in enumerate(np.ndindex(*sizes)):
        for c, other in enumerate(np.ndindex(*sizes)):
            pairs = [(min(i, j), max(i, j)) for i, j in zip(one, other)]
            if all(pair in at for pair, at in zip(pairs, where)):
                full[r, c] = sums[tuple(at[pair] for pair, at in zip(pairs, where))]
    return full


@pytest.mark.parametrize("sizes", [(1,), (2,), (7,), (5, 4), (3, 6), (4, 4, 5), (6, 1, 4), (1, 1, 5)], ids=str)
def test_a_band_is_the_matrix_of_all_overlapping_pairs(sizes):
    layout, rng = band_layout(sizes), np.random.default_rng(0)
    for size, (rows, columns) in zip(sizes, layout.pairs):
        expected = [(i, j) for i in range(size) for j in range(i, min(i + 4, size))]
        assert list(zip(rows.tolist(), columns.tolist())) == expected
    sums = random_sums(layout, rng)
    band = layout.band(sums)
    full = dense_of(sizes, layout, sums)
    np.testing.assert_array_equal(band.dense, full)
    assert len(band) == len(full)
    assert band.trace == pytest.approx(np.trace(full))
    assert band.data.shape == (layout.width + 1, len(full))
    vector, order = rng.normal(size=len(full)), layout.order
    assert sorted(order.tolist()) == list(range(len(full)))
    np.testing.assert_allclose(band.times(vector[order]), (full @ vector)[order], atol=1e-12)
    rows, columns = np.nonzero(full[np.ix_(order, order)])
    assert layout.width == np.max(rows - columns)


def test_bands_add_up():
    layout, rng = band_layout((5, 4)), np.random.default_rng(0)
    one, other = layout.band(random_sums(layout, rng)), layout.band(random_sums(layout, rng))
    total = one + other
    assert isinstance(total, Band)
    np.testing.assert_allclose(total.dense, one.dense + other.dense, atol=1e-15)
    assert total.layout is layout
