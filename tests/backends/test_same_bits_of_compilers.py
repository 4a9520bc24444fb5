"""libtcc and the machine's compiler draw the same bits: samplers are computed as they are written, by whoever it is."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping

import numpy as np
import pytest

from platewright.backends.c.compile import AS_WRITTEN, FLAGS, Functions, compiled, find_compiler
from platewright.backends.c.in_memory import compiled_in_memory, has_memory_compiler
from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.family import Array
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.run.samplers.native_collapsed import NativeCollapsed, emitted, visiting_order
from platewright.run.samplers.native_gibbs import compiled_gibbs, gibbs_in_memory
from schemas.collapsed_models import COLLAPSED
from schemas.small_instance import Case, instance
from schemas.test_collapsed_ratio import plan_of as collapsed_plan_of
from schemas.test_conditional_ratio import EVERY, plan_of

COMPILER = find_compiler()
pytestmark = pytest.mark.skipif(
    COMPILER is None or not has_memory_compiler(), reason="two compilers are needed: a C compiler and libtcc"
)
MORE = (
    "shared_precision",
    "full_wishart",
    "logistic",
    "log_linear",
    "schools",
    "choices",
    "noisy_walk",
    "overdispersed",
)
"""Cases that are looked at with many rows too: those are worked on in blocks, and compilers like to rearrange sums."""


def bits(state: Mapping[str, Array]) -> dict[str, bytes]:
    return {name: np.ascontiguousarray(values).tobytes() for name, values in state.items()}


def check_gibbs(case: Case, sweeps: int) -> None:
    small, found = instance(case), []
    for build in (gibbs_in_memory, compiled_gibbs):
        chain = build(plan_of(case), small.columns, small.sizes).chain(small.hidden, np.random.default_rng(1))
        begun = bits(chain.values)
        chain.run(sweeps, 1)
        assert bits(chain.values) != begun, "nothing moved"
        found.append(bits(chain.state()))
    assert found[0] == found[1], [name for name, value in found[0].items() if value != found[1][name]]


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_a_gibbs_sampler_draws_the_same_bits(case: Case) -> None:
    check_gibbs(case, 30)


@pytest.mark.parametrize("case", [case for case in EVERY if case.name in MORE], ids=str)
def test_so_it_does_where_rows_are_many(case: Case) -> None:
    largest = max(case.sizes, key=lambda plate: case.sizes[plate])
    check_gibbs(case.resized(**{largest: 300}), 10)


def collapsed(case: Case, functions: Functions, data: CollapsedData) -> dict[str, bytes]:
    source = emitted(data)
    hidden = {name: instance(case, 3).values[name] for name in data.plan.hidden}
    random = Xoshiro.seeded(np.random.SeedSequence(3))
    sampler = NativeCollapsed(data, hidden, random, source, visiting_order(data, source), functions)
    sampler.sweep(30)
    return bits(sampler.state())


@pytest.mark.parametrize("case", COLLAPSED, ids=str)
def test_a_collapsed_sampler_draws_the_same_bits(case: Case) -> None:
    assert COMPILER is not None
    small = instance(case, 3)
    data = CollapsedData(collapsed_plan_of(case), small.columns, small.sizes)
    text = emitted(data).text
    in_memory, by_compiler = compiled_in_memory(text), compiled(text, COMPILER, AS_WRITTEN)
    assert collapsed(case, in_memory, data) == collapsed(case, by_compiler, data)


# -- arithmetic, where compilers may differ -----------------------------------------------------------------------

NUMBERS = "double number(const double *x, const int64_t *k)\n{\n    return VALUE;\n}\n"
HEAD = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
VALUES = (
    *("x[0] * x[1] + x[2]", "x[0] * x[1] - x[2] * x[3]", "x[0] + x[1] + x[2] + x[3]", "(x[0] - x[1]) + x[1]"),
    *(
        "1.0 / 1260 + x[0]",
        "691.0 / 360360",
        "1.0 / 3.0 - x[0]",
        "0.1 + 0.2",
        "1.7156 * (x[0] - 0.5)",
        "x[0] * 0x1p-53",
    ),
    *("log(3.7)", "exp(0.3)", "lgamma(2.3)", "pow(x[0], 2.0)", "pow(1.1, 3.3)", "log1p(0.1)", "expm1(1e-5)"),
    *("sqrt(x[0])", "floor(x[3])", "fmax(x[0], NAN)", "hypot(x[0], x[1])", "ldexp(x[0], 3)", "erfc(x[1])"),
    *("(double)((uint64_t)k[0] >> 11) * 0x1p-53", "(double)(uint64_t)k[0]", "(double)(int64_t)(x[3] * 1e3)"),
    *("x[0] > NAN", "!(x[0] > NAN)", "NAN != NAN", "x[0] - x[0] == 0.0 && isfinite(x[1])", "isfinite(INFINITY)"),
    *("-0.0 + x[4]", "0.0 * x[1]", "x[4] * -1.0", "1e-310 * x[0]", "x[0] / 3e-320", "-INFINITY < x[1]"),
    *(
        "k[1] / 3",
        "k[1] % 3",
        "(k[1] * 7 - 5) / 4",
        "(uint64_t)k[1] >= (uint64_t)k[2]",
        "k[2] << 3",
        "(k[1] < 0) + 010",
    ),
)
"""Contraction, order, constants, functions of constants, comparisons of what is no number, zeros, tiny and integers."""


def number(functions: Functions) -> bytes:
    x, k = np.array([0.7, -1.3, 2.9e-3, -41.6, 0.0]), np.array([-(2**62) + 12345, -17, 5], np.int64)
    functions.number.restype = ctypes.c_double
    return struct.pack("d", functions.number(*(ctypes.c_void_p(array.ctypes.data) for array in (x, k))))


@pytest.mark.parametrize("value", VALUES)
def test_a_number_means_the_same_in_memory(value: str) -> None:
    assert COMPILER is not None
    text = HEAD + NUMBERS.replace("VALUE", value)
    assert number(compiled_in_memory(text)) == number(compiled(text, COMPILER, AS_WRITTEN))


def test_flags_that_rearrange_are_noticed() -> None:
    """The planted defect: with the flags of sums over rows, the same texts give other bits."""
    assert COMPILER is not None
    case = next(case for case in EVERY if case.name == "full_wishart")
    small = instance(case)
    text = emitted_gibbs(case)
    found = []
    for flags in (AS_WRITTEN, FLAGS):
        built = gibbs_in_memory(plan_of(case), small.columns, small.sizes)
        object.__setattr__(built, "shared", compiled(text, COMPILER, flags))
        chain = built.chain(small.hidden, np.random.default_rng(1))
        chain.run(30, 1)
        found.append(bits(chain.state()))
    assert found[0] != found[1]


def emitted_gibbs(case: Case) -> str:
    small = instance(case)
    return gibbs_in_memory(plan_of(case), small.columns, small.sizes).source.text
