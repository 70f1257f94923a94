"""What all tests share: how long hypothesis searches, and one thread for the linear algebra of small problems."""

import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

# No deadline: the first call of a compiled loop may compile it. A failure prints what reproduces it.
# "stepsmooth" is for every run of the tests; "long" and "quick" are asked for by `python -m reliability properties`.
for name, cases in (("stepsmooth", 40), ("long", 500), ("quick", 10)):
    settings.register_profile(
        name,
        deadline=None,
        max_examples=cases,
        derandomize=False,
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
