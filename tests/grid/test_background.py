"""Air: where nothing else is seen, there is none."""

import numpy as np

from stepsmooth.grid import find_air, shell


def test_air_and_missing_voxels_alone_are_no_background():
    image = np.random.default_rng(0).uniform(1.0, 2.0, (1, 1, 30, 30, 1)).astype(np.float32)
    image[0, 0, 10:20, 10:20] = np.nan
    assert find_air(image, shell(image.shape[1:])) is None  # nor does numpy warn of a mean of nothing
