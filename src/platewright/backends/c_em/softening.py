"""The C by which log weights of rows become shares, and shares sums: what passes over rows have and chains have not.

    soften        weights relative to the largest of each row, one over their sums, and the sum of its logs
    add_shares    weight[k][i] *= share[i],     sum[k][p] += sum_i weight[k][i] basis[p][i]

The first function is 1: its sums take additions alone, and while they are made the weights are divided.
"""

from __future__ import annotations

SOFTENING = """
/* What a range of rows adds up beside its sums, lane by lane. */
typedef struct {
    lanes logs, many, high;
} tally_lanes;

/* The logs of sums of weights are taken of products of them: such a sum lies between 1 and the number of levels. */
static void take_logs(tally_lanes *tally)
{
    for (int64_t lane = 0; lane < LANES; lane++)
        tally->logs[lane] += log2(tally->many[lane]);
    tally->many = 1.0 - (lanes){0.0};
}

/* Log weights to base 2 become weights; leaves what they are to be multiplied by, adds the log of their sums, and keeps
 * the largest log weight. Rows past the end get no share. The next block is fetched. */
static void soften(double *restrict weight, int64_t levels, int64_t count, double *restrict share, tally_lanes *tally,
                   const double *next, int64_t columns)
{
    const int64_t lines = lines_for(columns, levels);
    for (int64_t i = 0; i < BLOCK; i += WIDE * LANES, next += 8 * lines * levels) {
        lanes top[WIDE], high[WIDE], sum[WIDE], whole[WIDE];
        relate(weight + i, levels, top, sum, next, lines);
        ABREAST whole[v] = 1.0 / sum[v];
        ABREAST high[v] = top[v];
        if (i + WIDE * LANES > count)
            for (int64_t v = 0; v < WIDE; v++)
                for (int64_t lane = 0; lane < LANES; lane++)
                    if (i + v * LANES + lane >= count) {
                        whole[v][lane] = top[v][lane] = 0.0;
                        high[v][lane] = -INFINITY;
                        sum[v][lane] = 1.0;
                    }
        ABREAST AT(share + i + v * LANES) = whole[v];
        ABREAST tally->logs += top[v];
        ABREAST tally->many *= sum[v];
        ABREAST tally->high = larger(high[v], tally->high);
        if (i / LANES % 16 == 16 - WIDE) {
            int is_large = 0;
            for (int64_t lane = 0; lane < LANES; lane++)
                is_large |= tally->many[lane] > 1e100;
            if (is_large)
                take_logs(tally);
        }
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
