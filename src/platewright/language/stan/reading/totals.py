"""Running totals over loops: the terms in an array, and their sum or product when the loop ends.

real mu = a; for (k in 1:K) mu += b[k] * x[k];        term[k] <- b[k] * x[k];   mu.2 <- a + sum(term[1:K])
"""

from __future__ import annotations

from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.syntax import Element, FunctionCall, Place
from platewright.language.stan.reading.expressions import lower
from platewright.language.stan.reading.state import Head, State, Variable, elements_of
from platewright.language.stan.reading.syntax import Expression, Name, Operation, named
from platewright.language.stan.reading.trouble import Trouble
from platewright.language.stan.reading.value import operation


def renewed(known: Variable, before: tuple[str, ...], state: State) -> Variable:
    """The variable in a new array."""
    array = state.fresh(known.name)
    if known.sizes and not before:
        state.declared.append((array, known.sizes))
    return state.change(known.name, array=array, before=before, is_stale=False, pending=None, held=None)


def sum_up(known: Variable, value: Expression, loops: tuple[str, ...], place: Place, state: State) -> None:
    """A running total over loops becomes an array of its terms, and their sum when the loops end."""
    word, term = step_of(known.name, value, place)
    if known.sizes:
        raise Trouble(place, f"`{known.name}` is changed as a whole in a loop", "an element for each round")
    if known.pending is None:
        start = state.now(known, place)
        known = state.change(known.name, pending=(word, start, ()))
        terms = state.fresh("term")
        state.totals[known.name] = []
    elif known.pending[0] != word:
        raise Trouble(place, f"`{known.name}` is summed up and multiplied in one loop", "two variables")
    else:
        terms = state.fresh("term")
    right = lower(term, state)
    if right.rank:
        raise Trouble(place, "a vector is added to a number", "its sum")
    state.say(bugs.Assignment(Element(terms, elements_of(state.loop_names, place), place), right.scalar, None, place))
    state.totals[known.name].append((terms, state.loops))


def step_of(name: str, value: Expression, place: Place) -> tuple[str, Expression]:
    """`x + a`, `a + x`, `x - a` and `x * a`: the operation and what is added."""
    parts: list[tuple[float, Expression]] = []
    if isinstance(value, Operation) and value.operator in ("*", ".*") and Name(name) in value.operands:
        left, right = value.operands
        other = right if left == Name(name) else left
        if name not in named(other):
            return "prod", other
    waiting = [(1.0, value)]
    while waiting:
        sign, node = waiting.pop()
        match node:
            case Operation("+", (left, right)):
                waiting += [(sign, right), (sign, left)]
            case Operation("-", (left, right)):
                waiting += [(-sign, right), (sign, left)]
            case _:
                parts.append((sign, node))
    own = [(sign, node) for sign, node in parts if node == Name(name)]
    others = [(sign, node) for sign, node in parts if node != Name(name)]
    if own != [(1.0, Name(name))] or not others or any(name in named(node) for _, node in others):
        raise Trouble(place, f"`{name}` of one round hangs on the round before",
                      "a sum or a product over the loop, or an array with an element for each round")  # fmt: skip
    signed = [node if sign == 1 else Operation("neg", (node,), place) for sign, node in others]
    total = signed[0]
    for node in signed[1:]:
        total = Operation("+", (total, node), place)
    return "sum", total


def finish(name: str, ended: Head, state: State) -> None:
    """When a loop ends its terms are summed over it; when no loop of the total is left, it has its value."""
    known = state.variables[name]
    assert known.pending is not None
    word, start, _ = known.pending
    left: list[tuple[str, tuple[Head, ...]]] = []
    here = len(state.loops)
    done: list[bugs.Expression] = []
    for terms, loops in state.totals[name]:
        if len(loops) <= here or loops[here].variable != ended.variable:
            left.append((terms, loops))
            continue
        at = elements_of(state.loop_names, ended.place)
        assert len(loops) == here + 1
        total = FunctionCall(word, (Element(terms, (*at, ended.domain), ended.place),), ended.place)
        if not isinstance(ended.domain, bugs.Range):
            raise Trouble(
                ended.place, f"`{name}` is summed over some rounds of a loop only", "a term that is 0 elsewhere"
            )
        if state.loop_names == known.before or not set(state.loop_names) - set(known.declared_in):
            done.append(total)
        else:
            further = state.fresh("term")
            state.say(bugs.Assignment(Element(further, at, ended.place), total, None, ended.place))
            left.append((further, state.loops))
    state.totals[name] = left
    if done:
        operator = "+" if word == "sum" else "*"
        whole = start.scalar
        for part in done:
            whole = operation(operator, whole, part)
        known = renewed(known, tuple(loop for loop in state.loop_names if loop in known.declared_in), state)
        at = elements_of(known.before, ended.place)
        state.say(bugs.Assignment(Element(known.array, at or None, ended.place), whole, None, ended.place))
        state.definitions[known.array] = (known.before, whole)
        if state.is_known(whole):
            state.settled.add(known.array)
        state.change(name, is_assigned=True)
