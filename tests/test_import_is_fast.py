"""`import platewright` loads nothing heavy: what only some uses need is imported where it is needed.

Names of loaded modules are checked, not seconds: they are the same on every machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HEAVY = ("pandas", "polars", "pyarrow", "xarray", "scipy.stats", "matplotlib", "rich", "narwhals")

SOURCE = Path(__file__).parent.parent / "src"


def modules_loaded_by(statement: str) -> set[str]:
    """The names in sys.modules after `statement` in a new interpreter."""
    program = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(found.stdout.split())


def test_importing_platewright_loads_nothing_heavy() -> None:
    # An interpreter may load some modules by itself at start-up; only what we add counts.
    added = modules_loaded_by("import platewright") - modules_loaded_by("pass")
    assert "platewright" in added
    assert [name for name in HEAVY if name in added] == []
