"""Eliminate unknowns one after another until none is left, or say which condition stops it.

The order matters: a mean before its precision, a weight before its noise. Gaussian blocks go first, other families
next, variables with finitely many values last; an order that gets stuck is undone and the next one tried.
"""

from __future__ import annotations

from collections.abc import Iterator

from platewright.algebra.expand import Inseparable, expand
from platewright.algebra.expression import Expression, Index, Reference, mentions, names
from platewright.elimination.gaussian import gaussian_block, gaussian_move, tied_scales
from platewright.elimination.state import FamilyConditional, State, TableConditional
from platewright.elimination.tables import table_move
from platewright.graph.graph import Factor
from platewright.operation import Declined
from platewright.program.statements import Assign
from platewright.recognition.recognise import Recognised, recognise

MOST_TRIES = 400
ORDER = "order of elimination"


class Search:
    """Depth-first over elimination orders, remembering which remainders cannot be solved."""

    def __init__(self) -> None:
        self.dead: set[frozenset[str]] = set()
        self.tries = 0
        self.first: dict[str, str] = {}
        self.closest: tuple[State, dict[str, str]] | None = None

    def solve(self, state: State) -> State | None:
        """A state without unknowns, or None when every order gets stuck."""
        if not state.unknown:
            return state
        rest = frozenset(state.unknown)
        if rest in self.dead or self.tries > MOST_TRIES:
            return None
        reasons: dict[str, str] = {}
        for after in self.moves(state, reasons):
            self.tries += 1
            solved = self.solve(after)
            if solved is not None:
                return solved
            if self.is_safe(state, after):
                break
        self.dead.add(rest)
        self.note(state, reasons)
        return None

    def note(self, state: State, reasons: dict[str, str]) -> None:
        """Keep the reasons of the first round, and those of the remainder with the fewest unknowns."""
        self.first = reasons  # the first round ends last
        if self.closest is None or len(state.unknown) < len(self.closest[0].unknown):
            self.closest = (state, reasons)

    @property
    def reasons(self) -> dict[str, str]:
        """Why unknowns stay, in terms of the model as written where that is possible."""
        if self.closest is None:
            return self.first
        state, later = self.closest
        found = {name: self.first[name] for name in state.unknown if name in self.first}
        if found or self.first:
            return found or self.first
        gone = " and ".join(f"`{name}`" for c in state.conditionals for name in c.variables)
        inner = (*state.computed, *(f"{name}: " for name in state.nodes))
        for name in state.unknown:
            if name in later:
                hidden = any(word in later[name] for word in inner)
                told = f"nothing of known form is left for `{name}`" if hidden else later[name]
                found[name] = f"after the elimination of {gone}: {told}"
        return found

    def is_safe(self, before: State, after: State) -> bool:
        """An elimination whose conditional holds no other unknown cannot have been the wrong one.

        Nor can the sum over a single discrete unknown, where no other family was left: what a sum touches is no family
        any more, so sums in another order open no way that this one closes.
        """
        last = after.conditionals[-1]
        if isinstance(last, TableConditional):
            return not before.nodes[last.variable].axes
        if isinstance(last, FamilyConditional):
            others = set(before.unknown) - {last.variable}
            return not any(mentions(value, others) for value in last.parameters.values())
        return False

    def moves(self, state: State, reasons: dict[str, str]) -> Iterator[State]:
        """States one elimination further, the most promising first; reasons are noted where there is none."""
        block, refused = gaussian_block(state)
        tied = tied_scales(state, block)
        reasons |= {**refused, **tied}
        if tied:
            return  # whichever goes first, the scales or what they scale, leaves the other inside a logarithm of a sum
        alone: dict[str, State | Declined] = {}
        for name in refused:
            moved = alone[name] = family_move(state, name)
            if isinstance(moved, Declined) and moved.operation != ORDER:
                return  # no other elimination takes a bent function of this unknown away
        found = gaussian_move(state, block)
        if isinstance(found, State):
            yield found
        later: dict[str, str] = {}
        for name in state.unknown:
            if state.nodes[name].domain.is_finite or (name in block and isinstance(found, State)):
                continue
            moved = alone[name] if name in alone else family_move(state, name)
            if isinstance(moved, State):
                yield moved
            elif moved.operation == ORDER:
                later[name] = moved.reason
            elif name not in reasons:
                reasons[name] = moved.reason
        for name in state.unknown:
            if not state.nodes[name].domain.is_finite:
                continue
            moved = table_move(state, name)
            if isinstance(moved, State):
                yield moved
            else:
                reasons[name] = moved.reason
        if isinstance(found, Declined) and not reasons:
            reasons |= dict.fromkeys(block, found.reason)
        if not reasons:
            reasons |= later


