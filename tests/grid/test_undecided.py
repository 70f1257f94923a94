"""Undecided voxels: which they are, in which order, with which choices; and sweeps against slow ones."""

import numpy as np
import pytest

from stepsmooth.grid import undecided as module
from stepsmooth.grid.labelling import Emission, label_voxels
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.padding import pad, small_type
from stepsmooth.grid.partial import Components
from stepsmooth.grid.potts import Neighbours
from stepsmooth.grid.undecided import Undecided
from stepsmooth.grid.volume import Volume


def a_scene(rng, grid=(2, 5, 4, 3), n_classes=6, noise=1.0):
    levels = np.arange(1.0, n_classes + 1.0)[:, None]
    share = rng.uniform(0.5, 1.0, n_classes)
    classes = Classes(levels, np.full((n_classes, 1), noise**2), share / share.sum(), 1.0)
    emission = Emission.of(Components.pure(classes))
    values = rng.uniform(0.5, n_classes + 0.5, (1, *grid)).astype(np.float32)
    values[:, rng.uniform(size=grid) < 0.1] = np.nan
    f = (0.1 * rng.normal(size=grid[1:])).astype(np.float32)
    volume = Volume(values, (1.0, 1.0, 1.0))
    y = values[0].astype(float)
    score = emission.logs - emission.precision[:, 0] * (y[..., None] - np.exp(f)[..., None] * levels[:, 0]) ** 2
    return volume, f, emission, score


@pytest.mark.parametrize("planes", [None, [True, False, True, True, False]])
def test_undecided_are_listed_by_colour_with_their_likeliest_classes(planes):
    rng = np.random.default_rng(0)
    volume, f, emission, score = a_scene(rng)
    margin = rng.uniform(0.0, 1.0, volume.grid).astype(np.float32)
    margin[np.isnan(volume.values[0])] = np.nan
    planes = None if planes is None else np.array(planes)
    found = Undecided.of(volume, f, True, emission, margin, 1.2, planes)
    kept = np.ones(5, dtype=bool) if planes is None else planes
    expected, bounds = [], [0]
    for colour in np.ndindex(2, 2, 2):
        for at in np.ndindex(*volume.grid):
            same = tuple(i % 2 for i in at[1:]) == colour
            if same and kept[at[1]] and margin[at] < np.tanh(0.6) + 1e-6:
                expected.append(at)
        bounds.append(len(expected))
    assert found.bounds.tolist() == bounds
    padded = (2, 7, 6, 5)
    assert found.place.tolist() == [np.ravel_multi_index((t, x + 1, y + 1, z + 1), padded) for t, x, y, z in expected]
    for row, at in enumerate(expected):
        best = np.argsort(-score[at])[:4]
        assert found.choice[row].tolist() == best.tolist()
        np.testing.assert_allclose(found.score[row], score[at][best], rtol=1e-4, atol=1e-5)


def slow_sweeps(score, labels, neighbours, strength, sweeps):
    """One voxel at a time over all voxels, each with its four likeliest classes."""
    labels, changed = labels.copy(), 0
    for _ in range(sweeps):
        changed = 0
        for colour in np.ndindex(2, 2, 2):
            for at in np.ndindex(*labels.shape):
                if tuple(i % 2 for i in at[1:]) != colour or labels[at] < 0:
                    continue
                total = score[at].copy()
                for offset, weight in zip(neighbours.offsets, neighbours.weights):
                    there = tuple(np.add(at[1:], offset))
                    if all(0 <= i < n for i, n in zip(there, labels.shape[1:])) and labels[(at[0], *there)] >= 0:
                        total[labels[(at[0], *there)]] += strength * weight
                choices = np.argsort(-score[at])[:4]
                best = choices[np.argmax(total[choices])]
                changed += best != labels[at]
                labels[at] = best
        if changed == 0:
            break
    return labels, changed


