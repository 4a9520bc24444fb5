"""Drive JAGS by its command line: script, data and draws lie in a temporary folder."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

PROGRAM = shutil.which("jags")
MODULES = "load glm\n"


class JagsRefused(Exception):
    """JAGS did not run the model; the text says what it said."""


class JagsLate(Exception):
    """JAGS was stopped."""


def now() -> float:
    """Seconds: of the clock, or of processors (ours and those of children that ended) where `OUTSIDE_CLOCK` is cpu."""
    if os.environ.get("OUTSIDE_CLOCK") != "cpu":
        return perf_counter()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@dataclass(frozen=True, eq=False)
class JagsRun:
    """Draws by chain of each monitored node, and seconds from the start of the program to its end."""

    draws: Mapping[str, np.ndarray]
    seconds: float


def dump(arrays: Mapping[str, np.ndarray]) -> str:
    """Data as R dump text: columns first, NA for missing."""
    lines = []
    for name, values in arrays.items():
        numbers = ", ".join("NA" if np.isnan(v) else repr(float(v)) for v in np.ravel(values, order="F"))
        if values.ndim == 0:
            lines.append(f'"{name}" <- {numbers}')
        elif values.ndim == 1:
            lines.append(f'"{name}" <- c({numbers})')
        else:
            shape = ", ".join(f"{size}L" for size in values.shape)
            lines.append(f'"{name}" <- structure(c({numbers}), .Dim = c({shape}))')
    return "\n".join(lines) + "\n"


def run_jags(
    text: str,
    data: Mapping[str, np.ndarray],
    initial: Mapping[str, np.ndarray],
    wanted: Sequence[str],
    warm_up: int,
    draws: int,
    seconds: float,
) -> JagsRun:
    """Four chains, from the text to the written draws."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.bug").write_text(_spelled(text))
        (folder / "data.R").write_text(dump(data))
        begin = f'{MODULES}model in "model.bug"\ndata in "data.R"\ncompile, nchains(4)\n'
        if initial:
            (folder / "initial.R").write_text(dump(initial))
            begin += 'parameters in "initial.R"\n'
        warm = f"update {warm_up}\n" if warm_up else ""
        monitors = "".join(f"monitor {node}\n" for node in sorted({re.sub(r"\[.*", "", one) for one in wanted}))
        took = _timed(folder, f"{begin}initialize\n{warm}{monitors}update {draws}\ncoda *\n", seconds)
        return JagsRun(_coda(folder, wanted), took)


def _spelled(text: str) -> str:
    """The text with the few words that JAGS spells otherwise."""
    text = re.sub(r"\bdflat\s*\(\s*\)", "dnorm(0, 1.0E-10)", text)
    text = re.sub(r"\bC\s*\(", "T(", text)
    return text if re.search(r"\bmodel\b", text) else f"model {text}"


def _timed(folder: Path, script: str, seconds: float) -> float:
    """Run a script; how long it took."""
    (folder / "script.txt").write_text(script)
    assert PROGRAM is not None
    start = now()
    try:
        found = subprocess.run(
            [PROGRAM, "script.txt"], cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise JagsLate(f"stopped after {seconds:.0f} s") from None
    took = now() - start
    said = found.stdout + found.stderr
    if trouble := re.search(
        r"(?:Error|RUNTIME ERROR|Cannot|Unknown|Unable|Failed|syntax error)[^\n]*(?:\n[^\n]+)?", said
    ):
        raise JagsRefused(" ".join(trouble.group().split())[:150])
    return took


def _coda(folder: Path, wanted: Sequence[str]) -> dict[str, np.ndarray]:
    """The draws of the wanted nodes."""
    places = {}
    for line in (folder / "CODAindex.txt").read_text().splitlines():
        name, first, last = line.rsplit(maxsplit=2)
        places[name.replace(" ", "")] = (int(first) - 1, int(last))
    chains = [
        np.array((folder / f"CODAchain{number}.txt").read_text().split()[1::2], dtype=float) for number in range(1, 5)
    ]
    return {one: np.array([chain[slice(*places[one])] for chain in chains]) for one in wanted if one in places}