# -- families of the shelf -------------------------------------------------------------------------------------------


def family_move(state: State, name: str, in_any_order: bool = False) -> State | Declined:
    """Eliminate one unknown whose conditional is recognised.

    What it leaves must let the others be eliminated too, unless somebody wants it gone `in_any_order`.
    """
    node = state.nodes[name]
    touching = state.touching(name)
    found = recognise(touching, node, state.facts)
    if isinstance(found, Declined):
        return found
    others = set(state.unknown) - {name}
    settled = not any(mentions(value, others) for value in found.parameters.values())
    if state.maximise and not settled:
        return Declined(f"maximise {name}", f"the mode of `{name}` depends on other unknowns")
    parameters, statements, computed = _parameters(name, found) if settled else (found.parameters, (), {})
    normaliser = _normaliser(found, parameters)
    if not (settled or in_any_order) and (tied := _tied_after(normaliser, others, state)):
        return Declined(ORDER, f"eliminating `{name}` first would leave {tied}")
    factors = [factor for factor in state.factors if factor not in touching]
    factors.append(Factor(f"{name}: rest", (), found.rest))
    factors.append(Factor(f"{name}: normaliser", node.plates, normaliser))
    shown = ", ".join(f"{key} = {value}" for key, value in found.parameters.items())
    changed = "" if found.transform.name == "identity" else f" (as {found.transform.name} of it)"
    return state.after(
        factors=tuple(factors),
        unknown=tuple(other for other in state.unknown if other != name),
        computed={**state.computed, **computed},
        statements=(*state.statements, *statements),
        conditionals=(*state.conditionals, FamilyConditional(name, found, parameters)),
        log=(*state.log, f"{name}: {found.family.name}{changed} with {shown}"),
    )


def _tied_after(normaliser: Expression, others: set[str], state: State) -> str:
    """What no later elimination can undo: an unknown inside a function together with others, such as log(a + b)."""
    for other in sorted(others & names(normaliser)):
        if state.nodes[other].domain.is_finite:
            continue
        try:
            expand(normaliser, {other}, state.facts)
        except Inseparable as tied:
            return f"`{other}` inside {tied.part}"
    return ""


def _parameters(
    name: str, found: Recognised
) -> tuple[dict[str, Expression], tuple[Assign, ...], dict[str, tuple[Index, ...]]]:
    """Parameters that hold no unknown get names, so that they are computed once."""
    references: dict[str, Expression] = {}
    statements = []
    computed = {}
    for parameter, value in found.parameters.items():
        rank = found.family.parameter(parameter).rank
        axes = (*found.target.plates, *found.target.events[:rank])
        label = f"{name}.{parameter}"
        because = f"{name} given the statistics: {found.family.name}"
        statements.append(Assign(label, axes, value, because))
        computed[label] = axes
        references[parameter] = Reference(label, axes)
    return references, tuple(statements), computed


def _normaliser(found: Recognised, parameters: dict[str, Expression]) -> Expression:
    from platewright.family import Argument, filled

    axes = found.target.events
    ranked = {key: Argument(value, axes[: found.family.parameter(key).rank]) for key, value in parameters.items()}
    return filled(found.family.log_normaliser, ranked, axes)
