"""Quality without ground truth: figures of a fit, and a verdict from regions of space that had no say in it.

`heldout` scores regions, `cubes` holds them out of images, `stretches` out of signals and scattered points; `figures`
are the rest, `judging` asks them all, and `result` says it.
"""

from stepsmooth.report.quality_check.judging import quality
from stepsmooth.report.quality_check.result import Quality

__all__ = ["Quality", "quality"]
