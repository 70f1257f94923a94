"""How long a millimetre is: of heads it is known how slowly fields change, of other things only how large they are."""

from collections.abc import Sequence

from stepsmooth.model.arrays import Floats

# The longest side of what is not known to be as large as a head counts as this many mm.
HEAD = 180.0
# A side in mm shorter than the first, or voxels larger than the second, are no head's.
SHORTEST, COARSEST = 60.0, 20.0


def unit_length(space: Sequence[int], spacing: Sequence[float] | Floats | None) -> float:
    """Return the length that counts as a millimetre, in the unit of the spacing (a voxel without one).

    Examples
    --------
    >>> unit_length((181, 217), (1.0, 1.0)), unit_length((360, 200), None), unit_length((90, 90), (0.1, 0.1))
    (1.0, 2.0, 0.05)
    """
    sizes = [1.0] * len(space) if spacing is None else spacing
    side = max(float(n * h) for n, h in zip(space, sizes))
    return 1.0 if spacing is not None and side >= SHORTEST and max(sizes) <= COARSEST else side / HEAD
