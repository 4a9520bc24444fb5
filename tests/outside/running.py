"""One case in a process of its own: a limit of time and memory, and whatever happens becomes an outcome."""

from __future__ import annotations

import multiprocessing
import os
import resource
import traceback
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from time import perf_counter

from outside.outcome import Outcome
from platewright.errors import PlatewrightError

Run = Callable[[str, float], Outcome]

GRACE = 2.0
"""A case gets this many times its seconds before it is stopped from outside: it may check its time only rarely."""

MOST_BYTES = 12 * 2**30


def run_case(kind: str, name: str, run: Run, seconds: float) -> Outcome:
    """Run one case in a child process; its outcome, or that it was late, refused or broken."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(kind, name, run, seconds, there), daemon=True)
    start = perf_counter()
    child.start()
    there.close()
    try:
        if here.poll(GRACE * seconds + 10):
            return here.recv()  # type: ignore[no-any-return]
        took = perf_counter() - start
        return Outcome(kind, name, "late", why=f"stopped after {took:.0f} s", total=took)
    except EOFError:
        took = perf_counter() - start
        return Outcome(kind, name, "broken", why="the process died", total=took)
    finally:
        child.kill()
        child.join()
        here.close()


def _child(kind: str, name: str, run: Run, seconds: float, there: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    # Progress of samplers is for people who wait; here a table is printed.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    there.send(guarded(kind, name, run, seconds))
    there.close()


def guarded(kind: str, name: str, run: Run, seconds: float) -> Outcome:
    """The outcome of a case; our refusals are outcomes too, and so is any other error."""
    start = perf_counter()
    try:
        return replace(run(name, seconds), kind=kind)
    except PlatewrightError as error:
        took = perf_counter() - start
        return Outcome(kind, name, "declined", why=refusal(error), total=took)
    except Exception as error:
        took = perf_counter() - start
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}:{place.lineno}"
        return Outcome(kind, name, "broken", why=f"{type(error).__name__} at {where}: {error}", total=took)


def refusal(error: PlatewrightError) -> str:
    """The reason of a refusal in one line."""
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    reasons = [line for line in lines if " declined: " in line]
    return "; ".join(reasons) if reasons else lines[0]
