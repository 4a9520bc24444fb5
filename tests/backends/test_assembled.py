"""Machine code made of what the interpreter read does what the interpreter does, bit for bit."""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest

from backends.test_c_interpreted import COMPILER, LINES, number, program
from platewright.backends.c_interpreted import interpreted as module
from platewright.backends.c_interpreted.interpreted import Interpreted, NotInterpreted
from platewright.backends.c_interpreted.interpreter import interpreter_text
from platewright.run.samplers.native_choice import interpreted_gibbs
from schemas.small_instance import Case, instance
from schemas.test_conditional_ratio import EVERY, plan_of

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="there is no C compiler here"),
    pytest.mark.skipif(
        COMPILER is not None and not program("static int64_t asked(int64_t a)\n{\nreturn a;\n}\n").assemble(),
        reason="no machine code is known for this machine",
    ),
]

HEAD = "static int64_t asked(const double *x, const int64_t *k, double *out)\n{\n"
EDGES = (0.0, -0.0, 1.0, -2.5, 1e300, -1e300, 1e-310, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize(("lines", "expected"), LINES)
def test_assembled_lines_mean_what_they_mean_in_c(lines: str, expected: int) -> None:
    assert assembled_number(lines) == expected


def assembled_number(lines: str) -> int:
    made = program(f"static int64_t asked(int64_t a, int64_t b)\n{{\n{lines}\n}}\n")
    assert made.assemble() and made.assemble()  # twice is once
    return made.asked(ctypes.c_int64(10), ctypes.c_int64(3))


def test_arrays_beyond_the_room_are_refused_in_machine_code_too() -> None:
    with pytest.raises(NotInterpreted, match="too large"):
        assembled_number("double x[100000]; x[99999] = a; return b;")
    with pytest.raises(NotInterpreted, match="too large"):
        assembled_number("for (int64_t i = 0; i < 9; i++) { double x[a * 4000]; x[i] = a; b += 1; } return b;")


def written(made: Interpreted, x: np.ndarray, k: np.ndarray) -> bytes:
    """What a function of doubles and integers returns and writes."""
    out = np.zeros(64)
    places = [values.ctypes.data_as(ctypes.c_void_p) for values in (x, k, out)]
    answer = struct.pack("q", made.asked(*places))
    return answer + np.where(np.isnan(out), np.nan, out).tobytes()  # all numbers that are none are one


def both(lines: str, x: np.ndarray, k: np.ndarray) -> tuple[bytes, bytes]:
    text = f"{HEAD}{lines}\nreturn 0;\n}}\n"
    first, second = program(text), program(text)
    assert second.assemble()
    return written(first, x, k), written(second, x, k)


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons_of_all_doubles_agree(sign: str) -> None:
    """As values, as conditions, and at the end of loops; numbers that are none compare with nothing."""
    lines = f"""
    for (int64_t i = 0; i < 10; i++)
        for (int64_t j = 0; j < 10; j++) {{
            const int64_t is = x[i] {sign} x[j];
            out[0] = 2 * out[0] + is;
            if (x[i] {sign} x[j])
                out[1] += i * 10 + j;
            int64_t turns = 0;
            for (double y = x[i]; y {sign} x[j] && turns < 3; y += 1)
                turns += 1;
            out[2] = 1.25 * out[2] + turns;
            turns = 0;
            for (int64_t n = k[i]; n {sign} k[j]; n += 5) {{
                turns += 1;
                if (turns > 3)
                    return turns;
            }}
        }}
    for (double y = x[0]; y {sign} x[2]; y += 1)
        if (y > 2)
            return 7;
    """
    found, made = both(lines, np.array(EDGES), np.arange(10, dtype=np.int64) * 3 - 12)
    assert found == made


def random_lines(generator: np.random.Generator) -> str:
    """A program of random statements on a few doubles `u`, integers `n` and elements of arrays."""
    pick = generator.integers

    def real(depth: int) -> str:
        if depth == 0 or pick(5) == 0:
            return str(generator.choice([f"u{pick(4)}", f"x[{whole(0)}]", f"v[{whole(0)}]", f"{pick(9)}.5", "t[1]"]))
        left, right = real(depth - 1), real(depth - 1)
        forms = [f"({left} + {right})", f"({left} - {right})", f"{left} * {right}", f"({left} / {right})", f"(-{left})"]
        forms += [f"sqrt({left})", f"(double)({whole(0)})", f"({left} + u0 * {right})", f"({right} - {left} * u1)"]
        forms += [f"exp(-square({left}))", f"({left} < {right} ? u2 : {right})"]
        return str(generator.choice(forms))

    def whole(depth: int) -> str:
        """At least 0 and below 8."""
        if depth == 0:
            return str(generator.choice([f"n{pick(3)}", f"{pick(8)}"]))
        first, second = whole(0), whole(depth - 1)
        forms = [f"({first} + {second}) % 8", f"({first} * {second} + {pick(8)}) % 8", f"within({first} * 3, 8, &bad)"]
        forms += [f"({first} / 2 + k[{second}] % 4)", f"isfinite(u{pick(4)})", f"(8 - {first}) / 2"]
        forms += [f"({first} < {second} || u{pick(4)} <= u{pick(4)})", f"(int64_t)(0.5 * {first})"]
        return str(generator.choice(forms))

    def statement(depth: int) -> str:
        place = f"v[{whole(1)}]"
        if depth == 0:
            kinds = [f"u{pick(4)} = {real(3)};", f"{place} = {real(2)};", f"n{pick(3)} = {whole(2)};"]
            kinds += [f"{place} += {real(2)};", f"u{pick(4)} -= {real(1)};", f"v[{whole(0)} * 2 + 1] = {real(1)};"]
            return str(generator.choice(kinds))
        inner, index = " ".join(statement(depth - 1) for _ in range(3)), f"i{depth}"
        counted = f"int64_t {index} = 0; {index} < {pick(1, 4)}; {index}++"
        kinds = [f"if ({whole(1)} == {whole(0)}) {{ {inner} }} else {{ {statement(0)} }}"]
        kinds += [f"for ({counted}) {{ double w[3] = {{u0}}; {inner} u1 += w[2] + w[0]; }}"]
        kinds += [f"if ({real(1)} <= {real(1)} && !({whole(1)} > 2)) {{ {inner} }}"]
        return str(generator.choice(kinds))

    begin = (
        "int bad = 0; static const double t[] = {0.25, -3, 7}; double v[16] = {1, 2}; int64_t n0 = 1, n1 = 2, n2 = 7; "
    )
    begin += "double u0 = x[0], u1 = x[1], u2 = 2, u3 = 0; "
    body = "\n".join(statement(int(pick(3))) for _ in range(12))
    end = "for (int64_t e = 0; e < 16; e++) out[e] = v[e]; out[16] = u0; out[17] = u1; out[18] = u2; out[19] = u3; "
    return f"{begin}\n{body}\n{end} return n0 + 10 * n1 + 100 * n2 + 1000 * bad;"


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_agree(seed: int) -> None:
    generator = np.random.default_rng(seed)
    k = generator.integers(0, 8, 8)
    found, made = both(random_lines(generator), generator.normal(size=8) * 3, k)
    assert found == made


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_assembled_sweeps_draw_the_same_bits(case: Case) -> None:
    small = instance(case)
    found = []
    for assembled in (False, True):
        native = interpreted_gibbs(plan_of(case), small.columns, small.sizes)
        assert not assembled or native.shared.assemble()
        chain = native.chain(small.hidden, np.random.default_rng(1))
        chain.run(4, 1)
        found.append({name: values.tobytes() for name, values in chain.values.items()})
    assert found[0] == found[1]


FAULTS = {
    "a difference turned into a sum": ("reckon(to, 0x5c, at, 0)", "reckon(to, 0x58, at, 0)"),
    "a quotient turned round": ("reckon(to, 0x5e, at, 0)", "reckon(to, 0x5e, at, 1)"),
    "a product added that is taken away": ("less ? 0x5c : 0x58", "0x58"),
    "a value that is held although it changed": ("to->real = to->real == place ? NOTHING_HELD : to->real;", ""),
    "a value that is held where others come in": ("        if (label[k])\n            forget_held(to);\n", ""),
    "a value that is held after a call": ("    PUT(0xff, 0xd0);\n    forget_held(to);", "    PUT(0xff, 0xd0);"),
    "numbers that are none taken for alike": ("PUT(0x0f, 0x9b, 0xc1, 0x20, 0xc8);", ""),
    "a jump where numbers are none": ("PUT(0x7a, 6);", ""),
    "a position taken from another place": ("4);\n    else\n        PUT(0xc8);", "4);\n    else\n        PUT(0xd0);"),
    "arrays that are never released": ("PUT(0x49, 0x89, 0x44, 0x24, top);", ""),
    "a code outside its plate that nobody hears of": ("with_whole(to, 0x09, RCX, at->d);", ""),
    "the rest taken for the quotient": ("if (at->op == REST_WHOLE)\n", "if (0)\n"),
    "what is infinite taken for finite": ("0x7ff0000000000000, 8)", "0x7ff8000000000000, 8)"),
    "what is not given is not zero": ("cleared && k < count", "0"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = FAULTS[fault]
    assert interpreter_text().count(before) == 1
    wrong = interpreter_text().replace(before, after)
    monkeypatch.setattr(module, "interpreter_text", lambda: wrong)
    monkeypatch.setattr(module, "_machine", module._machine.__wrapped__)
    assert _noticed()


def _noticed() -> bool:
    try:
        if any(assembled_number(lines) != expected for lines, expected in LINES):
            return True
        for sign in ("==", "!="):
            test_comparisons_of_all_doubles_agree(sign)
        for seed in range(20):
            test_random_programs_agree(seed)
    except (AssertionError, NotInterpreted):
        return True
    return False


def test_what_is_read_anew_is_interpreted_first() -> None:
    """Steps are counted while a program is interpreted, and only then."""
    made = program(
        "static int64_t asked(int64_t a, int64_t b)\n{\nfor (int64_t i = 0; i < a; i++) b += i;\nreturn b;\n}\n"
    )
    given = (ctypes.c_int64(10), ctypes.c_int64(3))
    assert made.asked(*given) == number("return a * 4 + b + 5;", 10, 3)
    counted = made.steps
    assert counted > 10
    made.assemble()
    assert made.asked(*given) == 48 and made.steps == counted
