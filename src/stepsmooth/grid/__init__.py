"""Images and volumes: tensor splines, pure blocks, the joint fit of field and classes, Potts labels, stiffness.

`fit_grid` is the joint solver; `TensorSmoother` is what AltMin needs on a grid.
"""

from stepsmooth.grid.background import Air, find_air, shell
from stepsmooth.grid.counting import choose_count
from stepsmooth.grid.fitting import GridFit, GridState, fit_grid
from stepsmooth.grid.labelling import Emission
from stepsmooth.grid.search import Search
from stepsmooth.grid.tensor_smoother import TensorSmoother
from stepsmooth.grid.volume import Volume

__all__ = [
    "Air",
    "Emission",
    "GridFit",
    "GridState",
    "Search",
    "TensorSmoother",
    "Volume",
    "choose_count",
    "find_air",
    "fit_grid",
    "shell",
]
