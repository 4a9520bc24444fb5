"""The C that every fused pass of EM shares: a block of rows in cache, functions of the rows as short arrays.

    weigh       weight[k][i] = sum_p coefficient[p][k] basis[p][i]      levels x rows at a time in registers
    relate      weights relative to the largest of each row
    add_tile    sum[k][p] += sum_i weight[k][i] basis[p][i]             levels x functions at a time in registers

At most five levels and five functions at a time: their sums and operands fill the 32 registers of AVX-512. Lanes of a
register hold different rows; sums keep their lanes apart until the end of the range. What is only moved in memory is
done beside products that wait for none of it: products of columns are made and kept by the first levels that need them,
and the next block is fetched while powers are taken, which need no memory themselves.
"""

from __future__ import annotations

from platewright.backends.c.vectors import VECTORS
from platewright.backends.c_em.exponential import EXPONENTIAL

SUPPORT = (
    VECTORS
    + """
#if LANES == 1
#define WIDE 1
#define ABREAST for (int v = 0; v < WIDE; v++)
#else
#if LANES == 8
#define WIDE 4
#else
#define WIDE 2
#endif
#define ABREAST _Pragma("GCC unroll 8") for (int v = 0; v < WIDE; v++)
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

/* Columns are taken where they are; functions that are products of others have room of their own. */
static void point(const double **basis, const double *columns, int64_t count, const double *products, int64_t functions)
{
    for (int64_t p = 1; p < functions; p++)
        basis[p] = p <= count ? columns + (p - 1) * STRIDE : products + (p - 1 - count) * STRIDE;
}

/* Makes the functions that are products of others. */
static void multiply(const double *const *basis, int64_t count, double *products, int64_t functions,
                     const int32_t *pair)
{
    for (int64_t p = count + 1; p < functions; p++, products += STRIDE) {
        const double *const left = basis[pair[2 * p]], *const right = basis[pair[2 * p + 1]];
        for (int64_t i = 0; i < BLOCK; i += LANES)
            AT(products + i) = AT(left + i) * AT(right + i);
    }
}

/* Functions from `made` on are products that are yet to be made. */
INLINE void weigh_some(const int some, const double *const *basis, int64_t functions, const double *coefficient,
                       int64_t levels, double *weight, int64_t made, double *products, const int32_t *pair)
{
    for (int64_t i = 0; i < BLOCK; i += WIDE * LANES) {
        lanes sum[5][WIDE];
#pragma GCC unroll 8
        for (int k = 0; k < some; k++)
            ABREAST sum[k][v] = coefficient[k] - (lanes){0.0}; /* the first function is 1 */
        for (int64_t p = 1; p < functions; p++) {
            lanes row[WIDE];
            if (p < made)
                ABREAST row[v] = AT(basis[p] + i + v * LANES);
            else {
                const double *const left = basis[pair[2 * p]] + i, *const right = basis[pair[2 * p + 1]] + i;
                double *const target = products + (p - made) * STRIDE + i;
                ABREAST AT(target + v * LANES) = row[v] = AT(left + v * LANES) * AT(right + v * LANES);
            }
#pragma GCC unroll 8
            for (int k = 0; k < some; k++) {
                lanes factor = coefficient[p * levels + k] - (lanes){0.0};
                HOLD(factor); /* in a register: loads are as dear as products */
                ABREAST sum[k][v] += factor * row[v];
            }
        }
#pragma GCC unroll 8
        for (int k = 0; k < some; k++)
            ABREAST AT(weight + k * STRIDE + i + v * LANES) = sum[k][v];
    }
}

/* With `first` the first function is 1, and weights become shares of their rows before they are added. */
INLINE void add_some(const int some, const int wide, const int first, const double *const *basis, double *weight,
                     const double *share, double *sums, int64_t pitch)
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
        for (int p = first; p < wide; p++)
            row[p] = AT(function[p] + i);
#pragma GCC unroll 8
        for (int k = 0; k < some; k++) {
            lanes factor = AT(weight + k * STRIDE + i);
            if (first)
                AT(weight + k * STRIDE + i) = factor *= AT(share + i);
            HOLD(factor);
            if (first)
                sum[k][0] += factor;
#pragma GCC unroll 8
            for (int p = first; p < wide; p++)
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
                  double *weight, int64_t columns, double *products, const int32_t *pair)
{
    for (int64_t k = 0, some; k < levels; k += some) {
        some = part(levels, k);
        const int64_t made = k ? functions : columns + 1;
#define WEIGH(n) \\
    weigh_some(n, basis, functions, coefficient + k, levels, weight + k * STRIDE, made, products, pair)
        EACH_TILE(WEIGH)
    }
}

/* Three functions at least, for `part` leaves no fewer of as many. */
INLINE void add_tile(int64_t some, int64_t wide, const double *const *basis, double *weight, double *sums,
                     int64_t pitch)
{
#define ADD_FIVE(n) add_some(n, 5, 0, basis, weight, 0, sums, pitch)
#define ADD_FOUR(n) add_some(n, 4, 0, basis, weight, 0, sums, pitch)
#define ADD_THREE(n) add_some(n, 3, 0, basis, weight, 0, sums, pitch)
    if (wide == 5)
        EACH_TILE(ADD_FIVE)
    else if (wide == 4)
        EACH_TILE(ADD_FOUR)
    else
        EACH_TILE(ADD_THREE)
}

/* Log weights to base 2 of some rows become weights relative to the largest of each row, which is left in `top`, their
 * sum in `sum`. So many lines of the next block come meanwhile, a few for each level. */
INLINE void relate(double *weight, int64_t levels, lanes top[WIDE], lanes sum[WIDE], const double *next, int64_t lines)
{
    ABREAST top[v] = AT(weight + v * LANES);
    for (int64_t k = 1; k < levels; k++)
        ABREAST top[v] = larger(AT(weight + k * STRIDE + v * LANES), top[v]);
    ABREAST sum[v] = (lanes){0.0};
    for (int64_t k = 0; k < levels; k++) {
        lanes x[WIDE];
        for (int64_t line = 0; line < lines; line++, next += 8)
            FETCH(next);
        ABREAST x[v] = AT(weight + k * STRIDE + v * LANES) - top[v];
        small_powers(x);
        ABREAST sum[v] += AT(weight + k * STRIDE + v * LANES) = x[v];
    }
}

/* How many lines of a block of columns come with each level of each of its parts, when all levels bring it. */
INLINE int64_t lines_for(int64_t columns, int64_t levels)
{
    const int64_t times = levels * (BLOCK / (WIDE * LANES));
    return (columns * STRIDE / 8 + times - 1) / times;
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
