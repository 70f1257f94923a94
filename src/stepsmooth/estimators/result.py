"""What any solver hands to the estimator: a decomposition in its gauge, at the points that took part."""

from dataclasses import dataclass, field

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.model.smoother import Smoother


@dataclass(frozen=True)
class SmoothPart:
    """f as a function of x, in its gauge: all that prediction needs, and no more."""

    smoother: Smoother
    residual: Floats
    tau: float
    shift: Floats

    def at(self, X_new: Anything) -> Floats:
        """Return f at new points, (m, 1) or (m, p)."""
        return self.smoother.at(X_new, self.residual, self.tau) - self.shift


@dataclass(frozen=True)
class Result:
    """Labels, levels and the smooth part, with their uncertainty and how they came about."""

    labels: Ints
    probabilities: Floats
    levels: Floats
    levels_se: Floats
    smooth: Floats
    smooth_se: Floats
    part: SmoothPart
    tau: float
    effective_dof: float
    noise_variance: float | Floats
    proportions: Floats
    label_prior: str
    objective: float
    history: list[float]
    n_iter: int
    converged: bool
    kernel: str
    selection: dict[str, object]
    transition_matrix: Floats | None = None
    transition_se: Floats | None = None
    alternatives: list[Ints] = field(default_factory=list)
