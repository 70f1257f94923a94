"""Scattered points in any dimension: the dense reference and its low-rank approximation."""

from stepsmooth.points.dense import DenseSmoother
from stepsmooth.points.nystroem import NystroemSmoother

__all__ = ["DenseSmoother", "NystroemSmoother"]
