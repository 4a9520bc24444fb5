"""The interpreter of emitted C: what it reads, what it refuses, and that its faults are noticed."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from platewright.backends.c.compile import find_compiler
from platewright.backends.c_interpreted import interpreted as module
from platewright.backends.c_interpreted.interpreted import Interpreted, NotInterpreted
from platewright.backends.c_interpreted.interpreter import interpreter_text
from platewright.run.samplers import native_choice
from platewright.run.samplers.native_choice import interpreted_gibbs, native_gibbs
from platewright.run.samplers.native_gibbs import compiled_gibbs
from schemas.small_instance import instance
from schemas.test_conditional_ratio import EVERY, plan_of

COMPILER = find_compiler()
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler here")


def program(text: str) -> Interpreted:
    assert COMPILER is not None
    return Interpreted(text, COMPILER)


def number(lines: str, *given: int) -> int:
    """What a function of two integers returns."""
    text = f"static int64_t asked(int64_t a, int64_t b)\n{{\n{lines}\n}}\n"
    return program(text).asked(*map(ctypes.c_int64, given))


LINES = [
    ("return a - b - 1;", 6),
    ("return a - b * 2 + a / b % 3;", 4 + 10 // 3 % 3),
    ("return a < b ? a : b + 1;", 4),
    ("int64_t sum = 0; for (int64_t i = 0; i < a; i++) { if (i == b) continue; sum += i; } return sum;", 42),
    ("for (int64_t i = 0; i < a; i++) for (int64_t j = 0; j <= i; j++) b += j; return b;", 3 + 165),
    ("double x = a; x /= 4; return (int64_t)(x * b);", 7),
    ("return (a > 3 && b > 3) || !(b - 3);", 1),
    ("int64_t c = 0; a > b || (c = 1); return c;", 0),
    ("double x[2 + 1] = {1, a}; return (int64_t)(x[0] + x[1] + x[2]);", 11),
    ("for (int64_t i = 0; i < 3; i++) { double x[3] = {1}; b += (int64_t)x[2]; x[2] = 5; } return b;", 3),
    ("const int64_t at[] = {a, b}; const int64_t *const p = at + 1; return *p;", 3),
    ("static const double table_1[] = {-1.5, 2e1}; return (int64_t)(table_1[0] * table_1[1]);", -30),
    ("int bad = 0; const int64_t c = within(a, b, &bad); return bad * 10 + c;", 10),
    ("int64_t c = 0; for (int64_t i = 0; i < 600; i++) { double x[64]; x[1] = i; c += x[1] > b; } return c;", 596),
    ("double x[12]; for (int64_t i = 0; i < 12; i++) x[i] = i; return (int64_t)(x[2 * b + 1] + x[b * b + a - 8]);", 18),
    ("double x[9] = {0}; for (int64_t i = 0; i < 3; i++) x[i * 3 + 1] += 2; return (int64_t)(9 * x[1] + x[4]);", 20),
    ("int64_t c = a * b + 1; c = a * 2 + c; return c + b * b - (a * b + b * a);", 0),
    ("double s = a, x = 2; s += x * b; s = s + s * x; return (int64_t)s;", 48),
    ("return isfinite(a / 0.0) ? 1 : isnan(0.0 / 0.0) ? 2 : 3;", 2),
    ("double s = a, x = 2; s -= x * b; s = s - s * x; return (int64_t)s;", -4),
    ("return a * 1 + 0 + (0 + b) + 1 * b - 0;", 16),
    ("double x[2] = {1, a}; double *const p = x + 0; return (int64_t)(p[1] * 1 + 1 * x[0]);", 11),
    ("return (int64_t)(10 * sqrt(a * b + 6.0));", 60),
    ("int bad = 0; const int64_t c = within(2, 3, &bad) + within(3, 3, &bad); return bad * 10 + c;", 12),
    ("return (int64_t)(10 * (a < b ? 1 : 0.5) + (1.5 - b) * 2);", 2),
]
"""Lines of a function of a = 10 and b = 3, and what it returns."""


@pytest.mark.parametrize(("lines", "expected"), LINES)
def test_lines_mean_what_they_mean_in_c(lines: str, expected: int) -> None:
    assert number(lines, 10, 3) == expected


@pytest.mark.parametrize(
    "lines",
    ["while (a) a--; return a;", "return unheard(a);", "struct point p; return 0;", "return a ^ b;", "float x = 0;",
     "return c;", "int64_t x[a; return 0;", "return 1", "for (;;", "\"", "return a << 2;", "goto end;", "return a++;",
     "double x[4] = {0}; x[b--] = a; return 0;",
     "return a++ + b;", "double x = a++; return 0;"],
)  # fmt: skip
def test_what_is_not_read_is_refused(lines: str) -> None:
    with pytest.raises(NotInterpreted):
        number(lines, 10, 3)


def test_arrays_beyond_the_room_are_refused_and_not_written() -> None:
    with pytest.raises(NotInterpreted, match="too large"):
        number("double x[100000]; x[99999] = a; return b;", 10, 3)


def native_of(name: str, sweeps: int) -> object:
    case = next(case for case in EVERY if case.name == name)
    small = instance(case)
    return native_gibbs(plan_of(case), small.columns, small.sizes, sweeps, lambda generator: small.hidden, 0).shared


def test_few_sweeps_are_interpreted_and_many_compiled() -> None:
    assert isinstance(native_of("schools", 10), Interpreted)
    assert isinstance(native_of("schools", 10**8), ctypes.CDLL)


def test_a_text_that_is_refused_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise NotInterpreted("no")

    monkeypatch.setattr(native_choice, "Interpreted", refused)
    assert isinstance(native_of("schools", 10), ctypes.CDLL)


@pytest.mark.parametrize("name", ["regressions", "full_inverse_wishart", "crossed", "symbols_several"])
def test_interpreted_and_compiled_sweeps_draw_the_same(name: str) -> None:
    case = next(case for case in EVERY if case.name == name)
    small = instance(case)
    found = []
    for build in (interpreted_gibbs, compiled_gibbs):
        chain = build(plan_of(case), small.columns, small.sizes).chain(small.hidden, np.random.default_rng(1))
        chain.run(3, 1)
        found.append(chain.values)
    for variable, values in found[1].items():
        np.testing.assert_allclose(found[0][variable], values, rtol=1e-8, atol=1e-10)
        assert values.dtype.kind == "i" or not np.array_equal(values, small.hidden[variable])


FAULTS = {
    "a difference turned round": ("r[at->b].d - r[at->c].d)", "r[at->c].d - r[at->b].d)"),
    "a product that is lost in a difference": ("r[at->b].d - r[at->c].d * r[at->d].d", "r[at->b].d - r[at->c].d"),
    "two taken for one": ("it.constant.i == 1)", "it.constant.i == 2)"),
    "a root that is not taken": ("= sqrt(r[at->b].d)", "= r[at->b].d"),
    "what is infinite taken for finite": ("!!isfinite(r[at->b].d)", "1"),
    "a known code outside its plate": ("(uint64_t)at.constant.i < (uint64_t)limit.constant.i", "1"),
    "a jump that is not taken": ("if (!(r[at->a].i SIGN r[at->b].i)) GO(at->c)", "if (0) GO(at->c)"),
    "an element beside": ("((value *)r[at->b].p)[r[at->c].i])", "((value *)r[at->b].p)[0])"),
    "a whole number taken for a double": ("first.type == INTEGER && second.type == REAL", "0"),
    "a product that is lost": ("r[at->b].d + r[at->c].d * r[at->d].d", "r[at->b].d + r[at->c].d"),
    "a product of whole numbers that is lost": ("r[at->b].i * r[at->c].i + r[at->d].i", "r[at->b].i + r[at->d].i"),
    "a row of a table beside": ("r[at->c].i * r[at->d].i + r[at->e].i", "r[at->c].i + r[at->d].i + r[at->e].i"),
    "a position that is read again and was lost": ("op == LOAD && !reader->kept &&", "op == LOAD &&"),
    "arrays that are never released": ("    if (reader->arrays)\n", "    if (0)\n"),
    "what is not given is not zero": ("for (int64_t k = 0; at->c && k < count; k++)", "for (int64_t k = 0; 0;)"),
    "a code outside its plate that nobody hears of": ("r[at->d].i |= outside;", ""),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = FAULTS[fault]
    wrong = interpreter_text().replace(before, after)
    assert interpreter_text().count(before) == 1
    monkeypatch.setattr(module, "interpreter_text", lambda: wrong)
    monkeypatch.setattr(module, "_machine", module._machine.__wrapped__)
    assert any(_differs(lines, expected) for lines, expected in LINES)


def _differs(lines: str, expected: int) -> bool:
    try:
        return number(lines, 10, 3) != expected
    except NotInterpreted:
        return True
