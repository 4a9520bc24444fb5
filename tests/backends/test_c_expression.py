"""Printed C has the value that the expression has: written out ones for every case of the printer, and random ones."""

from __future__ import annotations

import ctypes
from functools import lru_cache

import numpy as np
import pytest

from backends.test_c_draws import HEADER, needs_compiler, pointer
from backends.test_printed_expressions import SHAPES, J, K, N, grown
from platewright.algebra.build import add, call, equal, log, log_sum_exp, multiply, power, total, where
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import (
    AtMost,
    Constant,
    Expression,
    Index,
    Lag,
    Literal,
    Maximum,
    Quadratic,
    Reference,
    Size,
)
from platewright.backends.c.compile import AS_WRITTEN, compiled, find_compiler
from platewright.backends.c.expression import CPrinter
from platewright.backends.c.support import support_text
from platewright.backends.naming import Names
from platewright.backends.numpy.expression import NumpyPrinter
from platewright.family import Array

SIZES = {"n": 3, "k": 2, "j": 2}
AXES = {**SHAPES, "count": (N,), "big": (N,), "wide": (N,), "zero": (N,), "low": (K,)}
INTEGERS = frozenset({"code", "count", "big", "wide"})
ROW, COLUMN = Index("row", "k"), Index("column", "k")
X, MU, W = Reference("x", (N,)), Reference("mu", (K,)), Reference("w", (J,))
CODE, COUNT, BIG, WIDE = (Reference(name, (N,)) for name in ("code", "count", "big", "wide"))
ZERO, A = Reference("zero", (N,)), Reference("a")
TABLE = Reference("table", (N, K))

WRITTEN: dict[str, Expression] = {
    "a quotient in a quotient": multiply(A, power(multiply(X, power(A, -1.0)), -1.0)),
    "one over": power(add(X, 5.0), -1.0),
    "one over a square": power(add(X, 5.0), -2.0),
    "a root": power(add(power(X, 2.0), 1.0), 0.5),
    "one over a root": power(add(power(X, 2.0), 1.0), -0.5),
    "a power": power(add(power(X, 2.0), 1.0), 1.7),
    "a power of one": power(add(power(X, 2.0), 1.0), A),
    "less a sum": add(A, multiply(-1.0, add(X, 2.0))),
    "minus a product": multiply(-1.0, X, A),
    "minus minus": multiply(-1.0, multiply(-2.5, X)),
    "less a negative number": add(X, multiply(-0.75, A), -2.0),
    "a large number": add(X, 3e9),
    "a very large number": add(multiply(X, 1e20), -1e19),
    "a diagonal": total(multiply(MU, Reference("move", (K, K))), K),
    "a quadratic form": Quadratic(Reference("mu", (ROW,)), Reference("move", (ROW, COLUMN)), ROW, COLUMN),
    "forms of rows": Quadratic(Reference("table", (N, ROW)), Reference("move", (ROW, COLUMN)), ROW, COLUMN),
    "a negative factor": multiply(-3.0, add(X, 1.0)),
    "integers in a product": multiply(COUNT, CODE),
    "integers that overflow": multiply(BIG, WIDE),
    "an integer by an integer": multiply(COUNT, power(add(CODE, 2.0), -1.0)),
    "a switch of integers": multiply(where(equal(CODE, 1.0), COUNT, 2.0), power(Constant(4.0), -1.0)),
    "an answer times a count": multiply(equal(CODE, 1.0), COUNT),
    "zero times the log of zero": multiply(ZERO, log(equal(CODE, 1.0))),
    "a comparison": call("less", X, A),
    "the larger": call("maximum", X, A),
    "a function of two": call("arctan2", X, A),
    "below": AtMost(X, A),
    "beyond all": where(AtMost(A, X), Constant(float("inf")), Constant(float("-inf"))),
    "the size": multiply(Size("n"), X),
    "the row": add(N, 0.5),
    "the row before": multiply(2.0, Reference("x", (Lag(N),))),
    "a look-up": Reference("mu", (CODE,)),
    "a look-up in a table": Reference("move", (CODE, Constant(1.0))),
    "a look-up by what is computed": Reference("low", (multiply(0.5, add(CODE, CODE)),)),
    "numbers": Literal((0.25, -1.5), (2,), ("k",), (CODE,)),
    "a sum": total(multiply(TABLE, MU), K),
    "a sum beside a sum": multiply(total(add(TABLE, MU), K), total(MU, K)),
    "a sum in a sum": total(multiply(MU, total(multiply(W, Reference("move", (K, J))), J)), K),
    "a sum over a turned table": total(multiply(Reference("turned", (K, N)), MU), K),
    "the largest": Maximum(K, add(TABLE, MU)),
    "the log of a sum": log_sum_exp(add(TABLE, MU), K),
    "the log of nothing": log_sum_exp(add(log(multiply(ZERO, ZERO)), multiply(0.0, MU)), K),
    "the log of large numbers": log_sum_exp(multiply(1e5, TABLE), K),
}
SEEDS = range(60)


def values() -> dict[str, Array]:
    """Numbers of every column."""
    generator = np.random.default_rng(11)
    found = {name: generator.normal(size=tuple(SIZES[axis.plate] for axis in axes)) for name, axes in AXES.items()}
    found |= {"code": np.array([0, 1, 1]), "count": np.array([3, 0, 7]), "zero": np.zeros(3)}
    return found | {
        "big": np.array([5_000_000_000, 3, 4_000_000_001]),
        "wide": np.array([9_000_000_000, 2, 7_000_000_000]),
    }


def random_one(seed: int) -> Expression:
    return grown(np.random.default_rng(seed), (N,), 3)


