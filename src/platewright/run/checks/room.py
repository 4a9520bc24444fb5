"""Memory that a run will take is estimated and refused before the work, not in the middle of it.

    needed, from shapes alone   <=   SHARE * min(free memory, limit of the process, limit of its group)

Work that needs little is not asked about: to look at the machine takes longer than such work itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from math import inf, prod
from pathlib import Path
from typing import ParamSpec, TypeVar

from platewright.algebra.expression import Index
from platewright.errors import SizeError
from platewright.graph.graph import Graph
from platewright.program.program import Program
from platewright.program.statements import Assign

LITTLE = 2**26
"""Bytes that nobody asks about."""
SHARE = 0.8
"""How much of the free memory a run may take."""
COPIES = 2.0
"""What a step of NumPy holds beside its results, as a multiple of them."""

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def check_room(needed: float, what: str, hint: str) -> None:
    """Refuse what would not fit, in words that say what it is and how much."""
    if needed <= LITTLE:
        return
    free = free_bytes()
    if needed > SHARE * free:
        raise SizeError(
            f"{what} would take {needed / 2**30:.3g} GiB",
            expected=f"at most {SHARE * free / 2**30:.3g} GiB, of {free / 2**30:.3g} GiB that are free",
            hint=hint,
        )


def free_bytes() -> float:
    """The memory that this process may still take; infinite where the system does not tell."""
    return min(_free_of_machine(), _left_of_process(), _left_of_group())


def _free_of_machine() -> float:
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return float(line.split()[1]) * 1024
    return inf


def _left_of_process() -> float:
    """What is left of the limit on the address space."""
    try:
        import resource  # not on every system
    except ImportError:
        return inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return inf
    pages = next(iter(_lines("/proc/self/statm")), "0").split()[0]
    return max(float(limit) - float(pages) * resource.getpagesize(), 0.0)


def _left_of_group() -> float:
    """What is left of the limit of the container."""
    limit, used = (next(iter(_lines(f"/sys/fs/cgroup/memory.{word}")), "") for word in ("max", "current"))
    return max(float(limit) - float(used), 0.0) if limit.strip().isdigit() and used.strip().isdigit() else inf


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []


def numbers_of(graph: Graph, names: Iterable[str], sizes: Mapping[str, int]) -> float:
    """How many numbers one value of each of these variables has, together."""
    return float(sum(prod(float(sizes.get(axis.plate, 1)) for axis in graph.nodes[name].axes) for name in names))


def numbers_assigned(program: Program, sizes: Mapping[str, int]) -> float:
    """How many numbers the assignments of a program make, together."""
    indices = [statement.indices for statement in program.body if isinstance(statement, Assign)]
    return float(sum(_count(each, sizes) for each in indices))


def _count(indices: tuple[Index, ...], sizes: Mapping[str, int]) -> float:
    return prod(float(sizes.get(index.plate, 1)) for index in indices)


def check_draws(graph: Graph, names: Iterable[str], sizes: Mapping[str, int], draws: int) -> None:
    """Draws that would not fit are refused before the first sweep."""
    each = numbers_of(graph, names, sizes)
    room = SHARE * free_bytes() if 8 * each * draws > LITTLE else inf
    fit = int(room // (8 * each)) if each and room < inf else 0
    check_room(
        8 * each * draws,
        f"{draws} draws of {each:.3g} numbers each",
        f"keep=[names] keeps the draws of these and sums of the others; or keep fewer: chains=1, draws={max(1, fit)} "
        "would fit, with thin=10",
    )


def check_steps(programs: Iterable[Program], sizes: Mapping[str, int], schema: str) -> None:
    """What each iteration makes of the rows in NumPy: a number for each row and class, and more."""
    needed = 8 * COPIES * sum(numbers_assigned(program, sizes) for program in programs)
    check_room(needed, f"an iteration of {schema} by NumPy", 'backend="c", which keeps no row; or rows in a file')


def in_our_words(work: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """The same work; memory that runs out all the same is told in our words."""

    @wraps(work)
    def told(*arguments: Given.args, **words: Given.kwargs) -> Answer:
        try:
            return work(*arguments, **words)
        except MemoryError as error:
            raise SizeError(
                f"memory ran out: {str(error) or 'no more could be had'}"[:200],
                expected=f"more than the {free_bytes() / 2**30:.3g} GiB that are free",
                hint="fewer rows, draws or elements; rows in a file are read in batches",
            ) from error

    return told
