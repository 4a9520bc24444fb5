"""What the body of a loop does with variables from outside (dependence between the rounds of a loop).

    for (t in 2:T) { a[t] = a[t - 1] + b[t];  c = a[t];  b[t] = 0; }      assigned a, b, c; kept c; apart b

Rounds that only meet in cells of their own can be taken together. A variable that each round keeps for itself can be
read in a round once it has been assigned there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from platewright.language.stan.reading.syntax import (
    Assignment,
    Between,
    Declaration,
    Expression,
    Indexed,
    Name,
    Statement,
    expressions,
    inside,
    named,
    parts,
)

TARGETS = {"target", "jacobian"}


@dataclass
class Survey:
    """Of one loop: which variables from outside it assigns, and how they are indexed."""

    assigned: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    """Assigned without the loop's variable among the indices."""
    axes: dict[str, set[int]] = field(default_factory=dict)
    """At which places each mention of a variable has the loop's variable itself."""

    def is_apart(self, name: str) -> bool:
        """Whether each round has cells of its own."""
        return bool(self.axes.get(name, {0}))

    def mention(self, name: str, indices: tuple[Expression | Between, ...], loop: str) -> None:
        """Note how a variable stands somewhere."""
        here = {axis for axis, index in enumerate(indices) if index == Name(loop)}
        self.axes[name] = self.axes[name] & here if name in self.axes else here


def survey(body: Sequence[Statement], loop: str) -> Survey:
    """One walk through the body of a loop."""
    found, own = Survey(), set[str]()
    waiting = list(body)
    while waiting:
        statement = waiting.pop()
        waiting += inside(statement)
        if isinstance(statement, Declaration):
            own.add(statement.name)
        if isinstance(statement, Assignment):
            base, indices = statement.target, set[str]()
            while isinstance(base, Indexed):
                indices |= {name for index in base.indices for name in named(index)}
                base = base.inner
            if isinstance(base, Name) and base.name not in TARGETS:
                found.assigned.add(base.name)
                if loop not in indices:
                    found.kept.add(base.name)
        for expression in expressions(statement):
            _note(expression, loop, found)
    found.assigned -= own
    found.kept -= own
    return found


def _note(expression: Expression, loop: str, found: Survey) -> None:
    stack: list[Expression | Between] = [expression]
    while stack:
        node = stack.pop()
        match node:
            case Indexed(Name(name), indices):
                found.mention(name, indices, loop)
                stack += indices
            case Name(name):
                found.mention(name, (), loop)
            case _:
                stack += parts(node)
