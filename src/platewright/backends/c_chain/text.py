"""The text of a pass over hidden chains: forward, backward and expected statistics of bundles of sequences.

chain_z(single, pairs, bundles, ..., start, stop, sums, counts, moves, tally, probability)
"""

from __future__ import annotations

import re

from platewright.backends.c.support import c_comment
from platewright.backends.c_chain.support import RECURSIONS
from platewright.backends.c_chain.weights import WEIGHTS
from platewright.backends.c_em.look_up import LOOK_UPS
from platewright.backends.c_em.softening import SOFTENING
from platewright.backends.c_em.support import SUPPORT
from platewright.backends.c_em.text import header
from platewright.schemas.hidden_plan import HiddenPlan

WIDTHS = (8, 4, 2, 1)
"""Sequences side by side: what is kept of so many stays in the second cache, and a register of any machine is full."""


def chain_file(plan: HiddenPlan, functions: list[str], own: bool) -> str:
    """The whole file; with `own` there are chains whose moves change from step to step."""
    plain, rows = (any(call in function for function in functions) for call in ("look_up(", "soften("))
    defined = [
        "/* Sequences side by side; whether a step may have moves of its own. */",
        f"#define WIDTH {WIDTHS[0]}",
        f"#define OWN {int(own)}",
    ]
    shared = (SUPPORT, *[SOFTENING] * rows, *[LOOK_UPS] * plain, WEIGHTS, RECURSIONS, BLOCKS)
    parts = [header(plan), "\n".join(defined), *(text.strip("\n") for text in shared), *functions]
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


BLOCKS = """
/* -- blocks ------------------------------------------------------------------------------------------------------- */

/* What a bundle needs to be worked on. Weights and u of all its blocks are kept; where they are many, of one. */
typedef struct {
    const weighing *single, *pairs;
    int64_t levels, rows, own, apart, blocks, kept;
    double *weight, *before, *share, *extent, *ones, *inverse, *edge, *carried, *matrices;
    double *held, *held_moves, *held_pairs, *all;
    const double **pointers, **steps; /* to the functions of a block, to its weights */
    shelf room;
} workspace;

/* Arrays one after the other; 0 when memory is short. */
static int claim(workspace *work)
{
    const int64_t levels = work->levels, moves = work->own ? levels * levels : 0;
    const int64_t functions = work->single->functions, of_pairs = work->own ? work->pairs->functions : 0;
    const int64_t copies = work->kept ? work->blocks : 1, size = work->rows * STRIDE;
    const int64_t most = functions > of_pairs ? functions : of_pairs;
    double **const place[] = {
        &work->weight, &work->before, &work->share, &work->extent, &work->ones, &work->inverse, &work->carried,
        &work->matrices, &work->edge, &work->held, &work->held_moves, &work->held_pairs};
    const int64_t needed[] = {
        copies * size, copies * size, size, (moves > levels ? moves : levels) * STRIDE,
        (2 * most + 1) * STRIDE, (work->blocks * STEPS + 1) * WIDTH, levels * WIDTH,
        moves * STRIDE, (work->blocks + 1) * levels * WIDTH, 2 * levels * functions * LANES,
        levels * work->rows * LANES, 2 * moves * of_pairs * LANES};
    int64_t total = 8;
    for (int64_t n = 0; n < 12; n++)
        total += (needed[n] + 7) / 8 * 8;
    work->all = malloc((size_t)total * sizeof(double));
    work->pointers = malloc((size_t)(most + 1 + work->rows) * sizeof(double *));
    if (!work->all || !work->pointers) {
        free(work->all), free(work->pointers);
        return 0;
    }
    double *next = (double *)(((uintptr_t)work->all + 63) & ~(uintptr_t)63);
    for (int64_t n = 0; n < 12; n++) {
        *place[n] = next;
        next += (needed[n] + 7) / 8 * 8;
        if (n >= 8 || (n == 0 && levels < work->rows)) /* sums; u before the first step; rows that no level has */
            memset(*place[n], 0, (size_t)needed[n] * sizeof(double));
    }
    for (int64_t i = 0; i < BLOCK; i++)
        work->ones[i] = 1.0;
    work->pointers[0] = work->ones;
    work->room = (shelf){work->pointers, work->ones + STRIDE, work->ones + (most + 1) * STRIDE};
    work->steps = work->pointers + most + 1;
    return 1;
}

/* Weights and u of a block; on the way back they are only made again. */
static void visit_forward(workspace *work, bundle *this, const double *matrix, int64_t b, int64_t at,
                          double *weight, double *before, double *tally)
{
    const int64_t levels = work->levels, time = b * STEPS;
    double *const from = work->edge + b * levels * WIDTH, *const last = from + levels * WIDTH;
    double *const scale = work->inverse + time * WIDTH, top[BLOCK];
    const double largest = weigh_block(work->single, work->apart, at, b == 0, &work->room, work->extent, weight, top);
    if (tally) {
        tally[2] = largest > tally[2] ? largest : tally[2];
        if (!work->single->ready)
            add_tops(this, time, 0, top, &this->log_scale, tally + 1);
    }
    for (int64_t k = 0; k < levels; k++)
        memcpy(before + k * STRIDE, from + k * WIDTH, WIDTH * sizeof(double));
    if (OWN && work->own)
        run_forward(1, this, levels, time, work->matrices, weight, before, scale, last);
    else
        run_forward(0, this, levels, time, matrix, weight, before, scale, last);
}

/* Moves of a block where steps have their own. */
static void weigh_moves(workspace *work, bundle *this, int64_t b, int64_t at)
{
    double top[BLOCK], highest = 0.0;
    weigh_block(work->pairs, 0, at, 0, &work->room, work->extent, work->matrices, top);
    if (this && !work->pairs->ready)
        add_tops(this, b * STEPS, 1, top, &this->log_scale, &highest);
}

/* Posterior of a block, and what it adds to sums and counts. */
static void visit_backward(workspace *work, bundle *this, const double *turned, int64_t b, int64_t at,
                           double *weight, double *before, double *counts, double *pair_counts,
                           double *probability)
{
    const int64_t levels = work->levels, time = b * STEPS;
    const double *const scale = work->inverse + time * WIDTH, *const last = work->edge + (b + 1) * levels * WIDTH;
    double *const share = work->share, *const matrices = work->matrices;
    if (OWN && work->own)
        run_backward(1, this, levels, time, matrices, weight, before, scale, last, work->carried, share);
    else
        run_backward(0, this, levels, time, turned, weight, before, scale, last, work->carried, share);
    for (int64_t i = 0; probability && i < BLOCK; i++)
        for (int64_t k = 0; k < levels; k++)
            probability[(at + i) * levels + k] = share[k * STRIDE + i];
    if (OWN && work->own) {
        for (int64_t k = 0; k < levels * levels; k++)
            for (int64_t i = 0; i < BLOCK; i++)
                matrices[k * STRIDE + i] *= before[k / levels * STRIDE + i] * weight[k % levels * STRIDE + i];
        add_block(work->pairs, 0, at, 0, &work->room, matrices, work->held_pairs, pair_counts);
    } else {
        for (int64_t k = 0; k < work->rows; k++)
            work->steps[k] = weight + k * STRIDE;
        add_up(work->steps, work->rows, before, levels, work->held_moves);
    }
    add_block(work->single, work->apart, at, b == 0, &work->room, share, work->held, counts);
}

/* Lanes of sums put together. */
static void fold(const double *held, int64_t count, double *sums)
{
    for (int64_t k = 0; k < count; k++) {
        sums[k] = 0.0;
        for (int64_t lane = 0; lane < LANES; lane++)
            sums[k] += held[k * LANES + lane];
    }
}
"""

