"""Run an attack in processes of its own, try by try: a try that kills its process is known by its number.

    parent: "attempt 17 ... 40"  ->  worker: "begin 17", "end 17 ours: FormatError", "begin 18", ...

A hit is an error that is not ours, a process that died, a try that did not end, or what the attack itself calls one.
"""

from __future__ import annotations

import importlib
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).parents[1]
SECONDS = 60.0
"""A try that takes longer has not ended."""
SHOWN = 5


@dataclass
class Tally:
    """Tries and hits of one attack."""

    name: str
    tries: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    hits: list[str] = field(default_factory=list)
    seconds: float = 0.0
    slowest: float = 0.0
    """The longest time that an outcome tells of."""

    def add(self, number: int, outcome: str) -> None:
        """One more try; what begins with `HIT` is one."""
        self.tries += 1
        word = outcome.partition(":")[0]
        self.outcomes[word] = self.outcomes.get(word, 0) + 1
        if (told := re.search(r"after ([0-9.]+) s$", outcome)) is not None:
            self.slowest = max(self.slowest, float(told[1]))
        if word == "HIT":
            self.hits.append(f"{self.name} {number}: {outcome}")

    def __str__(self) -> str:
        told = ", ".join(f"{count} {word}" for word, count in sorted(self.outcomes.items()) if word != "HIT")
        slow = f"; the slowest after {self.slowest:.2f} s" if self.slowest else ""
        return f"{self.name:<22} {self.tries:>7} {len(self.hits):>5} {self.seconds:>7.0f}  {told}{slow}"


def environment() -> dict[str, str]:
    """The surroundings of a process that imports the same package and tests as this one."""
    import platewright

    source = str(Path(platewright.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([source, str(TESTS)]), "PYTHONFAULTHANDLER": ""}


def attacked(name: str, first: int, last: int, folder: Path, seconds: float = SECONDS) -> Tally:
    """All tries from `first` up to `last`, in a worker that is begun anew when it dies or stands still."""
    tally, begin = Tally(name), time.perf_counter()
    at = first
    while at < last:
        for number, outcome in _worked(name, at, last, folder, seconds):
            tally.add(number, outcome)
            at = number + 1
    tally.seconds = time.perf_counter() - begin
    return tally


def _worked(name: str, first: int, last: int, folder: Path, seconds: float) -> Iterator[tuple[int, str]]:
    """Outcomes of one worker, the last of them perhaps its death."""
    command = [sys.executable, "-m", "attack.worker", name, str(first), str(last), str(folder)]
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    assert process.stdout is not None
    at, text = first, b""
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        deadline = time.monotonic() + seconds + 60  # the first try waits for imports and for what is attacked
        while True:
            if not waiting.select(max(deadline - time.monotonic(), 0)):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                yield at, f"HIT: not ended after {seconds:.0f} s"
                return
            some = os.read(process.stdout.fileno(), 65536)
            if not some:
                break
            text += some
            *lines, text = text.split(b"\n")
            for line in lines:
                word, _, rest = line.decode(errors="replace").partition(" ")
                number, _, outcome = rest.partition(" ")
                if word == "begin":
                    at, deadline = int(number), time.monotonic() + seconds
                elif word == "end":
                    yield int(number), outcome
                    at = int(number) + 1
    code = process.wait()
    if at < last:
        yield at, f"HIT: the process died with code {code}"


def attempt_of(name: str) -> tuple[object, object]:
    """What prepares an attack and what makes one try of it."""
    module = importlib.import_module(f"attack.{name}")
    return getattr(module, "prepare", None), module.attempt
