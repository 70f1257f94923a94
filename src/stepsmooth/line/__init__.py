"""Signals along one axis: smoothers in O(n)."""

from stepsmooth.line.smoother import LineSmoother

__all__ = ["LineSmoother"]