def printed(number: int, expression: Expression) -> str:
    """A function that runs over the rows; every column comes as a pointer, every size as a number."""
    names = Names()
    printer = CPrinter(names, (N,), AXES, INTEGERS)
    text = printer.code(expression).text
    lines = printer.take()
    tables = [
        f"static const double {name}[] = {{{', '.join(map(repr, given))}}};" for given, name in printer.tables.items()
    ]
    columns = [f"const {'int64_t' if name in INTEGERS else 'double'} *{names(f'data_{name}')}" for name in AXES]
    sizes = [f"    int64_t {names(f'size {plate}')} = {size};" for plate, size in SIZES.items()]
    return "\n".join(
        (
            *tables_of(number, tables), f"void at_{number}({', '.join(columns)}, double *out)", "{", *sizes,
            f"    for (int64_t row = 0; row < {SIZES['n']}; row++) {{", "        int64_t bad = 0;",
            *(f"        {line}" for line in renamed(number, lines)),
            f"        out[row] = {renamed(number, [text])[0]};",
            "        if (bad) out[row] = NAN;", "    }", "}",
        )
    )  # fmt: skip


def renamed(number: int, lines: list[str]) -> list[str]:
    """Each function has tables of its own."""
    return [line.replace("table_", f"own_{number}_") for line in lines]


def tables_of(number: int, tables: list[str]) -> list[str]:
    return renamed(number, tables)


@lru_cache(maxsize=1)
def computed() -> dict[str, Array]:
    """All expressions by one library."""
    compiler = find_compiler()
    assert compiler is not None
    every = {**WRITTEN, **{str(seed): random_one(seed) for seed in SEEDS}}
    body = "\n".join(printed(number, expression) for number, expression in enumerate(every.values()))
    library = compiled("\n".join([HEADER, *support_text(body), body]), compiler)
    types = {name: np.int64 if name in INTEGERS else np.float64 for name in AXES}
    columns = [np.ascontiguousarray(value, types[name]) for name, value in values().items()]
    found = {}
    for number, name in enumerate(every):
        found[name] = np.empty(3)
        getattr(library, f"at_{number}")(*(ctypes.c_void_p(c.ctypes.data) for c in columns), pointer(found[name]))
    return found


def wanted(expression: Expression) -> Array:
    with np.errstate(all="ignore"):
        floats = {name: value if name == "code" else value.astype(float) for name, value in values().items()}
        found = evaluate(expression, Environment(floats, SIZES), (N,))
    return np.broadcast_to(np.asarray(found, dtype=float), (3,))


@needs_compiler
@pytest.mark.parametrize("name", WRITTEN)
def test_printed_c_is_the_expression(name: str) -> None:
    expected = np.zeros(3) if "zero times" in name else wanted(WRITTEN[name])
    np.testing.assert_allclose(computed()[name], expected, rtol=1e-12)


@needs_compiler
def test_printed_c_is_any_expression() -> None:
    for seed in SEEDS:
        np.testing.assert_allclose(
            computed()[str(seed)], wanted(random_one(seed)), rtol=1e-9, atol=1e-11, err_msg=str(random_one(seed))
        )


@needs_compiler
def test_a_root_is_rounded_as_numpy_does() -> None:
    compiler = find_compiler()
    assert compiler is not None
    root = CPrinter(Names(), (N,), {"x": (N,)}, frozenset()).code(power(X, 0.5)).text
    body = f"""void roots(const double *data_x, int64_t count, double *out)
{{
    for (int64_t row = 0; row < count; row++)
        out[row] = {root};
}}
"""
    library = compiled("\n".join([HEADER, *support_text(body), body]), compiler, AS_WRITTEN)
    x = np.concatenate([np.random.default_rng(3).uniform(0, 100, 100_000), [-np.inf, np.inf, 0.0, 5e-324]])
    found = np.empty(len(x))
    library.roots(pointer(x), ctypes.c_int64(len(x)), pointer(found))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, np.sqrt(x))


@pytest.mark.parametrize("name", [name for name in WRITTEN if "overflow" not in name and "zero times" not in name])
def test_printed_numpy_is_the_same_expression(name: str) -> None:
    names = Names()
    printer = NumpyPrinter(names)
    text = printer.printed(WRITTEN[name], (N,), full=True)
    if printer.used:
        pytest.skip(f"{printer.used} are support functions, tested elsewhere")
    known = {names(key): value for key, value in values().items()} | {printer.size(key): s for key, s in SIZES.items()}
    with np.errstate(all="ignore"):
        found = eval(text, {"np": np, **known})
    np.testing.assert_allclose(np.broadcast_to(found, (3,)), wanted(WRITTEN[name]), rtol=1e-12)


def test_tables_are_looked_up_along_the_axes_that_are_asked_for() -> None:
    one, two, three = Index("n", "n"), Index("k", "k"), Index("j", "j")
    cube = np.random.default_rng(3).normal(size=(3, 2, 2))
    for axes in ((one, two, three), (three, one, two), (two, three, one), (one, three, two)):
        names = Names()
        table = cube.transpose([(one, two, three).index(axis) for axis in axes])
        text = NumpyPrinter(names).printed(Reference("t", axes), (one, two, three), full=True)
        found = eval(text, {"np": np, names("t"): table, **{names(f"size {key}"): size for key, size in SIZES.items()}})
        np.testing.assert_array_equal(found, cube)
    fixed = NumpyPrinter(Names()).printed(Reference("t", (Constant(2.0), Constant(1.0), Constant(0.0))), ())
    assert eval(fixed, {"np": np, "t": cube}) == cube[2, 1, 0]
