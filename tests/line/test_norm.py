"""The norm of f on a line, where a point lies on the origin of the min kernel."""

import numpy as np
import pytest

from stepsmooth.line import LineSmoother


def test_a_point_at_the_origin_has_f_zero_and_adds_nothing_to_the_norm():
    with_origin, without = LineSmoother(np.array([0.0, 0.5, 1.0]), order=1), LineSmoother(np.array([0.5, 1.0]), order=1)
    assert with_origin.norm2(np.array([0.0, 1.0, 3.0])) == pytest.approx(1.0 / 0.5 + 4.0 / 0.5)
    assert without.norm2(np.array([1.0, 3.0])) == pytest.approx(10.0)


def test_two_points_are_joined_by_a_straight_line_without_cost():
    assert LineSmoother(np.array([0.0, 1.0]), order=2).norm2(np.array([0.0, 9.0])) == 0.0
