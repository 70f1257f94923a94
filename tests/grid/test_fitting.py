"""The rounds of one fit of a volume: what is compared between them."""

from types import SimpleNamespace

import numpy as np
import pytest

from stepsmooth.grid.fitting import _agreement


def blocks_at(*places):
    """Blocks of a 4 x 5 grid, each (frame, place)."""
    frame, place = np.array(places).T
    return SimpleNamespace(shape=(4, 5), frame=frame, place=place)


def test_blocks_agree_if_they_are_of_the_same_frame_and_place():
    now = blocks_at((0, 3), (1, 3), (1, 7), (2, 0))
    assert _agreement(now, now) == 1.0
    assert _agreement(now, blocks_at((1, 3))) == pytest.approx(0.25)
    assert _agreement(now, blocks_at((1, 3), (2, 7), (0, 0), (2, 0))) == pytest.approx(0.5)
    assert _agreement(now, blocks_at((0, 7), (3, 3))) == 0.0
