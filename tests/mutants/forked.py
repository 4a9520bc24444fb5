"""Run tests again and again, each time in a fork of a pytest session that has imported and collected everything.

    python -m mutants.forked FOLDER FILES...        answers each line {"mutant": ..., "tests": [...], "limit": seconds}
                                                    with a line {"verdict": ..., "by": ...}

The defect is planted in the memory of the fork (see `swapping`), and the tests run there one by one until one fails.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterable
from typing import IO

import pytest
from _pytest.runner import runtestprotocol

from mutants.planting import Mutant
from mutants.swapping import swapped

UNREACHED = "unreached"
"""What cannot be exchanged in memory says nothing yet: it is no verdict."""
PYTEST = ("-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist")


class Server:
    """Takes the place of the loop over all tests: waits for what is asked."""

    def __init__(self, questions: IO[str], answers: IO[str]) -> None:
        self.questions, self.answers = questions, answers

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answer line by line until there are no more."""
        items = {item.nodeid: item for item in session.items}
        for line in iter(self.questions.readline, ""):
            asked = json.loads(line)
            names = dict.fromkeys(name for test in asked["tests"] for name in expanded(test, items))
            wanted = [items[name] for name in names]
            verdict, by = forked(Mutant(**{**asked["mutant"], "tests": ()}), wanted, asked["limit"])
            self.answers.write(json.dumps({"verdict": verdict, "by": by}) + "\n")
            self.answers.flush()
        return True


def expanded(test: str, names: Iterable[str]) -> list[str]:
    """The tests of a name, which may be that of a file."""
    return [test] if test in names else [name for name in names if name.startswith(f"{test}::")]


def forked(mutant: Mutant, items: list[pytest.Item], limit: float) -> tuple[str, str]:
    """The verdict, and the first test that failed; no verdict where nothing can be exchanged in memory."""
    if not items:
        return "", ""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reading)
        said = "killed\ndoes not import"
        try:
            said = verdict_in_here(mutant, items)
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.close(writing)
    end = time.monotonic() + limit
    found, _ = os.waitpid(child, os.WNOHANG)
    while found == 0 and time.monotonic() < end:
        time.sleep(0.01)
        found, _ = os.waitpid(child, os.WNOHANG)
    if found == 0:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with os.fdopen(reading, encoding="utf-8") as answer:
        verdict, _, by = answer.read().partition("\n")
    if found == 0:
        return "killed", "does not end"
    if verdict == UNREACHED:
        return "", ""
    return (verdict, by) if verdict else ("killed", "the process died")


def verdict_in_here(mutant: Mutant, items: list[pytest.Item]) -> str:
    """Plant, and run the tests until one fails."""
    if not swapped(mutant):
        return f"{UNREACHED}\n"
    for item in items:
        if any(report.failed for report in runtestprotocol(item, nextitem=None, log=False)):
            return f"killed\n{item.nodeid}"
    return "survived\n"


def main(folder: str, files: list[str]) -> None:
    """Collect, then serve."""
    os.chdir(folder)
    questions, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.dont_write_bytecode = True
    pytest.main([*PYTEST, *files], plugins=[Server(questions, answers)])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
