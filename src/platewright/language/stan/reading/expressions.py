"""Stan expressions as values: names, indices, slices, operators of numbers, vectors and matrices.

X * beta + alpha[group]        at (i)  ->  inprod(X[i, ], beta[]) + alpha[group[i]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.syntax import Empty, FunctionCall, Place
from platewright.language.stan.reading.state import State
from platewright.language.stan.reading.syntax import (
    Between,
    Call,
    Expression,
    Indexed,
    Listed,
    Name,
    Number,
    Operation,
)
from platewright.language.stan.reading.trouble import Trouble
from platewright.language.stan.reading.value import (
    Indices,
    Value,
    array,
    calling,
    mapped,
    number,
    operated,
    operation,
    scalar,
)
from platewright.language.stan.reading.versions import Held, gathered, holder

Tree = bugs.Expression
Pick = Callable[[bugs.Index], bugs.Index]
_COMPARISONS = {"==", "!=", "<", "<=", ">", ">=", "&&", "||"}


def lower(node: Expression, state: State) -> Value:
    """The value of an expression."""
    match node:
        case Number(value, is_whole):
            return number(value, node.place, is_whole)
        case Name(name):
            if name in state.loop_names:
                return scalar(bugs.Element(name, None, node.place), is_whole=True)
            if name == "target":
                raise Trouble(node.place, "`target` is read", "`target += ...` only")
            if _is_in_parts(name, state):
                gathered(state.variables[name], node.place, state)
            return state.value(name, node.place)
        case Indexed(Name(name) as inner, indices) if _is_in_parts(name, state):
            return _of_parts(inner, indices, state)
        case Indexed(inner, indices):
            return _indexed(lower(inner, state), indices, node.place, state)
        case Operation(operator, operands):
            return _operated(operator, [lower(part, state) for part in operands], node.place, state)
        case Listed(items, is_row):
            return _listed([lower(item, state) for item in items], is_row, node.place, state)
        case Call():
            from platewright.language.stan.reading.functions import call  # functions and expressions hold each other

            return call(node, state)
    raise Trouble(node.place, "an expression that is not read")


def number_of(node: Expression, state: State) -> Tree:
    """The tree of an expression that must be a number."""
    value = lower(node, state)
    if value.rank:
        raise Trouble(node.place, "a vector or an array stands where a number is needed", "an index, or a sum")
    return value.scalar


def _is_in_parts(name: str, state: State) -> bool:
    known = state.variables.get(name)
    return known is not None and isinstance(known.held, Held) and known.held.is_mixed


def _of_parts(node: Name, indices: tuple[Expression | Between, ...], state: State) -> Value:
    """Elements of a variable that several arrays hold: of the one that holds them, or of all cells in a new array."""
    known, place = state.variables[node.name], node.place
    value = _indexed(state.value(node.name, place), indices, place, state)
    heads = state.heads(value.sizes, place)
    element = value.at(tuple(bugs.Element(head.variable, None, place) for head in heads))
    assert isinstance(element, bugs.Element)
    name = holder(known, element, heads, state)
    known = gathered(known, place, state) if name is None else replace(known, array=name)
    before: Indices = tuple(bugs.Element(loop, None, place) for loop in known.before)
    whole = array(known.array, known.sizes, known.kind, before, place, known.is_whole)
    return _indexed(whole, indices, place, state)


# -- indices -----------------------------------------------------------------------------------------------------------


def _indexed(value: Value, indices: tuple[Expression | Between, ...], place: Place, state: State) -> Value:
    if len(indices) > value.rank:
        raise Trouble(place, f"{len(indices)} indices on a value with {value.rank} axes")
    fixed: dict[int, Tree] = {}
    picks: dict[int, tuple[Tree, Pick, bool]] = {}
    for axis, part in enumerate(indices):
        if isinstance(part, Between):
            picks[axis] = _slice(part, value.sizes[axis], state)
            continue
        where = lower(part, state)
        if where.rank == 0:
            fixed[axis] = where.scalar
        elif where.rank == 1:
            picks[axis] = (where.sizes[0], lambda k, where=where: where.at((k,)), False)  # type: ignore[misc]
        else:
            raise Trouble(place, "an index with two axes", "whole numbers, or an array of them")
    left = [axis for axis in range(value.rank) if axis not in fixed]
    kept = {axis: picks.get(axis, (value.sizes[axis], lambda k: k, True)) for axis in left}

    def at(asked: Indices) -> Tree:
        found: list[bugs.Index] = []
        steps = iter(asked)
        for axis in range(value.rank):
            found.append(fixed[axis] if axis in fixed else kept[axis][1](next(steps)))
        return value.at(tuple(found))

    slices = value.gives_slices and all(kept[axis][2] for axis in left)
    return Value(at, tuple(kept[axis][0] for axis in left), _kind_left(value, left), value.is_whole, slices)


def _slice(part: Between, size: Tree, state: State) -> tuple[Tree, Pick, bool]:
    """The size of a slice, its positions, and that whole slices of it can be taken."""
    if part.first is None and part.last is None:
        return size, lambda k: k, True
    first = bugs.Number(1.0) if part.first is None else number_of(part.first, state)
    last = size if part.last is None else number_of(part.last, state)

    def pick(k: bugs.Index) -> bugs.Index:
        if isinstance(k, Empty):
            return bugs.Range(first, last)
        if first == bugs.Number(1.0) or isinstance(k, bugs.Range):
            return k
        return operation("+", k, _less_one(first))

    return (
        (last if first == bugs.Number(1.0) else operation("+", last, bugs.Operation("neg", (_less_one(first),)))),
        pick,
        True,
    )


def _less_one(tree: Tree) -> Tree:
    return bugs.Number(tree.value - 1) if isinstance(tree, bugs.Number) else operation("+", tree, bugs.Number(-1.0))


def _kind_left(value: Value, left: list[int]) -> str:
    last = value.rank - 1
    if value.kind == "matrix":
        if last in left and last - 1 in left:
            return "matrix"
        return "row" if last in left else "vector" if last - 1 in left else "array"
    return value.kind if last in left else "array"


# -- operators ---------------------------------------------------------------------------------------------------------


def _operated(operator: str, values: list[Value], place: Place, state: State) -> Value:
    match operator:
        case "'":
            return _transposed(values[0], place)
        case "neg":
            return operated("neg", values[0])
        case "?":
            return _chosen(values, place)
        case "*" if all(value.rank for value in values):
            return _product(values[0], values[1], place, state)
        case "/" if values[0].is_whole and values[1].is_whole:
            return replace(calling("trunc", operated("/", *values)), is_whole=True)
        case "%/%":
            return replace(calling("trunc", operated("/", *values)), is_whole=True)
        case "%":
            whole = operated("*", calling("trunc", operated("/", *values)), values[1])
            return replace(operated("+", values[0], operated("neg", whole)), is_whole=True)
        case "/" if values[1].rank and values[0].kind in ("row", "matrix") and values[1].kind == "matrix":
            raise Trouble(place, "a division by a matrix", "a product with its inverse")
        case "\\":
            raise Trouble(place, "a division from the left", "a product with the inverse")
        case "-":
            _check_sizes(values, place)
            return replace(
                operated("+", values[0], operated("neg", values[1])), is_whole=all(v.is_whole for v in values)
            )
    _check_sizes(values, place)
    word = {".*": "*", "./": "/", ".^": "^"}.get(operator, operator)
    found = operated(word, *values)
    if word in ("/", "^"):
        return replace(found, is_whole=False)
    return replace(found, is_whole=True) if word in _COMPARISONS or word == "not" else found


def _check_sizes(values: list[Value], place: Place) -> None:
    ranks = {value.rank for value in values if value.rank}
    if len(ranks) > 1:
        raise Trouble(place, "a vector and a matrix do not go element by element", "values of one shape")
    kinds = {value.kind for value in values if value.rank}
    if kinds >= {"row", "vector"}:
        raise Trouble(place, "a vector and a row vector do not go element by element", "one of them transposed")


def _chosen(values: list[Value], place: Place) -> Value:
    if values[0].rank:
        raise Trouble(place, "a condition that is no number")
    return mapped(lambda c, a, b: FunctionCall("ifelse", (c, a, b), place), *values)


def _transposed(value: Value, place: Place) -> Value:
    match value.kind:
        case "vector" | "row":
            return replace(value, kind="row" if value.kind == "vector" else "vector")
        case "matrix":
            sizes = (*value.sizes[:-2], value.sizes[-1], value.sizes[-2])
            return replace(value, at=lambda at: value.at((*at[:-2], at[-1], at[-2])), sizes=sizes, gives_slices=False)
    raise Trouble(place, "an array or a number is transposed", "a vector or a matrix")


def _product(left: Value, right: Value, place: Place, state: State) -> Value:
    """Products of linear algebra; the axis in the middle is summed."""
    kinds = (left.kind, right.kind)
    if left.rank > 2 or right.rank > 2 or "array" in kinds or kinds in {("vector", "vector"), ("row", "row")}:
        raise Trouble(place, "a product that has no meaning", "a vector, a row vector or a matrix on each side",
                      "`.*` multiplies element by element")  # fmt: skip
    if kinds == ("vector", "row"):
        return Value(lambda at: operation("*", left.at(at[:1]), right.at(at[1:])), (*left.sizes, *right.sizes),
                     "matrix", gives_slices=False)  # fmt: skip
    one, two = state.sliced(left, place), state.sliced(right, place)

    def at(asked: Indices) -> Tree:
        rows, columns = (asked[:1], asked[1:]) if one.rank == 2 else ((), asked)
        return FunctionCall("inprod", (one.at((*rows, Empty())), two.at((Empty(), *columns))), place)

    sizes = (*one.sizes[:-1], *two.sizes[1:])
    kind = {("matrix", "vector"): "vector", ("row", "matrix"): "row", ("matrix", "matrix"): "matrix"}.get(
        kinds, "array"
    )
    return Value(at, sizes, kind, gives_slices=False)


def _listed(items: list[Value], is_row: bool, place: Place, state: State) -> Value:
    """An array, or a row vector, element by element."""
    if not items:
        raise Trouble(place, "an empty list", "at least one element")
    if len({item.rank for item in items}) > 1:
        raise Trouble(place, "elements of several shapes")
    name, first = state.fresh("list"), items[0]
    loops = tuple(bugs.Element(loop, None, place) for loop in state.loop_names)
    heads = state.heads(first.sizes, place)
    inner = tuple(bugs.Element(head.variable, None, place) for head in heads)
    for k, item in enumerate(items):
        target = bugs.Element(name, (*loops, bugs.Number(k + 1.0, place), *inner), place)
        state.say(bugs.Assignment(target, item.at(inner), None, place), heads)
    sizes = (bugs.Number(float(len(items))), *first.sizes)
    kind = ("matrix" if first.rank else "row") if is_row else first.kind
    return Value(lambda at: bugs.Element(name, (*loops, *at), place), sizes, kind, all(item.is_whole for item in items))
