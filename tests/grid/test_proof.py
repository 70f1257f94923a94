"""The proof of a field: which voxels are quiet, and what counts as beyond doubt."""

from types import SimpleNamespace

import numpy as np
import pytest

from stepsmooth.grid import proof
from stepsmooth.grid.proof import Proof, prove, quiet_voxels
from stepsmooth.grid.scored_voxels import ScoredVoxels


def voxels_of(values, unlike):
    n = len(values)
    places = np.arange(n)
    return ScoredVoxels(
        np.asarray(values, dtype=float), np.ones(n), places, [np.arange(float(n))], places // 2, places % 5, 1.0,
        np.asarray(unlike, dtype=float),
    )  # fmt: skip


def test_a_field_is_there_if_it_is_three_errors_ahead():
    assert Proof(0.31, 0.1).holds
    assert not Proof(0.29, 0.1).holds
    assert not Proof(0.0, 0.0).holds


def test_the_quiet_quarter_is_that_most_like_its_neighbours():
    unlike = np.array([[8.0], [1.0], [np.inf], [2.0], [5.0], [3.0], [7.0], [6.0], [4.0]])
    quiet = quiet_voxels(voxels_of(np.full((9, 1), 2.0), unlike), relative=False)
    assert quiet.place.tolist() == [1, 3]  # of eight that are not at the border


def test_where_f_multiplies_bright_voxels_may_differ_more():
    values = np.array([[10.0, 1.0], [1.0, 10.0], [10.0, 10.0], [1.0, 1.0]])
    quiet = quiet_voxels(voxels_of(values, np.full((4, 2), 3.0)), relative=True)
    assert quiet.place.tolist() == [2]
    assert len(quiet_voxels(voxels_of(values, np.full((4, 2), 3.0)), relative=False).place) == 4


def test_of_zero_voxels_only_those_without_any_difference_are_quiet():
    quiet = quiet_voxels(voxels_of(np.array([[0.0], [1.0], [2.0]]), [[1e-3], [1e-3], [1e-3]]), relative=True)
    assert quiet.place.tolist() == [2]


def test_where_every_voxel_is_at_the_border_all_are_asked():
    every = voxels_of(np.ones((4, 1)), np.full((4, 1), np.inf))
    assert quiet_voxels(every, relative=False) is every


def test_the_proof_is_the_lead_of_the_field_on_quiet_voxels(monkeypatch):
    asked = []

    def scores(blocks, fit, quiet, side):
        asked.append((blocks, fit.name, quiet.place.tolist(), side))
        return {"field": np.array([3.0, 5.0]), "none": np.array([1.0, 1.0])}[fit.name]

    monkeypatch.setattr(proof, "held_out_score", scores)
    voxels = voxels_of(np.ones((8, 1)), [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]])
    voxels = voxels_of(voxels.values, voxels.unlike[[0, 4, 5, 1, 6, 7, 2, 3]])
    kind = SimpleNamespace(multiplicative=False)
    found = prove("blocks", SimpleNamespace(name="field", field=kind), SimpleNamespace(name="none"), voxels, 20.0)
    assert asked == [("blocks", "field", [0, 3], 20.0), ("blocks", "none", [0, 3], 20.0)]
    assert found.ahead == pytest.approx((2.0 + 4.0) / 2.0)
    assert found.error == pytest.approx(np.sqrt(2.0 * (1.0 + 1.0)) / 2.0)
