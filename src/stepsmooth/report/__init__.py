"""Pictures of a fitted decomposition, and of the theory that says whether to trust it."""

from stepsmooth.report.amplitude import AmplitudeDisplay
from stepsmooth.report.certificate import CertificateDisplay
from stepsmooth.report.contrast import contrast_figure
from stepsmooth.report.display import DecompositionDisplay
from stepsmooth.report.dwell import DwellDisplay
from stepsmooth.report.graphs import GraphDisplay
from stepsmooth.report.image_display import ImageDisplay
from stepsmooth.report.page import write
from stepsmooth.report.quality_check import Quality, quality
from stepsmooth.report.residuals import ResidualDisplay
from stepsmooth.report.saving import save_figure
from stepsmooth.report.spectra import SpectralDisplay

__all__ = [
    "AmplitudeDisplay",
    "CertificateDisplay",
    "DecompositionDisplay",
    "DwellDisplay",
    "GraphDisplay",
    "ImageDisplay",
    "Quality",
    "ResidualDisplay",
    "SpectralDisplay",
    "contrast_figure",
    "quality",
    "save_figure",
    "write",
]
