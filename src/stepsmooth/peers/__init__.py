"""What others do with such data, written once and used by experiments and benchmarks.

Smoothers take the package's `tau` and give f at the points; decompositions take ``(x, y, n_levels)`` and give
a :class:`PeerDecomposition` in the package's own label order and gauge. For images, bias fields (N4, LapGM) are
log fields on the grid, and decompositions are of the voxels within the mask. Optional packages are imported when
called for.
"""

from .altmin import csaps_altmin
from .changepoints import changepoint_levels
from .decomposition import PeerDecomposition, channels, in_our_gauge
from .detrend import detrend_kmeans, find_trend, trend_local, trend_polynomial
from .grid_altmin import grid_csaps, grid_csaps_altmin
from .hmm import hmm_levels
from .kmeans import kmeans_ckwrap, kmeans_levels, kmeans_sklearn
from .lapgm import lapgm_field
from .mixture import mixture_levels
from .n4 import n4_field
from .optional import require
from .ridge import min_gram, ridge_cholesky, ridge_sklearn
from .splines import on_knots, roughness, spline_csaps, spline_dense, spline_scipy
from .volumes import cluster_volume, voxels

__all__ = [
    "PeerDecomposition",
    "changepoint_levels",
    "channels",
    "cluster_volume",
    "csaps_altmin",
    "detrend_kmeans",
    "find_trend",
    "grid_csaps",
    "grid_csaps_altmin",
    "hmm_levels",
    "in_our_gauge",
    "kmeans_ckwrap",
    "kmeans_levels",
    "kmeans_sklearn",
    "lapgm_field",
    "min_gram",
    "mixture_levels",
    "n4_field",
    "on_knots",
    "require",
    "ridge_cholesky",
    "ridge_sklearn",
    "roughness",
    "spline_csaps",
    "spline_dense",
    "spline_scipy",
    "trend_local",
    "trend_polynomial",
    "voxels",
]
