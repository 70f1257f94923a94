"""Let a fuzzer guided by coverage try one door; the exit code is 0 if nothing but answers and sentences came out."""

from __future__ import annotations

import argparse
import gc
import importlib.util
import resource
import sys
import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import atheris

from . import NAMES, Door

# What counts as free while the fuzzer runs, and what the process may take beyond what it has when it begins.
ROOM, SLACK = 16 << 20, 1 << 30
# Whose lines guide it: ours, and those of the parsers behind us.
GUIDES = ["stepsmooth", "nibabel", "tifffile", "PIL"]


class Broken(Exception):
    """An error that is ours, but not as it should be."""


def main() -> None:
    options = _parser().parse_args()
    guides = GUIDES[:1] if options.ours else GUIDES
    with atheris.instrument_imports(include=guides, exclude=_compiled(), enable_loader_override=False):
        door: Door = import_module(f"reliability.doors.{options.name}").DOOR
        from stepsmooth.files import InputError, memory
    memory.available_memory = lambda: ROOM
    warnings.simplefilter("ignore")
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_fast_place()) as name:
        folder = Path(name)
        corpus = folder / "corpus"
        corpus.mkdir()
        for number, content in enumerate(door.seeds()):
            (corpus / f"seed{number}").write_bytes(content)
            knock(door, folder, content, InputError)  # imports what is imported late, before memory is bounded
        (folder / "words").write_text("".join(f'"{_escaped(word)}"\n' for word in door.words))
        if options.again:
            for path in options.again:
                knock(door, folder, path.read_bytes(), InputError)
            return
        _bound_memory()
        gc.collect()
        gc.freeze()  # what is loaded need not be looked through again and again
        arguments = [
            sys.argv[0],
            f"-runs={options.runs}",
            f"-seed={options.seed + 1}",
            f"-max_len={door.longest}",
            "-len_control=0",
            "-timeout=10",
            "-rss_limit_mb=0",
            "-print_final_stats=1",
            f"-artifact_prefix={options.out}/{options.name}-",
            *([f"-dict={folder / 'words'}"] if door.words else []),
            str(corpus),
        ]
        extra: dict[str, Any] = {} if door.mutate is None else {"custom_mutator": door.mutate}
        atheris.Setup(arguments, lambda content: knock(door, folder, content, InputError), **extra)
        atheris.Fuzz()


def knock(door: Door, folder: Path, content: bytes, declared: type[Exception]) -> None:
    """Try a content; an error that is not declared, or not as it should be, goes through to the fuzzer."""
    try:
        told = door.knock(folder, content)
    except declared as error:
        if isinstance(error.__cause__, MemoryError):
            raise Broken("memory was asked for before the size was looked at") from error
        if str(folder) not in str(error):
            raise Broken(f"the sentence does not name the file: {error}") from error
        told = [str(error)]
    for sentence in told:
        if not sentence.isprintable():
            raise Broken(f"the sentence cannot be printed: {sentence!r}")


def _compiled() -> list[str]:
    """Return the modules that are not about files: numba would not compile what a fuzzer has put its marks into."""
    (place,) = importlib.util.find_spec("stepsmooth").submodule_search_locations
    found = [path.relative_to(place).with_suffix("").parts for path in Path(place).rglob("*.py")]
    names = [".".join(("stepsmooth", *parts)).removesuffix(".__init__") for parts in found]
    return [name for name in names if not name.startswith("stepsmooth.files")]


def _bound_memory() -> None:
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + SLACK, now + SLACK))


def _fast_place() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def _parser() -> argparse.ArgumentParser:
    out = argparse.ArgumentParser(prog="python -m reliability.doors", description=__doc__)
    out.add_argument("name", choices=NAMES)
    out.add_argument("--runs", type=int, default=10_000)
    out.add_argument("--seed", type=int, default=0)
    out.add_argument("--out", type=Path, default=Path("reliability-out/fuzz"), help="folder for failing contents")
    out.add_argument("--ours", action="store_true", help="be guided by our own lines alone: begins sooner")
    out.add_argument("--again", type=Path, nargs="*", help="try these contents, and nothing else")
    return out


if __name__ == "__main__":
    main()
