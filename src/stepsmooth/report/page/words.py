"""What the page says in sentences: whether it helped, whether the labels can be trusted, and what to mind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stepsmooth.model.arrays import Anything
from stepsmooth.report.naming import level_values
from stepsmooth.topology import Certificate

# What the figures of quality are called for a reader.
FIGURES = {
    "n_observations": "observations looked at",
    "cv_before": "variation within levels, before",
    "cv_after": "variation within levels, after",
    "cjv_before": "joint variation of the two commonest levels, before",
    "cjv_after": "joint variation of the two commonest levels, after",
    "field_low": "field, 5 %",
    "field_high": "field, 95 %",
    "field_range": "range of the field, 5 to 95 %",
    "near_boundary": "share of close calls",
    "residual_autocorrelation": "correlation of neighbouring residuals",
    "gain": "gain in held-out regions, nats an observation",
    "gain_error": "its standard error",
    "n_regions": "held-out regions",
    "multiplicative": "field multiplies",
    "confidence": "confidence that it helped",
}


@dataclass(frozen=True)
class Verdict:
    """A question, its answer in a word with a sign and a tone, and the sentences behind it."""

    question: str
    answer: str
    sign: str
    tone: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Level:
    """A row of the table of levels."""

    colour: str
    value: str
    share: str
    noise: str


def quality_verdict(quality: Anything) -> Verdict:
    """Say whether taking the smooth part away helped."""
    sign, tone = {"helped": ("✓", "good"), "made worse": ("✗", "bad")}.get(quality.verdict, ("=", "plain"))
    answer = {"helped": "It helped", "made worse": "It made things worse"}.get(quality.verdict, "No change")
    return Verdict("Did the correction help?", answer, sign, tone, sentences_of(quality.words()))


def certificate_verdict(certificate: Certificate) -> Verdict:
    """Say whether the labels could be other than they are.

    Examples
    --------
    >>> from stepsmooth.topology import certify
    >>> found = certify([0.0, 1.0, 2.0, 3.0], [0, 1, 0, 1], [0.0, 1.0], modulus=0.1)
    >>> verdict = certificate_verdict(found)
    >>> verdict.answer, verdict.sign
    ('Identified', '✓')
    """
    sign, tone, sentence = {
        "identified": ("✓", "good", "No other labels are compatible with the data, if the premise holds."),
        "not identified": ("✗", "bad", "Other labels explain the data just as well, under the same premise."),
        "cannot tell": ("?", "plain", "It was not shown that the labels are the only ones; they may still be right."),
    }[certificate.verdict]
    more = []
    covered = certificate.parts[certificate.parts >= 0]
    count = len(certificate.edges)
    if count:
        whole = f"{np.mean(certificate.parts == 0):.0%} of the points"
        more.append(
            f"{count:,} {'edge breaks' if count == 1 else 'edges break'} the condition; "
            f"{whole} still hang together in one part, within which labels are consistent."
        )
    bare = len(certificate.parts) - len(covered)
    if bare:
        more.append(f"{bare / len(certificate.parts):.1%} of the points are not covered.")
    if certificate.flips is not None:
        flips = "less than one label" if certificate.flips < 1 else f"about {certificate.flips:,.0f} labels"
        more.append(f"Noise alone is expected to have turned {flips}; the verdict is about the rest.")
    answer = certificate.verdict[0].upper() + certificate.verdict[1:]
    return Verdict("Can the labels be trusted?", answer, sign, tone, (sentence, *more))


def sentences_of(words: Anything) -> tuple[str, ...]:
    r"""Return words, given as a text or as several, as a tuple of texts that are not empty.

    Examples
    --------
    >>> sentences_of(["One. ", ""]), sentences_of("One.\nTwo.")
    (('One.',), ('One.', 'Two.'))
    """
    lines = words.splitlines() if isinstance(words, str) else list(words)
    return tuple(str(line).strip() for line in lines if str(line).strip())


def remarks(m: Anything) -> list[str]:
    """Return what a reader must know before believing the numbers.

    Examples
    --------
    >>> from stepsmooth import decompose
    >>> remarks(decompose([0.0, 0.1, 3.0, 3.1, 2.9, 0.0, -0.1, 3.0], tau=1e3, start="kmeans"))
    []
    """
    found = []
    if not m.converged_:
        found.append(f"The fit had not converged after {m.n_iter_} iterations: take its numbers as provisional.")
    if not getattr(m, "determined_", True):
        found.append("Other labels explain the data as well (within 2 nats): the labels are not determined.")
    if np.isinf(getattr(m, "knots_", 0.0)):
        found.append("No field predicts held-out regions as well as any: the image was left as it is.")
    return found


def level_rows(m: Anything, colours: Sequence[str]) -> list[Level]:
    """Return value, share and noise of each level, in words.

    Examples
    --------
    >>> from stepsmooth import decompose
    >>> m = decompose([0.0, 0.1, 3.0, 3.1, 2.9, 0.0, -0.1, 3.0], tau=1e3, start="kmeans")
    >>> level_rows(m, ["#000000", "#ffffff"])[0].share
    '50.0 %'
    """
    levels = np.asarray(m.levels_, dtype=np.float64)
    levels = levels.reshape(len(levels), -1)
    errors = getattr(m, "levels_se_", None)
    errors = None if errors is None else np.asarray(errors, dtype=np.float64).reshape(levels.shape)
    variance = np.asarray(m.noise_variance_, dtype=np.float64)
    variance = variance[:, None] if variance.ndim == 1 and len(variance) == len(levels) else variance
    noise = np.sqrt(np.broadcast_to(variance, levels.shape))
    return [
        Level(colour, value, f"{100 * share:.1f} %", ", ".join(f"{sd:.3g}" for sd in dict.fromkeys(sds)))
        for colour, value, share, sds in zip(colours, level_values(levels, errors), m.proportions_, noise.tolist())
    ]


def rows_of(given: Anything, name: str) -> list[tuple[str, str]]:
    """Return a mapping, or a sequence of names and mappings, as rows of text.

    Parameters
    ----------
    given : mapping, sequence or None
        Values may be mappings or sequences themselves.
    name : str
        Of the argument, for the sentence that refuses anything else.

    Examples
    --------
    >>> rows_of({"file": "a.nii", "shape": (2, 3), "mask": None}, "inputs")
    [('file', 'a.nii'), ('shape', '2, 3'), ('mask', 'none')]
    >>> rows_of([{"name": "a.csv", "sha256": "12ab"}], "inputs")
    [('a.csv', 'sha256: 12ab')]
    """
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [(str(key), _text(value)) for key, value in given.items()]
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise ValueError(f"{name} must be a mapping or a list of mappings or names, got {type(given).__name__}.")
    rows = []
    for number, item in enumerate(given, 1):
        if isinstance(item, Mapping):
            rest = dict(item)
            key = next((k for k in ("name", "file", "path") if k in rest), None)
            title = str(number) if key is None else _text(rest.pop(key))
            rows.append((title, _text(rest)))
        else:
            rows.append((_text(item), ""))
    return rows


def quality_rows(quality: Anything) -> list[tuple[str, str]]:
    """Return the figures of quality with the names a reader knows."""
    return [(FIGURES.get(key, key.replace("_", " ")), text) for key, text in rows_of(quality.as_dict(), "quality")]


def _text(value: Anything) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.4g}".replace("-", "\N{MINUS SIGN}")
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_text(each)}" for key, each in value.items())
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.size <= 16 else f"array of shape {value.shape}"
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(each) for each in value)
    return str(value)
