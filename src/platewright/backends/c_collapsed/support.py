"""What every emitted collapsed sampler carries: its random numbers, and the draw of a level from running sums.

Weights are added up lane by lane, `running[block][lane]` being the sum of one lane so far, so that no sum goes across a
vector. A level is found in two steps: its lane by the sums of whole lanes, then its block inside the lane.
"""

from __future__ import annotations

from platewright.backends.c_gibbs.random import RANDOM

WIDE = 8
"""Levels worked on at a time."""

VECTORS = """
/* Levels are added up in eight lanes whatever the machine, so that draws are the same everywhere; rows of tables are
 * padded to whole eights. A vector of the machine holds all lanes or a part of them. */
#define WIDE 8
#if defined(PLATEWRIGHT_PLAIN)
#define VECTOR 1
#define FIRST 0
#elif defined(__AVX512F__)
#define VECTOR 8
#define FIRST {0, 1, 2, 3, 4, 5, 6, 7}
#elif defined(__AVX2__)
#define VECTOR 4
#define FIRST {0, 1, 2, 3}
#else
#define VECTOR 2
#define FIRST {0, 1}
#endif
#define PARTS (WIDE / VECTOR)

#if VECTOR == 1
typedef double lanes;
typedef int64_t places;
#define VALUES(address) (*(const double *)(address))
#define COUNTS(address) ((double)*(const int32_t *)(address))
#define CHOSEN(here, value, other) ((here) ? (value) : (other))
#else
typedef double lanes __attribute__((vector_size(8 * VECTOR), aligned(8), may_alias));
typedef int64_t places __attribute__((vector_size(8 * VECTOR), aligned(8), may_alias));
typedef int32_t counts __attribute__((vector_size(4 * VECTOR), aligned(4), may_alias));

#define VALUES(address) (*(const lanes *)(address))
#define COUNTS(address) __builtin_convertvector(*(const counts *)(address), lanes)
#define CHOSEN(here, value, other) ((lanes)(((places)(value) & (here)) | ((places)(other) & ~(here))))
#endif
"""

LEVELS = """
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
    lanes sum[PARTS];
    for (int64_t k = 0; k < PARTS; k++)
        sum[k] = (lanes){0};
    for (int64_t block = 0; block < blocks * WIDE; block += WIDE)
        for (int64_t k = 0; k < PARTS; k++) {
            sum[k] += VALUES(weight + block + k * VECTOR);
            *(lanes *)(running + block + k * VECTOR) = sum[k];
        }
}
"""

SUPPORT = "".join([VECTORS, RANDOM["next_bits"], RANDOM["uniform"], LEVELS])
"""Random numbers are those of the other samplers."""

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
