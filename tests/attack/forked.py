"""One try in a child of its own, so that it may be killed, interrupted or starved; the child tells what it came to."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Child:
    """A forked process that does some work, and writes what came of it."""

    def __init__(self, work: Callable[[], dict[str, Any]], told: Path) -> None:
        self.told = told
        told.unlink(missing_ok=True)
        self.process = os.fork()
        if self.process == 0:
            code = 0
            try:
                found = work()
                told.write_text(json.dumps(found), encoding="utf-8")
            except BaseException as error:
                told.write_text(json.dumps({"kind": "foreign", "error": repr(error)[:300]}), encoding="utf-8")
                code = 1
            finally:
                os._exit(code)

    def ended(self, seconds: float) -> int | None:
        """The status it ended with, or nothing when it is still at work after so many seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            done, status = os.waitpid(self.process, os.WNOHANG)
            if done:
                return status
            time.sleep(0.005)
        return None

    def send(self, number: signal.Signals) -> None:
        """A signal, if it is still there."""
        os.kill(self.process, number)

    def outcome(self) -> dict[str, Any]:
        """What it wrote."""
        if not self.told.exists():
            return {"kind": "nothing"}
        found: dict[str, Any] = json.loads(self.told.read_text(encoding="utf-8"))
        return found


def with_arrays(fit: Any) -> dict[str, str]:
    """Everything that a fit holds, as text to compare."""
    from run.test_long_samplers import bits

    if hasattr(fit, "estimate"):
        values = {**fit.estimate.values}
        return {name: value.tobytes().hex() for name, value in values.items()}
    return {name: value.hex() for name, value in bits(fit).items()}
