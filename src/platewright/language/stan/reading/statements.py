"""Assignments, loops and choices of a Stan program as statements that each define their cells once.

mu = alpha;                                   mu[t] <- alpha
for (k in 1:K) mu = mu + b[k] * x[t, k];      term[t, k] <- b[k] * x[t, k];   mu.2[t] <- mu[t] + sum(term[t, ])
if (c[i] == 1) a[i] = 0; else a[i] = b;       for (i in rows.1) a[i] <- 0;    for (i in rows.2) a[i] <- b
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.arithmetic import NotKnown, Scope, span
from platewright.language.bugs.syntax import Element, Place
from platewright.language.stan.reading.declarations import declare
from platewright.language.stan.reading.draws import add_to_target, tilde
from platewright.language.stan.reading.expressions import lower, number_of
from platewright.language.stan.reading.rewriting import with_name, with_part
from platewright.language.stan.reading.rounds import rounds_where
from platewright.language.stan.reading.state import Head, State, Variable, elements_of
from platewright.language.stan.reading.survey import TARGETS, survey
from platewright.language.stan.reading.syntax import (
    Assignment,
    Between,
    Choice,
    Declaration,
    Expression,
    Indexed,
    Loop,
    Name,
    Operation,
    Refused,
    Statement,
    Tilde,
    expressions,
    inside,
    named,
    walk,
)
from platewright.language.stan.reading.syntax import (
    Scope as Braces,
)
from platewright.language.stan.reading.totals import finish, renewed, step_of, sum_up
from platewright.language.stan.reading.trouble import Trouble
from platewright.language.stan.reading.value import Value
from platewright.language.stan.reading.versions import check_order, held, is_computed, is_one_for_all, placed, united

MOST_ROUNDS = 2_000
MOST_IN_ROUNDS = 5_000


def run(statements: Iterable[Statement], state: State) -> None:
    """Read statements in order."""
    for statement in statements:
        parted = _parted(statement, state)
        if parted is not None:
            _choice(parted, state)
            continue
        match statement:
            case Declaration():
                declare(statement, state, "derived")
                if statement.value is not None:
                    _assign(
                        Assignment(Name(statement.name, statement.place), "", statement.value, statement.place), state
                    )
            case Assignment(Name("target" | "jacobian")):
                add_to_target(statement, state)
            case Assignment():
                _assign(statement, state)
            case Tilde():
                tilde(statement, state)
            case Loop():
                _loop(statement, state)
            case Choice():
                _choice(statement, state)
            case Braces(body):
                _scoped(body, state)
            case Refused(word):
                raise Trouble(statement.place, f"`{word}` is not supported", "statements whose order does not matter")


def _parted(statement: Statement, state: State) -> Choice | None:
    """`(t == 1 ? a : x[t - 1])` looks at cells that are not there in the first round: the rounds go apart."""
    if not isinstance(statement, (Assignment, Tilde)):
        return None
    for expression in expressions(statement):
        for part in walk(expression):
            if not isinstance(part, Operation) or part.operator != "?" or not any(map(_looks_away, part.operands[1:])):
                continue
            condition = number_of(part.operands[0], state)
            names = {one.name for one in bugs.elements(condition)}
            if not names & set(state.loop_names) or not names <= {*state.loop_names, *state.constants}:
                continue
            then, otherwise = (with_part(statement, part, branch) for branch in part.operands[1:])
            return Choice(part.operands[0], (then,), (otherwise,), statement.place)
    return None


def _looks_away(node: Expression) -> bool:
    """Whether an index is computed, such as `t - 1`."""
    return any(
        isinstance(part, Indexed) and any(isinstance(index, Operation) for index in part.indices) for part in walk(node)
    )


def _scoped(body: Iterable[Statement], state: State) -> None:
    """Variables declared inside braces end with them."""
    before = set(state.variables)
    run(body, state)
    for name in set(state.variables) - before:
        del state.variables[name]


# -- assignments -------------------------------------------------------------------------------------------------------


def _assign(statement: Assignment, state: State) -> None:
    name, indices = _target(statement, state)
    known, place = state.find(name, statement.place), statement.place
    if known.role not in ("derived", "computed"):
        raise Trouble(place, f"`{name}` is assigned, but it is one of the {known.role}s", "a variable of its own")
    value = statement.value
    if statement.operator:
        value = Operation(statement.operator, (statement.target, value), place)
    mentioned = {loop for index in indices for loop in named(index) & set(state.loop_names)}
    extra = tuple(loop for loop in state.loop_names if loop not in known.declared_in and loop not in mentioned)
    new_loops = tuple(loop for loop in extra if loop not in known.before)
    reads_itself = name in named(value)
    if reads_itself and new_loops and not indices:
        sum_up(known, value, new_loops, place, state)
        return
    if known.pending is not None:
        raise Trouble(place, f"`{name}` is assigned while it is being summed up", "a total that is read after its loop")
    same = reads_itself and _reads_same(name, indices, value)
    before = tuple(loop for loop in state.loop_names if loop in known.declared_in or loop in extra)
    right = lower(value, state)
    by_cells = bool(indices) and held(known, state) is not None
    again = ((same and not by_cells) or (not indices and not known.is_stale)) and known.is_assigned
    if again or new_loops or (known.is_stale and (by_cells or not indices or before != known.before)):
        known = renewed(known, before, state)
        if indices:
            check_order(known, place, state, known.is_assigned)
    _write(known, indices, right, place, state)


def _target(statement: Assignment, state: State) -> tuple[str, tuple[Expression | Between, ...]]:
    node = statement.target
    indices: list[Expression | Between] = []
    while isinstance(node, Indexed):
        indices = [*node.indices, *indices]
        node = node.inner
    if not isinstance(node, Name):
        raise Trouble(statement.place, "the left side is no variable", "a name, or elements of one")
    return node.name, tuple(indices)


def _reads_same(name: str, indices: tuple[Expression | Between, ...], value: Expression) -> bool:
    """Whether the right side reads the cells that are assigned, and not only others."""
    wanted: Expression = Indexed(Name(name), indices) if indices else Name(name)
    return any(part == wanted for part in _spelled_out(value))


def _spelled_out(node: Expression) -> Iterable[Expression]:
    """An expression and its parts, with `x[i][j]` as `x[i, j]`."""
    for part in walk(node):
        if isinstance(part, Indexed) and isinstance(part.inner, Indexed):
            yield Indexed(part.inner.inner, (*part.inner.indices, *part.indices))
        elif not isinstance(part, Between):
            yield part


def _write(
    known: Variable, indices: tuple[Expression | Between, ...], right: Value, place: Place, state: State
) -> None:
    """Every cell of the left side is said once."""
    from platewright.language.stan.reading.expressions import _indexed
    from platewright.language.stan.reading.value import array

    loops = elements_of(known.before, place)
    left = array(known.array, known.sizes, known.kind, loops, place, known.is_whole)
    if indices:
        left = _indexed(left, indices, place, state)
    if right.rank != left.rank:
        raise Trouble(place, f"a value with {right.rank} axes where `{known.name}` has {left.rank}")
    heads = state.heads(left.sizes, place)
    at = tuple(Element(head.variable, None, place) for head in heads)
    target, tree = left.at(at), right.at(at)
    assert isinstance(target, Element)
    known = placed(known, target, heads, place, state)
    target = replace(target, name=known.array)
    if state.in_order and state.block == "transformed_data" and is_computed(known, target, tree, heads, state):
        return
    state.say(bugs.Assignment(target, tree, None, place), heads)
    names = tuple(one.name for one in target.indices or () if isinstance(one, Element) and one.indices is None)
    is_first = known.array not in state.definitions and known.array not in state.partly
    whole = len(set(names)) == len(target.indices or ()) and is_first
    if whole and set(names) >= {*state.loop_names} and _covers(names, heads, known, state):
        state.definitions[known.array] = (names, tree)
    else:
        state.definitions.pop(known.array, None)
    state.partly.add(known.array)
    if state.block == "transformed_data" or state.is_known(tree):
        state.settled.add(known.array)
    else:
        state.settled.discard(known.array)
    state.change(known.name, is_assigned=True)


def _covers(names: tuple[str, ...], heads: tuple[Head, ...], known: Variable, state: State) -> bool:
    """Whether loops from 1 to the size go over every dimension, so that one expression defines all cells."""
    domains = {head.variable: head.domain for head in (*state.loops, *heads)}
    own = names[len(known.before) :]
    return all(domains.get(name) == bugs.Range(bugs.Number(1.0), size) for name, size in zip(own, known.sizes))


# -- loops and choices -------------------------------------------------------------------------------------------------


def _loop(statement: Loop, state: State) -> None:
    place = statement.place
    if statement.last is None:
        _each(statement, state)
        return
    first, last = number_of(statement.first, state), number_of(statement.last, state)
    head = Head(statement.variable, bugs.Range(first, last, place), place)
    if state.in_order and not is_one_for_all(statement.body, statement.variable, state):
        _unrolled(statement, head, state)
        return
    if not state.in_order and _must_be_unrolled(statement, state):
        _unrolled(statement, head, state)
        return
    _inside(statement.body, head, state)


def _inside(body: tuple[Statement, ...], head: Head, state: State) -> None:
    """The body of a loop, once for all its rounds."""
    outer = state.loops
    state.inside(head)
    state.surveys[head.variable] = survey(body, head.variable)
    try:
        _scoped(body, state)
    finally:
        state.loops = outer
    for name, known in list(state.variables.items()):
        if known.pending is not None and state.totals.get(name):
            finish(name, head, state)
        elif head.variable in known.before and head.variable not in known.declared_in:
            state.change(name, is_stale=True)


def _each(statement: Loop, state: State) -> None:
    """A loop over the elements of an array, by their positions."""
    over = lower(statement.first, state)
    if over.rank != 1:
        raise Trouble(statement.place, "a loop over something that is no array with one axis")
    name = state.fresh(statement.variable)
    head = Head(name, bugs.Range(bugs.Number(1.0), over.sizes[0], statement.place), statement.place)
    position = Name(name, statement.place)
    replaced = tuple(with_name(one, statement.variable, Indexed(statement.first, (position,), statement.place))
                     for one in statement.body)  # fmt: skip
    _inside(replaced, head, state)


def _must_be_unrolled(statement: Loop, state: State) -> bool:
    """Whether a value is carried from round to round in another way than by a sum or a product."""
    loop = statement.variable
    for one in _all(statement.body):
        if not isinstance(one, Assignment) or _is_target(one.target):
            continue
        name, indices = _target(one, state)
        known = state.variables.get(name)
        value = Operation(one.operator, (one.target, one.value), one.place) if one.operator else one.value
        if known is None or known.role == "data" or indices or name not in named(value):
            continue
        if loop in known.declared_in:
            continue
        try:
            step_of(name, value, one.place)
        except Trouble:
            if state.block == "generated_quantities":
                raise
            return True
    return False


def _is_target(node: Expression) -> bool:
    return isinstance(node, Name) and node.name in TARGETS


def _all(statements: Iterable[Statement]) -> Iterable[Statement]:
    for statement in statements:
        yield statement
        yield from _all(inside(statement))


def _rounds(head: Head, state: State) -> list[int]:
    try:
        values = span(head.domain, Scope(state.constants))
    except (NotKnown, OverflowError):
        needed = "" if state.has_data else ", or its data"
        raise Trouble(head.place, f"the loop over `{head.variable}` carries values from round to round",
                      f"a loop whose length is known{needed}") from None  # fmt: skip
    if len(values) > MOST_ROUNDS:
        raise Trouble(head.place, f"the loop over `{head.variable}` carries values over {len(values):,} rounds",
                      f"at most {MOST_ROUNDS:,}")  # fmt: skip
    return [int(value) for value in values]


def _unrolled(statement: Loop, head: Head, state: State) -> None:
    from platewright.language.stan.reading.syntax import Number

    size = sum(1 for _ in _all(statement.body))
    for value in _rounds(head, state):
        state.rounds += size
        if state.rounds > MOST_IN_ROUNDS:
            raise Trouble(head.place, f"loops that carry values have more than {MOST_IN_ROUNDS:,} statements in all")
        number_ = Number(float(value), True, statement.place)
        _scoped((with_name(one, statement.variable, number_) for one in statement.body), state)


def _choice(statement: Choice, state: State) -> None:
    """Each branch within the rounds for which its condition holds; both give a variable its value together."""
    condition = number_of(statement.condition, state)
    place = statement.place
    if not state.is_known(condition):
        raise Trouble(
            place, "a condition that hangs on parameters", "a condition on data", "`condition ? a : b` in a value"
        )
    before = dict(state.variables)
    ends: list[tuple[dict[str, Variable], tuple[Head, ...]]] = []
    outer = state.loops
    for body, wanted in ((statement.then, True), (statement.otherwise, False)):
        state.variables = dict(before)
        found = rounds_where(condition, wanted, place, state)
        if found is not None:
            state.loops = found
            _scoped(body, state)
            ends.append((state.variables, found))
        state.loops = outer
    state.variables = dict(before)
    for name in before:
        _meet(name, before[name], ends, place, state)


def _meet(
    name: str, before: Variable, ends: list[tuple[dict[str, Variable], tuple[Head, ...]]], place: Place, state: State
) -> None:
    """A variable after a choice: what either branch made of it."""
    found = [(variables[name], loops) for variables, loops in ends]
    changed = {known for known, _ in found if known is not before}
    if not changed:
        return
    if any(known.pending is not None for known, _ in found):
        if before.pending is None:
            state.variables[name] = next(known for known, _ in found if known.pending is not None)
        return
    if (together := united(before, [known for known, _ in found])) is not None:
        state.variables[name] = replace(together, is_assigned=True)
        return
    if len({known.before for known, _ in found}) > 1:
        raise Trouble(place, f"`{name}` may keep its value from the round before", "a value in both branches")
    arrays = {(known.array, known.before) for known, _ in found}
    if len(arrays) == 1:
        state.variables[name] = found[0][0] if len(found) == 1 else replace(found[0][0], is_assigned=True)
        return
    merged = renewed(replace(found[0][0]), found[0][0].before, _with(state, name, found[0][0]))
    outer = state.loops
    from platewright.language.stan.reading.value import array

    for known, loops in found:
        state.loops = loops
        old = array(known.array, known.sizes, known.kind, elements_of(known.before, place), place, known.is_whole)
        heads = state.heads(known.sizes, place)
        at = tuple(Element(head.variable, None, place) for head in heads)
        target = Element(merged.array, (*elements_of(merged.before, place), *at) or None, place)
        state.say(bugs.Assignment(target, old.at(at), None, place), heads)
    state.loops = outer
    state.partly.add(merged.array)
    state.change(name, is_assigned=True)


def _with(state: State, name: str, known: Variable) -> State:
    state.variables[name] = known
    return state