@pytest.mark.parametrize("many", [1, 8], ids=["threads", "one thread"])
@pytest.mark.parametrize("sweeps", [1, 2, 9])
def test_sweeps_are_the_slow_ones(many, sweeps, monkeypatch):
    monkeypatch.setattr(module, "MANY", many)
    rng = np.random.default_rng(0)
    volume, f, emission, score = a_scene(rng, (2, 6, 5, 3))
    start, margin = label_voxels(volume, f, True, emission)
    neighbours = Neighbours.of(volume.grid[1:], (1.0, 1.0, 1.0))
    undecided = Undecided.of(volume, f, True, emission, margin, 6.0)
    padded = pad(start, 6)
    changed = undecided.sweep(padded, neighbours.steps(padded.shape), 6.0 * neighbours.weights, 6, sweeps)
    labels, expected = slow_sweeps(score, start, neighbours, 6.0, sweeps)
    inside = start >= 0
    np.testing.assert_array_equal(padded[:, 1:-1, 1:-1, 1:-1][inside], labels[inside])
    assert np.all(padded[:, 1:-1, 1:-1, 1:-1][~inside] == 6)
    assert changed == expected
    if sweeps == 9:
        assert changed == 0


def test_many_voxels_are_swept_in_chunks_alike(monkeypatch):
    """A line of voxels along one axis has two colours; each fills more than two chunks."""
    rng = np.random.default_rng(0)
    n = 2 * 4096 * 2 + 1000
    place = np.concatenate([np.arange(1, n + 1, 2), np.arange(2, n + 1, 2)]).astype(np.int32)
    score = rng.normal(size=(n, 2)).astype(np.float32)
    choice = np.tile(np.array([0, 1], dtype=np.uint8), (n, 1))
    half = (n + 1) // 2
    line = Undecided(place, choice, score, np.array([0, half, n]))
    found = []
    for many in (1, 1000):
        monkeypatch.setattr(module, "MANY", many)
        labels = np.full(n + 2, 2, dtype=np.uint8)
        labels[1:-1] = 0
        changed = line.sweep(labels, np.array([-1, 1]), np.array([0.4, 0.4]), 2, 1)
        found.append(labels)
        assert changed == np.sum(labels[1:-1] == 1)
    np.testing.assert_array_equal(*found)
    first = score[:half, 1] > score[:half, 0] + np.where((place[:half] == 1) | (place[:half] == n), 0.4, 0.8)
    np.testing.assert_array_equal(found[0][place[:half]], first)


def test_a_label_that_is_not_among_the_choices_gives_way():
    volume, f, emission, score = a_scene(np.random.default_rng(0), (1, 2, 2, 2))
    margin = np.zeros(volume.grid, dtype=np.float32)
    undecided = Undecided.of(volume, f, True, emission, margin, 1.0)
    padded = pad(np.argmin(score, axis=-1).astype(np.int16), 6)
    undecided.sweep(padded, np.array([1]), np.array([0.0]), 6, 1)
    present = ~np.isnan(volume.values[0])
    np.testing.assert_array_equal(padded[:, 1:-1, 1:-1, 1:-1][present], np.argmax(score, axis=-1)[present])


def test_padding_puts_a_border_of_none_around_each_frame():
    labels = np.array([[[[0, 1], [-1, 2]]], [[[2, 2], [1, 0]]]], dtype=np.int16)
    padded = pad(labels, 3)
    assert (padded.shape, padded.dtype) == ((2, 3, 4, 4), np.uint8)
    expected = np.full((2, 3, 4, 4), 3)
    expected[:, 1:-1, 1:-1, 1:-1] = np.where(labels < 0, 3, labels)
    np.testing.assert_array_equal(padded, expected)


def test_labels_take_the_smallest_type_that_holds_none_as_well():
    assert small_type(2) is np.uint8
    assert small_type(254) is np.uint8
    assert small_type(255) is np.uint16
