"""The C that every fused pass of EM shares: a block of rows in cache, functions of the rows as short arrays.

    weigh     weight[k][i] = sum_p coefficient[p][k] basis[p][i]        levels x rows at a time in registers
    soften    probabilities by log-sum-exp, and the sum of its logs
    add_up    sum[k][p] += sum_i probability[k][i] basis[p][i]          levels x functions at a time in registers
    look_up   weight[k][i] += sum_c table[code[i][c]][k]                levels side by side
    count     table[code[i][c]][k] += probability[k][i]

Lanes of a register hold different rows; sums keep their lanes apart until the end of the range.
"""

from __future__ import annotations

TILE = 5
"""Levels that are worked on at once at most: TILE x 5 sums and their operands fill the 32 registers of AVX-512."""

SUPPORT = """
#if !defined(__GNUC__)
#error "vector types are needed"
#endif
#if defined(__AVX512F__)
#define LANES 8
#define WIDE 4
#elif defined(__AVX__)
#define LANES 4
#define WIDE 2
#else
#define LANES 2
#define WIDE 2
#endif
/* From one function, or level, to the next: not a power of two, or all would fall on the same few cache lines. */
#define STRIDE (BLOCK + 8)
typedef double lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#define AT(pointer) (*(lanes *)(pointer))
#define INLINE static inline __attribute__((always_inline))

/* exp of a number from -708 to 0, within 2 units in the last place; in a loop the compiler makes vectors of it. */
INLINE double small_exp(double x)
{
#if defined(__FMA__)
    const double n = rint(x * 1.4426950408889634074);
    const double r = __builtin_fma(n, -1.9082149292705877e-10, __builtin_fma(n, -6.93147180369123816490e-01, x));
    double p = 1.6059043836821613e-10;
    p = __builtin_fma(p, r, 2.08767569878681e-09);
    p = __builtin_fma(p, r, 2.505210838544172e-08);
    p = __builtin_fma(p, r, 2.755731922398589e-07);
    p = __builtin_fma(p, r, 2.7557319223985893e-06);
    p = __builtin_fma(p, r, 2.48015873015873e-05);
    p = __builtin_fma(p, r, 1.984126984126984e-04);
    p = __builtin_fma(p, r, 1.3888888888888889e-03);
    p = __builtin_fma(p, r, 8.333333333333333e-03);
    p = __builtin_fma(p, r, 4.1666666666666664e-02);
    p = __builtin_fma(p, r, 1.6666666666666666e-01);
    p = __builtin_fma(p, r, 0.5);
    p = __builtin_fma(p, r, 1.0);
    p = __builtin_fma(p, r, 1.0);
    /* the low bits of n + 1.5 * 2^52 are those of the integer n */
    union { double value; uint64_t bits; } scale = {.value = n + 6755399441055744.0};
    scale.bits = (scale.bits + 1023) << 52;
    return p * scale.value;
#else
    return exp(x);
#endif
}

/* Columns of a block, which lie side by side in tiles of BLOCK rows, less their centre. */
INLINE void fill(double *restrict basis, const double *restrict tiles, int64_t width, const double *restrict centre,
                 int64_t at)
{
    tiles += at * width;
    for (int64_t d = 0; d < width; d++, tiles += BLOCK)
        for (int64_t i = 0; i < BLOCK; i += LANES) {
            __builtin_prefetch(tiles + width * BLOCK + i); /* the next block comes while this one is worked on */
            AT(basis + d * STRIDE + i) = AT(tiles + i) - centre[d];
        }
}

/* Products of functions that are already there. */
INLINE void multiply(double *restrict basis, const int32_t *pair, int64_t first, int64_t last)
{
    for (int64_t p = first; p < last; p++) {
        const double *const left = basis + pair[2 * p] * STRIDE, *const right = basis + pair[2 * p + 1] * STRIDE;
        double *const target = basis + p * STRIDE;
        for (int64_t i = 0; i < BLOCK; i += LANES)
            AT(target + i) = AT(left + i) * AT(right + i);
    }
}

INLINE void weigh_some(const int some, const double *basis, int64_t functions, const double *coefficient,
                       int64_t levels, double *weight)
{
    for (int64_t i = 0; i < BLOCK; i += WIDE * LANES) {
        lanes sum[5][WIDE];
#pragma GCC unroll 8
        for (int k = 0; k < some; k++)
#pragma GCC unroll 8
            for (int v = 0; v < WIDE; v++)
                sum[k][v] = (lanes){0.0};
        for (int64_t p = 0; p < functions; p++) {
            lanes row[WIDE];
#pragma GCC unroll 8
            for (int v = 0; v < WIDE; v++)
                row[v] = AT(basis + p * STRIDE + i + v * LANES);
#pragma GCC unroll 8
            for (int k = 0; k < some; k++)
#pragma GCC unroll 8
                for (int v = 0; v < WIDE; v++)
                    sum[k][v] += coefficient[p * levels + k] * row[v];
        }
#pragma GCC unroll 8
        for (int k = 0; k < some; k++)
#pragma GCC unroll 8
            for (int v = 0; v < WIDE; v++)
                AT(weight + k * STRIDE + i + v * LANES) = sum[k][v];
    }
}

INLINE void add_some(const int some, const int wide, const double *basis, const double *weight, double *sums,
                     int64_t pitch)
{
    lanes sum[5][5];
#pragma GCC unroll 8
    for (int k = 0; k < some; k++)
#pragma GCC unroll 8
        for (int p = 0; p < wide; p++)
            sum[k][p] = AT(sums + (k * pitch + p) * LANES);
    for (int64_t i = 0; i < BLOCK; i += LANES) {
        lanes row[5];
#pragma GCC unroll 8
        for (int p = 0; p < wide; p++)
            row[p] = AT(basis + p * STRIDE + i);
#pragma GCC unroll 8
        for (int k = 0; k < some; k++)
#pragma GCC unroll 8
            for (int p = 0; p < wide; p++)
                sum[k][p] += AT(weight + k * STRIDE + i) * row[p];
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

static void weigh(const double *basis, int64_t functions, const double *coefficient, int64_t levels, double *weight)
{
    for (int64_t k = 0, some; k < levels; k += some) {
        some = part(levels, k);
#define WEIGH(n) weigh_some(n, basis, functions, coefficient + k, levels, weight + k * STRIDE)
        EACH_TILE(WEIGH)
    }
}

/* There are at least three functions: the caller fills up with zeros. */
static void add_up(const double *basis, int64_t functions, const double *weight, int64_t levels, double *sums)
{
    for (int64_t k = 0, some; k < levels; k += some) {
        some = part(levels, k);
        const double *const chosen = weight + k * STRIDE;
        double *const target = sums + k * functions * LANES;
        for (int64_t p = 0, wide; p < functions; p += wide) {
            wide = part(functions, p);
#define ADD_FIVE(n) add_some(n, 5, basis + p * STRIDE, chosen, target + p * LANES, functions)
#define ADD_FOUR(n) add_some(n, 4, basis + p * STRIDE, chosen, target + p * LANES, functions)
#define ADD_THREE(n) add_some(n, 3, basis + p * STRIDE, chosen, target + p * LANES, functions)
            if (wide == 5)
                EACH_TILE(ADD_FIVE)
            else if (wide == 4)
                EACH_TILE(ADD_FOUR)
            else
                EACH_TILE(ADD_THREE)
        }
    }
}

/* Log weights to probabilities; adds the log of their sums, and keeps the largest log weight. Rows past the end get
 * no weight. The logs of sums are taken of products of them: a sum of weights lies between 1 and their number. */
static void soften(double *restrict weight, int64_t levels, int64_t count, double *tally)
{
    double top[BLOCK], sum[BLOCK];
    for (int64_t i = 0; i < BLOCK; i++)
        top[i] = weight[i];
    for (int64_t k = 1; k < levels; k++)
        for (int64_t i = 0; i < BLOCK; i++)
            top[i] = weight[k * STRIDE + i] > top[i] ? weight[k * STRIDE + i] : top[i];
    for (int64_t i = 0; i < BLOCK; i++)
        sum[i] = 0.0;
    for (int64_t k = 0; k < levels; k++)
        for (int64_t i = 0; i < BLOCK; i++) {
            const double x = weight[k * STRIDE + i] - top[i];
            const double e = small_exp(x < -700.0 ? -700.0 : x);
            weight[k * STRIDE + i] = x < -700.0 ? 0.0 : e;
            sum[i] += weight[k * STRIDE + i];
        }
    for (int64_t i = count; i < BLOCK; i++) {
        sum[i] = 1.0;
        top[i] = top[0]; /* a row that is there */
    }
    double total = 0.0, many[16], high[16];
    for (int64_t j = 0; j < 16; j++) {
        many[j] = 1.0;
        high[j] = -INFINITY;
    }
    for (int64_t i = 0; i < BLOCK; i += 16)
        for (int64_t j = 0; j < 16; j++) {
            many[j] *= sum[i + j];
            high[j] = top[i + j] > high[j] ? top[i + j] : high[j];
        }
    for (int64_t i = 0; i < count; i++)
        total += top[i];
    for (int64_t j = 0; j < 16; j++) {
        total += log(many[j]);
        tally[1] = high[j] > tally[1] ? high[j] : tally[1];
    }
    tally[0] += total;
    for (int64_t i = 0; i < BLOCK; i++)
        sum[i] = i < count ? 1.0 / sum[i] : 0.0;
    for (int64_t k = 0; k < levels; k++)
        for (int64_t i = 0; i < BLOCK; i++)
            weight[k * STRIDE + i] *= sum[i];
}

/* The sizes of the terms of log weights: rounding moves a weight by so many units. */
static void weigh_sizes(const double *restrict basis, int64_t functions, const double *coefficient,
                        double *restrict size)
{
    for (int64_t i = 0; i < BLOCK; i++)
        size[i] = 0.0;
    for (int64_t p = 0; p < functions; p++)
        for (int64_t i = 0; i < BLOCK; i++)
            size[i] += p || coefficient[p] > -INFINITY ? fabs(coefficient[p] * basis[p * STRIDE + i]) : 0.0;
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
            largest = w > top - 40.0 && beyond > largest ? beyond : largest;
        }
    }
    return largest;
}

/* Sums of table rows at the codes of each row of data, levels side by side. */
INLINE void look_up_wide(const int64_t pitch, const int32_t *code, int64_t columns, const double *table, int64_t levels,
                         int64_t count, double *weight)
{
    for (int64_t i = 0; i < count; i++, code += columns) {
        double sum[pitch];
        for (int64_t k = 0; k < pitch; k++)
            sum[k] = table[code[0] * pitch + k];
        for (int64_t c = 1; c < columns; c++)
            for (int64_t k = 0; k < pitch; k++)
                sum[k] += table[code[c] * pitch + k];
        for (int64_t k = 0; k < levels; k++)
            weight[k * STRIDE + i] += sum[k];
    }
}

INLINE void count_wide(const int64_t pitch, const int32_t *code, int64_t columns, double *restrict table,
                       int64_t levels, int64_t count, const double *restrict weight)
{
    double side[pitch];
    for (int64_t k = 0; k < pitch; k++)
        side[k] = 0.0;
    for (int64_t i = 0; i < count; i++, code += columns) {
        for (int64_t k = 0; k < levels; k++)
            side[k] = weight[k * STRIDE + i];
        for (int64_t c = 0; c < columns; c++)
            for (int64_t k = 0; k < pitch; k++)
                table[code[c] * pitch + k] += side[k];
    }
}

#define EACH_PITCH(DO) switch (pitch) { case 4: DO(4); break; case 8: DO(8); break; case 12: DO(12); break; \\
                                        case 16: DO(16); break; default: DO(pitch); }
static void look_up(int64_t pitch, const int32_t *code, int64_t columns, const double *table, int64_t levels,
                    int64_t count, double *weight)
{
#define LOOK_UP(n) look_up_wide(n, code, columns, table, levels, count, weight)
    EACH_PITCH(LOOK_UP)
}

static void count_codes(int64_t pitch, const int32_t *code, int64_t columns, double *table, int64_t levels,
                        int64_t count, const double *weight)
{
#define COUNT(n) count_wide(n, code, columns, table, levels, count, weight)
    EACH_PITCH(COUNT)
}
"""
