"""Threads and processes leave every bit as it was: a short form of `python -m reliability determinism`."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from reliability.determinism import fingerprints
from reliability.fits import FITS, fingerprint

NAMES = ["line, AltMin", "grid, joint", "certificate"]


@pytest.fixture(scope="module")
def found():
    """Fingerprints from two processes, with one thread and with four, and with different hash seeds."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda threads: fingerprints(NAMES, threads, repeats=2, seed=threads), (1, 4)))


@pytest.mark.parametrize("name", NAMES)
def test_threads_repeats_and_processes_give_the_same_bits(found, name):
    one, other = (each[name] for each in found)
    assert len(one) == len(other) == 2
    assert len({*one, *other}) == 1


def test_a_fingerprint_sees_the_last_bit_the_type_and_the_shape():
    values = np.array([1.0, 2.0])
    prints = {fingerprint([v]) for v in (values, np.nextafter(values, 3.0), values.astype("f4"), values[:, None])}
    assert len(prints) == 4
    assert fingerprint([values]) == fingerprint([values.copy()])


def test_every_geometry_and_the_command_line_are_among_the_fits():
    assert {name.split(",")[0] for name in FITS} >= {
        "line",
        "points",
        "grid",
        "certificate",
        "files of the command line",
    }
