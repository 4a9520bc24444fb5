"""The junction tree of an elimination order, by name and number only: width and bytes before any table exists.

    tables ab, bc, cd in the order a, b, c, d      gives cliques      {a b} -> {b c} -> {c d} -> {d}

Variables are numbered by their place in the order. The clique of a variable holds it and what it is tied to when its
turn comes; its message, summed over that variable, goes to the clique of the next variable in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from platewright.errors import SizeError
from platewright.inference.ordering import Ordering, choose_ordering

MOST_BYTES = 8 << 30
ENTRY = 8


def memory_limit() -> int:
    """What inference may take unless told otherwise: 8 GiB, or three quarters of the machine where that is less."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return MOST_BYTES
    return min(MOST_BYTES, machine * 3 // 4)


@dataclass(frozen=True)
class Clique:
    """A variable, the later variables it is tied to, the tables that start here, and where its message goes."""

    axes: tuple[int, ...]
    tables: tuple[int, ...]
    children: tuple[int, ...]
    parent: int | None

    @property
    def separator(self) -> tuple[int, ...]:
        """What the message is about."""
        return self.axes[1:]


@dataclass(frozen=True)
class JunctionTree:
    """Cliques in the order of elimination, one a variable; `kept` variables come last and have none."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    kept: tuple[int, ...]
    cliques: tuple[Clique, ...]
    loose: tuple[int, ...]
    """Tables on kept variables alone."""
    rule: str = ""

    @property
    def width(self) -> int:
        """The induced width: the largest clique, less one."""
        return max((len(clique.axes) - 1 for clique in self.cliques), default=max(len(self.kept) - 1, 0))

    def entries(self, axes: Sequence[int]) -> int:
        """How many numbers a table over some variables holds."""
        return prod(self.sizes[axis] for axis in axes)

    @cached_property
    def bytes(self) -> int:
        """The most that inference holds at once: messages kept, messages pending, and what is made for a clique.

        A clique's table is never made whole, but its small factors are multiplied to tables of up to a quarter of it.
        """
        held = peak = 0
        for clique in self.cliques:
            message = self.entries(clique.separator)
            peak = max(peak, held + message + self.entries(clique.axes) // 2)
            held += message
        pending: dict[int, int] = {}
        waiting = 0
        for at in range(len(self.cliques) - 1, -1, -1):
            messages = [self.entries(self.cliques[child].separator) for child in self.cliques[at].children]
            working = self.entries(self.cliques[at].axes) // 2 + sum(messages) + max(messages, default=0) // 8
            peak = max(peak, held + waiting + working)
            waiting += sum(messages) - pending.pop(at, 0)
            pending.update(zip(self.cliques[at].children, messages, strict=True))
        return ENTRY * max(peak, held + 2 * self.entries(self.kept))

    def number(self) -> dict[str, int]:
        """Each variable's place."""
        return {name: at for at, name in enumerate(self.names)}


def build_tree(scopes: Sequence[Sequence[str]], sizes: Mapping[str, int], keep: Sequence[str] = ()) -> JunctionTree:
    """The junction tree for tables with these scopes, by the best order found."""
    return tree_of(choose_ordering(scopes, sizes, keep), scopes, sizes, keep)


def tree_of(
    ordering: Ordering, scopes: Sequence[Sequence[str]], sizes: Mapping[str, int], keep: Sequence[str] = ()
) -> JunctionTree:
    """The junction tree of a given order."""
    names = (*ordering.order, *keep)
    number = {name: at for at, name in enumerate(names)}
    count = len(ordering.order)
    tables: list[list[int]] = [[] for _ in range(count)]
    members: list[set[int]] = [{at} for at in range(count)]
    children: list[list[int]] = [[] for _ in range(count)]
    loose: list[int] = []
    for table, scope in enumerate(scopes):
        axes = {number[name] for name in scope}
        first = min(axes, default=count)
        if first < count:
            tables[first].append(table)
            members[first] |= axes
        else:
            loose.append(table)
    cliques = []
    for at in range(count):
        axes_here = tuple(sorted(members[at]))
        parent = axes_here[1] if len(axes_here) > 1 and axes_here[1] < count else None
        if parent is not None:
            members[parent] |= set(axes_here[1:])
            children[parent].append(at)
        cliques.append(Clique(axes_here, tuple(tables[at]), tuple(children[at]), parent))
    kept = tuple(range(count, len(names)))
    return JunctionTree(names, tuple(sizes[name] for name in names), kept, tuple(cliques), tuple(loose), ordering.rule)


def check_size(tree: JunctionTree, most_bytes: int = MOST_BYTES, what: str = "exact inference") -> JunctionTree:
    """The tree, when it fits; otherwise an error with the width and the bytes it would need."""
    if tree.bytes <= most_bytes:
        return tree
    widest = max(tree.cliques, key=lambda clique: tree.entries(clique.axes), default=None)
    size = "" if widest is None else f"; its largest clique has {tree.entries(widest.axes):.3g} states"
    raise SizeError(
        f"{what} needs {shown_bytes(tree.bytes)}: the best elimination order found ({tree.rule}) has induced width "
        f"{tree.width}{size}",
        expected=f"at most {shown_bytes(most_bytes)} (most_bytes=)",
        hint="sample instead (by='gibbs'), give more evidence, or ask about fewer variables (about=[...])",
    )


def shown_bytes(count: float) -> str:
    """A number of bytes for reading."""
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if count < 1000 or unit == "PB":
            break
        count /= 1000
    return f"{count:.3g} {unit}"


def connected(scopes: Iterable[Sequence[str]], start: Iterable[str]) -> frozenset[str]:
    """Variables that some chain of tables ties to those at the start."""
    touching: dict[str, list[Sequence[str]]] = {}
    for scope in scopes:
        for name in scope:
            touching.setdefault(name, []).append(scope)
    found = set(start)
    waiting = list(found)
    while waiting:
        for scope in touching.pop(waiting.pop(), ()):
            more = set(scope) - found
            found |= more
            waiting.extend(more)
    return frozenset(found)
