"""The mixture of classes, where one of them has no members."""

import numpy as np

from stepsmooth.grid.classes import Sample, split_and_merge
from stepsmooth.grid.mixture import Classes, outlier_density


def test_a_class_without_members_is_moved_to_where_they_are():
    rng = np.random.default_rng(0)
    Y = np.concatenate([rng.normal(0.0, 0.1, 200), rng.normal(1.0, 0.1, 200), rng.normal(2.0, 0.1, 200)])[:, None]
    sample = Sample(Y, np.ones(600), np.zeros(600), np.ones(600))
    lost = Classes(np.array([[0.0], [1.5], [1e9]]), np.full((3, 1), 0.01), np.full(3, 1 / 3), outlier_density(Y))
    found, _ = split_and_merge(sample, lost, -np.inf)
    np.testing.assert_allclose(np.sort(found.levels[:, 0]), [0.0, 1.0, 2.0], atol=0.05)
