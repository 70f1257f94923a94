"""What quantities and levels are called on axes and in titles."""

from collections.abc import Sequence

import numpy as np

from stepsmooth.model.arrays import Floats
from stepsmooth.report.channel import level_text


def with_unit(quantity: str, unit: str) -> str:
    """Name a quantity with its unit, if it has one.

    Examples
    --------
    >>> with_unit("dwell time", "ms"), with_unit("x", "")
    ('dwell time (ms)', 'x')
    """
    return f"{quantity} ({unit})" if unit else quantity


def level_values(levels: Floats, errors: Floats | None = None) -> Sequence[str]:
    """Write each level, (M, p), to the decimals that its errors or the gaps make sensible; channels by commas.

    Examples
    --------
    >>> level_values(np.array([[0.0], [1.0234]]), np.array([[0.0123], [0.0123]]))
    ['0.00 ± 0.01', '1.02 ± 0.01']
    >>> level_values(np.array([[0.0, 1.0], [2.0, 5.0]]))
    ['0.00, 1.0', '2.00, 5.0']
    """
    count = len(levels)
    gaps = np.ptp(levels, axis=0) / max(count - 1, 1)
    gaps = np.where(gaps > 0, gaps, np.maximum(np.abs(levels).max(axis=0), 1e-300))
    texts = []
    for k in range(count):
        each = [None] * levels.shape[1] if errors is None else errors[k]
        texts.append(", ".join(level_text(level, error, gap) for level, error, gap in zip(levels[k], each, gaps)))
    return texts
