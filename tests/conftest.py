"""What all tests share: how long hypothesis searches, one thread for linear algebra, loops compiled beforehand."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

# No deadline: the first call of a compiled loop may compile it. A failure prints what reproduces it.
# Every run draws cases of its own, but for the one that decides what lands: that must say the same twice.
# "stepsmooth" is for every run of the tests; "long" and "quick" are asked for by `python -m reliability properties`.
for name, cases in (("stepsmooth", 40), ("long", 500), ("quick", 10)):
    settings.register_profile(
        name,
        deadline=None,
        max_examples=cases,
        derandomize=bool(os.environ.get("CI")),
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )


def pytest_configure(config):
    """Load the usual profile, unless --hypothesis-profile names another."""
    settings.load_profile(config.getoption("--hypothesis-profile") or "stepsmooth")


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Test workers side by side would fight for the cores otherwise."""
    import scipy.linalg  # noqa: F401  # a library that is not loaded yet cannot be limited
    import sklearn.cluster  # noqa: F401

    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True, scope="session")
def compiled(one_thread):
    """Compile what most fits need, so that no single test seems long for that."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return
    from stepsmooth import GridStepSmooth, StepSmooth

    rng, x = np.random.default_rng(0), np.arange(90.0)
    y = np.sin(x / 9.0) + 3.0 * rng.integers(2, size=90) + 0.5 * rng.normal(size=90)
    for params in ({}, {"kernel": "min"}, {"solver": "altmin"}, {"solver": "altmin", "kernel": "min"}):
        StepSmooth(2, **params).fit(x[:, None], y)
    image = 1.0 + np.kron(np.eye(6), np.ones((4, 4))) + 0.05 * rng.normal(size=(24, 24))
    for params in ({}, {"label_prior": "potts"}, {"multiplicative": False}, {"solver": "altmin"}):
        GridStepSmooth(2, **params).fit(image).certificate()
    series = np.asfortranarray(np.stack([image, image + 1.0], axis=-1)[:, :, None], dtype=np.float32)
    holes = np.asfortranarray(rng.random((24, 24, 1)) < 0.9, dtype=np.float32)
    GridStepSmooth(2, channel_axis=-1).fit(series, weights=holes).certificate()
    # So large that blocks are summed in threads, in single precision, with air around it and without.
    patches = np.kron(rng.integers(1, 4, size=(14, 14, 14)), np.ones((8, 8, 8)))
    volume = (patches + 0.04 * rng.normal(size=patches.shape)).astype(np.float32)
    inside = np.pad(np.ones((88, 88, 88), dtype=bool), 12)
    for scan in (volume, np.where(inside, volume, 0.03 * rng.rayleigh(size=volume.shape).astype(np.float32))):
        GridStepSmooth(3, spacing=1.0, knots=60.0).fit(scan)
