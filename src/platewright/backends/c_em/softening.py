"""The C by which log weights of rows become shares, and shares sums: what passes over rows have and chains have not.

    soften        weights relative to the largest of each row, one over their sums, the sum of logs and the largest
    add_shares    weight[k][i] *= share[i],     sum[k][p] += sum_i weight[k][i] basis[p][i]

The first function is 1: its sums take additions alone, and while they are made the weights are divided.
"""

from __future__ import annotations

SOFTENING = """
/* What a range of rows adds up beside its sums, lane by lane; and of the row of the largest log density the largest log
 * weight, the sum of weights relative to it, and the log density itself. */
typedef struct {
    lanes logs, many;
    double top, sum, high;
} tally_lanes;

/* The logs of sums of weights are taken of products of them: such a sum lies between 1 and the number of levels. */
static void take_logs(tally_lanes *tally)
{
    for (int64_t lane = 0; lane < LANES; lane++)
        LANE(tally->logs, lane) += log2(LANE(tally->many, lane));
    tally->many = 1.0 - (lanes){0.0};
}

/* The largest log density, with some rows more of which one may exceed it: `steepness` is that of the tangent of the
 * logarithm where the largest so far has its sum, and no logarithm lies above its tangent. */
static void raise_high(tally_lanes *tally, const double *top, const double *sum, int64_t count, double steepness)
{
    const double first_top = tally->top, first_sum = tally->sum;
    for (int64_t i = 0; i < count; i++)
        if (top[i] - first_top + (sum[i] - first_sum) * steepness > 0.0 && top[i] + log2(sum[i]) > tally->high) {
            tally->top = top[i];
            tally->sum = sum[i];
            tally->high = top[i] + log2(sum[i]);
        }
}

/* Log weights to base 2 become weights; leaves what they are to be multiplied by, adds the log of their sums, and keeps
 * the largest log density of a row. Rows past the end get no share. The next block is fetched. */
static void soften(double *restrict weight, int64_t levels, int64_t count, double *share, tally_lanes *tally,
                   const double *next, int64_t columns)
{
    const int64_t lines = lines_for(columns, levels);
    const double top_so_far = tally->top, sum_so_far = tally->sum, steepness = 1.4426950408889634 / sum_so_far;
    double *const tops = share + STRIDE, *const sums = tops + STRIDE; /* there is room for three columns */
    lanes excess = {0.0};
    for (int64_t i = 0; i < BLOCK; i += WIDE * LANES, next += 8 * lines * levels) {
        lanes top[WIDE], sum[WIDE], whole[WIDE];
        relate(weight + i, levels, top, sum, next, lines);
        ABREAST whole[v] = 1.0 / sum[v];
        if (i + WIDE * LANES > count)
            for (int64_t v = 0; v < WIDE; v++)
                for (int64_t lane = 0; lane < LANES; lane++)
                    if (i + v * LANES + lane >= count) {
                        LANE(whole[v], lane) = LANE(top[v], lane) = 0.0;
                        LANE(sum[v], lane) = 1.0;
                    }
        ABREAST AT(share + i + v * LANES) = whole[v];
        ABREAST tally->logs += top[v];
        ABREAST tally->many *= sum[v];
        ABREAST AT(tops + i + v * LANES) = top[v];
        ABREAST AT(sums + i + v * LANES) = sum[v];
        ABREAST excess = larger(top[v] - top_so_far + (sum[v] - sum_so_far) * steepness, excess);
        if (i / LANES % 16 == 16 - WIDE) {
            int is_large = 0;
            for (int64_t lane = 0; lane < LANES; lane++)
                is_large |= LANE(tally->many, lane) > 1e100;
            if (is_large)
                take_logs(tally);
        }
    }
    for (int64_t lane = 0; lane < LANES; lane++)
        if (LANE(excess, lane) > 0.0) {
            raise_high(tally, tops, sums, count, steepness);
            return;
        }
}

/* There are three functions, or at least six: the caller fills up with ones. */
static void add_shares(const double *const *basis, int64_t functions, double *weight, const double *share,
                       int64_t levels, double *sums)
{
    for (int64_t k = 0, some; k < levels; k += some) {
        some = part(levels, k);
        double *const chosen = weight + k * STRIDE, *const target = sums + k * functions * LANES;
#define ADD_FIRST(n) add_some(n, 3, 1, basis, chosen, share, target, functions)
        EACH_TILE(ADD_FIRST)
        for (int64_t p = 3, wide; p < functions; p += wide) {
            wide = part(functions, p);
            add_tile(some, wide, basis + p, chosen, target + p * LANES, functions);
        }
    }
}
"""
