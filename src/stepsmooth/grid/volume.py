"""The data of a fit in one layout: channels first, then frames that share a field, then three spatial axes."""

from dataclasses import dataclass

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
    `spacing` is the distance of voxels along the three spatial axes.
    """

    values: Floats32
    spacing: tuple[float, float, float]
    weights: Floats32 | None = None

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

    def box(self) -> tuple[slice, slice, slice]:
        """Return the smallest box of space that holds every present voxel, starting at even indices.

        Blocks of two voxels then never straddle its border, whatever the mask.
        """
        present = np.asarray(np.any(self.present, axis=0))
        sides = []
        for a in range(3):
            found = np.flatnonzero(np.any(present, axis=tuple(b for b in range(3) if b != a)))
            sides.append(slice(int(found[0]) // 2 * 2, int(found[-1]) + 1))
        return sides[0], sides[1], sides[2]

    def coordinates(self) -> list[Floats]:
        """Return the coordinates of the voxels' centres along the three spatial axes, in the units of `spacing`."""
        return [np.arange(n, dtype=np.float64) * h for n, h in zip(self.grid[1:], self.spacing)]
