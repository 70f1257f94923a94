"""What the theory does not accept, and a lattice wherever points are."""

import numpy as np
import pytest

from stepsmooth.topology import Lattice, certify, neighbor_graph
from stepsmooth.topology.arguments import level_columns
from stepsmooth.topology.counterexamples import counterexample


def test_an_unknown_kind_of_counterexample_is_a_sentence():
    with pytest.raises(ValueError, match=r"kind must be one of .*; found 'odd'"):
        counterexample(0, kind="odd")


@pytest.mark.parametrize("levels", [np.zeros((2, 2, 2)), np.zeros((0,)), 1.0], ids=["cube", "none", "number"])
def test_levels_of_no_shape_are_a_sentence(levels):
    with pytest.raises(ValueError, match=r"levels must be of shape \(M,\) or \(M, p\); found shape"):
        level_columns(levels)


@pytest.mark.parametrize("rho", [0.0, 1.0, 1.5, 4.0])
def test_the_neighbours_of_voxels_are_those_of_their_points(rho):
    lattice = Lattice(np.random.default_rng(0).uniform(size=(6, 5)) < 0.7, (1.0, 1.5))
    ours, points = neighbor_graph(lattice, rho), neighbor_graph(lattice.points(), rho)
    np.testing.assert_array_equal(ours.toarray(), points.toarray())


def test_observations_of_other_channels_than_the_levels_are_a_sentence():
    x, labels, smooth = np.arange(8.0)[:, None], np.arange(8) % 2, np.zeros((8, 1))
    with pytest.raises(ValueError, match=r"y must have one column for each of the 1 channels; found \(8, 2\)"):
        certify(x, labels, [0.0, 1.0], smooth=smooth, y=np.zeros((8, 2)), noise_variance=0.01)
