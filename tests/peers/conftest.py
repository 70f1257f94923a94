"""Small problems on one thread: test workers side by side would fight for the cores otherwise."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    import scipy.linalg  # noqa: F401  # a library that is not loaded yet cannot be limited
    import sklearn.cluster  # noqa: F401

    with threadpool_limits(1):
        yield
