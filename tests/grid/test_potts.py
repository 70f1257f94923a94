"""The Potts sweeps against a slow reference, and the strength that labels show."""

import numba
import numpy as np
import pytest

from stepsmooth.grid.labelling import Emission, label_voxels
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.padding import pad, unpad
from stepsmooth.grid.partial import Components
from stepsmooth.grid.potts import Neighbours, estimate_strength, potts_labels, some_planes, sweep
from stepsmooth.grid.undecided import Undecided

LEVELS = np.array([[1.0], [1.6], [2.4]])


@pytest.fixture
def scene(patches, volume_of):
    image, labels, f = patches(shape=(13, 12, 11), noise=0.4, patch=4)
    classes = Classes(LEVELS, np.full((3, 1), 0.16), np.array([0.5, 0.2, 0.3]), 1.0)
    mask = np.ones(image.shape, dtype=bool)
    mask[:2, :3] = False
    volume = volume_of(image, mask)
    emission = Emission.of(Components.pure(classes))
    return volume, f.astype(np.float32), emission, labels


def swept(volume, f, multiplicative, emission, start, margin, neighbours, strength, **options):
    """Labels after some sweeps, and how many changed in the last."""
    padded = pad(start, emission.n_classes)
    changed = sweep(volume, f, multiplicative, emission, margin, neighbours, padded, strength, **options)
    return unpad(padded, emission.n_classes), changed


def slow_sweep(volume, f, emission, labels, neighbours, strength):
    """One voxel at a time, in the same order of colours."""
    labels = labels.copy()
    shape = labels.shape[1:]
    for colour in np.ndindex(2, 2, 2):
        for at in np.ndindex(*shape):
            if tuple(a % 2 for a in at) != colour or labels[(0, *at)] < 0:
                continue
            y = volume.values[(0, 0, *at)]
            mean = np.exp(f[at]) * emission.levels[:, 0]
            score = emission.logs - emission.precision[:, 0] * (y - mean) ** 2
            for offset, weight in zip(neighbours.offsets, neighbours.weights):
                there = tuple(np.add(at, offset))
                if all(0 <= a < n for a, n in zip(there, shape)) and labels[(0, *there)] >= 0:
                    score[labels[(0, *there)]] += strength * weight
            labels[(0, *at)] = np.argmax(score)
    return labels


def test_a_sweep_equals_the_slow_one(scene):
    volume, f, emission, _ = scene
    neighbours = Neighbours.of(volume.grid[1:], (1.0, 1.0, 2.0))
    start, margin = label_voxels(volume, f, True, emission)
    labels, changed = swept(volume, f, True, emission, start, margin, neighbours, 4.0, sweeps=1)
    slow = slow_sweep(volume, f, emission, start, neighbours, 4.0)
    np.testing.assert_array_equal(labels, slow)
    assert changed == np.sum(labels != start)
    twice = swept(volume, f, True, emission, start, margin, neighbours, 4.0, sweeps=2)[0]
    np.testing.assert_array_equal(twice, slow_sweep(volume, f, emission, slow, neighbours, 4.0))


def test_voxels_that_are_sure_are_not_visited(scene):
    volume, f, emission, _ = scene
    labels, margin = label_voxels(volume, f, True, emission)
    weak, strong = (Undecided.of(volume, f, True, emission, margin, strength) for strength in (0.5, 5.0))
    assert len(weak.place) < 0.5 * len(strong.place) < 0.5 * np.sum(labels >= 0)
    assert np.all(strong.score[:, 0] >= strong.score[:, 1])


def test_the_strength_of_a_large_volume_is_that_of_some_slabs():
    labels = np.zeros((1, 200, 90, 90), dtype=np.int16)
    first, inner = some_planes(labels)
    assert 0.5 * 250_000 < first.sum() * 8100 < 2.0 * 250_000
    assert inner.sum() == pytest.approx(first.sum() * 4 / 6, abs=2)
    assert np.all(first[inner])


