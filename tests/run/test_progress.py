"""Progress speaks only when work takes long, and in plain lines when nobody watches."""

from __future__ import annotations

import io
from time import sleep

import pytest

from platewright.run.progress import working


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_quick_work_leaves_no_trace() -> None:
    out = io.StringIO()
    with working("adding", out):
        pass
    assert out.getvalue() == ""


def test_long_work_writes_plain_lines_to_a_file() -> None:
    out = io.StringIO()
    with working("adding", out, patience=0.01):
        sleep(0.1)
    assert out.getvalue() == "adding ...\nadding: 0.1 s\n"


def test_long_work_turns_a_spinner_on_a_terminal() -> None:
    out = Terminal()
    with working("adding", out, patience=0.01):
        sleep(0.6)
    assert "adding" in out.getvalue() and "..." not in out.getvalue()


def test_an_error_passes_through() -> None:
    with pytest.raises(ZeroDivisionError), working("dividing", io.StringIO()):
        1 / 0  # noqa: B018
