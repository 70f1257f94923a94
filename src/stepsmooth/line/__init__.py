"""Signals along one axis: smoothers in O(n), and the joint solver.

`statespace` and `smoother` are the smoothing spline and the min kernel; `beam` sums over label histories, `chain` and
`maximise` are the E- and the M-step around it, `starts` and `search` find where they lead, `average` takes over where
points are few, `joint` decides.
"""

from stepsmooth.line.smoother import LineSmoother

__all__ = ["LineSmoother"]
