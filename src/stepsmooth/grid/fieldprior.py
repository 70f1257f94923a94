"""The prior of the field, exp(-penalty / 2 * integral |D^2 f|^2), and the linear solves in which it meets the data."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack

from stepsmooth.grid.tensor import TensorBasis
from stepsmooth.model.arrays import Floats

# A field that the data do not bend at all would have an infinite penalty; so many times the data's precision will do.
STIFFEST, SOFTEST = 1e8, 1e-8


@dataclass(frozen=True)
class Solution:
    """theta, the penalty that the restricted likelihood asks for next, and what it says of the present one, in nats."""

    theta: Floats
    penalty: float
    occam: float


@dataclass(frozen=True)
class FieldPrior:
    """The bending energy of a basis, and how many directions it penalises."""

    bending: Floats
    rank: int

    @classmethod
    def of(cls, basis: TensorBasis) -> "FieldPrior":
        """Return the prior on the coefficients of a basis: only affine functions bend nothing."""
        free = 1 + sum(axis.n_cells > 0 for axis in basis.axes)
        return cls(basis.bending, basis.size - free)

    def energy(self, theta: Floats) -> float:
        """Return the integral of |D^2 f|^2."""
        return float(theta @ self.bending @ theta)

    def solve(self, gram: Floats, moment: Floats, penalty: float, *, choose: bool = True) -> Solution:
        """Return the solution of (gram + penalty P) theta = moment; `gram` may leave the constant free.

        The next penalty is a step of Fellner and Schall, (rank - penalty tr(V P)) / theta' P theta with
        V = (gram + penalty P)^-1: its fixed point maximises the restricted likelihood. Without `choose` it stays.
        `occam` is (rank log penalty - log det(gram + penalty P)) / 2, the price of flexibility in the evidence.
        """
        factor = cho_factor(self._system(gram, penalty), lower=True, overwrite_a=True, check_finite=False)
        theta = np.asarray(cho_solve(factor, moment, check_finite=False))
        occam = 0.5 * self.rank * np.log(penalty) - float(np.sum(np.log(np.diag(factor[0]))))
        if not choose:
            return Solution(theta, penalty, occam)
        inverse, _ = lapack.dpotri(factor[0], lower=True, overwrite_c=True)
        # Only the lower triangle is filled.
        below = np.einsum("ij,ij->", np.tril(inverse, -1), self.bending)
        spent = 2.0 * below + np.diag(inverse) @ np.diag(self.bending)
        left = max(self.rank - penalty * spent, 1e-6 * max(self.rank, 1))
        unit = float(np.trace(gram)) / max(float(np.trace(self.bending)), 1e-300)
        chosen = float(np.clip(left / max(self.energy(theta), 1e-300), SOFTEST * unit, STIFFEST * unit))
        return Solution(theta, chosen, occam)

    def _system(self, gram: Floats, penalty: float) -> Floats:
        """Return gram + penalty P, made regular where it leaves the constant (and what no data reach) free."""
        system = gram + penalty * self.bending
        size = len(system)
        scale = np.trace(gram) / size
        # Splines sum to one: equal coefficients are the constant. So little does not bias one that the data know.
        system += 1e-6 * scale / size
        system[np.diag_indices(size)] += 1e-9 * scale
        return np.asarray(system)
