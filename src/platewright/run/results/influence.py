"""What a decision is about: actions in their order, what is seen before each, and what the utilities hang on.

    seen_1 -> action_1 -> seen_2 -> action_2 -> ... -> what is never seen -> utilities

Nothing that was known before is forgotten. What an action changes cannot be seen before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from platewright.errors import ModelError, NotSolvable, UnknownName
from platewright.graph.graph import Graph, topological


@dataclass(frozen=True)
class Influence:
    """The parts of one decision problem."""

    graph: Graph
    given: frozenset[str]
    actions: tuple[str, ...]
    seen: tuple[tuple[str, ...], ...]
    """For each action what is seen just before it, and was not known."""
    hidden: tuple[str, ...]
    """Finite variables that are never seen, and on which utilities or what is seen depend."""
    numbers: tuple[str, ...]
    """Such variables that have no finite number of values: only utilities may look at them."""
    utilities: tuple[str, ...]
    functions: tuple[str, ...]
    """What is computed on the way to the utilities, parents first."""

    @property
    def axes(self) -> tuple[str, ...]:
        """What has an axis in tables, in the order of time."""
        found: list[str] = []
        for action, seen in zip(self.actions, self.seen, strict=True):
            found += [*seen, action]
        return (*found, *self.hidden)

    @property
    def touched(self) -> frozenset[str]:
        """What the utilities look at, itself or through functions."""
        found = {parent for name in self.functions for parent in self.graph.parents[name]}
        return frozenset(found - set(self.functions))


def influence_of(
    graph: Graph, cases: Collection[str], given: Collection[str], knows: Mapping[str, tuple[str, ...]] | None = None
) -> Influence:
    """The problem of a graph whose `cases` are the variables of the case at hand, some of them given.

    `knows` adds to what is seen before some actions.
    """
    utilities = tuple(name for name, node in graph.nodes.items() if node.role == "utility")
    if not utilities:
        raise ModelError("the model has no utility", expected="m.gain = pw.Utility(...): what an outcome is worth")
    open_actions = tuple(name for name, node in graph.nodes.items() if node.role == "action" and name not in given)
    above = _ancestors(graph, utilities)
    for action in open_actions:
        if action not in above:
            raise ModelError(
                f"no utility depends on the action `{action}`",
                expected=f"pw.Utility(...) of `{action}`, or of something that it changes",
            )
    for name in given:
        if changing := [action for action in open_actions if action in _ancestors(graph, (name,))]:
            raise ModelError(
                f"`{name}` is given, and depends on the action `{changing[0]}`, which is not taken yet",
                hint=f"give the action too, or leave `{name}` out",
            )
    seen, known = [], set(given)
    for place, action in enumerate(open_actions):
        here = (*graph.nodes[action].knows, *(knows or {}).get(action, ()))
        for name in dict.fromkeys(here):
            _check_seen(graph, name, action, open_actions[place:], cases, known)
        seen.append(tuple(name for name in dict.fromkeys(here) if name not in known and name not in open_actions))
        known |= {*here, action}
    wanted = {*utilities, *(name for group in seen for name in group), *given}
    relevant = [name for name in graph.nodes if name in _ancestors(graph, wanted) and name in cases]
    rest = [name for name in relevant if name not in known]
    numbers = tuple(name for name in rest if not graph.nodes[name].domain.is_finite)
    functions = tuple(
        name for name in topological(graph) if name in above and graph.nodes[name].kind == "deterministic"
    )
    hidden = tuple(name for name in rest if name not in numbers)
    found = Influence(graph, frozenset(given), open_actions, tuple(seen), hidden, numbers, utilities, functions)
    for name in numbers:
        if below := [one for one in relevant if name in graph.parents[one]]:
            raise NotSolvable(
                f"`{name}` is {graph.nodes[name].domain}, and `{below[0]}` depends on it",
                expected="unseen numbers on which utilities alone depend",
                hint=f"give `{name}` a value",
            )
    return found


def with_knowledge(found: Influence, cases: Collection[str], name: str, before: str | None) -> Influence:
    """The same problem where one more variable is seen before an action, the first by default."""
    if not found.actions:
        raise ModelError("nothing is to be decided", expected="an action that is not given")
    action = found.actions[0] if before is None else before
    if action not in found.actions:
        raise UnknownName(action, found.actions, where="before=")
    return influence_of(found.graph, cases, found.given, {action: (name,)})


def _check_seen(
    graph: Graph, name: str, action: str, later: Iterable[str], cases: Collection[str], known: Collection[str]
) -> None:
    if name in known:
        return
    node = graph.nodes.get(name)
    if node is None or (name not in cases and node.role != "action"):
        raise UnknownName(name, cases, where=f"what is seen before `{action}`")
    if changing := [one for one in later if one in _ancestors(graph, (name,))]:
        raise ModelError(
            f"`{name}` cannot be seen before the action `{action}`: it depends on `{changing[0]}`",
            expected="what no action changes that is still to be taken",
        )
    if not node.domain.is_finite:
        raise NotSolvable(
            f"`{name}` is {node.domain}, and a policy lists what to do for each value that may be seen",
            expected="a variable with finitely many values",
            hint=f"give its value: decide({{'{name}': ...}})",
        )


def _ancestors(graph: Graph, names: Iterable[str]) -> frozenset[str]:
    """Nodes that some nodes depend on, and these themselves."""
    found, waiting = set(names), list(names)
    while waiting:
        for parent in graph.parents[waiting.pop()]:
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return frozenset(found)
