"""A decomposition under another method's labels of the same observations."""

from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.metrics import ordered_accuracy
from stepsmooth.model.arrays import Anything
from stepsmooth.report.display import DecompositionDisplay
from stepsmooth.report.lettering import entitle
from stepsmooth.report.line_figure import line_block
from stepsmooth.report.line_panels import draw_histogram, draw_observations
from stepsmooth.report.palette import TYPOGRAPHY

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def contrast_figure(
    estimator: Anything, X: Anything, y: Anything, *, rival: Anything, name: str, truth: Anything = None
) -> "Figure":
    """Draw a decomposition over a line, and above it what another method makes of the same y.

    Parameters
    ----------
    estimator : StepSmooth
        A fitted estimator.
    X : array-like, shape (n, 1)
        The X given to ``fit``.
    y : array-like, shape (n,)
        The y given to ``fit``.
    rival : object
        The other method's answer, with attributes ``labels``, ``levels`` and ``smooth``.
    name : str
        What to call the other method.
    truth : object, optional
        What is known to be true, as in :class:`DecompositionDisplay`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> from stepsmooth import StepSmooth
    >>> from stepsmooth.datasets import make_sine_steps
    >>> data = make_sine_steps(200, 3, 2, noise_variance=0.01, random_state=0)
    >>> m = StepSmooth(n_levels=3, solver="altmin").fit(data.X, data.y)
    >>> figure = contrast_figure(m, data.X, data.y, rival=data, name="the truth", truth=data)
    >>> len(figure.axes)
    7
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    x, y = np.asarray(X, dtype=float).reshape(-1), np.asarray(y, dtype=float)
    with mpl.rc_context(TYPOGRAPHY):
        figure = plt.figure(figsize=(9.0, 7.6))
        figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.06)
        ratios = {"width_ratios": [6.5, 1], "height_ratios": [1.1, 1.1, 0.75, 1.0]}
        grid = figure.add_gridspec(4, 2, hspace=0.04, wspace=0.01, **ratios)
        block = line_block(figure, grid, row=1, column=0)
        top = figure.add_subplot(grid[0, 0], sharex=block[0])
        side = figure.add_subplot(grid[0, 1], sharey=top)

        order = np.argsort(x, kind="stable")
        labels, levels = np.asarray(rival.labels)[order], np.asarray(rival.levels)
        draw_observations(top, x[order], y[order], labels, levels, np.asarray(rival.smooth)[order])
        draw_histogram(side, y[order], labels, len(levels))
        entitle(side, "", "y", "left")
        share = None if truth is None else ordered_accuracy(truth.labels, rival.labels)
        entitle(top, name, "" if share is None else f"{share:.1%} of {len(y):,} labels right")
        top.tick_params(labelbottom=False)
        display = DecompositionDisplay.from_estimator(estimator, X, y, axes=block, truth=truth)
        display.axes_[0, 0].set_title("stepsmooth", loc="left", fontweight="bold")
    return figure
