"""The noise that a certificate reckons with is the worst of all classes and channels."""

import numpy as np

from stepsmooth.topology.emission import Noise


def test_any_class_may_have_the_noise_of_the_noisiest():
    noise = Noise.of(np.array([[0.0], [1.0]]), np.array([0.01, 0.04]))
    np.testing.assert_allclose(noise.worst, [0.2, 0.2])
    np.testing.assert_allclose(noise.spans[0, 1], 1.0 / (2.0 * 0.1))
    np.testing.assert_allclose(noise.spans[1, 0], 1.0 / (2.0 * 0.2))


def test_of_channels_the_noisiest_counts():
    levels = np.array([[0.0, 0.0], [3.0, 4.0]])
    noise = Noise.of(levels, np.array([0.01, 0.09]))
    np.testing.assert_allclose(noise.worst, [0.3, 0.3])
    np.testing.assert_allclose(noise.spans[0, 1], 5.0 / 0.6)


def test_where_f_multiplies_noise_counts_relative_to_the_level():
    noise = Noise.of(np.array([[1.0], [4.0]]), 0.04, np.zeros((1, 1)))
    np.testing.assert_allclose(noise.worst, [0.2, 0.05])
    np.testing.assert_allclose(noise.jumps, [[0.0, 3.0], [0.75, 0.0]])
