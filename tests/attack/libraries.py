"""Compiled libraries that were damaged in the cache: noticed before they are loaded, and compiled once more."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from attack.mutating import damaged_bytes
from attack.running import environment

FIT = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import platewright as pw
from run.test_long_samplers import COUNTS, mixture
from shown_models import made, regression
rng = np.random.default_rng(0)
data = {"y": rng.normal(size=60_000), "X": rng.normal(size=(60_000, 3))}
try:
    exact = made(regression)[0].learn(data, backend=sys.argv[1])
    drawn = mixture().learn(COUNTS, by="gibbs", backend=sys.argv[1], chains=1, draws=40, warm_up=5, thin=5_000)
    collapsed = mixture().learn(COUNTS, by="collapsed-gibbs", backend=sys.argv[1], chains=1, draws=5, warm_up=2)
except pw.errors.PlatewrightError as error:
    print("ours", type(error).__name__)
else:
    print("fitted", exact.log_evidence, drawn["rate"].mean.sum(), collapsed["rate"].mean.sum())
"""


def fitted(cache: Path, backend: str) -> tuple[int, str]:
    """Three fits in a process of their own, whose libraries are in this cache."""
    surroundings = {**environment(), "PLATEWRIGHT_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", FIT, backend], env=surroundings, capture_output=True, text=True, timeout=300
    )
    return done.returncode, (done.stdout.strip() or done.stderr.strip()[-300:])


def prepare(folder: Path) -> None:
    """A whole cache, and what the fits come to with it."""
    code, told = fitted(folder / "whole", "c")
    assert code == 0 and told.startswith("fitted"), told
    (folder / "told").write_text(told, encoding="utf-8")


def attempt(number: int, folder: Path) -> str:
    """Damage some of the libraries, then fit again: the same numbers, or words of ours."""
    rng, cache = random.Random(number), folder / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    shutil.copytree(folder / "whole", cache)
    os.chmod(cache, 0o700)
    libraries = sorted(path for path in cache.rglob("*") if path.is_file())
    for path in libraries if rng.random() < 0.5 else [rng.choice(libraries)]:
        match rng.randrange(4):
            case 0:
                path.write_bytes(b"")
            case 1:
                path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size or 1)])
            case 2:
                path.write_bytes(rng.randbytes(path.stat().st_size))
            case _:
                path.write_bytes(damaged_bytes(path.read_bytes() or b"0", rng))
    code, told = fitted(cache, rng.choice(["c", "auto"]))
    if code or not told.startswith(("fitted", "ours")):
        return f"HIT: code {code}: {told}"[:300]
    wanted = (folder / "told").read_text(encoding="utf-8").split()
    found = told.split()
    if found[0] == "ours":
        return f"ours: {found[1]}"
    near = all(abs(float(a) - float(b)) <= 1e-6 * (1 + abs(float(b))) for a, b in zip(found[1:2], wanted[1:2]))
    return "the same numbers" if near else f"HIT: {found} in place of {wanted}"
