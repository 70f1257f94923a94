"""How much work a long signal is: points that the beam passes, whatever the machine."""

import numpy as np
import pytest

from stepsmooth.datasets import make_markov_steps, make_sine_steps
from stepsmooth.line import beam
from stepsmooth.line.chain import Signal
from stepsmooth.line.joint import fit_joint

N = 20_000


@pytest.fixture
def passed(monkeypatch):
    """The number of points of each pass."""
    counts = []
    forward = beam.forward
    monkeypatch.setattr(beam, "forward", lambda y, *args: counts.append(len(y)) or forward(y, *args))
    return counts


@pytest.mark.parametrize(
    "switching, most",
    [(None, 110), (0.4, 110), (0.05, 155)],
    ids=["independent labels", "labels that switch often", "labels that last"],
)
def test_passes_over_a_long_signal_are_few(passed, switching, most):
    options = {"noise_variance": 0.05, "random_state": 11}
    if switching is None:
        data = make_sine_steps(N, 3, 3.0, **options)
    else:
        data = make_markov_steps(N, 3, 3.0, switching=switching, **options)
    found = fit_joint(Signal(data.x, data.y[:, None], np.ones(N)), 3, "auto")
    assert np.mean(found.labels == data.labels) > 0.98
    assert sum(passed) <= most * N


def test_a_longer_signal_takes_a_few_passes_more(passed):
    data = make_sine_steps(10 * N, 3, 3.0, noise_variance=0.05, random_state=11)
    fit_joint(Signal(data.x, data.y[:, None], np.ones(10 * N)), 3, "auto")
    assert passed.count(10 * N) <= 3
