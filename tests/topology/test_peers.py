"""Our spanning tree and mlpack's have the same edge lengths."""

import numpy as np
import pytest
from cloud_cases import CLOUDS

from stepsmooth.topology import minimum_spanning_tree

mlpack = pytest.importorskip("mlpack", reason="mlpack, the reference spanning tree, is not installed")


@pytest.mark.parametrize("kind", ["uniform", "two far clusters", "clusters of all sizes", "a lattice, full of ties"])
@pytest.mark.parametrize("d", [2, 3])
def test_the_tree_of_ten_thousand_points_equals_mlpacks(kind, d):
    X = CLOUDS[kind](np.random.default_rng(d), 10_000, d)
    theirs = np.sort(mlpack.emst(input_=X)["output"][:, 2])
    np.testing.assert_allclose(minimum_spanning_tree(X).lengths, theirs, rtol=1e-7, atol=1e-9)
