"""What every geometry shares: kernels, levels, the gauge and the smoother's protocol."""

from stepsmooth.model.gauge import centre
from stepsmooth.model.kernels import CubicSplineKernel, MinKernel, kernel_metric
from stepsmooth.model.kmeans import kmeans, kmeans_1d
from stepsmooth.model.levels import FreeLevels, KnownLevels, LevelModel, ShiftedLevels, candidate_set
from stepsmooth.model.smoother import Smoother, loss_and_penalty
from stepsmooth.model.sobolev import SobolevKernel

__all__ = [
    "CubicSplineKernel",
    "FreeLevels",
    "KnownLevels",
    "LevelModel",
    "MinKernel",
    "ShiftedLevels",
    "Smoother",
    "SobolevKernel",
    "candidate_set",
    "centre",
    "kernel_metric",
    "kmeans",
    "kmeans_1d",
    "loss_and_penalty",
]
