"""Pictures of a fitted decomposition."""

from stepsmooth.report.contrast import contrast_figure
from stepsmooth.report.display import DecompositionDisplay
from stepsmooth.report.saving import save_figure

__all__ = ["DecompositionDisplay", "contrast_figure", "save_figure"]
