"""The text of a fused pass of EM: what is said once for every model is here, what the plan says is put in.

pass_z(columns, codes, sizes, ..., start, stop, sums, counts, tally, probability)
"""

from __future__ import annotations

from collections.abc import Iterable

from platewright.algebra.node import Expression
from platewright.backends.c_em_support import SUPPORT
from platewright.backends.c_support import c_comment
from platewright.program.program import statement_text
from platewright.schemas.em import EMPlan

BLOCK = 256
"""Rows worked on at once: all functions of so many rows stay in the second cache, and sums are loaded seldom."""


def file_text(plan: EMPlan, functions: Iterable[str]) -> str:
    """The whole file."""
    return "\n\n".join([header(plan), SUPPORT.strip("\n"), *functions]) + "\n"


def header(plan: EMPlan) -> str:
    """What the file is for, in the words of the plan."""
    lines = [
        f"/* {c_comment(plan.graph.title)}: one iteration of EM over rows, derived and written by Platewright.",
        " *",
        *(f" * {c_comment(statement_text(statement))}" for statement in (*plan.expect.body, *plan.maximise.passes)),
        " *",
        " * Compile alone:  cc -O3 -march=native -shared -fPIC FILE.c -lm",
        " */",
    ]
    included = [f"#include <{name}.h>" for name in ("math", "stdint", "stdlib", "string")]
    return "\n".join([*lines, *included, "", "/* Rows worked on at once. */", f"#define BLOCK {BLOCK}"])


def function_text(name: str, hidden: str, atoms: tuple[...], codes: Iterable[Expression]) -> str:
    """The function of one hidden variable, which needs these functions of a row and these codes."""
    lines = [f"/* Expected statistics of {c_comment(hidden)}, rows `start` up to `stop`."]
    lines += [f" * column[{k}]: {c_comment(str(atom))}" for k, atom in enumerate(atoms)]
    lines += [f" * code: {c_comment(text)}" for text in sorted({str(code) for code in codes})]
    fills = []
    for k, atom in enumerate(atoms):
        fills += [f"    /* {c_comment(str(atom))} */"]
        fills += [f"    fill(basis + place * STRIDE, column[{k}], size[{4 + k}], centre + place, at);"]
        fills += [f"    place += size[{4 + k}];"]
    filled = [
        "/* Functions of the rows of a block: 1, what depends on data alone, and products. */",
        f"static void {name}_basis(double *basis, const double *const *column, const int64_t *size,",
        "    const int32_t *pair, const double *centre, int64_t at)",
        "{",
        "    int64_t place = 1;",
        *fills,
        "    (void)column, (void)centre, (void)at;",
        "    multiply(basis, pair, place, size[1]);",
        "}",
        "",
    ]
    return "\n".join([*filled, *lines, FUNCTION.replace("PASS", name).strip("\n")])


FUNCTION = """
 * size: levels, functions, doubles in a row of the table, codes of a row, then the width of each column
 * pair: the functions whose product a function is; basis: 1, columns less their centre, products
 * apart: each level has its own centre (and `coefficient` is level by level), for levels far apart and narrow
 * tally: sum of logs of weights, largest log weight, largest size of terms (when apart)
 * Returns 0, or 2 when memory is short. */
int PASS(const double *const *column, const int32_t *code, const int64_t *size, const int32_t *pair,
    const double *centre, const double *coefficient, const double *table, int64_t apart, int64_t start, int64_t stop,
    double *sums, double *counts, double *tally, double *probability)
{
    const int64_t levels = size[0], functions = size[1], pitch = size[2], codes = size[3];
    const size_t needed = (size_t)((functions + 2 * levels) * STRIDE + levels * functions * LANES + 8);
    double *const space = calloc(needed, sizeof(double));
    if (!space)
        return 2;
    double *const basis = (double *)(((uintptr_t)space + 63) & ~(uintptr_t)63);
    double *const weight = basis + functions * STRIDE, *const extent = weight + levels * STRIDE;
    double *const held = extent + levels * STRIDE;
    for (int64_t i = 0; i < BLOCK; i++)
        basis[i] = 1.0;
    tally[0] = 0.0;
    tally[1] = -INFINITY;
    tally[2] = 0.0;
    for (int64_t at = start; at < stop; at += BLOCK) {
        const int64_t count = stop - at < BLOCK ? stop - at : BLOCK;
        if (!apart) {
            PASS_basis(basis, column, size, pair, centre, at);
            weigh(basis, functions, coefficient, levels, weight);
        } else
            for (int64_t k = 0; k < levels; k++) {
                PASS_basis(basis, column, size, pair, centre + k * functions, at);
                weigh(basis, functions, coefficient + k * functions, 1, weight + k * STRIDE);
                weigh_sizes(basis, functions, coefficient + k * functions, extent + k * STRIDE);
            }
        if (codes)
            look_up(pitch, code + at * codes, codes, table, levels, count, weight);
        if (apart) {
            const double largest = largest_size(weight, extent, levels, count);
            tally[2] = largest > tally[2] ? largest : tally[2];
        }
        soften(weight, levels, count, tally);
        if (probability)
            for (int64_t i = 0; i < count; i++)
                for (int64_t k = 0; k < levels; k++)
                    probability[(at + i) * levels + k] = weight[k * STRIDE + i];
        if (!apart)
            add_up(basis, functions, weight, levels, held);
        else
            for (int64_t k = 0; k < levels; k++) {
                PASS_basis(basis, column, size, pair, centre + k * functions, at);
                add_up(basis, functions, weight + k * STRIDE, 1, held + k * functions * LANES);
            }
        if (codes)
            count_codes(pitch, code + at * codes, codes, counts, levels, count, weight);
    }
    for (int64_t k = 0; k < levels * functions; k++) {
        sums[k] = 0.0;
        for (int64_t lane = 0; lane < LANES; lane++)
            sums[k] += held[k * LANES + lane];
    }
    free(space);
    return 0;
}
"""
