"""The public estimators, and what can be read off a fitted recording."""

from stepsmooth.estimators.decompose import decompose
from stepsmooth.estimators.diagnostics import Diagnostics, diagnostics
from stepsmooth.estimators.events import events
from stepsmooth.estimators.grid_step_smooth import GridStepSmooth
from stepsmooth.estimators.step_smooth import StepSmooth

__all__ = ["Diagnostics", "GridStepSmooth", "StepSmooth", "decompose", "diagnostics", "events"]
