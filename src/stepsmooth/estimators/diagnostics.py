"""Whether the residuals look like the noise that the model assumes."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import stats

from stepsmooth.estimators import parameters
from stepsmooth.estimators.autocorrelation import autocorrelation, left_by_smoothing, ljung_box
from stepsmooth.estimators.findings import bare, find
from stepsmooth.estimators.hum import Line, strongest_line
from stepsmooth.estimators.recording import Recording, read_recording
from stepsmooth.model.arrays import Anything, Floats

FAR = 4.0  # noise sds from zero that make an outlier
# Residuals this small beside the observations are rounding.
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)  # arrays have no single truth value, so == would raise
class Diagnostics:
    """What the residuals of a fitted recording say; `print` it.

    Attributes
    ----------
    n : int
        Residuals, over all channels.
    sd : (M,) or (M, p) array
        Root mean square residual of each level, NaN for a level without samples.
    skewness, excess_kurtosis : float
        Of residuals in units of their level's sd; 0 for Gaussian noise.
    outlier_share : float
        Share of residuals beyond 4 noise sds of the fit.
    autocorrelation : (k,) array
        At lags 1, 2, ..., k samples.
    expected_autocorrelation : (k,) array
        What smoothing leaves of white noise: the smooth part takes slow noise with it, and the rest alternates.
    ljung_box_p : float
        Probability of autocorrelations so far from the expected ones in white noise.
    line : Line or None
        The strongest line in the spectrum of y - level: `frequency`, `share` of the variance, `stands_out`. With the
        smooth part in it, but nothing slower than ten periods on record: so hum is seen also where the smooth part
        has taken it up. None if x does not go in equal steps.
    findings : tuple of str
        A sentence for each thing that stands out; empty if the residuals look like white Gaussian noise.
    """

    n: int
    sd: Floats
    skewness: float
    excess_kurtosis: float
    outlier_share: float
    autocorrelation: Floats
    expected_autocorrelation: Floats
    ljung_box_p: float
    line: Line | None
    findings: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        by_level = "; ".join(
            f"{k}: " + ", ".join(f"{value:.3g}" for value in np.atleast_1d(row)) for k, row in enumerate(self.sd)
        )
        lines = [
            f"residuals of {self.n:,} observations, sd at level {by_level}",
            f"  skewness {self.skewness:.2f}, excess kurtosis {self.excess_kurtosis:.2f}, "
            f"{self.outlier_share:.2%} beyond {FAR:g} noise sds",
        ]
        if len(self.autocorrelation):
            first = ", ".join(bare(value) for value in self.autocorrelation[:5])
            chance = "p < .001" if self.ljung_box_p < 0.001 else f"p = {self.ljung_box_p:.3f}"
            lines.append(
                f"  autocorrelation from lag 1: {first}; Ljung-Box {chance} over {len(self.autocorrelation)} lags"
            )
        if self.line is None:
            lines.append("  no spectrum: x does not go in equal steps, or in too few")
        else:
            lines.append(
                f"  strongest line: frequency {self.line.frequency:.4g}, {self.line.share:.1%} of the variance"
            )
        return "\n".join(lines + [f"- {finding}" for finding in self.findings or ("nothing stands out",)])


def diagnostics(m: Anything, X: Anything = None, y: Anything = None, *, n_lags: int = 20) -> Diagnostics:
    """Examine the residuals y - smooth - level of a recording for what the model does not expect.

    Parameters
    ----------
    m : StepSmooth
        Fitted on one axis, such as time.
    X, y : arrays, optional
        The data it was fitted on, by default those that it keeps; needed only where the kernel was a matrix. Channels
        of y are pooled, as the model gives them one noise variance.
    n_lags : int, default=20
        Lags of the autocorrelation, in samples; at most a quarter of n.

    Returns
    -------
    Diagnostics
        With a sentence in `findings` for each thing that is both large enough to matter and too large for chance.
        Weights are not taken into account, except that samples of weight 0 are left out.

    Examples
    --------
    >>> from stepsmooth import decompose, diagnostics
    >>> rng = np.random.default_rng(0)
    >>> t = np.arange(600) / 1000
    >>> y = np.sin(5 * t) + 2.0 * rng.integers(2, size=600) + 0.1 * rng.normal(size=600)
    >>> hum = 0.1 * np.sin(2 * np.pi * 50 * t)
    >>> print(diagnostics(decompose(y + hum, t, tau="gcv")))
    residuals of 600 observations, sd at level 0: 0.0861; 1: 0.0835
      skewness -0.13, excess kurtosis 0.60, 0.00% beyond 4 noise sds
      autocorrelation from lag 1: −.22, −.16, −.07, −.02, −.08; Ljung-Box p = 0.409 over 20 lags
      strongest line: frequency 50, 35.1% of the variance
    - a line at frequency 50 (Hz if x is in seconds) carries 35% of the fast variance: if it is hum, ...
    """
    n_lags = parameters.check_count("n_lags", n_lags)
    return examine(read_recording(m, X, y, "diagnostics"), n_lags)


def examine(recording: Recording, n_lags: int) -> Diagnostics:
    """Return the diagnostics of a recording."""
    residuals, labels = recording.residuals, recording.labels
    counts = np.bincount(labels, minlength=len(recording.levels)).astype(float)
    squares = np.stack([np.bincount(labels, r**2, minlength=len(counts)) for r in residuals.T], axis=1)
    with np.errstate(invalid="ignore"):
        sd = np.sqrt(squares / counts[:, None])
    shown = sd if recording.vector else sd[:, 0]
    if np.sqrt(np.mean(residuals**2)) <= ROUNDING * np.abs(recording.steps).max():
        nothing = ("the residuals vanish: smooth part and levels explain y exactly, there is no noise to examine",)
        nan = float("nan")
        return Diagnostics(residuals.size, shown, nan, nan, 0.0, np.empty(0), np.empty(0), nan, None, nothing)
    scale = sd[labels]
    standard = np.divide(residuals, scale, out=np.zeros_like(residuals), where=scale > 0.0)
    correlations = autocorrelation(residuals, n_lags)
    expected = left_by_smoothing(len(recording), recording.dof, recording.sharing, len(correlations))
    found = Diagnostics(
        n=residuals.size,
        sd=shown,
        skewness=float(np.mean(standard**3)),
        excess_kurtosis=float(np.mean(standard**4) - 3.0),
        outlier_share=float(np.mean(np.abs(residuals) > FAR * recording.noise_sd[labels])),
        autocorrelation=correlations,
        expected_autocorrelation=expected,
        ljung_box_p=ljung_box(correlations - expected, residuals.size),
        line=strongest_line(recording.x, residuals + recording.smooth),
    )
    return replace(found, findings=find(found, _equal_spread(residuals, labels)))


def _equal_spread(residuals: Floats, labels: Anything) -> float:
    """Return the p-value of equal spread at all levels (Brown & Forsythe 1974), NaN if it cannot be asked."""
    groups = [residuals[labels == k].ravel() for k in np.unique(labels)]
    groups = [group for group in groups if len(group) > 2]
    return float(stats.levene(*groups).pvalue) if len(groups) > 1 else float("nan")
