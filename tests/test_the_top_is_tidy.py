"""What lies at the top of the repository is there on purpose, and the page about its rooms is true."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent
PACKAGE = TOP / "src" / "platewright"
WANTED = {
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "benchmarks",
    "docs",
    "examples",
    "pyproject.toml",
    "src",
    "tests",
}
LONGEST_README = 210


def test_nothing_else_is_committed_at_the_top() -> None:
    if not (TOP / ".git").exists():
        pytest.skip("no repository")
    listed = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True, check=True).stdout
    top = {line.split("/")[0] for line in listed.splitlines()}
    assert {name for name in top if not name.startswith(".")} <= WANTED


def test_the_page_of_rooms_names_every_room_and_no_other() -> None:
    rows = re.findall(r"^\| (`.+?`) \|", (TOP / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = {word.rstrip("/") for row in rows for word in re.findall(r"`(.+?)`", row)}
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    files = {path.name for path in PACKAGE.glob("*.py")} - {"__main__.py"}
    assert named == rooms | files


@pytest.mark.parametrize("room", ["backends", "run", "language"])
def test_a_room_with_rooms_in_it_names_them(room: str) -> None:
    page = (TOP / "ARCHITECTURE.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{room}/`"))
    inside = {path.name for path in (PACKAGE / room).iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert {word.rstrip("/") for word in re.findall(r"`(\w+/)`", row)} == {room, *inside}


def test_the_first_page_stays_short() -> None:
    assert len((TOP / "README.md").read_text(encoding="utf-8").splitlines()) <= LONGEST_README
