"""The certificate of a fitted image: could its labels be other than they are, and where."""

from typing import Any

import numpy as np

from stepsmooth.estimators.certificate import FAINT, check_every_level
from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.topology import Certificate, Lattice, certify, level_gap


def labelled_voxels(g: Any) -> tuple[Anything, Floats, Floats]:
    """Return the labelled voxels of a fitted `GridStepSmooth`, their observations and f, (n, p) and (n, 1).

    The background, voxels outside the mask and missing ones have no label and do not count. Frames that share a field
    lie on top of each other, so that they are points rather than a lattice.

    Examples
    --------
    >>> from stepsmooth import GridStepSmooth
    >>> image = np.exp(0.01 * np.arange(32))[:, None] * (1.0 + np.arange(32) // 4 % 2)
    >>> lattice, y, f = labelled_voxels(GridStepSmooth(2, knots=60.0, spacing=2.0).fit(image))
    >>> lattice.n_points, lattice.spacing, y.shape, f.shape
    (1024, array([2., 2.]), (1024, 1), (1024, 1))
    """
    channel, series = g._axes
    labelled = g.labels_ >= 0
    values = np.moveaxis(g.corrected_, channel, -1) if channel is not None else g.corrected_[..., None]
    values = values[labelled].astype(np.float64)
    spacing = np.broadcast_to(1.0 if g.spacing is None else np.asarray(g.spacing, dtype=np.float64), g.smooth_.ndim)
    voxels: Anything = Lattice(labelled, spacing) if series is None else None
    if series is None:
        f = g.smooth_[labelled].astype(np.float64)[:, None]
    else:
        places = np.delete(np.argwhere(labelled), series, axis=1)
        voxels, f = places * spacing, g.smooth_[tuple(places.T)].astype(np.float64)[:, None]
    return voxels, values * np.exp(f) if g._multiplicative else values + f, f


def grid_certificate(g: Any, *, c: float = 2.0, confidence: float = 0.95) -> Certificate:
    """Return the certificate of a fitted `GridStepSmooth` on the image that it was fitted to.

    Where f multiplies, levels are compared by their logarithms. Faint noise (a standard deviation below a twentieth of
    the least gap of levels) may count as part of f: if the verdict then is "identified", it is about every label.
    Otherwise it is about regions, and labels that noise has turned are counted apart.

    Parameters
    ----------
    g : GridStepSmooth
        Fitted.
    c, confidence : float
        As in :func:`stepsmooth.topology.certify`.

    Examples
    --------
    >>> from stepsmooth import GridStepSmooth
    >>> stripes = np.arange(32) // 4 % 2
    >>> image = np.exp(0.01 * np.arange(32))[:, None] * (1.0 + stripes)
    >>> grid_certificate(GridStepSmooth(2).fit(image)).verdict
    'identified'
    """
    voxels, y, f = labelled_voxels(g)
    labels, levels = g.labels_[g.labels_ >= 0], np.asarray(g.levels_, dtype=np.float64).reshape(g.n_levels_, -1)
    check_every_level(labels, g.n_levels_)
    variance = np.asarray(g.noise_variance_, dtype=np.float64).reshape(levels.shape)
    multiplies = bool(g._multiplicative)
    if g._in_logs:  # AltMin fits logarithms, and its noise is theirs
        y, levels, multiplies = np.log(y), np.log(levels), False
    exact: Certificate | None = None
    if _faint(levels, variance, f if multiplies else None):
        exact = certify(voxels, labels, levels, y=y, c=c, multiplicative=multiplies)
        if exact.verdict == "identified" or not np.all(variance > 0.0):
            return exact
    found = certify(
        voxels,
        labels,
        levels,
        smooth=f,
        y=y,
        c=c,
        noise_variance=variance,
        confidence=confidence,
        multiplicative=multiplies,
    )
    return found if exact is None or found.verdict == "identified" else exact


def _faint(levels: Floats, variance: Floats, log_field: Floats | None) -> bool:
    """Whether noise is so small, even where the field is darkest, that it turns no label."""
    if log_field is None:
        return float(np.sqrt(variance.max())) <= FAINT * level_gap(levels)
    if np.any(levels <= 0.0):
        return False
    relative = float(np.sqrt((variance / levels**2).max()) * np.exp(-log_field.min()))
    return relative <= FAINT * level_gap(np.log(levels))
