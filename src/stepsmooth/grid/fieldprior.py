"""The prior of the field, exp(-penalty / 2 * integral |D^2 f|^2), and the linear solves in which it meets the data."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, blas, cho_factor, cho_solve, lapack

from stepsmooth.grid.bands import Band
from stepsmooth.grid.tensor import TensorBasis
from stepsmooth.model.arrays import Floats

# A field that the data do not bend at all would have an infinite penalty; so many times the data's precision will do.
STIFFEST, SOFTEST = 1e8, 1e-8
# Up to so many coefficients dense algebra is quicker, and its traces are exact.
SMALL = 256
# Else a trace is a mean over so many random vectors (Hutchinson 1990); its error is a few percent of the penalty.
N_PROBES = 12


@dataclass(frozen=True)
class Solution:
    """theta, the penalty that the restricted likelihood asks for next, and what it says of the present one, in nats."""

    theta: Floats
    penalty: float
    occam: float


@dataclass(frozen=True)
class Taken:
    """What the levels take from the field's information: sum over classes of share * touch touch', touch (M, n)."""

    touch: Floats
    share: Floats


@dataclass(frozen=True)
class FieldPrior:
    """The bending energy of a basis, and how many directions it penalises."""

    bending: Band
    rank: int

    @classmethod
    def of(cls, basis: TensorBasis) -> "FieldPrior":
        """Return the prior on the coefficients of a basis: only affine functions bend nothing."""
        free = 1 + sum(axis.n_cells > 0 for axis in basis.axes)
        return cls(basis.bending, basis.size - free)

    def energy(self, theta: Floats) -> float:
        """Return the integral of |D^2 f|^2."""
        ordered = theta[self.bending.layout.order]
        return float(ordered @ self.bending.times(ordered))

    def solve(
        self, gram: Band, moment: Floats, penalty: float, taken: Taken | None = None, *, choose: bool = True
    ) -> Solution:
        """Return the solution of (gram - taken + penalty P) theta = moment; it may leave the constant free.

        The next penalty is a step of Fellner and Schall, (rank - penalty tr(V P)) / theta' P theta with
        V = (gram - taken + penalty P)^-1: its fixed point maximises the restricted likelihood. Without `choose` it
        stays. `occam` is (rank log penalty - log det V^-1) / 2, the price of flexibility in the evidence.
        """
        if not 0.0 < penalty < np.inf:  # a handful of voxels that span more than a number can hold
            raise LinAlgError(f"the field's penalty is {penalty:g}.")
        run = self._dense if len(gram) <= SMALL else self._banded
        theta, logdet, bent = run(gram, moment, penalty, taken, choose)
        occam = 0.5 * self.rank * np.log(penalty) - 0.5 * logdet
        if not choose:
            return Solution(theta, penalty, occam)
        left = max(bent, 1e-6 * max(self.rank, 1))
        unit = gram.trace / max(self.bending.trace, 1e-300)
        chosen = float(np.clip(left / max(self.energy(theta), 1e-300), SOFTEST * unit, STIFFEST * unit))
        return Solution(theta, chosen, occam)

    def _dense(
        self, gram: Band, moment: Floats, penalty: float, taken: Taken | None, choose: bool
    ) -> tuple[Floats, float, float]:
        """Return theta, the log determinant and, if asked for, rank - penalty tr(V P)."""
        ridge, pin, firm = _pin(gram, taken)
        pinned = np.empty(len(gram))
        pinned[gram.layout.order] = pin
        system = gram.dense + penalty * self.bending.dense + firm * np.outer(pinned, pinned)
        if taken is not None:
            system -= (taken.touch.T * taken.share) @ taken.touch
        system[np.diag_indices(len(system))] += ridge
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        theta = np.asarray(cho_solve(factor, moment, check_finite=False))
        logdet = 2.0 * float(np.sum(np.log(np.diag(factor[0]))))
        if not choose:
            return theta, logdet, 0.0
        inverse, _ = lapack.dpotri(factor[0], lower=True, overwrite_c=True)
        # Only the lower triangle is filled.
        bending = self.bending.dense
        spent = 2.0 * np.einsum("ij,ij->", np.tril(inverse, -1), bending) + np.diag(inverse) @ np.diag(bending)
        return theta, logdet, float(self.rank - penalty * spent)

    def _banded(
        self, gram: Band, moment: Floats, penalty: float, taken: Taken | None, choose: bool
    ) -> tuple[Floats, float, float]:
        """Return the same from the band's factor; what is not in the band has low rank (Woodbury)."""
        order, n = gram.layout.order, len(gram)
        ridge, pin, firm = _pin(gram, taken)
        band = gram.data + penalty * self.bending.data
        band[0] += ridge
        factor, info = lapack.dpbtrf(band, lower=1, overwrite_ab=1)
        if info != 0:
            raise LinAlgError("the field's system is not positive definite.")
        touch = pin[None] if taken is None else np.vstack([pin, taken.touch[:, order]])
        size = np.array([firm]) if taken is None else np.append(firm, -taken.share)
        columns = np.vstack([moment[order], touch, *([self._probes] if choose else [])])
        X = lapack.dpbtrs(factor, columns.T, lower=1)[0]
        m = len(touch)
        Z = X[:, 1 : 1 + m]
        inner = np.eye(m) + size[:, None] * (touch @ Z)
        full = X - Z @ np.linalg.solve(inner, size[:, None] * (touch @ X))
        theta = np.empty(n)
        theta[order] = full[:, 0]
        logdet = 2.0 * float(np.sum(np.log(factor[0]))) + float(np.linalg.slogdet(inner)[1])
        if not choose:
            return theta, logdet, 0.0
        spent = float(np.sum(full[:, 1 + m :].T * self._probes)) / N_PROBES
        # An estimate of next to nothing may come out below it, and would set the field free.
        return theta, logdet, max(self.rank - penalty * spent, 1.0)

    @cached_property
    def _probes(self) -> Floats:
        """Return random vectors of covariance `bending`; the mean of v' V v over them is tr(V P)."""
        data = self.bending.data.copy(order="F")
        data[0] += 1e-9 * self.bending.trace / len(self.bending)  # affine functions bend nothing
        factor, info = lapack.dpbtrf(data, lower=1, overwrite_ab=1)
        if info != 0:
            raise LinAlgError("the bending energy is not positive definite.")
        signs = 2.0 * np.random.RandomState(0).randint(2, size=(N_PROBES, len(self.bending))) - 1.0
        return np.array([blas.dtbmv(self.bending.layout.width, factor, z, lower=1) for z in signs])


def _pin(gram: Band, taken: Taken | None) -> tuple[float, Floats, float]:
    """Return what is added to the diagonal, and the vector (in the band's rows) and size of a term of rank one.

    They fix what no data reach, and the constant (splines sum to one). Where levels are free the constant is free, too,
    and is given back the information that the levels took from it; else so little that it is not biased.
    """
    n, scale = len(gram), gram.trace / len(gram)
    if taken is None:
        return 1e-9 * scale, np.ones(n), 1e-6 * scale / n
    known = gram.times(np.ones(n))
    return 1e-9 * scale, known, 1.0 / max(float(known.sum()), 1e-300)
