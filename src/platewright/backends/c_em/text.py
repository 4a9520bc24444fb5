"""The text of a fused pass of EM: what is said once for every model is here, what the plan says is put in.

pass_z(columns, codes, sizes, ..., start, stop, sums, counts, tally, probability)
"""

from __future__ import annotations

from collections.abc import Iterable

from platewright.algebra.node import Expression
from platewright.backends.c.support import c_comment
from platewright.backends.c_em.look_up import LOOK_UPS
from platewright.backends.c_em.softening import SOFTENING
from platewright.backends.c_em.support import SUPPORT
from platewright.program.program import statement_text
from platewright.schemas.em import EMPlan
from platewright.schemas.hidden_plan import HiddenPlan

BLOCK = 256
"""Rows worked on at once: all functions of so many rows stay in the second cache, and sums are loaded seldom."""
STRIDE = BLOCK + 8
"""From one column of a tile to the next, as the C has it."""


def file_text(plan: HiddenPlan, functions: list[str]) -> str:
    """The whole file."""
    shared = [SUPPORT, SOFTENING] + [LOOK_UPS] * any("look_up(" in function for function in functions)
    return "\n\n".join([header(plan), *(text.strip("\n") for text in shared), *functions]) + "\n"


def header(plan: HiddenPlan) -> str:
    """What the file is for, in the words of the plan."""
    what = "EM" if isinstance(plan, EMPlan) else "mean field"
    summed = dict.fromkeys(statement for program in plan.latent.programs for statement in program.passes)
    lines = [
        f"/* {c_comment(plan.graph.title)}: one iteration of {what} over rows, derived and written by Platewright.",
        " *",
        *(f" * {c_comment(statement_text(statement))}" for statement in (*plan.expect.body, *summed)),
        " */",
    ]
    included = [f"#include <{name}.h>" for name in ("math", "stdint", "stdlib", "string")]
    return "\n".join([*lines, *included, "", "/* Rows worked on at once. */", f"#define BLOCK {BLOCK}"])


def function_text(name: str, hidden: str, atoms: tuple[Expression, ...], codes: Iterable[Expression]) -> str:
    """The function of one hidden variable, which needs these functions of a row and these codes."""
    lines = [f"/* Expected statistics of {c_comment(hidden)}, rows `start` up to `stop`."]
    lines += [f" * in the tiles: {c_comment(str(atom))}" for atom in atoms]
    shown = sorted({str(code) for code in codes})
    lines += [f" * code: {c_comment(text)}" for text in shown]
    looked_up, counted = (LOOKED_UP, COUNTED) if shown else ("", "")
    text = FUNCTION.replace("PASS", name).replace("LOOKED_UP", looked_up).replace("COUNTED", counted)
    return "\n".join([*lines, text.strip("\n")])


LOOKED_UP = """\
        look_up(pitch, code + at * codes, codes, table, levels, count, weight);
"""

COUNTED = """\
        count_codes(pitch, code + at * codes, codes, counts, levels, count, weight);
"""

FUNCTION = """
 * tiles: functions of BLOCK rows side by side, less their centre unless `apart`; size: levels, functions, doubles in a
 * row of the table, codes of a row, columns of the tiles
 * pair: the functions whose product a function is; basis: 1, columns, products
 * coefficient, table: of log weights; all logs are to base 2
 * apart: each level has its own centre (and `coefficient` is level by level), for levels far apart and narrow
 * tally: sum of log densities of rows, the largest of them, largest size of terms (when apart)
 * Returns 0, or 2 when memory is short. */
int PASS(const double *tiles, const int32_t *code, const int64_t *size, const int32_t *pair,
    const double *centre, const double *coefficient, const double *table, int64_t apart, int64_t start, int64_t stop,
    double *sums, double *counts, double *tally, double *probability)
{
    const int64_t levels = size[0], functions = size[1], pitch = size[2], codes = size[3], columns = size[4];
    const size_t needed = (size_t)((functions + 2 * levels + 3) * STRIDE + levels * functions * LANES + 8);
    double *const space = calloc(needed, sizeof(double));
    const double **const basis = malloc((size_t)functions * sizeof(double *));
    if (!space || !basis) {
        free(space), free(basis);
        return 2;
    }
    double *const ones = (double *)(((uintptr_t)space + 63) & ~(uintptr_t)63);
    double *const moved = ones + STRIDE, *const products = moved + columns * STRIDE;
    double *const weight = ones + functions * STRIDE, *const extent = weight + levels * STRIDE;
    double *const share = extent + levels * STRIDE, *const held = share + 3 * STRIDE;
    tally_lanes found = {{0.0}, 1.0 - (lanes){0.0}, -1e300, 1.0, -INFINITY};
    for (int64_t i = 0; i < BLOCK; i++)
        ones[i] = 1.0;
    basis[0] = ones;
    tally[2] = 0.0;
    for (int64_t at = start; at < stop; at += BLOCK) {
        const int64_t count = stop - at < BLOCK ? stop - at : BLOCK;
        const double *const tile = tiles + at / BLOCK * columns * STRIDE;
        if (!apart) {
            point(basis, tile, columns, products, functions);
            weigh(basis, functions, coefficient, levels, weight, columns, products, pair);
        } else
            for (int64_t k = 0; k < levels; k++) {
                fill(moved, tile, columns, centre + k * functions + 1);
                point(basis, moved, columns, products, functions);
                weigh(basis, functions, coefficient + k * functions, 1, weight + k * STRIDE, columns, products, pair);
                weigh_sizes(basis, functions, coefficient + k * functions, extent + k * STRIDE);
            }
LOOKED_UP        if (apart) {
            const double largest = largest_size(weight, extent, levels, count);
            tally[2] = largest > tally[2] ? largest : tally[2];
        }
        soften(weight, levels, count, share, &found, tile + columns * STRIDE, columns);
        if (!apart)
            add_shares(basis, functions, weight, share, levels, held);
        else
            for (int64_t k = 0; k < levels; k++) {
                fill(moved, tile, columns, centre + k * functions + 1);
                multiply(basis, columns, products, functions, pair);
                add_shares(basis, functions, weight + k * STRIDE, share, 1, held + k * functions * LANES);
            }
        if (probability)
            for (int64_t i = 0; i < count; i++)
                for (int64_t k = 0; k < levels; k++)
                    probability[(at + i) * levels + k] = weight[k * STRIDE + i];
COUNTED    }
    for (int64_t k = 0; k < levels * functions; k++) {
        sums[k] = 0.0;
        for (int64_t lane = 0; lane < LANES; lane++)
            sums[k] += held[k * LANES + lane];
    }
    take_logs(&found);
    tally[0] = 0.0;
    tally[1] = found.high;
    for (int64_t lane = 0; lane < LANES; lane++)
        tally[0] += LANE(found.logs, lane);
    (void)code, (void)table, (void)counts, (void)pitch, (void)codes;
    free(space), free(basis);
    return 0;
}
"""
