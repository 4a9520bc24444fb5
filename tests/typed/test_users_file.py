"""A user's file is checked by `mypy --strict` against the types that are shipped, and no name in it is `Any`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parent.parent / "src"
WRONG = HERE / "a_wrong_file.py"


def test_types_are_shipped() -> None:
    assert (SOURCE / "platewright" / "py.typed").exists()


@pytest.mark.slow
def test_a_users_file_has_types_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--follow-imports=silent"]
    command += [f"--cache-dir={tmp_path}", str(HERE / "users_file.py"), str(WRONG)]
    said = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(SOURCE)})
    lines = [line for line in said.stdout.splitlines() if ": error:" in line]
    assert [line for line in lines if WRONG.name not in line] == [], said.stdout
    text = WRONG.read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(text, start=1) if line.startswith(tuple("lweqn"))}
    assert {int(line.split(":")[1]) for line in lines} == wrong, said.stdout
