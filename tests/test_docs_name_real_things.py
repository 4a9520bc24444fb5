"""Every path and every public name that the pages mention exists.

A path in backticks that starts with one of `ROOTS` is looked for from the top of the repository; `<name>` and `*` in
it stand for anything, and something must match. A name written `pw.Name`, in text or in code, is looked for in the
package.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import platewright

ROOTS = ("src", "examples", "tests", "benchmarks", "docs")
MADE_BY_A_COMMAND = ("docs/_build",)

TOP = Path(__file__).parent.parent
PATH = re.compile(rf"(?<!`)`((?:{'|'.join(ROOTS)})/[^`\s]*)`(?!`)")
FENCE = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.MULTILINE | re.DOTALL)
PUBLIC_NAME = re.compile(r"\bpw\.([A-Za-z]\w*)")


def is_ours(page: Path) -> bool:
    parts = page.relative_to(TOP).parts
    return not any(part.startswith(".") or part in ("_build", "venv", "build", "dist") for part in parts)


PAGES = sorted(page for page in TOP.rglob("*.md") if is_ours(page))


def named(page: Path) -> str:
    return page.relative_to(TOP).as_posix()


def paths_in(text: str) -> list[str]:
    """The paths in backticks, outside blocks of code."""
    return PATH.findall(FENCE.sub("", text))


def is_there(path: str) -> bool:
    if path.startswith(MADE_BY_A_COMMAND):
        return True
    pattern = re.sub(r"<[^>]*>", "*", path).rstrip("/")
    return any(TOP.glob(pattern))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_path_in_a_page_exists(page: Path) -> None:
    missing = [path for path in paths_in(page.read_text(encoding="utf-8")) if not is_there(path)]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_public_name_in_a_page_exists(page: Path) -> None:
    names = sorted(set(PUBLIC_NAME.findall(page.read_text(encoding="utf-8"))))
    assert [name for name in names if not hasattr(platewright, name)] == []


def test_a_path_is_read_from_backticks_and_not_from_code() -> None:
    text = "See `tests/no_such.py` and src/bare.py.\n\n```text\n`src/in_a_block.py`\n```\n"
    assert paths_in(text) == ["tests/no_such.py"]


def test_a_path_that_is_not_there_is_noticed() -> None:
    assert not is_there("tests/no_such.py")
    assert not is_there("tests/<name>.nothing")
    assert is_there("tests/<name>.py")


def test_the_reference_names_every_public_name() -> None:
    page = (TOP / "docs" / "api.md").read_text(encoding="utf-8")
    assert [name for name in platewright.__all__ if not re.search(rf"\b{name}\b", page)] == []
