"""How many classes there are, by what their mixture predicts in held-out cubes of space."""

from dataclasses import replace

import numpy as np

from stepsmooth.grid.background import Air, without_air
from stepsmooth.grid.blocks import merge_blocks, pure_blocks
from stepsmooth.grid.scored_voxels import ScoredVoxels
from stepsmooth.grid.search import N_SEARCHED, Search, fit_at, freed
from stepsmooth.grid.stiffness import CUBE, best_of, choose_stiffness, held_out_score
from stepsmooth.grid.volume import Volume
from stepsmooth.model.arrays import Floats

MOST_LEVELS = 8
# Counting stops when so many more classes in a row were no better.
PATIENCE = 2
# A class that gains less than this, in nats a voxel, mends the shape of another and is none of its own.
SLACK = 0.003
# For each number of classes the best of these distances between knots, in mm, is taken; infinite is no field.
KNOTS = (np.inf, 60.0, 28.0)


def choose_count(volume: Volume, task: Search, air: Air | None = None) -> tuple[Search, dict[str, object]]:
    """Return the task with the number of classes that the data ask for, and the curve behind it.

    It is the smallest number whose held-out score is within one standard error (over cubes), and a little, of the best.
    """
    signal = volume if air is None else without_air(volume, air)
    blocks = merge_blocks(pure_blocks(signal), N_SEARCHED)
    voxels = ScoredVoxels.of(signal, blocks, CUBE)
    knots = KNOTS if task.knots is None else (task.knots,)
    totals: list[Floats] = []
    for n_levels in range(1, MOST_LEVELS + 1):
        one = replace(task, n_levels=n_levels)
        fits = [freed(blocks, fit_at(blocks, one, distance, None), one) for distance in knots]
        scored = [held_out_score(blocks, fit, voxels, CUBE, own_proportions=False) for fit in fits]
        totals.append(scored[best_of(scored, voxels.mass)])
        if n_levels - 1 - best_of(totals, voxels.mass) >= PATIENCE or np.all(np.isnan(totals[0])):
            break
    if np.all(np.isnan(totals[0])):
        return replace(task, n_levels=1), {}
    curve = choose_stiffness([float(k + 1) for k in range(len(totals))], totals, voxels.mass, SLACK)
    chosen = curve.chosen + 1
    found = {
        "method": "held-out blocks",
        "n_levels": np.arange(1, len(totals) + 1),
        "score": curve.score,
        "behind": curve.behind,
        "error": curve.error,
        "chosen": chosen,
    }
    return replace(task, n_levels=chosen), found
