"""An image that is mirrored, transposed, scaled or has its channels swapped has its answer moved alike."""

import numpy as np
import pytest
from cases import GRID_ALTMIN, GRID_JOINT, SEEDS, named, scene, share
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth import GridStepSmooth

# Joint fits in single precision; where it chooses the stiffness by held-out cubes, these are cut from one corner.
TOLERANCE = {"joint": 0.05, "joint, knots": 1e-5, "joint, additive": 1e-5}

MOVES = {
    "upside down": (lambda image: image[::-1], lambda image: image[::-1]),
    "from right to left": (lambda image: image[:, ::-1], lambda image: image[:, ::-1]),
    "transposed": (lambda image: image.swapaxes(0, 1), lambda image: image.swapaxes(0, 1)),
    "in another layout": (np.asfortranarray, lambda image: image),
}
EVERY_MOVE = pytest.mark.parametrize("move", MOVES)


def fit(image, params, **more):
    return GridStepSmooth(2, random_state=0, **{**params, **more}).fit(image)


def alike(one, other, back=lambda image: image, atol=1e-6):
    """Compare two fits, the second's images taken back to where they were."""
    np.testing.assert_array_equal(back(other.labels_), one.labels_)
    np.testing.assert_allclose(back(other.smooth_), one.smooth_, atol=atol)
    np.testing.assert_allclose(other.levels_, one.levels_, rtol=max(atol, 1e-5))


@EVERY_MOVE
@given(seed=SEEDS, way=named(GRID_ALTMIN))
@share(0.1)
def test_altmin(move, seed, way):
    there, back = MOVES[move]
    image, _ = scene(seed, (12, 10), multiplicative=GRID_ALTMIN[way].get("multiplicative", True))
    alike(fit(image, GRID_ALTMIN[way]), fit(there(image), GRID_ALTMIN[way]), back)


@EVERY_MOVE
@given(seed=SEEDS, way=named(GRID_JOINT))
@share(0.025)
def test_joint(move, seed, way):
    there, back = MOVES[move]
    image, _ = scene(seed, multiplicative=GRID_JOINT[way].get("multiplicative", True))
    alike(fit(image, GRID_JOINT[way]), fit(there(image), GRID_JOINT[way]), back, TOLERANCE[way])


@given(seed=SEEDS, axis=st.integers(0, 2))
@share(0.05)
def test_joint_on_a_mirrored_volume(seed, axis):
    image, _ = scene(seed, (10, 8, 8))
    one, other = (fit(v, {"knots": 90.0}) for v in (image, np.flip(image, axis)))
    alike(one, other, lambda v: np.flip(v, axis), 1e-5)


@pytest.mark.parametrize("ways, shape", [(GRID_ALTMIN, (12, 10)), (GRID_JOINT, (16, 14))], ids=["altmin", "joint"])
@given(data=st.data(), seed=SEEDS, log_by=st.floats(-3, 3))
@share(0.025)
def test_the_unit_of_the_image_scales_the_levels(ways, shape, data, seed, log_by):
    way, by = data.draw(named(ways)), 10.0**log_by
    adds = not ways[way].get("multiplicative", True)
    image, _ = scene(seed, shape, multiplicative=not adds)
    one, other = fit(image, ways[way]), fit(by * image, ways[way])
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_allclose(other.smooth_ / (by if adds else 1.0), one.smooth_, atol=1e-5)
    np.testing.assert_allclose(other.levels_, by * one.levels_, rtol=1e-5)


@pytest.mark.parametrize("way, shape", [("altmin, additive", (12, 10)), ("joint, additive", (16, 14))])
@given(seed=SEEDS, by=st.floats(-100, 100))
@share(0.025)
def test_a_shift_of_the_image_shifts_the_levels_where_the_field_adds(way, shape, seed, by):
    params = (GRID_ALTMIN | GRID_JOINT)[way]
    image, _ = scene(seed, shape, multiplicative=False)
    one, other = fit(image, params), fit(image + by, params)
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_allclose(other.smooth_, one.smooth_, atol=1e-5)
    np.testing.assert_allclose(other.levels_, one.levels_ + by, atol=1e-5)


@pytest.mark.parametrize("way, shape", [("altmin", (12, 10)), ("joint, knots", (16, 14))])
@given(seed=SEEDS)
@share(0.025)
def test_the_order_of_channels_orders_levels_and_labels_alone(way, shape, seed):
    image, _ = scene(seed, shape, channels=2)
    params = (GRID_ALTMIN | GRID_JOINT)[way]
    one, other = (fit(v, params, channel_axis=-1) for v in (image, image[..., ::-1]))
    order = np.argsort(one.levels_[:, 1])
    np.testing.assert_array_equal(other.labels_, np.argsort(order)[one.labels_])
    np.testing.assert_allclose(other.smooth_, one.smooth_, atol=1e-5)
    np.testing.assert_allclose(other.levels_, one.levels_[order, ::-1], rtol=1e-5)
