"""Two compiles of one model are byte-identical, whatever order Python keeps its sets in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRINTED = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from example_models import MAKERS
from platewright.backends.emit import emit
for name, make in MAKERS.items():
    model, data = make(np.random.default_rng(0), 20)
    known = [key for key in data if key in model.variables and model.variables[key].kind != "input"]
    program = model.derive(known).plan.program
    print(name, *(hashlib.sha256(emit(program, backend).encode()).hexdigest() for backend in ("numpy", "c")))
"""


def printed(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", PRINTED, str(ROOT / "tests")]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def test_emitted_source_does_not_depend_on_the_order_of_sets() -> None:
    first = printed("1")
    assert len(first.splitlines()) > 15
    assert printed("2") == first
    assert printed("77") == first
