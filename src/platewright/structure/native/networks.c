/* All networks without directed cycles at once: the best, their sum, and the probability of each arc.
 *
 *     sum(S) = - sum over T in S, T not empty, of (-1)^|T| sum(S - T) prod_{j in T} A_j(S - T)
 *     A_j(U) = sum over parents of j within U of exp(score)
 *
 * T are nodes without children, counted by inclusion and exclusion (Robinson 1973; Tian and He 2009), 3^n steps. The
 * signs cancel, so numbers are double-doubles (Dekker 1971); each carries a power of two besides, since scores span
 * thousands of nats. The probability of an arc is a derivative of the log sum, taken by one pass in reverse.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double high, low; } Double2;

static inline Double2 quick(double a, double b) { const double s = a + b; return (Double2){s, b - (s - a)}; }
static inline Double2 plus(Double2 x, Double2 y)
{
    const double s = x.high + y.high, t = s - x.high, e = (x.high - (s - t)) + (y.high - t);
    return quick(s, e + x.low + y.low);
}
static inline Double2 times(Double2 x, Double2 y)
{
    const double p = x.high * y.high;
    return quick(p, fma(x.high, y.high, -p) + (x.high * y.low + x.low * y.high));
}
static inline double power_of_two(int64_t e)
{
    if (e < -1000) return 0.0;
    union { uint64_t bits; double value; } made = {(uint64_t)(e + 1023) << 52};
    return made.value;
}
static inline Double2 shifted(Double2 x, int64_t e)
{
    const double two = power_of_two(e);
    return (Double2){x.high * two, x.low * two};
}
static int64_t squeezed(int64_t set, int64_t node)
{
    const int64_t low = ((int64_t)1 << node) - 1;
    return (set & low) | ((set >> 1) & ~low);
}

#define NOTHING (-(1 << 28))
#define FAR (-600)

/* -- the best network (Silander and Myllymaki, 2006) ------------------------------------------------------------------- */

/* heights[S]: the best score of a network on S. scores is overwritten by the best within each set; `taken` by which. */
int64_t best_networks(int64_t nodes, double *scores, uint32_t *taken, double *heights, int8_t *last)
{
    const int64_t sets = (int64_t)1 << nodes, half = sets / 2;
    for (int64_t j = 0; j < nodes; j++) {
        double *score = scores + j * half;
        uint32_t *which = taken + j * half;
        for (int64_t c = 0; c < half; c++) which[c] = (uint32_t)c;
        for (int64_t bit = 1; bit < half; bit *= 2)
            for (int64_t c = 0; c < half; c++)
                if (c & bit && score[c ^ bit] > score[c]) { score[c] = score[c ^ bit]; which[c] = which[c ^ bit]; }
    }
    heights[0] = 0.0;
    for (int64_t set = 1; set < sets; set++) {
        heights[set] = -INFINITY;
        last[set] = -1;
        for (int64_t j = 0; j < nodes; j++) {
            if (!(set >> j & 1)) continue;
            const int64_t rest = set & ~((int64_t)1 << j);
            const double height = heights[rest] + scores[j * half + squeezed(rest, j)];
            if (height > heights[set]) { heights[set] = height; last[set] = (int8_t)j; }
        }
    }
    return 0;
}

/* -- the sum ------------------------------------------------------------------------------------------------------------ */

typedef struct { Double2 *value; int32_t *power; } Within;

/* For each node and set: the sum over its parents within the set, as a double-double times a power of two. */
static int sums_within(int64_t nodes, const double *scores, Within *all)
{
    const int64_t half = (int64_t)1 << (nodes - 1);
    for (int64_t j = 0; j < nodes; j++) {
        Double2 *value = all[j].value = malloc((size_t)half * sizeof *value);
        int32_t *power = all[j].power = malloc((size_t)half * sizeof *power);
        if (!value || !power) return 1;
        for (int64_t c = 0; c < half; c++)
            power[c] = scores[j * half + c] == -INFINITY ? NOTHING : (int32_t)floor(scores[j * half + c] / M_LN2);
        for (int64_t bit = 1; bit < half; bit *= 2)
            for (int64_t c = 0; c < half; c++)
                if (c & bit && power[c ^ bit] > power[c]) power[c] = power[c ^ bit];
        for (int64_t c = 0; c < half; c++) {
            const double score = scores[j * half + c] / M_LN2, whole = floor(score);
            const int none = scores[j * half + c] == -INFINITY;
            value[c] = (Double2){none ? 0.0 : exp2(score - whole) * power_of_two((int64_t)whole - power[c]), 0.0};
        }
        for (int64_t bit = 1; bit < half; bit *= 2)
            for (int64_t c = 0; c < half; c++)
                if (c & bit) value[c] = plus(value[c], shifted(value[c ^ bit], (int64_t)power[c ^ bit] - power[c]));
    }
    return 0;
}

typedef struct { Double2 *product, *slope; int32_t *power; int64_t *set; } Subsets;

