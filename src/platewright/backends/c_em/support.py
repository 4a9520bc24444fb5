"""The C that every fused pass of EM shares: a block of rows in cache, functions of the rows as short arrays.

    weigh     weight[k][i] = sum_p coefficient[p][k] basis[p][i]        levels x rows at a time in registers
    soften    probabilities by log-sum-exp, and the sum of its logs
    add_up    sum[k][p] += sum_i probability[k][i] basis[p][i]          levels x functions at a time in registers

At most five levels and five functions at a time: their sums and operands fill the 32 registers of AVX-512. Lanes of a
register hold different rows; sums keep their lanes apart until the end of the range.
"""

from __future__ import annotations

from platewright.backends.c.vectors import VECTORS
from platewright.backends.c_em.exponential import EXPONENTIAL

SUPPORT = (
    VECTORS
    + """
#if LANES == 1
#error "vector types are needed"
#elif LANES == 8
#define WIDE 4
#else
#define WIDE 2
#endif
"""
    + EXPONENTIAL
    + """
/* Columns of a block less their centre. */
static void fill(double *restrict target, const double *restrict tile, int64_t columns, const double *restrict centre)
{
    for (int64_t d = 0; d < columns; d++)
        for (int64_t i = 0; i < BLOCK; i += LANES)
            AT(target + d * STRIDE + i) = AT(tile + d * STRIDE + i) - centre[d];
}

/* Columns are taken where they are; functions that are products of others are made. */
static void place(const double **basis, const double *columns, int64_t count, double *products, int64_t functions,
                  const int32_t *pair)
{
    for (int64_t p = 1; p <= count; p++)
        basis[p] = columns + (p - 1) * STRIDE;
    for (int64_t p = count + 1; p < functions; p++, products += STRIDE) {
        const double *const left = basis[pair[2 * p]], *const right = basis[pair[2 * p + 1]];
        for (int64_t i = 0; i < BLOCK; i += LANES)
            AT(products + i) = AT(left + i) * AT(right + i);
        basis[p] = products;
    }
}

INLINE void weigh_some(const int some, const double *const *basis, int64_t functions, const double *coefficient,
                       int64_t levels, double *weight, const double *next, int64_t chunk)
{
    for (int64_t i = 0; i < BLOCK; i += WIDE * LANES) {
        for (int64_t line = 0; line < chunk; line++, next += 8)
            __builtin_prefetch(next, 0, 2); /* the next block comes while this one is worked on */
        lanes sum[5][WIDE];
#pragma GCC unroll 8
        for (int k = 0; k < some; k++)
#pragma GCC unroll 8
            for (int v = 0; v < WIDE; v++)
                sum[k][v] = coefficient[k] - (lanes){0.0}; /* the first function is 1 */
        for (int64_t p = 1; p < functions; p++) {
            lanes row[WIDE];
#pragma GCC unroll 8
            for (int v = 0; v < WIDE; v++)
                row[v] = AT(basis[p] + i + v * LANES);
#pragma GCC unroll 8
            for (int k = 0; k < some; k++) {
                lanes factor = coefficient[p * levels + k] - (lanes){0.0};
                HOLD(factor); /* in a register: loads are as dear as products */
#pragma GCC unroll 8
                for (int v = 0; v < WIDE; v++)
                    sum[k][v] += factor * row[v];
            }
        }
#pragma GCC unroll 8
        for (int k = 0; k < some; k++)
#pragma GCC unroll 8
            for (int v = 0; v < WIDE; v++)
                AT(weight + k * STRIDE + i + v * LANES) = sum[k][v];
    }
}

INLINE void add_some(const int some, const int wide, const double *const *basis, const double *weight, double *sums,
                     int64_t pitch)
{
    const double *function[5];
    lanes sum[5][5];
#pragma GCC unroll 8
    for (int p = 0; p < wide; p++)
        function[p] = basis[p];
#pragma GCC unroll 8
    for (int k = 0; k < some; k++)
#pragma GCC unroll 8
        for (int p = 0; p < wide; p++)
            sum[k][p] = AT(sums + (k * pitch + p) * LANES);
    for (int64_t i = 0; i < BLOCK; i += LANES) {
        lanes row[5];
#pragma GCC unroll 8
        for (int p = 0; p < wide; p++)
            row[p] = AT(function[p] + i);
#pragma GCC unroll 8
        for (int k = 0; k < some; k++) {
            lanes factor = AT(weight + k * STRIDE + i);
            HOLD(factor);
#pragma GCC unroll 8
            for (int p = 0; p < wide; p++)
                sum[k][p] += factor * row[p];
        }
    }
#pragma GCC unroll 8
    for (int k = 0; k < some; k++)
#pragma GCC unroll 8
        for (int p = 0; p < wide; p++)
            AT(sums + (k * pitch + p) * LANES) = sum[k][p];
}

#define EACH_TILE(DO) switch (some) { case 5: DO(5); break; case 4: DO(4); break; case 3: DO(3); break; \\
                                      case 2: DO(2); break; default: DO(1); }

/* Parts as equal as can be, none above five. */
INLINE int64_t part(int64_t whole, int64_t from)
{
    const int64_t left = whole - from, parts = (left + 4) / 5;
    return (left + parts - 1) / parts;
}

static void weigh(const double *const *basis, int64_t functions, const double *coefficient, int64_t levels,
                  double *weight, const double *next, int64_t columns)
{
    const int64_t chunk = (columns * STRIDE / 8 * WIDE * LANES + BLOCK - 1) / BLOCK;
    for (int64_t k = 0, some; k < levels; k += some) {
        some = part(levels, k);
#define WEIGH(n) weigh_some(n, basis, functions, coefficient + k, levels, weight + k * STRIDE, next, k ? 0 : chunk)
        EACH_TILE(WEIGH)
    }
}

/* There are at least three functions: the caller fills up with zeros. */
static void add_up(const double *const *basis, int64_t functions, const double *weight, int64_t levels, double *sums)
{
    for (int64_t k = 0, some; k < levels; k += some) {
        some = part(levels, k);
        const double *const chosen = weight + k * STRIDE;
        double *const target = sums + k * functions * LANES;
        for (int64_t p = 0, wide; p < functions; p += wide) {
            wide = part(functions, p);
#define ADD_FIVE(n) add_some(n, 5, basis + p, chosen, target + p * LANES, functions)
#define ADD_FOUR(n) add_some(n, 4, basis + p, chosen, target + p * LANES, functions)
#define ADD_THREE(n) add_some(n, 3, basis + p, chosen, target + p * LANES, functions)
            if (wide == 5)
                EACH_TILE(ADD_FIVE)
            else if (wide == 4)
                EACH_TILE(ADD_FOUR)
            else
                EACH_TILE(ADD_THREE)
        }
    }
}

/* The largest log weight of each row of a block. */
static void find_tops(const double *weight, int64_t levels, double *top)
{
    for (int64_t i = 0; i < BLOCK; i += LANES) {
        lanes high = AT(weight + i);
        for (int64_t k = 1; k < levels; k++)
            high = larger(AT(weight + k * STRIDE + i), high);
        AT(top + i) = high;
    }
}

/* The sizes of the terms of log weights: rounding moves a weight by so many units. */
static void weigh_sizes(const double *const *basis, int64_t functions, const double *coefficient,
                        double *restrict size)
{
    for (int64_t i = 0; i < BLOCK; i++)
        size[i] = 0.0;
    for (int64_t p = 0; p < functions; p++)
        for (int64_t i = 0; i < BLOCK; i++)
            size[i] += p || coefficient[p] > -INFINITY ? fabs(coefficient[p] * basis[p][i]) : 0.0;
}

/* The largest size that matters: of a level that is not ruled out, and far beyond its log weight. */
static double largest_size(const double *weight, const double *size, int64_t levels, int64_t count)
{
    double largest = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double top = -INFINITY;
        for (int64_t k = 0; k < levels; k++)
            top = weight[k * STRIDE + i] > top ? weight[k * STRIDE + i] : top;
        for (int64_t k = 0; k < levels; k++) {
            const double w = weight[k * STRIDE + i], beyond = size[k * STRIDE + i] - 64.0 * fabs(w);
            largest = w > top - 58.0 && beyond > largest ? beyond : largest;
        }
    }
    return largest;
}
"""
)

