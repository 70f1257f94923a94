"""The paper's algorithm: alternate the smooth part and the (levels, labels), over any smoother."""

from stepsmooth.altmin.alternation import AltMinState, Decomposition, Problem, altmin
from stepsmooth.altmin.level_count import LevelCurve, select_n_levels
from stepsmooth.altmin.selection import TauCurve, select_tau, tau_of_dof, thinned
from stepsmooth.altmin.soft import SoftFit, evidence, refine, soften

__all__ = [
    "AltMinState",
    "Decomposition",
    "LevelCurve",
    "Problem",
    "SoftFit",
    "TauCurve",
    "altmin",
    "evidence",
    "refine",
    "select_n_levels",
    "select_tau",
    "soften",
    "tau_of_dof",
    "thinned",
]
