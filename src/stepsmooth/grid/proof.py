"""Whether there is a field at all: asked of quiet voxels only, and a field has to prove itself.

Where tissues meet, voxels are mixed, and how they are mixed changes slowly through the brain: thin cortex looks darker
than thick. A slow field predicts that, too, in cubes that had no say in it, and would be taken for a bias. Voxels that
are like their neighbours lie inside one tissue. If the field predicts them no better than no field does, beyond doubt,
there is none.
"""

from dataclasses import dataclass

import numpy as np

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.joint import JointFit
from stepsmooth.grid.scored_voxels import ScoredVoxels
from stepsmooth.grid.stiffness import held_out_score, lead

# The share of the voxels that are asked: those most like their neighbours.
QUIET = 0.25
# A field is there if it is better by so many standard errors.
BEYOND_DOUBT = 3.0
# A field that is so many nats a voxel better than none, on all voxels, needs no proof: mixtures do not explain that.
OBVIOUS = 0.4


@dataclass(frozen=True)
class Proof:
    """By how much a field beats none on quiet voxels, in nats a voxel, and the error of that."""

    ahead: float
    error: float

    @property
    def holds(self) -> bool:
        """Return whether there is a field."""
        return self.ahead > BEYOND_DOUBT * self.error


def prove(blocks: Blocks, field: JointFit, none: JointFit, voxels: ScoredVoxels, cube_side: float) -> Proof:
    """Compare a field with none on the quiet voxels of cubes that had no say."""
    quiet = quiet_voxels(voxels, relative=field.field.multiplicative)
    with_field, without = (held_out_score(blocks, fit, quiet, cube_side) for fit in (field, none))
    return Proof(*lead(with_field, without, quiet.mass))


def quiet_voxels(voxels: ScoredVoxels, *, relative: bool) -> ScoredVoxels:
    """Return the voxels that are most like their neighbours; relative to what they are if f multiplies."""
    unlike = voxels.unlike / np.maximum(voxels.values**2, np.finfo(np.float64).tiny) if relative else voxels.unlike
    total = unlike.sum(axis=1)
    inside = np.isfinite(total)
    return voxels.part(total <= np.quantile(total[inside], QUIET)) if inside.any() else voxels
