"""Labels with a border, and back."""

import numpy as np
import pytest

from stepsmooth.grid.padding import pad, small_type, unpad


@pytest.mark.parametrize("n_classes", [3, 254, 255, 300])
def test_labels_with_a_border_come_back_without(n_classes):
    labels = np.random.default_rng(0).integers(-1, n_classes, (2, 5, 4, 6)).astype(np.int16)
    padded = pad(labels, n_classes)
    assert padded.shape == (2, 7, 6, 8)
    assert padded.dtype == small_type(n_classes)
    np.testing.assert_array_equal(padded[:, 1:-1, 1:-1, 1:-1], np.where(labels < 0, n_classes, labels))
    outside = np.ones(padded.shape, dtype=bool)
    outside[:, 1:-1, 1:-1, 1:-1] = False
    assert np.all(padded[outside] == n_classes)
    np.testing.assert_array_equal(unpad(padded, n_classes), labels)
