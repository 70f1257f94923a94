"""The verdict on labels, shown in place: where it fails, and what hangs together in spite of it."""

from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stepsmooth.estimators.grid_certificate import labelled_voxels
from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.report.certificate_line import draw_on_line, line_panels
from stepsmooth.report.certificate_map import Plane, draw_on_plane
from stepsmooth.report.certificate_slice import slice_of
from stepsmooth.report.certificate_words import (
    drawn_points,
    first_column,
    one_column,
    part_groups,
    sign_premise,
    under,
)
from stepsmooth.report.display import as_blocks
from stepsmooth.report.palette import TYPOGRAPHY
from stepsmooth.topology import Certificate, Lattice

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class CertificateDisplay:
    """A certificate drawn over the data it is about.

    Over a line: the observations coloured by label, with the stretches shaded whose edges break the condition; other
    labels that fit as well, if any were found; and a bar for each part within which labels are consistent with each
    other. Over a plane or an image the same as maps. The title is the verdict, the line at the bottom its premise.
    Build it with :meth:`from_certificate` or, for a fitted estimator, with :meth:`from_estimator`.

    Parameters
    ----------
    certificate : Certificate
    X : array, shape (n, 1) or (n, 2), or Lattice of two dimensions
    y : array, shape (n,)
    labels : array of int, shape (n,)
    levels : array, shape (M,), optional
    smooth : array, shape (n,), optional

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : array of matplotlib.axes.Axes
        Over a line: observations, other labels if there are any, parts. Over a plane: observations, labels, parts,
        other labels if there are any.

    Examples
    --------
    >>> from stepsmooth.datasets import make_sine_steps
    >>> from stepsmooth.report import CertificateDisplay
    >>> from stepsmooth.topology import certify
    >>> data = make_sine_steps(400, 3, 1.0, random_state=0)
    >>> seen = (data.x < 0.45) | (data.x > 0.7)  # a pause in the recording
    >>> X, y, labels = data.X[seen], data.y[seen], data.labels[seen]
    >>> found = certify(X, labels, data.levels, y=y, modulus=1.0)
    >>> display = CertificateDisplay.from_certificate(found, X, labels, y=y)
    >>> display.axes_[0].get_title("right")
    'shaded: 1 edge breaks the condition'
    """

    figure_: "Figure"
    axes_: np.ndarray[tuple[int, ...], np.dtype[np.object_]]

    def __init__(
        self,
        *,
        certificate: Certificate,
        X: Anything,
        y: Floats,
        labels: Ints,
        levels: Floats | None = None,
        smooth: Floats | None = None,
    ) -> None:
        self.certificate = certificate
        self.X = X
        self.y = y
        self.labels = labels
        self.levels = levels
        self.smooth = smooth

    @classmethod
    def from_certificate(
        cls,
        certificate: Certificate,
        X: Anything,
        labels: Anything,
        *,
        y: Anything = None,
        levels: Anything = None,
        smooth: Anything = None,
        axes: Anything = None,
    ) -> Self:
        """Draw what :func:`stepsmooth.topology.certify` returned.

        Parameters
        ----------
        certificate : Certificate
        X : (n,), (n, 1) or (n, 2) array, or Lattice of two dimensions
            The points that were certified.
        labels : (n,) array of ints, or an image for a Lattice
        y : (n,) or (n, p) array, or an image, optional
            The observations; of several channels the first is drawn. The labels themselves by default.
        levels : (M,) or (M, p) array, optional
        smooth : (n,) or (n, p) array, optional
            With `levels`, the curves smooth + level are drawn over a line; y is assumed to be their sum.
        axes : array-like of matplotlib.axes.Axes, optional
            As many as `axes_` has; a new figure by default.

        Returns
        -------
        CertificateDisplay
            The display, drawn.
        """
        n = len(certificate.parts)
        points = X if isinstance(X, Lattice) else drawn_points(X)
        codes = one_column("labels", labels, points, n).astype(np.int64)
        display = cls(
            certificate=certificate,
            X=points,
            y=codes.astype(np.float64) if y is None else one_column("y", y, points, n),
            labels=codes,
            levels=first_column(levels),
            smooth=None if smooth is None else one_column("smooth", smooth, points, n),
        )
        return display.plot(axes=axes)

    @classmethod
    def from_estimator(
        cls,
        estimator: Anything,
        *,
        c: float = 2.0,
        confidence: float = 0.95,
        axis: int = -1,
        index: int | None = None,
        axes: Anything = None,
    ) -> Self:
        """Draw the certificate of a fit on the data that it was fitted to.

        Parameters
        ----------
        estimator : StepSmooth or GridStepSmooth
            Fitted on one or two columns, on an image or on a volume.
        c, confidence : float
            As in :func:`stepsmooth.topology.certify`.
        axis, index : int
            Of a volume, the slice that is shown lies across this axis; without an index, it is the one that most
            breaking edges cross. The verdict is that of the whole volume.
        axes : array-like of matplotlib.axes.Axes, optional
            As many as `axes_` has; a new figure by default.

        Returns
        -------
        CertificateDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        certificate = estimator.certificate(c=c, confidence=confidence)
        labelled = estimator.labels_ >= 0
        if hasattr(estimator, "_data"):
            X, y = estimator._data
            levels, smooth = estimator.levels_, estimator.smooth_[labelled]
            return cls.from_certificate(
                certificate, X[labelled], estimator.labels_[labelled], y=y[labelled], levels=levels, smooth=smooth,
                axes=axes,
            )  # fmt: skip
        voxels, y, _ = labelled_voxels(estimator)
        labels = estimator.labels_[labelled]
        if not isinstance(voxels, Lattice):
            raise ValueError("A picture shows one image; frames of a series lie on top of each other.")
        if voxels.mask.ndim < 3:
            X = voxels if voxels.mask.ndim == 2 else voxels.points()
            return cls.from_certificate(certificate, X, labels, y=y, axes=axes)
        across = axis % voxels.mask.ndim
        at = np.argwhere(voxels.mask)[:, across]
        certificate, piece, index = slice_of(certificate, voxels, across, index)
        display = cls.from_certificate(certificate, piece, labels[at == index], y=y[at == index], axes=axes)
        display.axes_[1].set_xlabel(f"slice {index} across axis {across};\nthe verdict is on the volume", fontsize=8.0)
        return display

    def plot(self, *, axes: Anything = None) -> Self:
        """Draw the panels.

        Parameters
        ----------
        axes : array-like of matplotlib.axes.Axes, optional
            As many as `axes_` has; a new figure by default.

        Returns
        -------
        CertificateDisplay
            The display itself, with `figure_` and `axes_`.
        """
        import matplotlib as mpl

        on_line = not isinstance(self.X, Lattice) and self.X.shape[1] == 1
        count = (2 if on_line else 3) + (self.certificate.alternative is not None)
        own = axes is None
        with mpl.rc_context(TYPOGRAPHY):
            if own:
                axes = self._line_layout() if on_line else self._map_layout(count)
            self.axes_ = as_blocks(axes, 1, count)[0]
            self.figure_ = self.axes_[0].get_figure(root=True)
            if on_line:
                draw_on_line(
                    list(self.axes_), self.certificate, self.X[:, 0], self.y, self.labels, self.levels, self.smooth
                )
            else:
                draw_on_plane(list(self.axes_), self.certificate, Plane(self.X), self.y, self.labels)
            if own:
                sign_premise(self.axes_[0], self.certificate.premise)
        return self

    def _line_layout(self) -> Anything:
        import matplotlib.pyplot as plt

        heights = line_panels(self.certificate)
        figure = plt.figure(figsize=(9.0, sum(heights) + 0.7))
        figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.06)
        return figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)

    def _map_layout(self, count: int) -> Anything:
        import matplotlib.pyplot as plt

        width, height = np.ptp(Plane(self.X).positions(), axis=0)
        tall = float(np.clip(3.0 * height / max(width, 1e-300), 1.2, 4.5))
        rows = len(part_groups(self.certificate.parts))
        lines = 0.16 * len(under(3.1 * count, self.certificate.premise).splitlines())
        figure = plt.figure(
            figsize=(3.1 * count, tall + 0.5 + lines + 0.2 * max(2, (rows + 1) // 2 if rows > 3 else rows))
        )
        figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.06)
        return figure.subplots(1, count)
