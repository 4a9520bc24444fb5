"""A copy of the source in which defects are planted one after another, and the tests that look for them are run."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from mutants.forked import PYTEST
from mutants.planting import Gone, Mutant, planted

TOP = Path(__file__).parent.parent.parent
SOURCE = Path("src/platewright")
ENDLESS = -1
LIMIT = 120.0
"""Seconds for the tests of one defect; a run that takes longer has noticed that something does not end."""
ROOMS: dict[str, tuple[str, ...]] = {
    "algebra": ("tests/algebra", "tests/backends/test_printed_expressions.py"),
    "families": ("tests/laws/test_family_laws.py",),
    "recognition": ("tests/recognition", "tests/laws/test_exact_laws.py"),
    "elimination": ("tests/recognition", "tests/laws/test_exact_laws.py"),
    "operations": ("tests/laws/test_operation_laws.py", "tests/operations"),
    "inference": ("tests/inference",),
    "derive": ("tests/laws/test_mixed_laws.py", "tests/derive"),
    "schemas": ("tests/schemas/test_em_laws.py", "tests/schemas/test_conditional_ratio.py"),
    "backends/kernels": (
        "tests/run/test_unconstrained.py",
        "tests/schemas/test_slopes.py",
        "tests/run/test_quadrature.py",
    ),
    "backends/c": ("tests/backends/test_c_same_as_numpy.py", "tests/backends/test_c_sums.py"),
    "backends/c_gibbs": ("tests/backends/test_c_draws.py", "tests/schemas/test_native_conditionals.py"),
    "run/evidence": ("tests/run/test_evidence.py", "tests/run/test_quadrature.py"),
}
"""Where to look when the recorded tests of a defect are there no more."""
ELSEWHERE = ("tests/laws/test_exact_laws.py", "tests/independent")


@dataclass(frozen=True)
class Outcome:
    """What became of a defect: `killed`, `survived`, `gone` (it does not apply), or `untested` (no test ran)."""

    mutant: Mutant
    verdict: str
    seconds: float
    by: str = ""


@dataclass(frozen=True)
class Workshop:
    """A folder with a copy of the source and the tests, and a process that has imported them."""

    folder: Path
    runner: subprocess.Popen[str]

    def tried(self, mutant: Mutant, limit: float = LIMIT, quick: bool = False) -> Outcome:
        """In the memory of a fork at first; what is not noticed so is planted in the copy of the files."""
        start = time.monotonic()
        try:
            planted((self.folder / SOURCE / mutant.file).read_text(encoding="utf-8"), mutant)
        except (Gone, OSError) as gone:
            return Outcome(mutant, "gone", 0.0, str(gone))
        tests = [test for test in mutant.tests if (self.folder / test.split("::")[0]).exists()]
        verdict, by = self.forked(mutant, tests, limit) if tests else ("", "")
        if not verdict or (verdict == "survived" and not quick):
            verdict, by = self.afresh(mutant, tests, limit)
        return Outcome(mutant, verdict, time.monotonic() - start, by)

    def forked(self, mutant: Mutant, tests: Sequence[str], limit: float) -> tuple[str, str]:
        """The tests in a fork of the process that has imported everything."""
        assert self.runner.stdin is not None and self.runner.stdout is not None
        self.runner.stdin.write(json.dumps({"mutant": asdict(mutant), "tests": list(tests), "limit": limit}) + "\n")
        self.runner.stdin.flush()
        answer = json.loads(self.runner.stdout.readline())
        return answer["verdict"], answer["by"]

    def afresh(self, mutant: Mutant, tests: Sequence[str], limit: float) -> tuple[str, str]:
        """The tests, else their files, else those of the room, on changed files in a new process."""
        path = self.folder / SOURCE / mutant.file
        before = path.read_text(encoding="utf-8")
        path.write_text(planted(before, mutant), encoding="utf-8")
        forget(path)
        try:
            for some in (tests, list(dict.fromkeys(test.split("::")[0] for test in tests)), self.of_room(mutant.room)):
                verdict, by = judged(*self.run(some, limit)) if some else ("", "")
                if verdict:
                    return verdict, by
        finally:
            path.write_text(before, encoding="utf-8")
            forget(path)
        return "untested", ""

    def of_room(self, room: str) -> list[str]:
        """Test files and folders that concern a room and are there."""
        return [test for test in (*ROOMS.get(room, ()), *ELSEWHERE) if (self.folder / test).exists()]

    def run(self, tests: Sequence[str], limit: float) -> tuple[int, str]:
        """What pytest says in a new process."""
        running = subprocess.Popen(
            [sys.executable, "-m", "pytest", *PYTEST, *tests], cwd=self.folder, env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        try:
            said, _ = running.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
            return ENDLESS, ""
        return running.returncode, said


def judged(code: int, said: str) -> tuple[str, str]:
    """The verdict and the first test that failed; no verdict where no test ran."""
    if code == ENDLESS:
        return "killed", "does not end"
    if code == 0:
        return "survived", ""
    if code in (4, 5):
        return "", ""
    found = re.search(r"^(?:FAILED|ERROR) (tests/\S.*?)(?: - .*)?$", said, re.MULTILINE)
    return "killed", found[1] if found else "does not import"


def environment() -> dict[str, str]:
    """The surroundings of a run: nothing of the run that asks for it."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "HYPOTHESIS_", "COV_"))}
    return {**kept, "PYTHONPATH": "src:tests", "PYTHONDONTWRITEBYTECODE": "1"}


def forget(path: Path) -> None:
    """Remove what was compiled of a module: its time stamp may be that of the text before."""
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        compiled.unlink()


@contextmanager
def workshop(files: Sequence[str]) -> Iterator[Workshop]:
    """A fresh copy whose process has imported these test files; the rest of the repository is only linked to."""
    with tempfile.TemporaryDirectory(prefix="platewright-mutants-") as name:
        folder = Path(name)
        for part in ("src", "tests"):
            shutil.copytree(TOP / part, folder / part, copy_function=shutil.copy2)
        for entry in TOP.iterdir():
            if entry.name not in ("src", "tests") and not entry.name.startswith("."):
                (folder / entry.name).symlink_to(entry)
        there = [file for file in files if (folder / file).exists()]
        runner = subprocess.Popen(
            [sys.executable, "-m", "mutants.forked", str(folder), *there], cwd=folder, env=environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            yield Workshop(folder, runner)
        finally:
            runner.kill()
            runner.wait()
