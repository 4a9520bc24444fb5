"""Correlation matrices by their partial correlations (Lewandowski, Kurowicka and Joe 2009): free numbers in (-1, 1).

    L[i, j] = z[i, j] sqrt(prod_{k < j} (1 - z[i, k]^2)),  j < i        L[i, i] = sqrt(prod_{k < i} (1 - z[i, k]^2))

    L flat                  (z[i, j] + 1) / 2 ~ Beta(a, a),   a = (i - j + 1) / 2
    L L' flat               the same with a = (K - j + 1) / 2

The map has the triangular Jacobian prod_{j < i} sqrt(prod_{k < j} (1 - z[i, k]^2)); so the first line, and the second
by the density prod_i L[i, i]^(K - i) that a flat L L' gives to L.
"""

from __future__ import annotations

from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.syntax import Density, Draw, Element, Empty, FunctionCall, Number, Operation, Place
from platewright.language.stan.reading.state import Head, State, Variable
from platewright.language.stan.reading.trouble import Trouble
from platewright.language.stan.reading.value import Value, operated, operation

BUILT = {"cholesky_factor_corr", "corr_matrix"}
MOST_ROWS = 30


def build(known: Variable, place: Place, state: State) -> None:
    """Say a correlation matrix, or its Cholesky factor, as a function of partial correlations."""
    size = state.known(known.sizes[-1])
    if size is None or not 1 <= size <= MOST_ROWS:
        raise Trouble(place, f"the size of `{known.name}` is not known, or above {MOST_ROWS}", f"1 to {MOST_ROWS}")
    rows = int(size)
    heads = state.heads(known.sizes[:-2], place)
    is_factor = known.base == "cholesky_factor_corr"
    factor = known.array if is_factor else state.fresh("factor")
    _factor(factor, rows, is_factor, heads, place, state)
    if not is_factor:
        loops = tuple(Element(head.variable, None, place) for head in heads)
        more = state.heads(known.sizes[-2:], place)
        i, j = (Element(head.variable, None, place) for head in more)
        product = FunctionCall("inprod", tuple(Element(factor, (*loops, k, Empty()), place) for k in (i, j)), place)
        state.say(bugs.Assignment(Element(known.array, (*loops, i, j), place), product, None, place), (*heads, *more))
    state.change(known.name, role="derived", is_assigned=True)


def _factor(name: str, rows: int, is_flat: bool, heads: tuple[Head, ...], place: Place, state: State) -> None:
    """Its cells, row by row."""
    loops = tuple(Element(head.variable, None, place) for head in heads)
    share, left = state.fresh(f"{name}_share"), state.fresh("left")

    def cell(array: str, i: int, j: int) -> Element:
        return Element(array, (*loops, Number(float(i)), Number(float(j))), place)

    def say(target: Element, tree: bugs.Expression) -> None:
        state.say(bugs.Assignment(target, tree, None, place), heads)

    for i in range(1, rows + 1):
        say(cell(left, i, 1), Number(1.0))
        for j in range(1, i):
            shape = Number(((i if is_flat else rows) - j + 1) / 2)
            drawn = cell(share, i, j)
            state.say(Draw(drawn, Density("dbeta", (shape, shape), None, place), place), heads)
            z = operation("+", Operation("*", (Number(2.0), drawn), place), Number(-1.0))
            say(cell(name, i, j), Operation("*", (z, FunctionCall("sqrt", (cell(left, i, j),), place)), place))
            gone = Operation("*", (drawn, operation("+", Number(1.0), operation("neg", drawn))), place)
            say(cell(left, i, j + 1), Operation("*", (cell(left, i, j), Operation("*", (Number(4.0), gone))), place))
        say(cell(name, i, i), FunctionCall("sqrt", (cell(left, i, i),), place))
        for j in range(i + 1, rows + 1):
            say(cell(name, i, j), Number(0.0))


def log_density(name: str, value: Value, eta: Value, place: Place, state: State) -> Value:
    """`lkj_corr` is (eta - 1) log det R; of its factor, sum_i (K - i + 2 eta - 2) log L[i, i]."""
    if value.rank != 2 or eta.rank or not state.is_known(eta.scalar):
        raise Trouble(place, f"`{name}` of several matrices, or by an unknown", "one matrix, and a number of the data")
    if name == "lkj_corr":
        whole = FunctionCall("logdet", (state.sliced(value, place).all(),), place)
        return Value(lambda _: Operation("*", (operation("+", eta.scalar, Number(-1.0)), whole), place))
    size, twice = value.sizes[0], Operation("*", (Number(2.0), eta.scalar), place)

    def row(at: tuple[bugs.Index, ...]) -> bugs.Expression:
        i = at[0]
        assert not isinstance(i, (Empty, bugs.Range))
        power = operation("+", operation("+", size, operation("neg", i)), operation("+", twice, Number(-2.0)))
        return Operation("*", (power, FunctionCall("log", (value.at((i, i)),), place)), place)

    rows = state.sliced(operated("+", Value(row, (size,), gives_slices=False), Value(lambda _: Number(0.0))), place)
    return Value(lambda _: FunctionCall("sum", (rows.all(),), place))
