"""A fitted `GridStepSmooth` in words."""

from typing import Any

import numpy as np


def grid_in_words(g: Any) -> str:
    """Return what a fitted `GridStepSmooth` found, line by line."""
    levels = np.atleast_2d(g.levels_.T).T
    spread = np.atleast_2d(np.sqrt(g.noise_variance_).T).T
    kind = "multiplies" if g.multiplicative else "adds"
    lines = [f"{g.n_levels_} class(es) under a field that {kind}"]
    for k in range(g.n_levels_):
        values = ", ".join(f"{v:.4g} (noise sd {s:.2g})" for v, s in zip(levels[k], spread[k]))
        lines.append(f"  class {k}: {values}, {100 * g.proportions_[k]:.1f} % of the labelled voxels")
    if g.has_background_:
        lines.append("  background: label -1, without field")
    inside = g.labels_ >= 0
    share = 100.0 * np.count_nonzero(inside) / inside.size
    if np.isinf(g.knots_):
        lines.append("field: none; no field predicts held-out blocks as well as any")
    else:
        how = f"tau {g.tau_:.3g}" if np.isnan(g.knots_) else f"knots {g.knots_:.3g} apart, tau {g.tau_:.3g}"
        ratio = f", highest/lowest {np.exp(np.ptp(g.smooth_)):.3g}" if g.multiplicative else ""
        lines.append(f"field: sd of f {np.std(g.smooth_, dtype=np.float64):.3g}{ratio}, {how}")
    prior = f"{g.label_prior_}" + (f" of strength {g.potts_strength_:.2g}" if g.potts_strength_ > 0 else "")
    lines.append(f"labels: {share:.1f} % of the voxels, prior {prior}")
    if not g.converged_:
        lines.append(f"NOT converged in {g.n_iter_} iterations")
    return "\n".join(lines)
