"""From a map of tissues to a scan: levels, texture, partial volume, bias field, Rician noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter

from .arguments import Seed, flag, generator, real_number
from .fields import FIELD_KINDS, FieldKind, make_field
from .step_image import LabelVolume, StepImage
from .tissues import BRAINWEB_1_5T, BRAINWEB_3T, CONTRASTS, Tissue, tissue_levels

_TEXTURE_WIDTH = 2.0  # mm, standard deviation of the filter: texture is correlated over about 4 mm
_FWHM = 2 * np.sqrt(2 * np.log(2))

Floats = NDArray[np.float32]


def simulate_scan(
    volume: LabelVolume,
    *,
    contrasts: str | Sequence[str] = "T1w",
    classes: Sequence[str] | None = None,
    strip: bool = False,
    field: str | ArrayLike | None = None,
    ratio: float = 5.0,
    noise: float = 3.0,
    partial_volume: float = 0.0,
    texture: float | Mapping[str, float] = 0.0,
    random_state: Seed = None,
) -> StepImage:
    """Scan a map of tissues.

    Parameters
    ----------
    volume : LabelVolume
        The tissues, from :func:`make_head_labels` or :func:`load_brainweb`.
    contrasts : {"T1w", "T2w", "PDw"} or a sequence of them, default "T1w"
        The sequences. White matter (T1w) or CSF (T2w, PDw) has level 1.
    classes : sequence of str, optional
        The tissues of interest: the mask. All that give a signal, by default. ``("CSF", "GM", "WM")`` is the
        brain. Tissues of equal levels become one class.
    strip : bool, default False
        Remove the tissues outside `classes` from the scan.
    field : {"poly", "coil", "smooth", "rough"}, array-like or None, default None
        The bias field: a kind to be drawn by :func:`make_field`, a log field on the grid, or none.
    ratio : float, default 5.0
        Largest over smallest value of a drawn field over the mask.
    noise : float, default 3.0
        Standard deviation of the complex noise, in percent of white matter (T1w) or CSF (T2w, PDw); the image
        is its magnitude, so the noise is Rician.
    partial_volume : float, default 0.0
        Full width at half maximum of the scanner's point spread, in mm; 0 keeps borders crisp.
    texture : float or mapping of str to float, default 0.0
        Standard deviation of the variation within a tissue, relative to its level, correlated over 4 mm; one
        number, or one per tissue by name.
    random_state : int, Generator or None, default None
        A number gives the same scan every time. Field, texture and noise are drawn apart, so that a change
        of one leaves the others.

    Returns
    -------
    StepImage
        The scan and its parts.

    Examples
    --------
    >>> from stepsmooth.datasets import make_head_labels, simulate_scan
    >>> head = make_head_labels((48, 56), random_state=0)
    >>> brain = simulate_scan(head, contrasts=["T1w", "T2w"], classes=["CSF", "GM", "WM"], random_state=0)
    >>> brain.names, brain.image.shape
    (('CSF', 'GM', 'WM'), (48, 56, 2))
    """
    sequences = _sequences(contrasts)
    sigma = real_number("noise", noise, least=0) / 100
    spread = real_number("partial_volume", partial_volume, least=0)
    stripped = flag("strip", strip)
    tissues = tissues_of(volume)
    signals = tissue_levels(tissues, volume.names, sequences)
    wanted = _classes(volume, classes, signals)
    classes_of, levels, names = _merge(volume.names, wanted, signals)
    labels = classes_of[volume.labels]
    mask = labels >= 0
    if not mask.any():
        raise ValueError(
            f"classes must occur in the volume; found none of {', '.join(volume.names[k] for k in wanted)}."
        )
    field_rng, texture_rng, noise_rng = (
        np.random.default_rng(seed) for seed in generator(random_state).integers(2**63, size=3)
    )
    smooth = _log_field(field, mask, ratio, volume.spacing, field_rng)
    shown = np.where(np.isin(np.arange(len(signals)), wanted)[:, None] | (not stripped), signals, 0.0)
    grain = _grain(texture, volume, texture_rng)
    widths = [spread / _FWHM / step for step in volume.spacing]
    bias = np.exp(smooth)
    image = np.empty((*labels.shape, len(sequences)), dtype=np.float32)
    for c in range(len(sequences)):
        clean = shown[:, c].astype(np.float32)[volume.labels]
        if grain is not None:
            clean *= grain
        if spread:
            clean = gaussian_filter(clean, widths)
        image[..., c] = _rician(clean * bias, sigma, noise_rng)
    return StepImage(
        image=image if len(sequences) > 1 else image[..., 0],
        labels=labels,
        levels=levels if len(sequences) > 1 else levels[:, 0],
        smooth=smooth,
        mask=mask,
        spacing=volume.spacing,
        noise=sigma,
        names=names,
        contrasts=sequences,
    )


def tissues_of(volume: LabelVolume) -> Mapping[str, Tissue]:
    """Return the parameters that belong to the names of a volume: 1.5 T for the normal phantom, else 3 T.

    Examples
    --------
    >>> from stepsmooth.datasets import make_head_labels
    >>> tissues_of(make_head_labels((16, 16), random_state=0))["WM"].t1
    866.9
    """
    for tissues in (BRAINWEB_1_5T, BRAINWEB_3T):
        if set(volume.names) <= set(tissues):
            return tissues
    unknown = sorted(set(volume.names) - set(BRAINWEB_3T))
    raise ValueError(f"volume must name tissues of BRAINWEB_1_5T or BRAINWEB_3T; found {unknown[0]!r}.")


def _sequences(contrasts: object) -> tuple[str, ...]:
    given = (contrasts,) if isinstance(contrasts, str) else contrasts
    if not isinstance(given, Sequence) or not given or any(c not in CONTRASTS for c in given):
        raise ValueError(f"contrasts must be one or more of {', '.join(CONTRASTS)}; found {contrasts!r}.")
    return tuple(given)


def _classes(volume: LabelVolume, classes: object, signals: NDArray[np.float64]) -> list[int]:
    """Return the indices of the tissues that make up the mask."""
    if classes is None:
        occurring = np.bincount(volume.labels.ravel(), minlength=len(volume.names)) > 0
        return [k for k in range(len(volume.names)) if signals[k].any() and occurring[k]]
    loud = [name for k, name in enumerate(volume.names) if signals[k].any()]
    if isinstance(classes, str) or not isinstance(classes, Sequence) or not classes or not set(classes) <= set(loud):
        raise ValueError(f"classes must be None or some of {', '.join(loud)}; found {classes!r}.")
    return [volume.names.index(name) for name in classes]


def _merge(
    names: Sequence[str], wanted: Sequence[int], signals: NDArray[np.float64]
) -> tuple[NDArray[np.int16], NDArray[np.float64], tuple[str, ...]]:
    """Return the class of each tissue (-1: outside the mask), the ascending levels and the classes' names."""
    # unique sorts by the first sequence first, and joins tissues that no sequence tells apart
    levels, index = np.unique(signals[list(wanted)], axis=0, return_inverse=True)
    index = index.ravel()
    classes_of = np.full(len(names), -1, dtype=np.int16)
    classes_of[list(wanted)] = index
    joined = tuple(" + ".join(names[w] for w, k in zip(wanted, index) if k == c) for c in range(len(levels)))
    return classes_of, levels, joined


