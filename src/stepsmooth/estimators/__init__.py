"""The public estimators."""

from stepsmooth.estimators.decompose import decompose
from stepsmooth.estimators.step_smooth import StepSmooth

__all__ = ["StepSmooth", "decompose"]
