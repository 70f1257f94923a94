"""The pieces of a mask: against SciPy's labelling, in one to four dimensions."""

import numpy as np
import pytest
from scipy.ndimage import label

from stepsmooth.grid.pieces import piece_sizes


@pytest.mark.parametrize("shape", [(40,), (1, 30), (20, 30), (9, 10, 11), (4, 1, 5, 6), (5, 4, 6, 7)])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.95])
def test_the_pieces_have_the_sizes_that_scipy_finds(shape, share):
    mask = np.random.default_rng(0).uniform(size=shape) < share
    labels, count = label(mask)
    found = piece_sizes(mask)
    assert len(found) == count
    assert sorted(found) == sorted(np.bincount(labels.ravel())[1:])


def test_no_voxel_is_no_piece_and_all_are_one():
    assert piece_sizes(np.zeros((3, 4, 5), dtype=bool)).tolist() == []
    assert piece_sizes(np.ones((3, 4, 5), dtype=bool)).tolist() == [60]


def test_a_spiral_is_one_piece_in_whatever_order_its_arms_meet():
    mask = np.zeros((9, 9), dtype=bool)
    mask[0], mask[:, 8], mask[8], mask[2:, 0], mask[2, :7], mask[2:7, 6] = True, True, True, True, True, True
    assert len(piece_sizes(mask)) == label(mask)[1] == 1
    for turned in (mask.T, mask[::-1], mask[:, ::-1]):
        assert len(piece_sizes(turned)) == 1
