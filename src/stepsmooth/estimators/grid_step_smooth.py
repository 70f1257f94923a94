"""`GridStepSmooth`, the estimator for images and volumes."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from stepsmooth.estimators.grid_certificate import grid_certificate
from stepsmooth.estimators.grid_fitting import GridResult, fit_by_altmin, fit_by_joint
from stepsmooth.estimators.grid_image import GridImage, read_image, to_layout
from stepsmooth.estimators.grid_settings import check_grid_settings
from stepsmooth.estimators.grid_voxels import corrected_image, label_probabilities, margins
from stepsmooth.estimators.grid_words import grid_in_words
from stepsmooth.estimators.lost_levels import warn_of_lost_grid_levels
from stepsmooth.estimators.notebook import mime_bundle, notebook_html
from stepsmooth.model.arrays import Anything
from stepsmooth.model.threads import one_thread
from stepsmooth.topology import Certificate

Array = NDArray[Any]


class GridStepSmooth(BaseEstimator):
    """Decompose an image into a smooth field and classes of constant level: I = e^f m_z + noise, or m_z + f + noise.

    For MRI: the bias field, the corrected image and the tissue classes of one or several sequences; for microscopy and
    photographs: shading. Any number of dimensions; missing voxels are NaN.

    Parameters
    ----------
    n_levels : int or "auto", default=2
        The number of classes M. `"auto"` (joint) chooses it by what is predicted in held-out cubes of space. Ignored
        if `levels` are given.
    multiplicative : bool, default=True
        The field multiplies the levels (it is e^f), or adds to them.
    channel_axis : int or None, default=None
        The axis of an image with several channels (sequences), which share one field and have a level each.
    series_axis : int or None, default=None
        The axis of frames that share one field and levels, but have labels of their own (joint).
    spacing : float or tuple of floats, optional
        The size of a voxel along each axis of space, in mm. Without it, and in things smaller than 60 mm, the longest
        side of the image counts as 180 mm: how fast a field may change then goes by the size of the image.
    solver : {"auto", "joint", "altmin"}, default="auto"
        `"joint"`: field and levels together on pure blocks of voxels in the raw domain (see `stepsmooth.grid`).
        `"altmin"`: the paper's alternation with tensor-product smoothing splines. `"auto"` is `"joint"`.
    start : {"auto", "differences", "kmeans", "smooth"} or image of labels, default="auto"
        Joint: from differences of neighbours (and, while the stiffness is chosen, from the stiffer field) or from no
        field. AltMin: `"smooth"` (the default) or `"kmeans"` first, or labels.
    label_prior : {"auto", "uniform", "proportions", "potts"}, default="auto"
        All labels equally likely (AltMin always), as often as they are found, or alike among neighbours. `"auto"` is
        `"potts"` with a strength estimated from the labels, or `"proportions"` if that is too weak to matter or if the
        image has partial volume (voxels between two levels), of which the coupling knows nothing.
    tau : float, "auto", "gcv" or "reml", default="auto"
        How much bending costs. Joint: the weight of the integral of |D^2 f|^2 in -2 log p, a block; `"auto"` is by
        restricted likelihood. AltMin: each axis is smoothed as a line is by `StepSmooth` with this tau (for csaps
        p = 1 / (1 + n_axis tau)); `"auto"` is `"gcv"`.
    knots : float, "auto" or None, default="auto"
        Joint: the distance of the field's knots in mm; None is no field. `"auto"` takes the stiffest that
        predicts held-out cubes of space as well as the best, within half a standard error; no field within one.
    levels : None or array, default=None
        Known levels, (M,) or (M, p); with them f is not centred.
    free_shift : bool, default=False
        The known levels hold only up to a common factor (term, if not multiplicative).
    noise : {"gaussian", "rician"}, default="gaussian"
        `"rician"`: take away the noise floor of magnitude images before levels and field are fitted (joint).
    max_iter, tol : int, float
        AltMin's most iterations, and the relative fall of its objective at which it stops.
    callback : callable or None, default=None
        Called with an `AltMinState` after each iteration, or with a `GridState` after each round of joint.
    random_state : int, RandomState or None, default=None
        For images with several channels only (k-means++).

    Attributes
    ----------
    labels_ : array of int16, the image's shape without channels
        0..M-1 in ascending order of the levels (of the first channel); -1 outside the mask, where voxels are missing,
        and in the background, which is looked for when no mask is given.
    levels_ : (M,) or (M, p) array
        In the units of the image.
    smooth_ : array, the image's shape without channels and frames
        f, also outside the mask. Its (weighted) mean over the labelled voxels is 0, unless levels are known.
    field_ : array
        exp(f), or f if it adds.
    corrected_ : array like the image
        The image without the field; equal to the image outside the mask.
    margin_ : array like `labels_`
        By how much the likeliest label of a voxel beats the second, in probability, its neighbours left aside; NaN
        where there is no voxel.
    noise_variance_ : (M,) or (M, p) array
        For each class (AltMin: the same for all, of logarithms if multiplicative).
    proportions_ : (M,) array
    label_prior_ : str
    potts_strength_ : float
        What a voxel gains, in nats, when all its neighbours share its label; 0 without a Potts prior.
    n_levels_ : int
    tau_, knots_ : float
        As the parameters; `knots_` is infinite if no field was found, and NaN for AltMin.
    selection_ : dict
        The curves behind the choices of "stiffness", "n_levels" and "tau".
        "logarithms" is there, and True, if tissue varies by more than noise explains: then the field is that of the
        image's logarithm.
    objective_ : float
        AltMin: (|r - f|^2 + f'(S^-1 - I) f) / n. Joint: minus the log evidence of the blocks.
    objective_history_ : list of float
        AltMin only.
    n_iter_ : int
    converged_ : bool
    has_background_ : bool
        Whether a background class was found.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth import GridStepSmooth
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat(np.repeat(rng.integers(2, size=(8, 8)), 8, axis=0), 8, axis=1)
    >>> field = np.exp(np.linspace(-0.5, 0.5, 64))[:, None]
    >>> image = field * (1.0 + labels) + 0.05 * rng.normal(size=labels.shape)
    >>> g = GridStepSmooth(n_levels=2).fit(image)
    >>> bool(np.mean(g.labels_ == labels) > 0.99), g.levels_.round(1)
    (True, array([1., 2.]))
    """

    def __init__(
        self,
        n_levels: Any = 2,
        *,
        multiplicative: bool = True,
        channel_axis: int | None = None,
        series_axis: int | None = None,
        spacing: Any = None,
        solver: str = "auto",
        start: Any = "auto",
        label_prior: str = "auto",
        tau: Any = "auto",
        knots: Any = "auto",
        levels: Any = None,
        free_shift: bool = False,
        noise: str = "gaussian",
        max_iter: int = 300,
        tol: float = 1e-8,
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_levels = n_levels
        self.multiplicative = multiplicative
        self.channel_axis = channel_axis
        self.series_axis = series_axis
        self.spacing = spacing
        self.solver = solver
        self.start = start
        self.label_prior = label_prior
        self.tau = tau
        self.knots = knots
        self.levels = levels
        self.free_shift = free_shift
        self.noise = noise
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state

    def fit(self, image: Anything, mask: Anything = None, weights: Anything = None) -> Self:
        """Decompose an image.

        Parameters
        ----------
        image : array
            Space in any number of dimensions (joint: up to three), and an axis of channels or frames where named.
            NaN marks missing voxels.
        mask : array of bool, optional
            The image's shape without channels, or without frames either. Without a mask, air is looked for at the
            border of the image, and becomes a background without field.
        weights : array of numbers >= 0, optional
            Shaped as the mask; frequencies: 2 stands for a voxel seen twice, 0 for an absent one.

        Returns
        -------
        self
        """
        data = read_image(self, image, mask, weights)
        settings = check_grid_settings(self, data)
        with one_thread():
            run = fit_by_joint if settings.solver == "joint" else fit_by_altmin
            self._store(run(data, settings, bool(self.multiplicative)), data)
        if settings.known is None:
            warn_of_lost_grid_levels(settings.n_levels, self.levels_, self.tau_, data)
        return self

    @property
    def field_(self) -> Array:
        """The field, in the units in which it acts: exp(f), or f if it adds."""
        check_is_fitted(self)
        return np.asarray(np.exp(self.smooth_) if self._multiplicative else self.smooth_)

    def correct(self, image: Anything) -> Array:
        """Return another image on the same grid without the field.

        Parameters
        ----------
        image : array
            With the shape of `smooth_`, and with an axis of channels or frames where `fit` had one.
        """
        check_is_fitted(self)
        array = np.asarray(image)
        axes = [a % array.ndim for a in (self.channel_axis, self.series_axis) if a is not None]
        shape = tuple(s for a, s in enumerate(array.shape) if a not in axes)
        field = self.field_
        if array.shape != field.shape:
            if shape != field.shape or not axes:
                raise ValueError(
                    f"image must lie on the grid of the fit, {field.shape}, besides channels and frames, "
                    f"got shape {array.shape}."
                )
            field = np.expand_dims(field, tuple(sorted(axes)))
        array = array if array.dtype.kind == "f" else array.astype(field.dtype)
        return np.asarray(array / field if self._multiplicative else array - field).astype(array.dtype, copy=False)

    def probabilities(self) -> Array:
        """Return the probability of each class at each voxel, (*grid, M), its neighbours left aside.

        They are NaN outside the mask; where the background is likely they sum to less than one.
        """
        check_is_fitted(self)
        values = to_layout(self.corrected_, *self._axes)
        values = values * self.field_ if self._multiplicative else values + self.field_
        present = ~np.isnan(self.margin_)
        series = self._axes[1]
        present = present[None] if series is None else np.moveaxis(present, series, 0)
        found = self._probabilities(values, present)[..., : self.n_levels_]
        return np.ascontiguousarray(found[0] if series is None else np.moveaxis(found, 0, series))

    def _probabilities(self, values: Array, present: Array) -> Array:
        if self._in_logs:
            logs = np.log(np.where(present, values, 1.0))
            return label_probabilities(logs, self.smooth_, self._emission, False, present)
        return label_probabilities(values, self.smooth_, self._emission, self._multiplicative, present)

    def certificate(self, *, c: float = 2.0, confidence: float = 0.95) -> Certificate:
        """Say whether the labels could be other than they are, and under which premises.

        Parameters
        ----------
        c : float, default=2.0
            The premise: the true f varies between neighbours by at most c times as much as the fitted one.
        confidence : float, default=0.95
            With noise: the probability that the verdict "identified" is right, if the premises hold.

        Returns
        -------
        Certificate
            See :func:`stepsmooth.topology.certify`. Its points are the voxels with a label, `labels_ >= 0`, in C order.
        """
        check_is_fitted(self)
        return grid_certificate(self, c=c, confidence=confidence)

    def _repr_html_inner(self) -> str:
        return notebook_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return mime_bundle(self, get_config()["display"] == "diagram")

    def summary(self) -> str:
        """Return the result in words."""
        check_is_fitted(self)
        return grid_in_words(self)

    def _store(self, result: GridResult, data: GridImage) -> None:
        self._multiplicative = bool(self.multiplicative)
        vector = data.channel_axis is not None
        float_type = data.dtype
        self.n_levels_ = len(result.levels)
        self.labels_ = np.ascontiguousarray(data.out_of_layout(result.labels))
        self.levels_ = result.levels if vector else result.levels[:, 0]
        self.noise_variance_ = result.variances if vector else result.variances[:, 0]
        self.smooth_ = result.smooth.astype(float_type, copy=False)
        self.proportions_ = result.mass / (result.mass.sum() or 1.0)
        self.corrected_ = corrected_image(data, self.smooth_, self._multiplicative)
        self._axes = data.channel_axis, data.series_axis
        self._emission, self._in_logs = result.emission, result.in_logs
        margin = result.margin
        if margin is None:
            margin = margins(self._probabilities(data.values, result.labels >= 0))
        self.margin_ = np.ascontiguousarray(data.out_of_layout(margin)).astype(float_type, copy=False)
        self.tau_, self.knots_, self.potts_strength_ = result.tau, result.knots, result.strength
        self.objective_, self.objective_history_ = result.objective, result.history
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self.label_prior_, self.selection_ = result.label_prior, result.selection
        self.has_background_ = result.has_background
