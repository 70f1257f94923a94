"""The harness records what it says. No time is asserted: only counts, order, memory and honesty."""

import json
import time

import numba
import numpy as np
import pytest
from benchmarks.harness import (
    Settings,
    attempt,
    best_of,
    find,
    growth_exponent,
    quotient,
    same_threads,
    thread_environment,
)
from threadpoolctl import threadpool_info

from benchmarks import fresh, machine

MB = 2**20


def test_best_of_warms_up_once_and_never_repeats_a_number():
    numbers = []

    def slow(k):
        numbers.append(k)
        time.sleep(0.002)

    timing = best_of(slow, repeat=4, least=0.001)
    assert numbers == list(range(5))
    assert (timing.repeats, timing.calls) == (4, 1)
    assert timing.first is not None
    assert timing.seconds <= timing.median


def test_best_of_keeps_the_first_call_apart():
    def compiles(k):
        time.sleep(0.05 if k == 0 else 0.0)

    timing = best_of(compiles, repeat=3, least=0.0)
    assert timing.first > timing.seconds
    assert best_of(compiles, repeat=1, warm=False, least=0.0).first is None


def test_best_of_calls_a_quick_function_often_enough_for_the_clock():
    assert best_of(lambda k: None, repeat=2, least=0.001).calls > 10


def test_best_of_stops_when_its_budget_is_spent_and_says_how_often_it_ran():
    assert best_of(lambda k: time.sleep(0.01), repeat=50, budget=0.0, least=0.0).repeats == 1


def test_threads_are_limited_alike_and_given_back():
    before = numba.get_num_threads()
    with same_threads(1):
        assert {p["num_threads"] for p in threadpool_info()} == {1}
        assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == before
    assert thread_environment(3)["OMP_NUM_THREADS"] == thread_environment(3)["NUMBA_NUM_THREADS"] == "3"


def test_a_failing_peer_is_a_row_with_its_error():
    def fails():
        raise ModuleNotFoundError("The peer 'csaps' is not installed")

    row = attempt({"method": "csaps"}, fails)
    assert row == {"method": "csaps", "error": "ModuleNotFoundError: The peer 'csaps' is not installed"}


def test_a_figure_that_was_not_measured_is_none():
    rows = [{"n": 1, "seconds": 2.0}, {"n": 2, "error": "failed"}, {"n": 3, "seconds": float("nan")}]
    assert [find(rows, "seconds", n=n) for n in (1, 2, 3, 4)] == [2.0, None, None, None]
    assert quotient(None, 2.0) is quotient(2.0, None) is quotient(1.0, 0.0) is None


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_growth_exponent_is_the_power(power):
    sizes = [10.0, 100.0, 1000.0]
    assert growth_exponent(sizes, [3.0 * s**power for s in sizes]) == pytest.approx(power)
    assert growth_exponent(sizes, [None, None, 1.0]) is None


def allocate(megabytes):
    """Give a case whose work touches this much memory."""
    return lambda: np.ones(megabytes * MB // 8).sum()


def broken(megabytes):
    """Give a case that cannot be made."""
    raise ValueError("no such case")


@pytest.fixture
def here(monkeypatch):
    """Let the child import this file."""
    from pathlib import Path

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    return "test_harness"


def test_peak_memory_is_that_of_the_work_alone_whatever_the_parent_holds(here):
    held = np.ones(300 * MB // 8)
    result = fresh.run(f"{here}:allocate", {"megabytes": 100}, small={"megabytes": 1}, import_name="numpy")
    assert held.sum() > 0
    assert 95 < result.peak_mb < 125
    assert min(result.import_seconds, result.first_seconds, result.seconds) >= 0


def test_a_failure_in_the_fresh_process_is_told_in_one_sentence(here):
    with pytest.raises(RuntimeError, match="test_harness:broken failed: ValueError: no such case"):
        fresh.run(f"{here}:broken", {"megabytes": 1}, small={"megabytes": 1}, import_name="numpy")


def test_the_machine_is_described_in_json():
    described = json.loads(json.dumps(machine.describe()))
    assert described["cpu"]
    assert described["versions"]["numpy"] == np.__version__
    assert described["versions"]["stepsmooth"]
    assert described["huge_pages"] is False  # switched off when the package is loaded, for all methods


def test_settings_say_nothing_by_default(capsys):
    Settings().say("progress")
    assert capsys.readouterr() == ("", "")
