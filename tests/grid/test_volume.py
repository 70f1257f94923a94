"""The layout of the data: what is present, where it lies, and the box that holds it."""

import numpy as np
import pytest

from stepsmooth.grid.volume import Volume, box_of


def test_a_volume_knows_its_channels_grid_and_coordinates():
    values = np.zeros((2, 3, 4, 5, 6), dtype=np.float32)
    volume = Volume(values, (1.5, 2.0, 0.5), start=(2, 0, 4))
    assert volume.n_channels == 2
    assert volume.grid == (3, 4, 5, 6)
    along = volume.coordinates()
    np.testing.assert_array_equal(along[0], [3.0, 4.5, 6.0, 7.5])
    np.testing.assert_array_equal(along[1], [0.0, 2.0, 4.0, 6.0, 8.0])
    np.testing.assert_array_equal(along[2], [2.0, 2.5, 3.0, 3.5, 4.0, 4.5])


def test_a_voxel_is_present_where_it_is_no_nan():
    values = np.ones((1, 1, 2, 2, 1), dtype=np.float32)
    values[0, 0, 1, 0, 0] = np.nan
    np.testing.assert_array_equal(Volume(values, (1.0, 1.0, 1.0)).present[0, ..., 0], [[True, True], [False, True]])


@pytest.mark.parametrize("corner", [(2, 3, 5), (3, 4, 0), (5, 1, 6)], ids=str)
def test_the_box_holds_what_is_present_in_any_frame_and_starts_at_even_places(corner):
    present = np.zeros((2, 8, 9, 10), dtype=bool)
    low, high = np.array(corner), np.array([6, 7, 8])
    present[(0, *low)] = present[(1, *high)] = True
    assert box_of(present) == tuple(slice(a // 2 * 2, b + 1) for a, b in zip(corner, (6, 7, 8)))
    values = np.where(present, 1.0, np.nan).astype(np.float32)[None]
    assert Volume(values, (1.0, 1.0, 1.0)).box == box_of(present)


def test_the_box_of_one_voxel_is_the_pair_it_belongs_to():
    for at in np.ndindex(3, 4, 5):
        present = np.zeros((1, 3, 4, 5), dtype=bool)
        present[(0, *at)] = True
        assert [(s.start, s.stop) for s in box_of(present)] == [(a - a % 2, a + 1) for a in at]
