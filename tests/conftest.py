"""What all tests share: how long hypothesis searches, and one thread for the linear algebra of small problems."""

import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

# No deadline: the first call of a compiled loop may compile it. A failure prints what reproduces it.
settings.register_profile(
    "stepsmooth",
    deadline=None,
    max_examples=40,
    derandomize=False,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("stepsmooth")


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Test workers side by side would fight for the cores otherwise."""
    import scipy.linalg  # noqa: F401  # a library that is not loaded yet cannot be limited
    import sklearn.cluster  # noqa: F401

    with threadpool_limits(1):
        yield