SOFTENING = """
/* What a range of rows adds up beside its sums, lane by lane. */
typedef struct {
    lanes logs, many;
    double high[16];
} tally_lanes;

/* The logs of sums of weights are taken of products of them: such a sum lies between 1 and the number of levels. */
static void take_logs(tally_lanes *tally)
{
    for (int64_t lane = 0; lane < LANES; lane++)
        tally->logs[lane] += log2(tally->many[lane]);
    tally->many = 1.0 - (lanes){0.0};
}

/* Log weights to base 2 become probabilities; adds the log of their sums, and keeps the largest log weight. Rows past
 * the end get no weight. */
static void soften(double *restrict weight, int64_t levels, int64_t count, tally_lanes *tally)
{
    double top[BLOCK];
    find_tops(weight, levels, top);
    for (int64_t i = 0; i < BLOCK; i += LANES) {
        lanes middle = AT(top + i), sum = {0.0};
        for (int64_t k = 0; k < levels; k++)
            sum += AT(weight + k * STRIDE + i) = small_power(AT(weight + k * STRIDE + i) - middle);
        lanes share = 1.0 / sum;
        if (i + LANES > count)
            for (int64_t lane = 0; lane < LANES; lane++)
                if (i + lane >= count) {
                    share[lane] = middle[lane] = 0.0;
                    sum[lane] = 1.0;
                }
        for (int64_t k = 0; k < levels; k++)
            AT(weight + k * STRIDE + i) *= share;
        tally->logs += middle;
        tally->many *= sum;
        if (i / LANES % 16 == 15) {
            int is_large = 0;
            for (int64_t lane = 0; lane < LANES; lane++)
                is_large |= tally->many[lane] > 1e100;
            if (is_large)
                take_logs(tally);
        }
    }
    for (int64_t i = count; i < BLOCK; i++)
        top[i] = top[0];
    for (int64_t i = 0; i < BLOCK; i += 16)
        for (int64_t j = 0; j < 16; j++)
            tally->high[j] = top[i + j] > tally->high[j] ? top[i + j] : tally->high[j];
}
"""
"""Wanted by passes over rows; chains have recursions of their own."""