def test_labels_and_margins_are_those_of_the_posterior(scene):
    volume, f, emission, _ = scene
    labels, margin = label_voxels(volume, f, True, emission)
    y = volume.values[0, 0].astype(float)
    score = emission.logs - emission.precision[:, 0] * (y[..., None] - np.exp(f)[..., None] * LEVELS[:, 0]) ** 2
    q = np.exp(score) / np.exp(score).sum(axis=-1, keepdims=True)
    inside = ~np.isnan(y)
    np.testing.assert_array_equal(labels[0][inside], q[inside].argmax(axis=-1))
    ordered = np.sort(q[inside], axis=-1)
    np.testing.assert_allclose(margin[0][inside], ordered[:, -1] - ordered[:, -2], atol=1e-5)
    assert np.all(labels[0][~inside] == -1)
    assert np.all(np.isnan(margin[0][~inside]))


def test_neighbours_help(scene):
    volume, f, emission, truth = scene
    start, margin = label_voxels(volume, f, True, emission)
    neighbours = Neighbours.of(volume.grid[1:], (1.0, 1.0, 1.0))
    labels, strength = potts_labels(volume, f, True, emission, start, margin, neighbours)
    inside = start[0] >= 0
    assert strength > 1.0
    assert np.mean(labels[0][inside] == truth[inside]) > np.mean(start[0][inside] == truth[inside]) + 0.05


def test_labels_do_not_depend_on_threads(scene):
    volume, f, emission, _ = scene
    neighbours = Neighbours.of(volume.grid[1:], (1.0, 1.0, 1.0))
    found = []
    for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        start, margin = label_voxels(volume, f, True, emission)
        found.append((*potts_labels(volume, f, True, emission, start, margin, neighbours), margin))
        numba.set_num_threads(before)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][2], found[1][2])


def test_a_far_neighbour_weighs_less():
    weights = Neighbours.of((5, 5, 5), (1.0, 1.0, 3.0))
    along = {tuple(o): w for o, w in zip(weights.offsets.tolist(), weights.weights)}
    assert along[(1, 0, 0)] > 100.0 * along[(0, 0, 1)]
    assert weights.weights.sum() == pytest.approx(1.0)


def test_labels_without_order_have_no_strength():
    labels = np.random.default_rng(0).integers(3, size=(1, 30, 30, 10)).astype(np.int16)
    assert estimate_strength(pad(labels, 3), Neighbours.of((30, 30, 10), (1.0, 1.0, 1.0)), 3) <= 0.5


