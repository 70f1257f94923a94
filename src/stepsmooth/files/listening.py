"""What libraries would print about a file, caught, so that we can tell it in our own place."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def heard(logger: str) -> Iterator[list[str]]:
    """Collect what a library logs, instead of letting it reach the terminal.

    Parameters
    ----------
    logger : str
        The name of the library's logger.

    Yields
    ------
    list of str
        Fills as the library speaks.

    Examples
    --------
    >>> with heard("loud") as said:
    ...     logging.getLogger("loud").warning("pixdim should be positive")
    >>> said
    ['pixdim should be positive']
    """
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    source = logging.getLogger(logger)
    others, spread = source.handlers[:], source.propagate
    source.handlers, source.propagate = [handler], False
    try:
        yield said
    finally:
        source.handlers, source.propagate = others, spread
