"""How good a decomposition is: labels, levels and smooth part against the truth, and the best one can do.

Only ``smooth + constant`` can be recovered, so levels are compared with both smooth parts made zero-mean,
and smooth parts up to a constant. The Bayes classifier that knows everything but the labels
(:func:`bayes_oracle`) is the ceiling to measure against. NaN is refused, never averaged over.
"""

from .accuracy import label_accuracy, ordered_accuracy
from .calibration import calibration_error
from .deviation import field_rmse, level_deviation
from .image_oracle import bayes_voxels
from .oracle import bayes_accuracy, bayes_oracle

__all__ = [
    "bayes_accuracy",
    "bayes_oracle",
    "bayes_voxels",
    "calibration_error",
    "field_rmse",
    "label_accuracy",
    "level_deviation",
    "ordered_accuracy",
]
