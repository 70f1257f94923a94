"""Fields of several stiffnesses against each other, on no more folds than it takes to tell them apart."""

from dataclasses import dataclass, field

import numpy as np

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.joint import JointFit
from stepsmooth.grid.scored_voxels import N_FOLDS, ScoredVoxels
from stepsmooth.grid.stiffness import (
    BETWEEN_FIELDS,
    FIRST_FOLDS,
    PLAIN,
    StiffnessCurve,
    best_of,
    choose_stiffness,
    held_out_score,
    lead,
)
from stepsmooth.model.arrays import Floats


@dataclass
class Contest:
    """The candidates so far, stiffest first, and the total score of each in the cubes in which it was scored."""

    blocks: Blocks
    voxels: ScoredVoxels
    side: float
    errors: float = 1.0  # how many of them tell a field from none in the end
    knots: list[float] = field(default_factory=list)
    fits: list[JointFit] = field(default_factory=list)
    totals: list[Floats] = field(default_factory=list)
    complete: list[bool] = field(default_factory=list)

    def enter(self, knots: float, fit: JointFit) -> bool:
        """Add a candidate; return whether it beats the best stiffer one, by more than the error of that."""
        before = self.best
        self.knots.append(knots)
        self.fits.append(fit)
        self.totals.append(held_out_score(self.blocks, fit, self.voxels, self.side, FIRST_FOLDS))
        self.complete.append(False)
        ahead, error = lead(self.totals[-1], self.totals[before], self.voxels.mass)
        if ahead >= -error:  # who is behind by more on the first folds is out
            self._tell_apart(len(self.fits) - 1, before)
        ahead, error = lead(self.totals[-1], self.totals[before], self.voxels.mass)
        return ahead > error

    @property
    def best(self) -> int:
        """Return the best candidate so far."""
        return best_of(self.totals, self.voxels.mass) if self.totals else 0

    def curve(self) -> StiffnessCurve | None:
        """Return the curve and the choice; None if the image is too small to hold anything out."""
        if all(np.all(np.isnan(total)) for total in self.totals):
            return None
        for i in range(self.best):
            self._tell_apart(i, self.best)
        errors = self.errors * np.where(np.isinf(self.knots), 1.0, BETWEEN_FIELDS)
        return choose_stiffness(self.knots, self.totals, self.voxels.mass, errors=errors)

    def _tell_apart(self, one: int, other: int) -> None:
        """Score all folds of two candidates if the first ones leave open which is better."""
        ahead, error = lead(self.totals[one], self.totals[other], self.voxels.mass)
        if one == other or abs(ahead) > PLAIN * error:
            return
        for i in (one, other):
            if not self.complete[i]:
                rest = tuple(fold for fold in range(N_FOLDS) if fold not in FIRST_FOLDS)
                more = held_out_score(self.blocks, self.fits[i], self.voxels, self.side, rest)
                self.totals[i] = np.where(np.isnan(more), self.totals[i], more)
                self.complete[i] = True
