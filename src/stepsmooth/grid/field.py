"""The field: f = B theta, what its bending costs, and how it is carried to another basis or grid."""

from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.fieldprior import FieldPrior
from stepsmooth.grid.splines import AxisBasis, axis_basis
from stepsmooth.grid.tensor import TensorBasis
from stepsmooth.model.arrays import Floats

# The most coefficients that dense algebra is asked to handle; knots are moved apart until there are no more.
MOST_COEFFICIENTS = 2200


@dataclass(frozen=True)
class Field:
    """f at the grid of blocks and the penalty on its bending; `basis` is None if there is no field."""

    basis: TensorBasis | None
    prior: FieldPrior | None
    theta: Floats
    penalty: float
    multiplicative: bool

    @classmethod
    def absent(cls, multiplicative: bool) -> "Field":
        """Return f = 0."""
        return cls(None, None, np.zeros(0), 0.0, multiplicative)

    @classmethod
    def flat(cls, blocks: Blocks, knot_spacing: float, multiplicative: bool) -> "Field":
        """Return f = 0 in a basis with knots about `knot_spacing` apart, that may bend."""
        basis = TensorBasis.on(axes_of(blocks, knot_spacing), blocks.coordinates)
        return cls(basis, FieldPrior.of(basis), np.zeros(basis.size), 1.0, multiplicative)

    @property
    def cost(self) -> float:
        """Return penalty / 2 * integral |D^2 f|^2."""
        return 0.0 if self.prior is None else 0.5 * self.penalty * self.prior.energy(self.theta)

    def at(self, blocks: Blocks) -> Floats:
        """Return f at the blocks."""
        return np.zeros(len(blocks)) if self.basis is None else blocks.gather(self.basis.evaluate(self.theta))

    def on(self, coordinates: list[Floats]) -> "Field":
        """Return the same f at another grid."""
        if self.basis is None:
            return self
        return replace(self, basis=TensorBasis.on(self.basis.axes, coordinates))

    def centred(self, blocks: Blocks) -> "Field":
        """Return f less its weighted mean over the blocks; splines sum to one."""
        if self.basis is None:
            return self
        return replace(self, theta=self.theta - np.average(self.at(blocks), weights=blocks.weights))

    def fitted_to(self, f: Floats, blocks: Blocks) -> "Field":
        """Return the field of this basis that is closest to values at the blocks."""
        if self.basis is None or self.prior is None:
            return self
        gram = self.basis.gram(blocks.scatter(blocks.weights))
        moment = self.basis.project(blocks.scatter(blocks.weights * f))
        slight = 1e-6 * gram.trace / max(self.prior.bending.trace, 1e-300)
        return replace(self, theta=self.prior.solve(gram, moment, slight, choose=False).theta)


def axes_of(blocks: Blocks, knot_spacing: float) -> list[AxisBasis]:
    """Return bases along the axes with knots about `knot_spacing` apart, or as close as dense algebra can handle."""
    axes = [axis_basis(low, high, knot_spacing) for low, high in blocks.reach]
    while np.prod([axis.size for axis in axes]) > MOST_COEFFICIENTS:
        knot_spacing *= 1.1
        axes = [axis_basis(low, high, knot_spacing) for low, high in blocks.reach]
    return axes
