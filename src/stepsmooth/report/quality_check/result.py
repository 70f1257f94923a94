"""What is known of the quality of a decomposition without the truth: figures, a verdict, and both in words."""

import math
from dataclasses import asdict, dataclass
from typing import Literal

from stepsmooth.report.quality_check.heldout import confidence

Verdict = Literal["helped", "no change", "made worse"]

# How sure a verdict must be, as one-sided probabilities of Student's t over the regions: set on simulated cases, such
# that few of those that were not helped are said to be.
SURE_OF_HELP, SURE_OF_HARM = 0.995, 0.975
# A gain or loss of fewer nats an observation changes nothing that anyone would notice.
NOTICEABLE = 0.005
# Fewer regions do not make a verdict.
FEWEST_REGIONS = 6


@dataclass(frozen=True)
class Quality:
    """Figures of a decomposition, and whether f helped: `verdict`, `words()`, `as_dict()`.

    Attributes
    ----------
    n_observations : int
        Labelled observations that were looked at.
    cv_before, cv_after : float
        Coefficient of variation within the labels, before and after f was taken away: sd / mean where f multiplies,
        sd / mean distance of neighbouring levels where it adds. It falls whenever f swallows a part of the steps, so
        it proves nothing.
    cjv_before, cjv_after : float
        Coefficient of joint variation, (sd + sd) / distance of the means, of the two commonest levels; NaN with one.
    field_low, field_high : float
        The 5 % and 95 % quantiles of the field, e^f if it multiplies, else f.
    near_boundary : float
        Share of observations whose label beats the second by less than 0.5 in probability.
    residual_autocorrelation : float
        Correlation of the residuals of neighbours; NaN if there are none.
    gain, gain_error : float
        By how much held-out regions are better predicted with f than without, in nats an observation, and the
        standard error of that over the regions.
    far_gain, far_gain_error : float
        The same where regions are held out together with their neighbours.
    n_regions : int
    multiplicative : bool
    """

    n_observations: int
    cv_before: float
    cv_after: float
    cjv_before: float
    cjv_after: float
    field_low: float
    field_high: float
    near_boundary: float
    residual_autocorrelation: float
    gain: float
    gain_error: float
    far_gain: float
    far_gain_error: float
    n_regions: int
    multiplicative: bool

    @property
    def field_range(self) -> float:
        """How far the field reaches from 5 % to 95 %: a factor if it multiplies, else a difference."""
        return self.field_high / self.field_low if self.multiplicative else self.field_high - self.field_low

    @property
    def confidence(self) -> float:
        """The probability that held-out regions gain from f, 0.5 if there is nothing to tell."""
        return confidence(self.gain, self.gain_error, self.n_regions)

    @property
    def far_confidence(self) -> float:
        """The same for regions that are held out with their neighbours."""
        return confidence(self.far_gain, self.far_gain_error, self.n_regions)

    @property
    def verdict(self) -> Verdict:
        """Whether f helped, changed nothing that could be told from chance, or made things worse.

        It helped if it did so also where regions are held out with their neighbours, for sure: what is worth something
        only from close by is steps that f has swallowed.

        Examples
        --------
        >>> from dataclasses import replace
        >>> sure = Quality(900, 0.3, 0.2, 1.1, 0.7, 0.8, 1.2, 0.1, 0.0, 0.05, 0.01, 0.04, 0.01, 40, True)
        >>> sure.verdict, replace(sure, far_gain=0.01).verdict, replace(sure, gain=-0.05).verdict
        ('helped', 'no change', 'made worse')
        """
        if self.n_regions < FEWEST_REGIONS or abs(self.gain) < NOTICEABLE:
            return "no change"
        if min(self.confidence, self.far_confidence) >= SURE_OF_HELP:
            return "helped"
        return "made worse" if self.confidence <= 1.0 - SURE_OF_HARM else "no change"

    def as_dict(self) -> dict[str, float | int | bool | str | None]:
        """Return the figures and the verdict as plain values that JSON has; what is not a number is None.

        Examples
        --------
        >>> q = Quality(9, 0.3, 0.2, float("nan"), 0.7, 0.8, 1.2, 0.1, 0.0, 0.05, 0.01, 0.04, 0.01, 40, True)
        >>> q.as_dict()["verdict"], q.as_dict()["cjv_before"]
        ('helped', None)
        """
        found: dict[str, float | int | bool | str | None] = {"verdict": self.verdict, "confidence": self.confidence}
        found |= asdict(self)
        found["field_range"] = self.field_range
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in found.items()}

    def words(self) -> str:
        """Return the verdict and what lies behind it in short sentences, one a line."""
        what = "field" if self.multiplicative else "smooth part"
        lines = [self._verdict_in_words(what)]
        if self.multiplicative:
            lines.append(f"The field ranges from {self.field_low:.3g} to {self.field_high:.3g} (5-95 %).")
        else:
            lines.append(f"The smooth part ranges from {self.field_low:.3g} to {self.field_high:.3g} (5-95 %).")
        spread = f"Spread within levels: {_percent(self.cv_before)} before, {_percent(self.cv_after)} after"
        if math.isfinite(self.cjv_before) and math.isfinite(self.cjv_after):
            spread += f"; joint variation of the two commonest: {self.cjv_before:.2f}, then {self.cjv_after:.2f}"
        if math.isfinite(self.cv_before) and math.isfinite(self.cv_after):
            lines.append(f"{spread}.")
        lines.append(f"{_percent(self.near_boundary)} of the labels are close calls.")
        if abs(self.residual_autocorrelation) >= 0.1:
            lines.append(f"Residuals of neighbours correlate by {self.residual_autocorrelation:.2f}: not white noise.")
        return "\n".join(lines)

    def _verdict_in_words(self, what: str) -> str:
        if self.n_regions < FEWEST_REGIONS:
            return f"Too few regions ({self.n_regions}) could be held out to say whether the {what} helped."
        if self.gain == 0.0 and self.gain_error == 0.0:
            return f"There is no {what} to speak of, so nothing was changed."
        how = {
            "helped": f"Regions that had no say in it are better predicted with the {what} than without",
            "made worse": f"Regions that had no say in it are worse predicted with the {what} than without",
            "no change": f"Regions that had no say in it do not tell whether the {what} helps",
        }[self.verdict]
        told = f"{how}: {self.gain:+.3g} ± {self.gain_error:.2g} nats each, over {self.n_regions} regions"
        if self.verdict == "no change":
            return f"{told}."
        sure = min(self.confidence, self.far_confidence) if self.verdict == "helped" else 1.0 - self.confidence
        return f"{told} (confidence {'above 99.9 %' if sure > 0.999 else _percent(sure)})."

    def __str__(self) -> str:
        return f"{self.verdict}\n{self.words()}"


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"
