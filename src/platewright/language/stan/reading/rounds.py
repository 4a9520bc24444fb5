"""The rounds of loops for which a condition on data holds: `if (c[i] == 1)` within `for (i in 1:N)`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.arithmetic import MOST_ROWS, NotKnown, Scope, compute, span
from platewright.language.bugs.syntax import Element, Place
from platewright.language.stan.reading.state import Head, State
from platewright.language.stan.reading.trouble import Trouble


def rounds_where(condition: bugs.Expression, wanted: bool, place: Place, state: State) -> tuple[Head, ...] | None:
    """The loops around, kept to the rounds for which a condition holds; None where it never does."""
    names = {one.name for one in bugs.elements(condition)}
    hanging = [head for head in state.loops if head.variable in names]
    constants = {**state.constants}
    missing = sorted(names - {head.variable for head in state.loops} - set(constants))
    if missing:
        expected = "the data" if not state.has_data else "a condition on data"
        raise Trouble(place, f"a condition on `{missing[0]}`, which has no value", expected)
    if not hanging:
        try:
            always = bool(compute(condition, Scope(constants)) != 0)
        except (NotKnown, ValueError):
            raise Trouble(place, "a condition that the data do not settle") from None
        return state.loops if always == wanted else None
    if len(hanging) > 1:
        return _where_inner(condition, wanted, hanging, place, state)
    (head,) = hanging
    values = _span(head, state)
    try:
        holds = np.broadcast_to(
            np.asarray(compute(condition, Scope(constants, {head.variable: values})) != 0), values.shape
        )
    except NotKnown:
        raise Trouble(place, "a condition that the data do not settle") from None
    kept = values[holds == wanted]
    if not kept.size:
        return None
    if len(kept) == len(values):
        return state.loops
    name = state.fresh("rows")
    domain: bugs.Expression | bugs.Range = Element(name, None, place)
    if (np.diff(kept) == 1).all():
        domain = bugs.Range(bugs.Number(float(kept[0])), bugs.Number(float(kept[-1])), place)
    else:
        state.constants[name] = kept.astype(float)
    return tuple(replace(one, domain=domain) if one is head else one for one in state.loops)


def _span(head: Head, state: State) -> np.ndarray:
    try:
        return span(head.domain, Scope(state.constants))
    except (NotKnown, OverflowError):
        raise Trouble(head.place, f"the loop over `{head.variable}` around a condition has no known length") from None


def _where_inner(
    condition: bugs.Expression, wanted: bool, hanging: list[Head], place: Place, state: State
) -> tuple[Head, ...] | None:
    """A condition on two loops: the inner one goes over the rows that each round of the outer one has."""
    outer, inner = hanging[0], hanging[-1]
    if len(hanging) > 2:
        raise Trouble(place, "a condition on three loops", "one on two of them")
    rounds = _span(outer, state)
    if len(rounds) > MOST_ROWS:
        raise Trouble(place, f"a condition over {len(rounds):,} rounds of `{outer.variable}`", f"at most {MOST_ROWS:,}")
    values: list[np.ndarray] = []
    first = np.ones(int(rounds.max(initial=1)))
    last = np.zeros(int(rounds.max(initial=1)))
    count = 0
    for k in rounds.tolist():
        if k < 1:
            raise Trouble(outer.place, "a loop from below 1 around a condition", "a loop from 1")
        try:
            steps = span(inner.domain, Scope(state.constants, {outer.variable: k}))
            at = {outer.variable: k, inner.variable: steps}
            holds = np.broadcast_to(np.asarray(compute(condition, Scope(state.constants, at)) != 0), steps.shape)
        except (NotKnown, OverflowError):
            raise Trouble(place, "a condition that the data do not settle") from None
        kept = steps[holds == wanted]
        values.append(kept)
        first[k - 1], last[k - 1] = count + 1, count + len(kept)
        count += len(kept)
    if not count:
        return None
    rows, starts, stops = (state.fresh(word) for word in ("rows", "first", "last"))
    state.constants.update({rows: np.concatenate(values).astype(float), starts: first, stops: last})
    here = (Element(outer.variable, None, place),)
    domain = Element(rows, (bugs.Range(Element(starts, here, place), Element(stops, here, place), place),), place)
    return tuple(replace(one, domain=domain) if one is inner else one for one in state.loops)
