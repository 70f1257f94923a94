"""A fitted estimator in words."""

from typing import Any

import numpy as np


def in_words(m: Any) -> str:
    """Return what a fitted `StepSmooth` found, line by line."""
    levels = np.atleast_2d(m.levels_.T).T
    errors = np.atleast_2d(m.levels_se_.T).T
    lines = [f"{m.n_levels_} level(s) under a smooth part with {m.effective_dof_:.1f} effective degrees of freedom"]
    for k in range(m.n_levels_):
        values = ", ".join(f"{v:.4g} (se {e:.2g})" for v, e in zip(levels[k], errors[k]))
        lines.append(f"  level {k}: {values}, {100 * m.proportions_[k]:.1f} % of the points")
    spread = np.ptp(m.smooth_)
    lines.append(f"smooth part: range {spread:.4g}, kernel {m.kernel_}, tau {m.tau_:.3g}")
    sds = np.sqrt(np.atleast_1d(m.noise_variance_))
    sd = float(sds.max())
    if m.n_levels_ > 1:
        gaps = np.linalg.norm(levels[:, None] - levels[None], axis=2)
        gap = gaps[~np.eye(m.n_levels_, dtype=bool)].min()
        ratio = (
            f"; the smallest gap is {gap / sd:.1f} times {'that' if len(sds) == 1 else 'the largest'}" if sd > 0 else ""
        )
    else:
        ratio = ""
    each = ", ".join(f"{value:.4g}" for value in sds)
    lines.append(f"noise: standard deviation {each}{ratio}")
    state = f"converged in {m.n_iter_} iterations" if m.converged_ else f"NOT converged in {m.n_iter_} iterations"
    if m.label_prior_ == "uniform" and "label_prior" not in m.selection_:
        lines.append(f"AltMin {state}, objective {m.objective_:.4g}")
    else:
        lines.append(f"joint solver {state}, log-likelihood {-m.objective_:.1f}, labels: {m.label_prior_}")
    if "thinning" in m.selection_:
        every = m.selection_["thinning"]["chosen"]
        lines.append(f"fitted to one sample in {every}: neighbours move together, as a filter makes them")
    if not m.determined_:
        lines.append("NOT determined: other labels explain the data as well (alternatives_)")
    return "\n".join(lines)
