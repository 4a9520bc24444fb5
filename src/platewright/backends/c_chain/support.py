"""The C that every pass over hidden chains shares: sequences side by side in lanes, a block of steps in cache.

    forward     u_t[j] = (sum_i u_{t-1}[i] A[i][j]) b_t[j] / c_{t-1},      c_t = sum_j u_t[j]
    backward    v_{t-1}[i] = sum_j A[i][j] g_t[j],                          g_t[j] = b_t[j] v_t[j] / c_{t-1}
    posterior   p(z_t = k) = u_t[k] v_t[k],      p(z_{t-1} = i, z_t = j) = u_{t-1}[i] A[i][j] g_t[j]

Each step is scaled by the sum of the one before it, so no division is waited for; b_t is taken relative to its largest
level. There are no logs in the recursions: the log of the product of all c is that of mantissas, and exponents.
"""

from __future__ import annotations

RECURSIONS = """
/* -- recursions --------------------------------------------------------------------------------------------------- */

/* sum[b] = sum_a from[a] M[a][b] for some levels b from `first` on; with `own` each row has a matrix of its own, and
 * `turned` takes M[b][a]. */
INLINE void carry(const int some, const int own, const int turned, int64_t levels, int64_t first, const double *from,
                  int64_t pitch, const double *matrix, group sum[5][GROUPS])
{
#pragma GCC unroll 8
    for (int b = 0; b < some; b++)
#pragma GCC unroll 8
        for (int v = 0; v < GROUPS; v++)
            sum[b][v] = (group){0.0};
    for (int64_t a = 0; a < levels; a++) {
        group row[GROUPS];
#pragma GCC unroll 8
        for (int v = 0; v < GROUPS; v++)
            row[v] = OF(from + a * pitch + v * GROUP);
#pragma GCC unroll 8
        for (int b = 0; b < some; b++) {
            const int64_t place = turned ? (first + b) * levels + a : a * levels + first + b;
#pragma GCC unroll 8
            for (int v = 0; v < GROUPS; v++)
                sum[b][v] += own ? OF(matrix + place * STRIDE + v * GROUP) * row[v] : matrix[place] * row[v];
        }
    }
}

/* Lanes whose sequence has ended keep a scale that leaves nothing of them. */
INLINE void end_lanes(const bundle *this, int64_t time, int64_t v, group *scale, group *inverse)
{
    for (int64_t lane = 0; lane < GROUP; lane++)
        if (time >= this->length[v * GROUP + lane]) {
            LANE(*scale, lane) = 1.0;
            LANE(*inverse, lane) = 0.0;
        }
}

/* One step: from u of the step before to u now, and its sum. */
INLINE void step_forward(const int own, int64_t levels, const double *matrix, const double *from, const double *weight,
                         const double *before, double *to, int64_t pitch, group whole[GROUPS])
{
    for (int64_t k = 0, some; k < levels; k += some) {
        some = part(levels, k);
        group sum[5][GROUPS];
#define CARRY(n) carry(n, own, 0, levels, k, from, STRIDE, matrix, sum)
        EACH_TILE(CARRY)
#undef CARRY
        for (int64_t b = 0; b < some; b++)
#pragma GCC unroll 8
            for (int v = 0; v < GROUPS; v++) {
                const group now = sum[b][v] * (OF(weight + (k + b) * STRIDE + v * GROUP) * OF(before + v * GROUP));
                OF(to + (k + b) * pitch + v * GROUP) = now;
                whole[v] += now;
            }
    }
}

/* Steps of a block: u of the step before each, 1/c of each (the one before the block stands first), u of the last. */
INLINE void run_forward(const int own, bundle *this, int64_t levels, int64_t time, const double *matrix,
                        const double *weight, double *before, double *inverse, double *last)
{
    group many[GROUPS];
    whole_group shift[GROUPS];
    group least = OF(inverse) * 0.0 + 1.0;
    for (int v = 0; v < GROUPS; v++) {
        many[v] = (group){0.0} + 1.0;
        shift[v] = (whole_group){0};
    }
    for (int64_t s = 0; s < STEPS; s++, time++) {
        const double *const now = weight + s * WIDTH, *const from = before + s * WIDTH;
        double *const to = s + 1 < STEPS ? before + (s + 1) * WIDTH : last;
        const int64_t pitch = s + 1 < STEPS ? STRIDE : WIDTH;
        group whole[GROUPS];
        for (int v = 0; v < GROUPS; v++)
            whole[v] = (group){0.0};
        if (time > 0)
            step_forward(own, levels, own ? matrix + s * WIDTH : matrix, from, now, inverse + s * WIDTH, to, pitch,
                         whole);
        else
            for (int64_t k = 0; k < levels; k++)
                for (int v = 0; v < GROUPS; v++)
                    whole[v] += OF(to + k * pitch + v * GROUP) = OF(now + k * STRIDE + v * GROUP);
        for (int v = 0; v < GROUPS; v++) {
            group scale = whole[v], inverted = 1.0 / whole[v];
            if (time >= this->shortest)
                end_lanes(this, time, v, &scale, &inverted);
            OF(inverse + (s + 1) * WIDTH + v * GROUP) = inverted;
            const whole_group less = scale < least, bits = WHOLE_OF(scale);
            least = TAKEN(less, scale, least);
            shift[v] += (bits >> 52) - 1023;
            many[v] *= GROUP_OF((bits & 0xfffffffffffff) | 0x3ff0000000000000);
        }
    }
    for (int v = 0; v < GROUPS; v++)
        for (int64_t lane = 0; lane < GROUP; lane++) {
            this->log_scale += log2(LANE(many[v], lane)) + (double)LANE(shift[v], lane);
            this->least = LANE(least, lane) < this->least ? LANE(least, lane) : this->least;
        }
}

/* Steps of a block from its last to its first: `weight` becomes g, `share` the posterior, v is carried on. */
INLINE void run_backward(const int own, bundle *this, int64_t levels, int64_t time, const double *matrix,
                         double *weight, const double *before, const double *inverse, const double *last,
                         double *carried, double *share)
{
    group peak = (group){0.0};
    for (int64_t s = STEPS - 1; s >= 0; s--) {
        const double *const now = s + 1 < STEPS ? before + (s + 1) * WIDTH : last;
        const int64_t pitch = s + 1 < STEPS ? STRIDE : WIDTH, begins = time + s == 0;
        double *const here = weight + s * WIDTH;
        if (time + s + 1 >= this->shortest)
            for (int64_t lane = 0; lane < WIDTH; lane++)
                if (time + s + 1 == this->length[lane])
                    for (int64_t k = 0; k < levels; k++)
                        carried[k * WIDTH + lane] = inverse[(s + 1) * WIDTH + lane];
        for (int64_t k = 0; k < levels; k++)
#pragma GCC unroll 8
            for (int v = 0; v < GROUPS; v++) {
                const group u = OF(now + k * pitch + v * GROUP), beyond = OF(carried + k * WIDTH + v * GROUP);
                const group scaled = OF(here + k * STRIDE + v * GROUP) * OF(inverse + s * WIDTH + v * GROUP);
                const whole_group possible = u > 0.0;
                const group g = TAKEN(possible, scaled * beyond, (group){0.0});
                OF(share + k * STRIDE + s * WIDTH + v * GROUP) = u * beyond;
                OF(here + k * STRIDE + v * GROUP) = begins ? (group){0.0} : g;
                const whole_group more = g > peak;
                peak = TAKEN(more, g, peak);
            }
        if (begins)
            break;
        for (int64_t k = 0, some; k < levels; k += some) {
            some = part(levels, k);
            group sum[5][GROUPS];
#define CARRY(n) carry(n, own, own, levels, k, here, STRIDE, own ? matrix + s * WIDTH : matrix, sum)
            EACH_TILE(CARRY)
#undef CARRY
            for (int64_t b = 0; b < some; b++)
                for (int v = 0; v < GROUPS; v++)
                    OF(carried + (k + b) * WIDTH + v * GROUP) = sum[b][v];
        }
    }
    for (int64_t lane = 0; lane < GROUP; lane++)
        this->peak = LANE(peak, lane) <= this->peak ? this->peak : LANE(peak, lane);
}
"""
