"""The data of a fit in one layout: channels first, then frames that share a field, then three spatial axes."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stepsmooth.model.arrays import Floats

Floats32 = NDArray[np.float32]
Bools = NDArray[np.bool_]
Labels = NDArray[np.int16]


@dataclass(frozen=True)
class Volume:
    """An image as (p, t, x, y, z) floats, with NaN wherever a voxel has no say (outside the mask, missing, weight 0).

    Images of fewer axes have axes of length one. `weights` is (t, x, y, z), or None where all are one.
    `spacing` is the distance of voxels along the three spatial axes; `start`, of even numbers, is where the first voxel
    lies on the grid of an image of which this is a part.
    """

    values: Floats32
    spacing: tuple[float, float, float]
    weights: Floats32 | None = None
    start: tuple[int, int, int] = (0, 0, 0)

    @property
    def n_channels(self) -> int:
        """Return p."""
        return int(self.values.shape[0])

    @property
    def grid(self) -> tuple[int, ...]:
        """Return (t, x, y, z)."""
        return tuple(self.values.shape[1:])

    @property
    def present(self) -> Bools:
        """Return where all channels are known, (t, x, y, z)."""
        return np.asarray(~np.isnan(self.values[0]))

    @cached_property
    def box(self) -> tuple[slice, slice, slice]:
        """Return the smallest box of space that holds every present voxel, starting at even indices.

        Blocks of two voxels then never straddle its border, whatever the mask.
        """
        return box_of(self.present)

    def coordinates(self) -> list[Floats]:
        """Return the coordinates of the voxels' centres along the three spatial axes, in the units of `spacing`."""
        return [np.arange(s, s + n, dtype=np.float64) * h for n, h, s in zip(self.grid[1:], self.spacing, self.start)]


def box_of(present: Bools) -> tuple[slice, slice, slice]:
    """Return the smallest box of space, starting at even indices, that holds every present voxel of (t, x, y, z)."""
    plane = np.asarray(np.any(present, axis=(0, 3)))
    seen = (np.any(plane, axis=1), np.any(plane, axis=0), np.any(present, axis=(0, 1, 2)))
    ends = [np.flatnonzero(s) for s in seen]
    sides = [slice(int(found[0]) // 2 * 2, int(found[-1]) + 1) for found in ends]
    return sides[0], sides[1], sides[2]