/* Products over the subsets T of the nodes outside U, of -A_j(U), with their powers of two and U joined with T. */
static int64_t products(int64_t nodes, int64_t inside, const Within *all, Subsets *b, int64_t *outside, Double2 *factor)
{
    int64_t count = 0;
    b->product[0] = (Double2){1.0, 0.0};
    b->power[0] = 0;
    b->set[0] = inside;
    for (int64_t j = 0; j < nodes; j++) {
        if (inside >> j & 1) continue;
        const int64_t c = squeezed(inside, j), size = (int64_t)1 << count;
        const Double2 a = {-all[j].value[c].high, -all[j].value[c].low};
        const int32_t power = all[j].power[c];
        for (int64_t t = 0; t < size; t++) {
            b->product[t + size] = times(b->product[t], a);
            b->power[t + size] = b->power[t] + power > NOTHING ? b->power[t] + power : NOTHING;
            b->set[t + size] = b->set[t] | (int64_t)1 << j;
        }
        factor[count] = a;
        outside[count++] = j;
    }
    return count;
}

/* The log of the sum over all networks; with `arcs`, the probability of each: arcs[parent * nodes + child]. */
int64_t sum_networks(int64_t nodes, const double *scores, const double *heights, double *log_sum, double *arcs,
                     const volatile int32_t *stop)
{
    const int64_t sets = (int64_t)1 << nodes;
    Within all[32];
    Double2 factor[32];
    int64_t outside[32], bad;
    memset(all, 0, sizeof all);
    int32_t *power = malloc((size_t)sets * sizeof *power);
    Double2 *sum = calloc((size_t)sets, sizeof *sum), *slope = calloc((size_t)sets, sizeof *slope);
    Double2 *arc = calloc((size_t)(nodes * nodes), sizeof *arc);
    Subsets b = {malloc((size_t)sets * sizeof(Double2)), malloc((size_t)sets * sizeof(Double2)),
                 malloc((size_t)sets * sizeof(int32_t)), malloc((size_t)sets * sizeof(int64_t))};
    bad = !power || !sum || !slope || !arc || !b.product || !b.slope || !b.power || !b.set;
    if (!bad) bad = sums_within(nodes, scores, all);
    if (bad) goto done;
    for (int64_t set = 0; set < sets; set++)
        power[set] = heights[set] == -INFINITY ? NOTHING : (int32_t)floor(heights[set] / M_LN2);
    sum[0] = (Double2){1.0, 0.0};
    for (int64_t inside = 0; inside < sets - 1 && !*stop; inside++) {
        if (power[inside] == NOTHING) continue;
        const int64_t count = (int64_t)1 << products(nodes, inside, all, &b, outside, factor);
        const Double2 minus = {-sum[inside].high, -sum[inside].low};
        for (int64_t t = 1; t < count; t++) {
            const int64_t set = b.set[t], shift = (int64_t)power[inside] + b.power[t] - power[set];
            if (shift < FAR || power[set] == NOTHING) continue;
            sum[set] = plus(sum[set], shifted(times(minus, b.product[t]), shift));
        }
    }
    *log_sum = log(sum[sets - 1].high) + (double)power[sets - 1] * M_LN2;
    if (!arcs) goto done;
    slope[sets - 1] = (Double2){1.0, 0.0};
    for (int64_t inside = sets - 2; inside >= 0 && !*stop; inside--) {
        if (power[inside] == NOTHING) continue;
        const int64_t width = products(nodes, inside, all, &b, outside, factor);
        b.slope[0] = (Double2){0.0, 0.0};
        for (int64_t t = 1; t < (int64_t)1 << width; t++) {
            const int64_t set = b.set[t], shift = (int64_t)power[inside] + b.power[t] - power[set];
            const int far = shift < FAR || power[set] == NOTHING;
            b.slope[t] = far ? (Double2){0.0, 0.0} : shifted((Double2){-slope[set].high, -slope[set].low}, shift);
        }
        for (int64_t k = width - 1; k >= 0; k--) {  /* slopes of the products: the last factor first */
            const int64_t size = (int64_t)1 << k, j = outside[k];
            Double2 by[4] = {{0.0, 0.0}};
            if (size < 4)
                for (int64_t t = 0; t < size; t++) {
                    by[0] = plus(by[0], times(b.slope[t + size], b.product[t]));
                    b.slope[t] = plus(b.slope[t], times(b.slope[t + size], factor[k]));
                }
            else
                for (int64_t t = 0; t < size; t += 4)
                    for (int u = 0; u < 4; u++) {  /* four sums at a time do not wait for each other */
                        by[u] = plus(by[u], times(b.slope[t + u + size], b.product[t + u]));
                        b.slope[t + u] = plus(b.slope[t + u], times(b.slope[t + u + size], factor[k]));
                    }
            by[0] = times(plus(plus(by[0], by[1]), plus(by[2], by[3])), sum[inside]);
            const Double2 whole = all[j].value[squeezed(inside, j)];
            const int32_t at = all[j].power[squeezed(inside, j)];
            for (int64_t i = 0; i < nodes; i++) {
                if (!(inside >> i & 1)) continue;
                const int64_t less = squeezed(inside & ~((int64_t)1 << i), j);
                Double2 without = shifted(all[j].value[less], (int64_t)all[j].power[less] - at);
                without = plus(whole, (Double2){-without.high, -without.low});
                arc[i * nodes + j] = plus(arc[i * nodes + j], times(without, (Double2){-by[0].high, -by[0].low}));
            }
        }
        slope[inside] = b.slope[0];
    }
    for (int64_t k = 0; k < nodes * nodes; k++) arcs[k] = arc[k].high / sum[sets - 1].high;
done:
    for (int64_t j = 0; j < nodes; j++) { free(all[j].value); free(all[j].power); }
    free(power); free(sum); free(slope); free(arc);
    free(b.product); free(b.slope); free(b.power); free(b.set);
    return bad;
}
