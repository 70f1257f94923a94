"""End runs at random moments, and look at what they leave; prints what was counted as JSON."""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from .runs import COMMANDS, INPUTS, OUT, OUTSIDE, Run, begin, contents, draw_once, furnish, is_whole, small_disk

PART = f".{OUT}.*.part"
# Stages of a run, each with what shows that it has begun.
STAGES = {"anywhere": None, "while it writes": f"{PART}/*", "while the folder takes its name": f"{PART}/result.json"}
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


class Killing:
    """Runs in a folder of their own, and what they should leave."""

    def __init__(self, place: Path, seed: int, kept: Path, commands: list[str]) -> None:
        self.place, self.kept, self.commands, self.draw = place, kept, commands, random.Random(seed)
        draw_once()
        self.source = place / "source"
        furnish(self.source)
        self.inputs = {name: (self.source / name).read_bytes() for name in INPUTS}
        self.whole: dict[str, dict[str, bytes]] = {}
        self.earlier: dict[str, dict[str, bytes]] = {}
        self.seconds: dict[str, dict[str, float]] = {}
        for name in commands:
            self._warm(name)
        gc.collect()
        gc.freeze()  # so that copies do not look through, and thereby copy, all that is loaded
        for name in commands:
            self._learn(name)

    def _warm(self, name: str) -> None:
        """Load and compile everything by one run within this process."""
        from stepsmooth.cli import app

        back = os.getcwd()
        os.chdir(self.source)
        try:
            app([*COMMANDS[name], "--seed", "0", "--quiet", "--out", f"warm_{name}"], standalone_mode=False)
        finally:
            os.chdir(back)
        shutil.rmtree(self.source / f"warm_{name}")

    def _learn(self, name: str) -> None:
        """Run in a copy of this process, note how long its stages last, and keep its result."""
        folder = self._fresh(None)
        began = time.perf_counter()
        run = begin(folder, name)
        times = {stage: run.wait(mark) - began if mark else 0.0 for stage, mark in STAGES.items()}
        end = run.wait() - began
        if run.code:
            raise RuntimeError(f"{name} ended with {run.code}: {run.said}")
        self.seconds[name] = {stage: end - at for stage, at in times.items()}
        self.whole[name] = contents(folder / OUT)
        # Every file of an earlier result differs from the new one, so that a mixture would show.
        self.earlier[name] = {path: content + b"\n\n" for path, content in self.whole[name].items()}

    def _fresh(self, earlier: str | None) -> Path:
        """Return a folder with the inputs, and with an earlier result if it is named."""
        folder = self.place / "work"
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        self._fill(folder, earlier)
        return folder

    def _fill(self, folder: Path, earlier: str | None) -> None:
        for name, content in self.inputs.items():
            (folder / name).write_bytes(content)
        if earlier is not None:
            (folder / OUT).mkdir()
            for name, content in self.earlier[earlier].items():
                (folder / OUT / name).write_bytes(content)

    def wrong(self, folder: Path, name: str, earlier: str | None, *, leftovers: bool) -> str | None:
        """Return what is wrong with a folder after a run has ended, or None."""
        if any((folder / path).read_bytes() != content for path, content in self.inputs.items()):
            return "an input has changed"
        hidden = {path.name for path in folder.glob(PART)}
        if hidden and not leftovers:
            return f"{hidden} is left"
        others = {path.name for path in folder.iterdir()} - hidden - set(INPUTS) - {OUT}
        if others:
            return f"{others} is there"
        if not (folder / OUT).exists():
            return "the earlier result is lost" if earlier else None
        found = contents(folder / OUT)
        if earlier and found == self.earlier[earlier]:
            return None
        return None if is_whole(found, self.whole[name]) else f"{OUT} is not whole: {sorted(found)}"

    def at_random(self, folder: Path, name: str, stages: list[str], number: int) -> tuple[Run, str]:
        """Begin a run, and send it a signal at a random moment of a random stage."""
        stage = self.draw.choice(stages)
        run = begin(folder, name)
        run.wait(STAGES[stage]) if STAGES[stage] else None
        time.sleep(self.draw.uniform(0.0, self.seconds[name][stage]))
        # The stage it was really in when it was hit.
        marks = [s for s, mark in STAGES.items() if mark is None or any(folder.glob(mark))]
        run.send(number)
        run.wait()
        return run, marks[-1] if len(marks) > 1 else "before it writes"

    def kills(self, count: int) -> dict[str, Any]:
        """Kill runs; after each the folder is looked at, and the next run has to complete."""
        broken, stages = [], Counter[str]()
        weighted = ["anywhere", "while it writes", "while it writes", "while the folder takes its name"]
        while sum(stages.values()) < count:
            name, earlier = self.draw.choice(self.commands), self.draw.random() < 0.5
            folder = self._fresh(name if earlier else None)
            run, stage = self.at_random(folder, name, weighted, signal.SIGKILL)
            if run.code != -signal.SIGKILL:
                self._sooner(name)
                continue
            stages[stage] += 1
            trouble = self.wrong(folder, name, name if earlier else None, leftovers=True)
            if trouble is None:
                following = begin(folder, name)
                following.wait()
                trouble = self.wrong(folder, name, None, leftovers=False)
                if following.code or not (folder / OUT).exists():
                    trouble = f"the next run ended with {following.code}: {following.said}"
            self._keep(folder, broken, trouble and f"{name}, killed {stage}: {trouble}")
            print(f"{sum(stages.values())} kills, {len(broken)} broken", file=sys.stderr, flush=True)
        return {"of": "kills", "count": count, "stages": stages, "broken": broken}

    def signals(self, count: int) -> dict[str, Any]:
        """Interrupt and end runs politely."""
        broken, stages = [], Counter[str]()
        while sum(stages.values()) < count:
            name, earlier = self.draw.choice(self.commands), self.draw.random() < 0.5
            number = [signal.SIGINT, signal.SIGTERM][sum(stages.values()) % 2]
            folder = self._fresh(name if earlier else None)
            run = begin(folder, name)
            run.wait(PART)
            time.sleep(self.draw.uniform(0.0, self.seconds[name]["anywhere"]))
            run.send(number)
            run.wait()
            if run.code in (0, OUTSIDE):
                self._sooner(name)
                continue
            stages[number.name] += 1
            trouble = self.wrong(folder, name, name if earlier else None, leftovers=False)
            if run.code != CODES[number] or run.said.count("\n") != 1 or "nothing half-written" not in run.said:
                trouble = f"it ended with {run.code} and said {run.said!r}"
            self._keep(folder, broken, trouble and f"{name}, {number.name}: {trouble}")
        return {"of": "signals", "count": count, "stages": stages, "broken": broken}

    def disks(self, count: int) -> dict[str, Any]:
        """Let runs meet a disk that is too small by a random amount."""
        broken: list[str] = []
        for _ in range(count):
            name, earlier = self.draw.choice(self.commands), self.draw.random() < 0.5
            # Blocks of 4 kB: the inputs, the earlier result, and a share of what is to be written.
            needed = sum(-(-len(content) // 4096) for content in self.whole[name].values())
            there = sum(-(-len(content) // 4096) for content in self.inputs.values()) + (needed if earlier else 0)
            size = 4096 * (there + self.draw.randint(0, max(needed - 2, 0)))
            folder = self.place / "disk"
            with small_disk(folder, size) as mounted:
                if not mounted:
                    return {"of": "disks (NOT RUN: no right to mount here)", "count": 0, "stages": {}, "broken": []}
                self._fill(folder, name if earlier else None)
                run = begin(folder, name)
                run.wait()
                trouble = self.wrong(folder, name, name if earlier else None, leftovers=False)
                if run.code != 4 or run.said != f"--out {OUT} cannot be written: no space left on device.\n":
                    trouble = f"it ended with {run.code} and said {run.said!r}"
                if trouble:
                    broken.append(f"{name}, disk of {size} bytes: {trouble}")
        return {"of": "full disks", "count": count, "stages": {}, "broken": broken}

    def _sooner(self, name: str) -> None:
        """Look out for earlier moments: a run was quicker than the one whose time was taken."""
        self.seconds[name] = {stage: 0.8 * seconds for stage, seconds in self.seconds[name].items()}

    def _keep(self, folder: Path, broken: list[str], trouble: str | None) -> None:
        if trouble:
            broken.append(trouble)
            shutil.copytree(folder, self.kept / f"broken_{len(broken)}", dirs_exist_ok=True)


def main() -> None:
    wanted = json.loads(sys.argv[1])
    with tempfile.TemporaryDirectory() as place:
        killing = Killing(Path(place), wanted["seed"], Path(wanted["out"]), wanted["commands"])
        print(killing.seconds, file=sys.stderr)
        found = {name: getattr(killing, name)(wanted[name]) for name in ("kills", "signals", "disks")}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
