"""`StepSmooth`, the estimator for points and signals."""

from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from stepsmooth.estimators import magnitudes, parameters, uncertainty
from stepsmooth.estimators.certificate import certificate_of
from stepsmooth.estimators.fitting import fit_altmin
from stepsmooth.estimators.geometry import builders
from stepsmooth.estimators.line_fitting import fit_on_line
from stepsmooth.estimators.lost_levels import warn_of_lost_levels
from stepsmooth.estimators.notebook import mime_bundle, notebook_html
from stepsmooth.estimators.result import Result
from stepsmooth.estimators.settings import check_settings
from stepsmooth.estimators.words import in_words
from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.model.levels import nearest_level
from stepsmooth.model.threads import one_thread
from stepsmooth.topology import Certificate


class StepSmooth(BaseEstimator):
    """Decompose y = f(x) + mu_z + noise into a smooth part f, levels mu and labels z.

    Parameters
    ----------
    n_levels : int, "auto" or "cv", default=2
        The number of levels M. `"auto"` chooses it by evidence, `"cv"` by the held-out distance to the nearest
        level, as the paper does (under noise that takes too many); AltMin asks 5,000 of more than 10,000 points, among
        which a very rare level may be lost. Ignored if `levels` are given.
    kernel : str, callable or scikit-learn kernel, default="auto"
        The space of f. `"min"` (f' in L2, f(origin) = 0), `"spline"` (cubic smoothing spline), `"sobolev1"`,
        `"sobolev2"` on a line; `"rbf"`, `"matern"` (length scale chosen by GCV) anywhere; a function
        `k(X, Y) -> matrix`; a kernel object of scikit-learn; `"precomputed"` (X is the kernel matrix).
        `"auto"`: the spline on a line, Matern elsewhere.
    tau : float, "gcv", "cv", "reml" or "auto", default="auto"
        The weight of |f|^2 in the objective, in the units of x; or how to choose it, over effective degrees of
        freedom; with more than 50,000 points only near the best tau of two parts of them, unless by `"cv"`. `"auto"`:
        joint by likelihood, AltMin by `"gcv"`.
    solver : {"auto", "altmin", "joint"}, default="auto"
        `"altmin"`: the paper's alternation. `"joint"`, for spline and min kernel on a line: labels are decided together
        with f and the parameters by a search over label histories (see `stepsmooth.line`); it needs fewer points,
        stands labels that last, and knows priors, ladders and outliers. `"auto"`: joint on a line, unless a parameter
        is one of AltMin's (another kernel, `tau` by "gcv", "cv" or "reml", `start`, `n_init`, `callback`,
        `field="per_channel"`, `n_levels="cv"`); AltMin elsewhere.
    start : {"auto", "smooth", "kmeans"} or array of labels, default="auto"
        `"smooth"`: smooth y first, then find levels (the paper's one-step order); `"kmeans"`: levels of y first.
        `"auto"` is `"smooth"`.
    label_prior : {"auto", "uniform", "proportions", "markov"}, default="auto"
        All labels equally likely (AltMin always), estimated proportions, or a Markov chain along x. `"auto"`: joint
        decides by penalised likelihood; `label_prior_` and `selection_["label_prior"]` say which and why.
    levels : None, array or "ladder", default=None
        Known levels, (M,) or (M, p); with them f is not centred. `"ladder"` (joint): equally spaced.
    free_shift : bool, default=False
        The known levels hold only up to a common shift (in logs: known ratios).
    field : {"shared", "per_channel"}, default="shared"
        For y with several channels: one f for all, or one for each.
    mean : float, default=0.0
        The gauge: the weighted mean of f over the points.
    missing : {"raise", "drop"}, default="raise"
        What to do with NaN in y. Dropped points get a smooth part, and the label -1.
    robust : {"auto", True, False}, default="auto"
        An outlier component in the noise: one observation in a hundred, three times as wide. `"auto"`: on in joint, off
        in AltMin, which has none.
    n_init : int, default=1
        AltMin's starts; the first is `start`, the others are random, the lowest objective is kept.
    max_iter : int, default=300
        AltMin's most iterations.
    tol : float, default=1e-8
        AltMin has converged when the labels have settled and the objective falls by less than `tol` times itself.
    rank : int, default=500
        The most landmarks of the low-rank smoother, for kernels other than `"min"` and `"spline"`.
    callback : callable or None, default=None
        Called with an `AltMinState` after each iteration at the tau that is kept, start by start.
    random_state : int, RandomState or None, default=None
        Used for vector y (k-means++) and for random starts only; results are the same bits for the same value,
        whatever the number of threads.

    Attributes
    ----------
    labels_ : (n,) array of ints
        0..M-1 in ascending order of the levels (of the first channel); -1 where y was dropped.
    levels_ : (M,) or (M, p) array
    smooth_ : (n,) array, or (n, p) with `field="per_channel"` and vector y
    probabilities_ : (n, M) array
    proportions_ : (M,) array
        Weighted share of each label.
    label_prior_ : str
    transition_matrix_, transition_matrix_se_ : (M, M) arrays, with a Markov prior
    determined_ : bool
        False if other labels explain the data as well, to within 2 nats (joint); `alternatives_` has them.
    alternatives_ : list of (n,) arrays of labels
    noise_variance_ : float, or (M,) array
        One for all, or one for each level where the data ask for it (joint).
    levels_se_, smooth_se_ : arrays like `levels_`, `smooth_`
        Standard errors, the labels taken as given (AltMin); NaN at points that had no say in the fit.
    n_levels_ : int
    tau_ : float
    effective_dof_ : float
        Trace of the smoother at `tau_`, over all fields.
    objective_ : float
        AltMin: 1/n sum w |y - mu_z - f|^2 + tau |f|^2, with f before the gauge's shift. Joint: -log p(y).
    objective_history_ : list of float
    n_iter_ : int
    converged_ : bool
    kernel_ : str
        The kernel that was used, with its length scale.
    selection_ : dict
        The curves behind the choices of "tau", "n_levels" and "kernel", where one was made; "thinning" if any was done.
    n_features_in_ : int
    feature_names_in_ : array of str, if X has them

    Examples
    --------
    >>> from stepsmooth import StepSmooth
    >>> from stepsmooth.datasets import make_sine_steps
    >>> data = make_sine_steps(400, 3, 3.0, random_state=0)
    >>> m = StepSmooth(n_levels=3).fit(data.X, data.y)
    >>> bool((m.labels_ == data.labels).all())
    True
    >>> m.levels_.round(2)
    array([-1.,  0.,  1.])
    """

    def __init__(
        self,
        n_levels: int | str = 2,
        *,
        kernel: Any = "auto",
        tau: Any = "auto",
        solver: str = "auto",
        start: Any = "auto",
        label_prior: str = "auto",
        levels: Any = None,
        free_shift: bool = False,
        field: str = "shared",
        mean: float = 0.0,
        missing: str = "raise",
        robust: Any = "auto",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-8,
        rank: int = 500,
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_levels = n_levels
        self.kernel = kernel
        self.tau = tau
        self.solver = solver
        self.start = start
        self.label_prior = label_prior
        self.levels = levels
        self.free_shift = free_shift
        self.field = field
        self.mean = mean
        self.missing = missing
        self.robust = robust
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.rank = rank
        self.callback = callback
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def fit(self, X: Anything, y: Anything, sample_weight: Anything = None) -> Self:
        """Decompose observations y at points X.

        Parameters
        ----------
        X : (n, d) array or frame
        y : (n,) or (n, p) array or frame
        sample_weight : (n,) array of numbers >= 0, optional
            AltMin: frequencies, 2 stands for a point given twice. Joint: precisions, 2 stands for half the noise
            variance. In both, 0 stands for an absent point.

        Returns
        -------
        self
        """
        X, Y, vector = self._check_data(X, y)
        X, Y = X.copy(), Y.copy()  # the estimator keeps them
        weights = parameters.check_weights(sample_weight, len(X))
        present = (weights > 0.0) & ~np.isnan(Y).any(axis=1)
        settings = check_settings(self, Y, present, X.shape[1])
        X_in, Y_in, weights_in = X, Y, weights
        if not present.all():
            X_in = X[np.ix_(present, present)] if settings.precomputed else X[present]
            Y_in, weights_in = Y[present], weights[present]
        magnitudes.check_fit(X_in, Y_in, weights, settings)
        rank = parameters.check_count("rank", self.rank)
        with one_thread():
            if settings.solver == "joint":
                result = fit_on_line(X_in[:, 0], Y_in, weights_in, settings)
            else:
                ways = builders(settings.kernel, X_in, weights_in, rank)
                result = fit_altmin(X_in, Y_in, weights_in, ways, settings)
            self._store(result, X, Y, present, vector)
        return self

    def predict(self, X: Anything) -> Floats:
        """Return the smooth part at new points; for kernel="precomputed", X is the matrix K(x_new, x_fit)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        magnitudes.check_new_values("X", X)
        return self._shape_of_smooth(self._smooth_at(X))

    def assign(self, X: Anything, y: Anything) -> Ints:
        """Return the labels of new observations: the most probable level of y - f(x)."""
        return np.asarray(self._log_densities(X, y).argmax(axis=1), dtype=np.int64)

    def score(self, X: Anything, y: Anything, sample_weight: Anything = None) -> float:
        """Return the mean log predictive density, log sum_k pi_k N(y; f(x) + mu_k, s2)."""
        each = logsumexp(self._log_densities(X, y), axis=1)
        return float(np.average(each, weights=parameters.check_weights(sample_weight, len(each))))

    def simulate(self, random_state: Anything = None) -> tuple[Floats, Ints]:
        """Return y and labels of a new sample from the fitted model at the same points (parametric bootstrap)."""
        check_is_fitted(self)
        rng = check_random_state(random_state)
        labels = self._simulate_labels(rng)
        smooth = self.smooth_ if self.smooth_.ndim == self.levels_.ndim else self.smooth_[:, None]
        y = smooth + self.levels_[labels]
        sd = np.sqrt(np.broadcast_to(self.noise_variance_, self.n_levels_))[labels]
        return y + sd.reshape(-1, *[1] * (y.ndim - 1)) * rng.standard_normal(y.shape), labels

    def _simulate_labels(self, rng: np.random.RandomState) -> Ints:
        """Return labels drawn from proportions, or from the chain, which runs along x for a Markov prior."""
        labels = rng.choice(self.n_levels_, size=len(self.labels_), p=self.proportions_)
        if self.label_prior_ == "markov":
            rises = np.cumsum(self.transition_matrix_, axis=1)
            for before, now in pairwise(self._along):
                to = np.searchsorted(rises[labels[before]], rng.uniform())
                labels[now] = np.minimum(to, self.n_levels_ - 1)
        return np.asarray(labels, dtype=np.int64)

    def _repr_html_inner(self) -> str:
        return notebook_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return mime_bundle(self, get_config()["display"] == "diagram")

    def summary(self) -> str:
        """Return the result in words."""
        check_is_fitted(self)
        return in_words(self)

    def certificate(self, *, c: float = 2.0, confidence: float = 0.95) -> Certificate:
        """Say whether the labels could be other than they are, and under which premises.

        Parameters
        ----------
        c : float, default=2.0
            The premise: the true f varies over neighbouring points by at most c times as much as the fitted one.
        confidence : float, default=0.95
            With noise: the probability that the verdict "identified" is right, if the premises hold.

        Returns
        -------
        Certificate
            See :func:`stepsmooth.topology.certify`.
        """
        check_is_fitted(self)
        return certificate_of(self, *self._data, c=c, confidence=confidence)

    def _check_data(self, X: Anything, y: Anything) -> tuple[Floats, Floats, bool]:
        if y is None:
            raise ValueError("This StepSmooth estimator requires y to be passed, but the target y is None.")
        missing = parameters.check_choice("missing", self.missing, parameters.MISSING)
        parameters.check_plain("X", X)
        parameters.check_plain("y", y)
        X = validate_data(self, X, dtype=np.float64)
        finite = "allow-nan" if missing == "drop" else True
        y = check_array(y, ensure_2d=False, allow_nd=True, dtype=np.float64, ensure_all_finite=finite, input_name="y")
        check_consistent_length(X, y)
        if y.ndim > 2:
            raise ValueError(f"y must be of shape (n,) or (n, p), got shape {y.shape}.")
        if self.__sklearn_tags__().input_tags.pairwise and X.shape[0] != X.shape[1]:
            raise ValueError(f"X must be the square kernel matrix if kernel='precomputed', got shape {X.shape}.")
        return X, y.reshape(len(y), -1), y.ndim == 2

    def _store(self, result: Result, X: Floats, Y: Floats, present: Anything, vector: bool) -> None:
        self._part, self._vector = result.part, vector
        self._data = X, Y  # for the certificate
        self._columns = None if present.all() else present
        self.n_levels_ = len(result.levels)
        if self.levels is None:
            warn_of_lost_levels(self.n_levels, result, Y[present])
        self.levels_ = result.levels if vector else result.levels[:, 0]
        self.levels_se_ = result.levels_se if vector else result.levels_se[:, 0]
        self.tau_, self.effective_dof_ = result.tau, result.effective_dof
        self.objective_, self.objective_history_ = result.objective, result.history
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self.kernel_, self.label_prior_, self.selection_ = result.kernel, result.label_prior, result.selection
        self.noise_variance_, self.proportions_ = result.noise_variance, result.proportions
        self.determined_ = not result.alternatives
        self.alternatives_ = result.alternatives
        if result.transition_matrix is not None:
            self.transition_matrix_, self.transition_matrix_se_ = result.transition_matrix, result.transition_se
            self._along = np.argsort(X[:, 0], kind="stable")
        self._fill(result, X, Y, present)

    def _fill(self, result: Result, X: Floats, Y: Floats, present: Anything) -> None:
        """Store what there is one of for each point, also for the points that had no say in the fit."""
        n, fields = len(Y), result.smooth.shape[1]
        fitted = slice(None) if present.all() else present
        smooth, errors = np.empty((n, fields)), np.full((n, fields), np.nan)
        smooth[fitted], errors[fitted] = result.smooth, result.smooth_se
        if not present.all():
            smooth[~present] = self._smooth_at(X[~present])
        self.smooth_, self.smooth_se_ = self._shape_of_smooth(smooth), self._shape_of_smooth(errors)
        labels = np.full(n, -1, dtype=np.int64)
        probabilities = np.full((n, self.n_levels_), 1.0 / self.n_levels_)
        labels[fitted], probabilities[fitted] = result.labels, result.probabilities
        absent = ~present & ~np.isnan(Y).any(axis=1)
        if absent.any():
            residual = (Y - smooth)[absent]
            labels[absent] = nearest_level(residual, result.levels)
            probabilities[absent] = uncertainty.normalise(
                self._densities_of(residual, np.full(self.n_levels_, 1.0 / self.n_levels_))
            )
        self.labels_, self.probabilities_ = labels, probabilities

    def _smooth_at(self, X: Floats) -> Floats:
        columns = self._columns if self.__sklearn_tags__().input_tags.pairwise else None
        with one_thread():
            return self._part.at(X if columns is None else X[:, columns])

    def _shape_of_smooth(self, smooth: Floats) -> Floats:
        return smooth if smooth.shape[1] > 1 or (self._vector and self.field == "per_channel") else smooth[:, 0]

    def _log_densities(self, X: Anything, y: Anything) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(X, y)
        magnitudes.check_new_values("X", X)
        magnitudes.check_new_values("y", y)
        Y, p = y.reshape(len(y), -1), self._n_channels
        if Y.shape[1] != p:
            raise ValueError(f"y must have {p} channel(s), as in fit, got {Y.shape[1]}.")
        return self._densities_of(Y - self._smooth_at(X), self.proportions_)

    @property
    def _n_channels(self) -> int:
        return self.levels_.shape[1] if self._vector else 1

    def _densities_of(self, residual: Floats, proportions: Floats) -> Floats:
        levels = self.levels_.reshape(self.n_levels_, -1)
        return uncertainty.log_densities(residual, levels, self.noise_variance_, proportions)