FUNCTION = """
 * single: weights of the values of a step; pairs: those of neighbouring values, where they change from step to step
 * matrix: weights of neighbouring values where they do not, and the same turned
 * block: the first block of each bundle, and one past the last; length: of each lane of each bundle
 * sums, counts: at first steps, then at later ones; moves: sums of neighbours before `matrix` multiplies them
 * tally: log of the weight of all chains, largest log weight of a step, largest size of terms (when apart), smallest
 *        scale, largest factor of the backward recursion; all logs are to base 2
 * Returns 0, or 2 when memory is short. */
int PASS(const weighing *single, const weighing *pairs, const double *matrix, const int64_t *block,
    const int64_t *length, int64_t apart, int64_t most, int64_t start, int64_t stop, double *sums, double *counts,
    double *pair_sums, double *pair_counts, double *moves, double *tally, double *probability)
{
    const int64_t levels = single->levels, rows = levels < 3 ? 3 : levels, size = rows * STRIDE;
    workspace work = {
        .single = single, .pairs = pairs, .levels = levels, .rows = rows, .own = pairs != 0, .apart = apart};
    for (int64_t n = start; n < stop; n++)
        work.blocks = block[n + 1] - block[n] > work.blocks ? block[n + 1] - block[n] : work.blocks;
    work.kept = work.blocks * size <= most;
    if (!claim(&work))
        return 2;
    tally[0] = tally[2] = tally[4] = 0.0;
    tally[1] = -INFINITY;
    tally[3] = 1.0;
    for (int64_t n = start; n < stop; n++) {
        const int64_t *const lengths = length + n * WIDTH;
        const int64_t blocks = block[n + 1] - block[n];
        bundle this = {lengths, lengths[WIDTH - 1], 0.0, 1.0, 0.0};
        for (int64_t i = 0; i < WIDTH; i++)
            work.inverse[i] = 1.0;
        memset(work.carried, 0, (size_t)(levels * WIDTH) * sizeof(double));
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t at = (block[n] + b) * BLOCK, place = work.kept ? b * size : 0;
            if (OWN && work.own)
                weigh_moves(&work, &this, b, at);
            visit_forward(&work, &this, matrix, b, at, work.weight + place, work.before + place, tally);
        }
        for (int64_t b = blocks - 1; b >= 0; b--) {
            const int64_t at = (block[n] + b) * BLOCK, place = work.kept ? b * size : 0;
            double *const weight = work.weight + place, *const before = work.before + place;
            bundle again = this;
            if (OWN && work.own && b < blocks - 1)
                weigh_moves(&work, 0, b, at);
            if (!work.kept && b < blocks - 1)
                visit_forward(&work, &again, matrix, b, at, weight, before, 0);
            visit_backward(&work, &this, matrix + levels * levels, b, at, weight, before, counts, pair_counts,
                           probability);
        }
        tally[0] += this.log_scale;
        tally[3] = this.least < tally[3] ? this.least : tally[3];
        tally[4] = this.peak <= tally[4] ? tally[4] : this.peak;
    }
    fold(work.held, 2 * levels * single->functions, sums);
    fold(work.held_moves, levels * rows, moves);
    if (work.own)
        fold(work.held_pairs, 2 * levels * levels * pairs->functions, pair_sums);
    free(work.all), free(work.pointers);
    return 0;
}
"""