def _log_field(
    field: object, mask: NDArray[np.bool_], ratio: float, spacing: Sequence[float], rng: np.random.Generator
) -> Floats:
    if field is None:
        return np.zeros(mask.shape, dtype=np.float32)
    if isinstance(field, str):
        if field not in FIELD_KINDS:
            raise ValueError(f"field must be None, an array or one of {', '.join(FIELD_KINDS)}; found {field!r}.")
        return make_field(mask, cast(FieldKind, field), ratio, spacing=spacing, random_state=rng)
    given = np.asarray(field, dtype=np.float32)
    if given.shape != mask.shape or not np.all(np.isfinite(given)):
        raise ValueError(
            f"field must be a finite log field of the volume's shape {mask.shape}; found shape {given.shape}"
            f" with {int(np.sum(~np.isfinite(given)))} values NaN or infinite."
        )
    return given - np.float32(given[mask].mean(dtype=np.float64))


def _grain(texture: object, volume: LabelVolume, rng: np.random.Generator) -> Floats | None:
    """Return the factor of each voxel by which its tissue is brighter or darker than its level."""
    if isinstance(texture, Mapping):
        unknown = sorted(set(texture) - set(volume.names))
        if unknown:
            raise ValueError(f"texture must name tissues among {', '.join(volume.names)}; found {unknown[0]!r}.")
        deviations = [real_number("texture", texture.get(name, 0.0), least=0) for name in volume.names]
    else:
        deviations = [real_number("texture", texture, least=0)] * len(volume.names)
    if not any(deviations):
        return None
    white = rng.standard_normal(volume.labels.shape, dtype=np.float32)
    grain = gaussian_filter(white, [_TEXTURE_WIDTH / step for step in volume.spacing], mode="wrap")
    grain *= np.array(deviations, dtype=np.float32)[volume.labels] / grain.std()
    return np.asarray(np.maximum(1 + grain, 0), dtype=np.float32)


def _rician(clean: Floats, sigma: float, rng: np.random.Generator) -> Floats:
    """Return the magnitude of a complex image; the noise is drawn even where its size is 0."""
    real = clean + np.float32(sigma) * rng.standard_normal(clean.shape, dtype=np.float32)
    imaginary = np.float32(sigma) * rng.standard_normal(clean.shape, dtype=np.float32)
    return np.asarray(np.hypot(real, imaginary), dtype=np.float32)
