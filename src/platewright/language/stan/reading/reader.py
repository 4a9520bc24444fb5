"""`read_stan`: a Stan text and, if there are any, its data become a model that can be learned like any other.

read = read_stan("schools.stan", "schools.json")
fit = read.model.learn(read.data())
print(read.report)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from platewright.errors import BugsError, StanError
from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.arithmetic import Scope
from platewright.language.bugs.complaint import complain
from platewright.language.bugs.data import read_data
from platewright.language.bugs.draft import Draft
from platewright.language.bugs.folding import fold
from platewright.language.bugs.reader import BugsModel
from platewright.language.bugs.relations import flatten
from platewright.language.bugs.standing_in import stand_in
from platewright.language.bugs.syntax import NOWHERE
from platewright.language.bugs.translate import translate_text
from platewright.language.model import Model
from platewright.language.stan.reading.declarations import declare
from platewright.language.stan.reading.known_twice import with_data_apart
from platewright.language.stan.reading.parameters import settle
from platewright.language.stan.reading.parse import parse
from platewright.language.stan.reading.state import State, shapes_of
from platewright.language.stan.reading.statements import run
from platewright.language.stan.reading.syntax import Declaration, Program
from platewright.language.stan.reading.trouble import Trouble

Array = np.ndarray


def read_stan(source: str | Path, data: object = None, blank: Callable[[str], Model] = Model) -> BugsModel:
    """Read a Stan program, as a path or as text, with its data (path, text or mapping; or several in a list).

    Without data the plates stay open; a program whose structure hangs on the data says so. `blank` makes the model.
    """
    written, title = _text_of(source)
    try:
        given = _given(data)
        program = parse(written)
        try:
            text, constants, state, draft = _read(program, given, blank(title), False)
        except (Trouble, BugsError) as first:
            if given is None:
                raise
            try:
                text, constants, state, draft = _read(program, given, blank(title), True)
            except (Trouble, BugsError):
                raise first from None
    except Trouble as trouble:
        found = complain(written, trouble.place, trouble.found, trouble.expected, trouble.hint)
        raise _in_stan(found) from None
    except BugsError as trouble:
        raise _in_stan(trouble) from None
    for name, why in state.left_out.items():
        draft.report.dropped[name] = why
    draft.report.notes += state.notes
    again = partial(read_stan, source) if data is None else None
    return BugsModel(draft.model, draft.report, text, draft, constants, again)


def _read(
    program: Program, given: Mapping[str, Array] | None, target: Model, in_order: bool
) -> tuple[bugs.Text, dict[str, Array] | None, State, Draft]:
    """The program as a model: all rounds of a loop at once, or in order, where loops carry values, round by round."""
    text, constants, state = _statements(program, given, in_order)
    return text, constants, state, translate_text(text, constants, target)


def _given(data: object) -> dict[str, Array] | None:
    if data is None:
        return None
    found: dict[str, Array] = {}
    for part in data if isinstance(data, (list, tuple)) else (data,):
        found.update(read_data(part))
    return found


def _in_stan(trouble: BugsError) -> StanError:
    return StanError(trouble.found, where=trouble.where, expected=trouble.expected, hint=trouble.hint,
                     line=trouble.line, column=trouble.column)  # fmt: skip


def _statements(
    program: Program, given: Mapping[str, Array] | None, in_order: bool
) -> tuple[bugs.Text, dict[str, Array] | None, State]:
    """The program as statements of a graphical model, and its data."""
    state = State({}, given is not None, in_order=in_order)
    for block in ("data", "parameters", "model"):
        if block == "model" and not any(program.blocks.values()):
            raise Trouble(NOWHERE, "an empty text", "a Stan program")
    _data(program, given, state)
    computed = _transformed_data(program, state)
    _parameters(program, state)
    state.block = "transformed_parameters"
    run(program.blocks.get("transformed_parameters", ()), state)
    shown = dict(state.variables)
    state.block = "model"
    run(program.blocks.get("model", ()), state)
    state.variables = shown
    _generated(program, state)
    written = bugs.Text((*state.said,), tuple(computed), tuple(state.declared), program.source)
    constants = dict(state.constants) if given is not None else None
    known, assumed = (dict(state.constants), frozenset[str]()) if constants is not None else stand_in(written)
    folded = fold(bugs.Text((), tuple(computed), tuple(state.declared), program.source), known, assumed)
    scope = Scope(folded.constants, {}, assumed)
    shapes = {**shapes_of(folded.constants), **folded.declared}
    said = settle(state, scope, shapes, program.source)
    said = without_idle(said, {known.array for known in state.variables.values()})
    if constants is not None:
        said = with_data_apart(said, constants)
    return (
        bugs.Text(tuple((*state.added, *said)), tuple(computed), tuple(state.declared), program.source),
        constants,
        state,
    )


def without_idle(statements: list[bugs.Statement], shown: set[str]) -> list[bugs.Statement]:
    """The statements without local values that nothing reads: those of sums that were put back."""
    relations = [flatten([one])[0] for one in statements]
    readers: dict[str, list[int]] = {}
    for number, one in enumerate(relations):
        readers.setdefault(one.name, []).append(number)
    waiting = [number for number, one in enumerate(relations) if one.is_random or one.name in shown]
    needed = set(waiting)
    while waiting:
        one = relations[waiting.pop()]
        domains = [head.domain for head in one.loops]
        read = {part.name for node in (*one.expressions(), *domains) for part in bugs.elements(node)}
        read |= {part.name for part in bugs.elements(one.target)} - {one.name}
        further = {number for name in read for number in readers.get(name, ())} - needed
        needed |= further
        waiting += further
    return [one for number, one in enumerate(statements) if number in needed]


def _data(program: Program, given: Mapping[str, Array] | None, state: State) -> None:
    """Declared data, each with its value; what is not declared is left aside."""
    state.block = "data"
    for statement in program.blocks.get("data", ()):
        if not isinstance(statement, Declaration) or statement.value is not None:
            raise Trouble(getattr(statement, "place", NOWHERE), "a statement among the data", "declarations only")
        known = declare(statement, state, "data")
        state.settled.add(known.array)
        if given is None:
            continue
        if known.name not in given:
            raise Trouble(statement.place, f"the data have no `{known.name}`", "a value for everything declared")
        values = given[known.name]
        sizes = [state.known(size) for size in known.sizes]
        if any(size is None for size in sizes):
            raise Trouble(statement.place, f"the sizes of `{known.name}` are not known", "sizes declared before")
        shape = tuple(int(size) for size in sizes if size is not None)
        if values.size == 0 and 0 in shape:
            values = np.zeros(shape)
        if values.shape != shape:
            shown = " x ".join(map(str, values.shape)) or "one number"
            wanted = " x ".join(map(str, shape)) or "one number"
            raise Trouble(statement.place, f"`{known.name}` has {shown} in the data", wanted)
        if known.is_whole and (values != np.floor(values)).any():
            raise Trouble(statement.place, f"`{known.name}` has a fraction in the data", "whole numbers")
        if np.isnan(values).any():
            raise Trouble(statement.place, f"`{known.name}` has a missing value in the data", "numbers",
                          "declare what is missing among the parameters")  # fmt: skip
        _check_bounds(known, values, statement, state)
        state.constants[known.name] = values


def _check_bounds(known: object, values: Array, statement: Declaration, state: State) -> None:
    for end, outside in (("lower", np.less), ("upper", np.greater)):
        value = getattr(known, end)
        tree = None if value is None or value.rank else value.scalar
        limit = None if tree is None else state.known(tree)
        if limit is not None and outside(values, limit).any():
            word = "below" if end == "lower" else "above"
            raise Trouble(
                statement.place, f"`{statement.name}` has a value {word} its bound in the data", f"{end}={limit:g}"
            )


def _transformed_data(program: Program, state: State) -> list[bugs.Statement]:
    """Assignments of the data block; their values are computed where there are data."""
    state.block = "transformed_data"
    before = set(state.variables)
    run(program.blocks.get("transformed_data", ()), state)
    for name in set(state.variables) - before:
        state.change(name, role="computed")
    computed, state.said = state.said, []
    state.instead.clear()
    if any(isinstance(bugs_draw, bugs.Draw) for bugs_draw in computed):
        raise Trouble(NOWHERE, "a draw among the transformed data", "assignments only")
    if state.has_data and computed:
        folded = fold(bugs.Text((), tuple(computed), tuple(state.declared), program.source), state.constants)
        state.constants.update({name: values for name, values in folded.constants.items()})
    return [] if state.has_data else computed


def _parameters(program: Program, state: State) -> None:
    state.block = "parameters"
    for statement in program.blocks.get("parameters", ()):
        if not isinstance(statement, Declaration) or statement.value is not None:
            raise Trouble(getattr(statement, "place", NOWHERE), "a statement among the parameters", "declarations only")
        if statement.type.kind == "int":
            raise Trouble(statement.place, f"`{statement.name}` is a whole number: Stan has no such parameters", "real")
        declare(statement, state, "parameter")


def _generated(program: Program, state: State) -> None:
    """Derived quantities; what cannot be read as one is left out, and the report says why."""
    state.block = "generated_quantities"
    for statement in program.blocks.get("generated_quantities", ()):
        before = (len(state.said), dict(state.variables), state.loops)
        try:
            run((statement,), state)
        except Trouble as trouble:
            del state.said[before[0] :]
            state.variables, state.loops = before[1], before[2]
            if isinstance(statement, Declaration):
                state.left_out[statement.name] = trouble.found
            else:
                line = trouble.place.line or getattr(statement, "place", NOWHERE).line
                state.left_out[f"line {line}"] = trouble.found


def _text_of(source: str | Path) -> tuple[str, str]:
    if isinstance(source, str) and ("{" in source or "\n" in source or not source.strip()):
        return source, "stan"
    path = Path(source)
    try:
        return path.read_text(encoding="utf-8"), path.stem.split(".")[0] or "stan"
    except (OSError, UnicodeDecodeError, ValueError) as trouble:
        raise StanError(f"cannot read {str(source)[:200]}: {trouble}", expected="a path, or Stan text") from None
