"""The text of a pass over hidden chains: forward, backward and expected statistics of bundles of sequences.

chain_z(single, pairs, bundles, ..., start, stop, sums, counts, moves, tally, probability)
"""

from __future__ import annotations

import re

from platewright.backends.c_chain_support import CHAINS
from platewright.backends.c_em_look_up import LOOK_UPS
from platewright.backends.c_em_support import SUPPORT
from platewright.backends.c_em_text import header
from platewright.backends.c_support import c_comment
from platewright.schemas.em import EMPlan

WIDTHS = (8, 4, 2, 1)
"""Sequences side by side: what is kept of so many stays in the second cache, and a register of any machine is full."""


def chain_file(plan: EMPlan, functions: list[str], own: bool) -> str:
    """The whole file; with `own` there are chains whose moves change from step to step."""
    plain = any("look_up(" in function for function in functions)
    width = f"/* Sequences side by side; whether a step may have moves of its own. */\n#define WIDTH {WIDTHS[0]}\n#define OWN {int(own)}"
    parts = [header(plan), width, *(text.strip("\n") for text in (SUPPORT, *[LOOK_UPS] * plain, CHAINS)), *functions]
    return "\n\n".join(parts) + "\n"


def narrowed(source: str, width: int) -> str:
    """The same file for so many sequences side by side."""
    return source.replace(f"#define WIDTH {WIDTHS[0]}\n", f"#define WIDTH {width}\n")


def without_comments(source: str) -> str:
    """The same program: comments tell models apart, and what is left is compiled once for many of them."""
    return re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)


def width_for(sequences: int) -> int:
    """As many lanes as there are sequences to fill them."""
    return min((width for width in WIDTHS if width >= sequences), default=WIDTHS[0])


def chain_function(name: str, hidden: str, shown: list[str]) -> str:
    """The function of one hidden chain; `shown` says what its arrays hold."""
    lines = [f"/* Expected statistics of {c_comment(hidden)}, bundles `start` up to `stop`."]
    lines += [f" * {c_comment(text)}" for text in shown]
    return "\n".join([*lines, FUNCTION.replace("PASS", name).strip("\n")])


