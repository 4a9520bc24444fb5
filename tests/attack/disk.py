"""Places that cannot be written: full, limited, missing, or gone in the middle of a run. The run ends, and says so."""

from __future__ import annotations

import random
import resource
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attack.checkpoints import NAMES, run
from attack.forked import Child, with_arrays
from attack.running import environment
from platewright.errors import CheckpointWarning, SourceError
from platewright.run import checkpoint
from shown_models import coin, made

WHOLE: dict[str, dict[str, str]] = {}


def prepare(folder: Path) -> None:
    """What the runs come to when there is room."""
    checkpoint.SECONDS = checkpoint.WRITING = 0.0
    for name in NAMES:
        WHOLE[name] = with_arrays(run(name, folder / "first"))
        (folder / "first").unlink()


def limited(number: int, folder: Path) -> dict[str, Any]:
    """Files may not grow beyond some bytes: every state is broken off while it is written."""
    rng, name = random.Random(number), NAMES[number % len(NAMES)]
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    most = rng.choice([0, 1, 100, 700, 1500])

    def cut() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    return ended(name, folder, cut)


def gone(number: int, folder: Path) -> dict[str, Any]:
    """The folder is taken away after the run has begun."""
    return ended(NAMES[number % len(NAMES)], folder, lambda: shutil.rmtree(folder / "place"))


def ended(name: str, folder: Path, spoil: Callable[[], None]) -> dict[str, Any]:
    """A run whose place is spoilt after it was tried; it must come to the same, and warn once."""
    place = folder / "place"
    place.mkdir(exist_ok=True)
    tried = checkpoint.checkpoint_at

    def trying(*given: Any) -> Any:
        found = tried(*given)
        spoil()
        return found

    for module in list(sys.modules.values()):
        if getattr(module, "checkpoint_at", None) is tried:
            module.checkpoint_at = trying  # type: ignore[attr-defined]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = with_arrays(run(name, place / "state"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    told = [warning for warning in said if warning.category is CheckpointWarning]
    return {
        "kind": "ended",
        "same": found == WHOLE[name],
        "warnings": len(told),
        "left": [path.name for path in place.glob("*.part")] if place.exists() else [],
    }


def missing(number: int, folder: Path) -> dict[str, Any]:
    """A place that is not there, or is a folder, is refused before the run; a fit is there as a whole or not at all."""
    name = NAMES[number % len(NAMES)]
    (folder / "file").write_text("x")
    for path in (folder / "nowhere" / "state", folder, folder / "file" / "state"):
        try:
            run(name, path)
        except SourceError:
            continue
        return {"kind": "not refused", "path": str(path)}
    model, data = made(coin)
    fit = model.learn(data)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
    try:
        fit.save(folder / "fit.fit")
    except SourceError:
        left = [path.name for path in folder.glob("fit.fit*")]
        return {"kind": "ended", "same": True, "warnings": 1, "left": left}
    return {"kind": "not refused", "path": "save"}


FULL = """
import sys, warnings
sys.path.insert(0, {tests!r})
from pathlib import Path
from attack.checkpoints import run
from platewright.run import checkpoint
from platewright.errors import CheckpointWarning
checkpoint.SECONDS = checkpoint.WRITING = 0.0
place = Path({place!r})
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    Path(place, "filler").write_bytes(b"x" * {filler})
    run({name!r}, place / "state")
assert any(warning.category is CheckpointWarning for warning in said), [str(w.message) for w in said]
assert not list(place.glob("*.part")), list(place.iterdir())
print("ended")
"""


def full(number: int, folder: Path) -> str:
    """A disk of 64 KiB that is full but for a little: in a name space of its own, where this machine allows one."""
    place, name = folder / "disk", NAMES[number % len(NAMES)]
    place.mkdir(exist_ok=True)
    text = FULL.format(tests=str(Path(__file__).parents[1]), place=str(place), filler=61_300, name=name)
    mounted = f"mount -t tmpfs -o size=64k tmpfs '{place}' && exec '{sys.executable}' -c \"$0\""
    command = ["unshare", "-rm", "sh", "-c", mounted, text]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    if "unshare" in done.stderr or "mount" in done.stderr:
        return "not allowed here"
    return "ended" if done.stdout.strip() == "ended" else f"HIT: full disk, {name}: {done.stderr[-300:]}"


def attempt(number: int, folder: Path) -> str:
    """One way of being out of room."""
    ways = (limited, gone, missing, full)
    way = ways[number % len(ways)]
    if way is full:
        return full(number // len(ways), folder) if shutil.which("unshare") else "not allowed here"
    child = Child(lambda: way(number // len(ways), folder), folder / "told")  # type: ignore[operator]
    if child.ended(60) is None:
        child.send(signal.SIGKILL)
        return "HIT: not ended"
    found = child.outcome()
    shutil.rmtree(folder / "place", ignore_errors=True)
    if found["kind"] != "ended" or not found["same"] or found["left"]:
        return f"HIT: {way.__name__} {number // len(ways)}: {found}"
    return "ended and warned" if found["warnings"] == 1 else f"HIT: {found['warnings']} warnings"
