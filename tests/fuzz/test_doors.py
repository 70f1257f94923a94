"""A short form of the fuzzing of all doors, and that a broken one would be noticed."""

import importlib.util

import pytest
from reliability.doors import NAMES, Door
from reliability.fuzz import SHARES, fuzz
from reliability.promise import Profile

needs_fuzzer = pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None, reason="atheris cannot be installed here: doors are not fuzzed"
)


def test_every_door_has_a_share_and_all_together_a_million():
    assert set(SHARES) == set(NAMES)
    assert sum(SHARES.values()) >= 1_000_000


@needs_fuzzer
@pytest.mark.parametrize("name", NAMES)
def test_a_fuzzer_gets_nothing_but_answers_and_sentences(name, tmp_path):
    trial = fuzz(Profile(quick=True, jobs=1, seed=0, out=tmp_path), name, executions=500, ours=True)
    assert not trial.broken, (tmp_path / "fuzz" / f"{name}.log").read_text()[-3000:]
    assert trial.executions >= 500


@needs_fuzzer
def test_what_is_no_sentence_or_came_too_late_is_noticed(tmp_path):
    from reliability.doors.__main__ import Broken, knock

    def raising(error):
        def open_door(folder, content):
            raise error

        return Door(list, open_door)

    class Declared(ValueError):
        """What may come out."""

    late = Declared(f"{tmp_path} does not fit.")
    late.__cause__ = MemoryError()
    knock(raising(Declared(f"{tmp_path} is damaged.")), tmp_path, b"", Declared)
    for error in (late, Declared("It is damaged."), Declared(f"{tmp_path} is \x1b[31mred.")):
        with pytest.raises(Broken):
            knock(raising(error), tmp_path, b"", Declared)
    with pytest.raises(ZeroDivisionError):
        knock(raising(ZeroDivisionError()), tmp_path, b"", Declared)