FUNCTION = """
 * single: weights of the values of a step; pairs: those of neighbouring values, where they change from step to step
 * matrix: weights of neighbouring values where they do not, and the same turned
 * block: the first block of each bundle, and one past the last; length: of each lane of each bundle
 * sums, counts: at first steps, then at later ones; moves: sums of neighbours before `matrix` multiplies them
 * tally: log of the weight of all chains, largest log weight of a step, largest size of terms (when apart), smallest
 *        scale, largest factor of the backward recursion
 * Returns 0, or 2 when memory is short. */
int PASS(const weighing *single, const weighing *pairs, const double *matrix, const int64_t *block,
    const int64_t *length, int64_t apart, int64_t kept, int64_t start, int64_t stop, double *sums, double *counts,
    double *pair_sums, double *pair_counts, double *moves, double *tally, double *probability)
{
    const int64_t levels = single->levels, rows = levels < 3 ? 3 : levels, own = OWN && pairs;
    const int64_t functions = single->functions, pair_functions = own ? pairs->functions : 0;
    const int64_t more = functions > pair_functions ? functions : pair_functions, size = rows * STRIDE;
    int64_t longest = 0;
    for (int64_t n = start; n < stop; n++)
        longest = block[n + 1] - block[n] > longest ? block[n + 1] - block[n] : longest;
    const int64_t copies = longest * size <= kept ? longest : 1;
    const int64_t needed[] = {
        copies * size, copies * size, size, (own ? levels * levels : levels) * STRIDE, more * STRIDE,
        (longest * STEPS + 1) * WIDTH, (longest + 1) * levels * WIDTH, levels * WIDTH,
        own ? levels * levels * STRIDE : 0, 2 * levels * functions * LANES, levels * rows * LANES,
        own ? 2 * levels * levels * pair_functions * LANES : 0};
    double *place[12];
    int64_t total = 8;
    for (int64_t n = 0; n < 12; n++)
        total += (needed[n] + 7) / 8 * 8;
    double *const space = malloc((size_t)total * sizeof(double));
    if (!space)
        return 2;
    place[0] = (double *)(((uintptr_t)space + 63) & ~(uintptr_t)63);
    for (int64_t n = 1; n < 12; n++)
        place[n] = place[n - 1] + (needed[n - 1] + 7) / 8 * 8;
    for (int64_t n = 9; n < 12; n++)
        memset(place[n], 0, (size_t)needed[n] * sizeof(double));
    for (int64_t n = 0; levels < 3 && n < copies; n++)
        memset(place[0] + n * size, 0, (size_t)size * sizeof(double));
    memset(place[6], 0, (size_t)(levels * WIDTH) * sizeof(double));
    double *const share = place[2], *const extent = place[3], *const basis = place[4], *const inverse = place[5];
    double *const edge = place[6], *const carried = place[7], *const matrices = place[8], *const held = place[9];
    double *const held_moves = place[10], *const held_pairs = place[11];
    double top[BLOCK];
    for (int64_t i = 0; more && i < BLOCK; i++)
        basis[i] = 1.0;
    tally[0] = tally[2] = tally[4] = 0.0;
    tally[1] = -INFINITY;
    tally[3] = 1.0;
    for (int64_t n = start; n < stop; n++) {
        const int64_t *const lengths = length + n * WIDTH;
        bundle this = {lengths, lengths[WIDTH - 1], 0.0, 1.0, 0.0};
        const int64_t blocks = block[n + 1] - block[n];
        for (int64_t i = 0; i < WIDTH; i++)
            inverse[i] = 1.0;
        for (int64_t turn = 0; turn < 2 * blocks; turn++) {
            const int64_t back = turn >= blocks, b = back ? 2 * blocks - 1 - turn : turn, time = b * STEPS;
            const int64_t at = (block[n] + b) * BLOCK, begins = b == 0;
            double *const weight = place[0] + (copies > 1 ? b * size : 0);
            double *const before = place[1] + (copies > 1 ? b * size : 0);
            double *const last = edge + (b + 1) * levels * WIDTH, *const scale = inverse + time * WIDTH;
            const int64_t known = back && (copies > 1 || b == blocks - 1);
            if (own && !(back && b == blocks - 1)) {
                weigh_block(pairs, 0, at, 0, basis, extent, matrices, top);
                double highest = 0.0;
                if (!back && !pairs->ready)
                    add_tops(&this, time, 1, top, &this.log_scale, &highest);
            }
            if (!known) {
                const double largest = weigh_block(single, apart, at, begins, basis, extent, weight, top);
                tally[2] = largest > tally[2] ? largest : tally[2];
                for (int64_t k = 0; k < levels; k++)
                    memcpy(before + k * STRIDE, last - levels * WIDTH + k * WIDTH, WIDTH * sizeof(double));
                bundle again = this, *const counted = back ? &again : &this;
                if (!back && !single->ready)
                    add_tops(&this, time, 0, top, &this.log_scale, tally + 1);
                if (own)
                    run_forward(1, counted, levels, time, matrices, weight, before, scale, last);
                else
                    run_forward(0, counted, levels, time, matrix, weight, before, scale, last);
            }
            if (!back)
                continue;
            if (turn == blocks)
                memset(carried, 0, (size_t)(levels * WIDTH) * sizeof(double));
            if (own)
                run_backward(1, &this, levels, time, matrices, weight, before, scale, last, carried, share);
            else
                run_backward(0, &this, levels, time, matrix + levels * levels, weight, before, scale, last, carried,
                             share);
            if (probability)
                for (int64_t i = 0; i < BLOCK; i++)
                    for (int64_t k = 0; k < levels; k++)
                        probability[(at + i) * levels + k] = share[k * STRIDE + i];
            if (own) {
                for (int64_t k = 0; k < levels * levels; k++)
                    for (int64_t i = 0; i < BLOCK; i++)
                        matrices[k * STRIDE + i] *= before[k / levels * STRIDE + i] * weight[k % levels * STRIDE + i];
                add_block(pairs, 0, at, 0, basis, matrices, held_pairs, pair_counts);
            } else
                add_up(weight, rows, before, levels, held_moves);
            add_block(single, apart, at, begins, basis, share, held, counts);
        }
        tally[0] += this.log_scale;
        tally[3] = this.least < tally[3] ? this.least : tally[3];
        tally[4] = this.peak <= tally[4] ? tally[4] : this.peak;
    }
    double *const targets[] = {sums, moves, pair_sums};
    const double *const sources[] = {held, held_moves, held_pairs};
    const int64_t lengths[] = {2 * levels * functions, levels * rows, own ? 2 * levels * levels * pair_functions : 0};
    for (int64_t n = 0; n < 3; n++)
        for (int64_t k = 0; k < lengths[n]; k++) {
            targets[n][k] = 0.0;
            for (int64_t lane = 0; lane < LANES; lane++)
                targets[n][k] += sources[n][k * LANES + lane];
        }
    free(space);
    return 0;
}
"""
