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
from typing import Any

from outside.outcome import Outcome
from platewright.errors import BugsError, PlatewrightError

Run = Callable[[str, float], Outcome]

GRACE = 2.0
"""A case gets this many times its seconds before it is stopped from outside: it may check its time only rarely."""

MOST_BYTES = 12 * 2**30


class Late(Exception):
    """The process was stopped."""


class Died(Exception):
    """The process ended without an answer."""


def run_apart(function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float, fresh: bool = False) -> Any:
    """What a function returns or raises in a child process; `Late` or `Died` where it gives no answer.

    A child is a copy of this process, or a fresh one that shares no memory with it.
    """
    context = multiprocessing.get_context("spawn" if fresh else "fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(function, arguments, there))
    start = perf_counter()
    child.start()
    there.close()
    try:
        return here.recv() if here.poll(seconds) else Late(f"stopped after {perf_counter() - start:.0f} s")
    except EOFError:
        return Died("the process died")
    finally:
        child.kill()
        child.join()
        here.close()


def _child(function: Callable[..., Any], arguments: tuple[Any, ...], there: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    # Progress of samplers is for people who wait; here a table is printed.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        answer = function(*arguments)
    except Exception as error:
        answer = error
    there.send(answer)
    there.close()


def run_case(kind: str, name: str, run: Run, seconds: float) -> Outcome:
    """Run one case in a child process; its outcome, or that it was late, refused or broken."""
    start = perf_counter()
    answer = run_apart(guarded, (kind, name, run, seconds), GRACE * seconds + 10)
    if isinstance(answer, Outcome):
        return answer
    verdict = "late" if isinstance(answer, Late) else "broken"
    return Outcome(kind, name, verdict, why=str(answer), total=perf_counter() - start)


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
    """The reason of a refusal in one line, with the line of a text."""
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    reasons = [line for line in lines if " declined: " in line]
    place = f" (line {error.line})" if isinstance(error, BugsError) and error.line is not None else ""
    return "; ".join(reasons) if reasons else f"{lines[0]}{place}"
