"""What every emitted collapsed sampler carries: its random numbers, and the draw of a level from running sums.

Weights are added up lane by lane, `running[block][lane]` being the sum of one lane so far, so that no sum goes across a
vector. A level is found in two steps: its lane by the sums of whole lanes, then its block inside the lane.
"""

from __future__ import annotations

WIDE = 8
"""Levels worked on at a time."""

SUPPORT = """
/* Levels are worked on so many at a time; rows of tables are padded to a multiple of it. */
#define WIDE 8

typedef double lanes __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t places __attribute__((vector_size(64), aligned(8), may_alias));
typedef int32_t counts __attribute__((vector_size(32), aligned(4), may_alias));

#define VALUES(address) (*(const lanes *)(address))
#define COUNTS(address) __builtin_convertvector(*(const counts *)(address), lanes)

/* xoshiro256++ (Blackman and Vigna); the upper 53 bits make a number in [0, 1). */
static inline uint64_t rotated(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

static inline double uniform(uint64_t *state)
{
    const uint64_t result = rotated(state[0] + state[3], 23) + state[0];
    const uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotated(state[3], 45);
    return (double)(result >> 11) * 0x1p-53;
}

/* A level in proportion to its weight, or -1 when the weights have no positive finite sum. */
static inline int64_t drawn_level(const double *running, int64_t blocks, uint64_t *state)
{
    const double *last = running + (blocks - 1) * WIDE;
    const double end_0 = last[0], end_1 = last[0] + last[1];
    const double end_2 = end_1 + last[2], end_3 = end_1 + (last[2] + last[3]);
    const double end_4 = end_3 + last[4], end_5 = end_3 + (last[4] + last[5]);
    const double end_6 = end_5 + last[6], end_7 = end_5 + (last[6] + last[7]);
    if (!(end_7 > 0.0 && end_7 < INFINITY))
        return -1;
    const double starts[WIDE] = {0.0, end_0, end_1, end_2, end_3, end_4, end_5, end_6};
    const double wanted = uniform(state) * end_7;
    int64_t lane = (end_0 <= wanted) + (end_1 <= wanted) + (end_2 <= wanted) + (end_3 <= wanted) + (end_4 <= wanted)
        + (end_5 <= wanted) + (end_6 <= wanted);
    /* Rounding may point past the last weight there is: lanes and blocks that add nothing are stepped back over. */
    while (last[lane] <= 0.0)
        lane--;
    const double left = wanted - starts[lane];
    int64_t block = 0;
    for (int64_t k = 0; k < blocks; k++)
        block += running[k * WIDE + lane] <= left;
    if (block == blocks)
        for (block = 0; running[block * WIDE + lane] < last[lane]; block++)
            ;
    return block * WIDE + lane;
}

/* Running sums of weights, lane by lane. */
static inline void add_up(const double *weight, int64_t blocks, double *running)
{
    lanes sum = {0};
    for (int64_t at = 0; at < blocks * WIDE; at += WIDE) {
        sum += VALUES(weight + at);
        *(lanes *)(running + at) = sum;
    }
}
"""

LOG_DETERMINANT = """
/* The log determinant of a positive definite matrix, which is overwritten by its root; NaN when it is not one. */
static double log_determinant(double *matrix, int64_t size)
{
    double found = 0.0;
    for (int64_t j = 0; j < size; j++) {
        double pivot = matrix[j * size + j];
        for (int64_t k = 0; k < j; k++)
            pivot -= matrix[j * size + k] * matrix[j * size + k];
        if (!(pivot > 0.0))
            return NAN;
        found += log(pivot);
        const double root = sqrt(pivot);
        matrix[j * size + j] = root;
        for (int64_t i = j + 1; i < size; i++) {
            double entry = matrix[i * size + j];
            for (int64_t k = 0; k < j; k++)
                entry -= matrix[i * size + k] * matrix[j * size + k];
            matrix[i * size + j] = entry / root;
        }
    }
    return found;
}
"""
