"""Images whose tissue varies by more than noise explains: their field is looked for in logarithms.

Noise is the scanner's and knows no field, so where it rules the likelihood is that of the raw image. But tissue that
varies, or is mixed nearly everywhere, is seen through the field: it spreads in proportion to what the field makes of
it. In logarithms that spread is the same everywhere, and the field found in an image and in the same image under
another field differ by that field.
"""

from dataclasses import replace

import numpy as np

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.joint import JointFit, sample_of
from stepsmooth.grid.mixture import posterior
from stepsmooth.grid.search import Search
from stepsmooth.grid.volume import Volume

# The means of pure blocks of a textured class vary so many times more than the noise within the blocks explains.
TEXTURED = 4.0
# Textured classes hold at least this share of the blocks; the mixed blocks of others fill small classes.
LEAST_SHARE = 0.45
# A spread of this share of the level is no texture, even where there is hardly any noise.
LEAST_SPREAD = 0.01
# Texture is alike over centimetres: only in larger cubes, of this side in mm, is a field told from it, and as even
# those are not independent, it must be ahead by so many standard errors.
CUBE, ERRORS = 40.0, 2.0
# About so many blocks are asked.
N_ASKED = 20_000


def textured(joint: JointFit, blocks: Blocks) -> bool:
    """Return whether most classes and about half of the blocks are textured: a class may hold others' mixed blocks."""
    blocks = blocks.part(np.arange(0, len(blocks), max(len(blocks) // N_ASKED, 1)))
    sample = sample_of(blocks, joint.field)
    q, _ = posterior(sample.Y, sample.gain, sample.shift, sample.weights, joint.classes)
    q *= sample.weights[:, None]
    noise = (q.T @ blocks.within) / np.maximum(q.sum(axis=0), 1e-300)[:, None] / blocks.voxels_per_block
    least = noise + (LEAST_SPREAD * joint.classes.levels) ** 2 + 1e-300
    excess = np.mean(joint.classes.variances / least, axis=1)
    most = float(np.quantile(excess, 0.5, method="lower")) > TEXTURED
    share = float(joint.classes.proportions @ (excess > TEXTURED))
    return blocks.voxels_per_block > 1 and most and share > LEAST_SHARE


def in_logs(volume: Volume) -> Volume:
    """Return the logarithm of a volume; what is not positive is missing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(np.all(volume.values > 0.0, axis=0), np.log(volume.values), np.float32(np.nan))
    return replace(volume, values=values)


def task_in_logs(task: Search) -> Search:
    """Return the task for the logarithm of a volume."""
    known = None if task.known is None else np.log(task.known)
    return replace(task, multiplicative=False, rician=False, known=known, cube=CUBE, errors=ERRORS)
