"""Pictures of a fitted decomposition."""

from stepsmooth.report.amplitude import AmplitudeDisplay
from stepsmooth.report.contrast import contrast_figure
from stepsmooth.report.display import DecompositionDisplay
from stepsmooth.report.dwell import DwellDisplay
from stepsmooth.report.residuals import ResidualDisplay
from stepsmooth.report.saving import save_figure

__all__ = [
    "AmplitudeDisplay",
    "DecompositionDisplay",
    "DwellDisplay",
    "ResidualDisplay",
    "contrast_figure",
    "save_figure",
]
