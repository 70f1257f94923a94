"""The picture of a decomposed image: what was seen, the field, what is left without it, and the labels."""

from typing import TYPE_CHECKING, Self

import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap
from sklearn.utils.validation import check_is_fitted

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.report.lettering import entitle
from stepsmooth.report.palette import SEQUENTIAL, TYPOGRAPHY, level_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = 4


class ImageDisplay:
    """An image, its field, the corrected image and the labels, side by side; of a volume, the middle slice.

    Parameters
    ----------
    image, field, corrected : 2-D arrays
    labels : 2-D array of ints
        -1 where there is none.
    levels : (M,) array
    right : float, optional
        Share of labels that are right, if the truth is known.

    Attributes
    ----------
    axes_ : (4,) array of matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from stepsmooth import GridStepSmooth
    >>> from stepsmooth.datasets import make_head_phantom
    >>> from stepsmooth.report import ImageDisplay
    >>> head = make_head_phantom((60, 72), classes=("CSF", "GM", "WM"), strip=True, random_state=0)
    >>> g = GridStepSmooth(3, knots=60.0, label_prior="proportions").fit(head.image, mask=head.mask)
    >>> len(ImageDisplay.from_estimator(g, head.image, truth=head).axes_)
    4
    """

    def __init__(
        self,
        *,
        image: Floats,
        field: Floats,
        corrected: Floats,
        labels: Ints,
        levels: Floats,
        right: float | None = None,
    ) -> None:
        self.image = image
        self.field = field
        self.corrected = corrected
        self.labels = labels
        self.levels = levels
        self.right = right

    @classmethod
    def from_estimator(
        cls, estimator: Anything, image: Anything, *, truth: Anything = None, axes: Anything = None
    ) -> Self:
        """Draw a fitted GridStepSmooth together with the image it was fitted on.

        Parameters
        ----------
        estimator : GridStepSmooth
            A fitted estimator.
        image : array
            The image given to ``fit``; of several channels, the first is drawn.
        truth : object, optional
            What is known to be true, with the attribute ``labels``.
        axes : array-like of four matplotlib.axes.Axes, optional
            The axes to draw into; a new figure by default.

        Returns
        -------
        ImageDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        labels = np.asarray(estimator.labels_)
        levels = np.asarray(estimator.levels_).reshape(len(estimator.levels_), -1)[:, 0]
        right = None
        if truth is not None:
            inside = labels >= 0
            right = float(np.mean(labels[inside] == np.asarray(truth.labels)[inside]))
        axis = estimator.channel_axis
        channel = [np.asarray(a) if axis is None else np.take(a, 0, axis) for a in (image, estimator.corrected_)]
        if channel[0].shape != labels.shape:
            raise ValueError(f"image has shape {np.shape(image)}, but the fit has labels of shape {labels.shape}.")
        field = np.asarray(estimator.field_ if estimator.multiplicative else estimator.smooth_)
        slices = [_slice(a) for a in (channel[0], field, channel[1], labels)]
        display = cls(
            image=slices[0], field=slices[1], corrected=slices[2], labels=slices[3], levels=levels, right=right
        )
        return display.plot(axes=axes)

    def plot(self, *, axes: Anything = None) -> Self:
        """Draw into new axes, or into four given ones."""
        import matplotlib as mpl
        import matplotlib.pyplot as plt

        with mpl.rc_context(TYPOGRAPHY):
            if axes is None:
                axes = plt.figure(figsize=(11.0, 3.6), layout="constrained").subplots(1, PANELS)
            self.axes_ = np.asarray(axes, dtype=object).reshape(-1)
            if len(self.axes_) != PANELS:
                raise ValueError(f"axes must be {PANELS}, got {len(self.axes_)}.")
            self.figure_ = self.axes_[0].get_figure(root=True)
            inside = self.labels >= 0
            brightest = float(np.nanquantile(self.corrected[inside], 0.995)) if inside.any() else 1.0
            window: dict[str, Anything] = {"cmap": "gray", "vmin": min(0.0, float(np.nanmin(self.image)))}
            self._map(0, "Observation", self.image, vmax=brightest, **window)
            self._map(1, "Smooth part", np.where(inside, self.field, np.nan), cmap=SEQUENTIAL)
            self._map(2, "Corrected", self.corrected, vmax=brightest, **window)
            colours = ListedColormap(level_colours(len(self.levels)))
            edges = BoundaryNorm(np.arange(len(self.levels) + 1) - 0.5, len(self.levels))
            note = "" if self.right is None else f"{self.right:.1%} right"
            shown = np.where(inside, self.labels, np.nan)
            bar = self._map(3, "Step part", shown, note, cmap=colours, norm=edges)
            bar.set_ticks(np.arange(len(self.levels)), labels=[f"{level:.3g}" for level in self.levels])
            bar.ax.minorticks_off()
        return self

    def _map(self, panel: int, title: str, values: Floats, note: str = "", **colouring: Anything) -> Anything:
        ax: Axes = self.axes_[panel]
        # The first axis of an image runs to the right, the second up, as radiology has it.
        drawn = ax.imshow(values.T, origin="lower", interpolation="nearest", **colouring)
        ax.set_axis_off()
        entitle(ax, title, note)
        return self.figure_.colorbar(drawn, ax=ax, location="bottom", shrink=0.7, aspect=25, pad=0.02)


def _slice(array: Anything) -> Anything:
    """Return the middle slice along each axis after the second."""
    while array.ndim > 2:
        array = array[..., array.shape[-1] // 2]
    return array