def test_the_weights_of_neighbours_fall_with_the_sixth_power_of_their_distance():
    found = Neighbours.of((4, 5, 1), (1.0, 2.0, 7.0))
    offsets = [(i, j, 0) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    assert found.offsets.tolist() == [list(o) for o in offsets]
    raw = np.array([(i**2 + 4.0 * j**2) ** -3.0 for i, j, _ in offsets])
    np.testing.assert_allclose(found.weights, raw / raw.sum())
    assert found.steps((2, 6, 7, 3)).tolist() == [21 * i + 3 * j for i, j, _ in offsets]
    assert len(Neighbours.of((3, 3, 3), (1.0, 1.0, 1.0)).offsets) == 26
    alone = Neighbours.of((1, 1, 1), (1.0, 1.0, 1.0))
    assert (alone.offsets.shape, alone.weights.size) == ((0, 3), 0)


def test_slabs_of_six_planes_stand_for_a_large_volume():
    labels = np.zeros((1, 100, 100, 60), dtype=np.int16)
    labels[:, :, :, 50:] = -1  # half a million voxels: twice as many as are looked at
    first, inner = some_planes(labels)
    within = (np.arange(100) + 6) % 12
    np.testing.assert_array_equal(first, within < 6)
    np.testing.assert_array_equal(inner, (within > 0) & (within < 5))
    for planes in some_planes(labels[:, :50]):  # a quarter of a million is few enough
        assert planes.shape == (50,)
        assert planes.all()


def plain_strength(labels, neighbours, n_levels, planes):
    """The pseudo-likelihood of every voxel that is asked, at every strength."""
    strengths = np.arange(0.0, 12.5, 0.5)
    total = np.zeros(len(strengths))
    _, nx, ny, nz = labels.shape
    for t, x, y, z in np.ndindex(labels.shape):
        asked = planes[x] and y % 2 == x % 2 and (nz == 1 or z % 2 == 0)
        if not asked or labels[t, x, y, z] < 0:
            continue
        share = np.zeros(n_levels)
        for offset, weight in zip(neighbours.offsets, neighbours.weights):
            there = tuple(np.add((x, y, z), offset))
            if all(0 <= i < n for i, n in zip(there, (nx, ny, nz))) and labels[(t, *there)] >= 0:
                share[labels[(t, *there)]] += weight
        logits = np.outer(strengths, share)
        total += logits[:, labels[t, x, y, z]] - np.log(np.exp(logits).sum(axis=1))
    return strengths[np.argmax(total)]


@pytest.mark.parametrize("nz", [1, 6])
@pytest.mark.parametrize("flips", [0.0, 0.05, 0.2, 0.4])
def test_the_strength_maximises_the_pseudo_likelihood(nz, flips):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.repeat(rng.integers(3, size=(2, 4, 4, nz)), 3, axis=1), 3, axis=2)
    labels = np.where(rng.uniform(size=labels.shape) < flips, rng.integers(3, size=labels.shape), labels)
    labels[rng.uniform(size=labels.shape) < 0.05] = -1
    neighbours = Neighbours.of(labels.shape[1:], (1.0, 1.0, 1.5))
    for planes in (np.ones(12, dtype=bool), np.arange(12) % 3 > 0):
        found = estimate_strength(pad(labels.astype(np.int16), 3), neighbours, 3, planes)
        assert found == plain_strength(labels, neighbours, 3, planes)
    whole = estimate_strength(pad(labels.astype(np.int16), 3), neighbours, 3)
    assert whole == plain_strength(labels, neighbours, 3, np.ones(12, dtype=bool))


def test_labels_that_never_change_have_the_greatest_strength():
    labels = np.zeros((1, 8, 8, 4), dtype=np.int16)
    assert estimate_strength(pad(labels, 2), Neighbours.of((8, 8, 4), (1.0, 1.0, 1.0)), 2) == 12.0


def test_labels_are_swept_a_little_more_cautiously_than_they_show(scene):
    volume, f, emission, _ = scene
    start, margin = label_voxels(volume, f, True, emission)
    neighbours = Neighbours.of(volume.grid[1:], (1.0, 1.0, 1.0))
    labels, strength = potts_labels(volume, f, True, emission, start, margin, neighbours)
    rough, _ = swept(volume, f, True, emission, start, margin, neighbours, 5.0)
    assert strength == pytest.approx(0.8 * estimate_strength(pad(rough, 3), neighbours, 3))
    again = swept(volume, f, True, emission, start, margin, neighbours, strength, sweeps=6)
    np.testing.assert_array_equal(labels, again[0])
    given, same = potts_labels(volume, f, True, emission, start, margin, neighbours, 2.5)
    assert same == 2.5
    np.testing.assert_array_equal(given, swept(volume, f, True, emission, start, margin, neighbours, 2.5, sweeps=6)[0])
    assert np.all(labels[start < 0] == -1)
    alone = Neighbours.of((1, 1, 1), (1.0, 1.0, 1.0))
    for around, strength in ((neighbours, 0.0), (alone, 5.0)):
        same, changed = swept(volume, f, True, emission, start, margin, around, strength)
        assert changed == 0
        np.testing.assert_array_equal(same, start)
