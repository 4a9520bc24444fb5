'''The C that every pass over hidden chains shares: sequences side by side in lanes, a block of steps in cache.

    forward     u_t[j] = (sum_i u_{t-1}[i] A[i][j]) b_t[j] / c_{t-1},      c_t = sum_j u_t[j]
    backward    v_{t-1}[i] = sum_j A[i][j] g_t[j],                          g_t[j] = b_t[j] v_t[j] / c_{t-1}
    posterior   p(z_t = k) = u_t[k] v_t[k],      p(z_{t-1} = i, z_t = j) = u_{t-1}[i] A[i][j] g_t[j]

Each step is scaled by the sum of the one before it, so no division is waited for; b_t is taken relative to its largest
level. There are no logs in the recursions: the log of the product of all c is that of mantissas, and exponents.
'''

from __future__ import annotations

CHAINS = """
/* Sequences of a bundle go side by side, all of them from their first step; a block is STEPS steps of a bundle. */
#define STEPS (BLOCK / WIDTH)
#if WIDTH < LANES
#define GROUP WIDTH
#else
#define GROUP LANES
#endif
#define GROUPS (WIDTH / GROUP)
typedef double group __attribute__((vector_size(8 * GROUP), aligned(8), may_alias));
typedef int64_t whole_group __attribute__((vector_size(8 * GROUP), aligned(8), may_alias));
#define OF(pointer) (*(group *)(pointer))

/* How functions and codes of the rows enter log weights. There are two of `coefficient`: for first steps, then for
 * later ones; codes of later steps stand for other rows of the table. When `ready`, the table holds no logs but the
 * weights themselves, and nothing else does. */
typedef struct {
    int64_t levels, functions, columns, codes, pitch, ready;
    const double *tiles, *centre, *coefficient, *table;
    const int32_t *code, *pair;
} weighing;

/* A recursion and what it leaves beside the weights: logs of scales, their smallest, the largest of g. */
typedef struct {
    const int64_t *length; /* of each lane */
    int64_t shortest;
    double log_scale, least, peak;
} bundle;

/* -- weights ------------------------------------------------------------------------------------------------------ */

/* The first rows of a block that begins sequences. */
static void weigh_first(const double *basis, int64_t functions, const double *coefficient, int64_t levels, double *weight)
{
    for (int64_t k = 0; k < levels; k++) {
        double sum[WIDTH];
        for (int64_t i = 0; i < WIDTH; i++)
            sum[i] = coefficient[k];
        for (int64_t p = 1; p < functions; p++)
            for (int64_t i = 0; i < WIDTH; i++)
                sum[i] += coefficient[p * levels + k] * basis[p * STRIDE + i];
        for (int64_t i = 0; i < WIDTH; i++)
            weight[k * STRIDE + i] = sum[i];
    }
}

/* Rows of LANES numbers turned into columns: elements whose places differ in one bit change sides, bit by bit. */
#define KEEP(x, bit) ((x) & (bit) ? LANES + (x) - (bit) : (x))
#define GIVE(x, bit) ((x) & (bit) ? LANES + (x) : (x) + (bit))
#if LANES == 8
#define PLACES(F, bit) F(0, bit), F(1, bit), F(2, bit), F(3, bit), F(4, bit), F(5, bit), F(6, bit), F(7, bit)
#elif LANES == 4
#define PLACES(F, bit) F(0, bit), F(1, bit), F(2, bit), F(3, bit)
#else
#define PLACES(F, bit) F(0, bit), F(1, bit)
#endif
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, F, bit) __builtin_shufflevector(a, b, PLACES(F, bit))
#else
#define SHUFFLE(a, b, F, bit) __builtin_shuffle(a, b, (whole_lanes){PLACES(F, bit)})
#endif
#define CHANGE_SIDES(bit) \\
    for (int one = 0; one < LANES; one++) \\
        if (!(one & (bit))) { \\
            const lanes a = row[one], b = row[one | (bit)]; \\
            row[one] = SHUFFLE(a, b, KEEP, bit); \\
            row[one | (bit)] = SHUFFLE(a, b, GIVE, bit); \\
        }
INLINE void turn(lanes row[LANES])
{
#pragma GCC unroll 8
    CHANGE_SIDES(1)
#if LANES >= 4
#pragma GCC unroll 8
    CHANGE_SIDES(2)
#endif
#if LANES >= 8
#pragma GCC unroll 8
    CHANGE_SIDES(4)
#endif
}

/* Sums of table rows at the codes of each row of data; without other functions they are all there is. */
static void look_up_turned(const weighing *w, const int32_t *code, double *weight)
{
    const int64_t codes = w->codes, levels = w->levels, pitch = w->pitch;
    for (int64_t i = 0; i < BLOCK; i += LANES, code += LANES * codes)
        for (int64_t k = 0; k < levels; k += LANES) {
            lanes row[LANES];
#pragma GCC unroll 8
            for (int lane = 0; lane < LANES; lane++)
                row[lane] = AT(w->table + code[lane * codes] * pitch + k);
            for (int64_t c = 1; c < codes; c++)
#pragma GCC unroll 8
                for (int lane = 0; lane < LANES; lane++)
                    row[lane] += AT(w->table + code[lane * codes + c] * pitch + k);
            turn(row);
#pragma GCC unroll 8
            for (int b = 0; b < LANES; b++)
                if (k + b < levels) {
                    double *const target = weight + (k + b) * STRIDE + i;
                    if (w->functions)
                        row[b] += AT(target);
                    AT(target) = row[b];
                }
        }
}

/* Adds the shares of each row to the table rows at its codes. */
static void count_turned(const weighing *w, const int32_t *code, const double *share, double *counts)
{
    const int64_t codes = w->codes, levels = w->levels, pitch = w->pitch;
    for (int64_t i = 0; i < BLOCK; i += LANES, code += LANES * codes)
        for (int64_t k = 0; k < levels; k += LANES) {
            lanes row[LANES];
#pragma GCC unroll 8
            for (int b = 0; b < LANES; b++)
                row[b] = k + b < levels ? AT(share + (k + b) * STRIDE + i) : (lanes){0.0};
            turn(row);
            for (int64_t c = 0; c < codes; c++)
#pragma GCC unroll 8
                for (int lane = 0; lane < LANES; lane++)
                    AT(counts + code[lane * codes + c] * pitch + k) += row[lane];
        }
}

/* All functions of the rows as they enter the weight of one level, or of all when they share their centres. */
static void weigh_levels(const weighing *w, int64_t at, int64_t begins, int64_t first, int64_t levels, double *basis,
                         double *weight)
{
    const int64_t functions = w->functions;
    const double *const coefficient = w->coefficient + first * functions;
    fill_basis(basis, w->tiles, w->columns, functions, w->pair, w->centre + first * functions, at);
    const double *const next = w->tiles + (at + BLOCK) * w->columns;
    weigh(basis, functions, coefficient + w->levels * functions, levels, weight + first * STRIDE, next, w->columns);
    if (begins)
        weigh_first(basis, functions, coefficient, levels, weight + first * STRIDE);
}

/* Weights of a block relative to the largest of each row, whose log is left in `top`; with `apart` each level is about
 * its own centre, and the largest size of its terms is returned. */
static double weigh_block(const weighing *w, int64_t apart, int64_t at, int64_t begins, double *basis, double *extent,
                          double *weight, double *top)
{
    const int64_t levels = w->levels;
    double largest = 0.0;
    if (w->functions && !apart)
        weigh_levels(w, at, begins, 0, levels, basis, weight);
    else if (w->functions)
        for (int64_t k = 0; k < levels; k++) {
            weigh_levels(w, at, begins, k, 1, basis, weight);
            weigh_sizes(basis, w->functions, w->coefficient + (levels + k) * w->functions, extent + k * STRIDE);
        }
    if (w->codes)
        look_up_turned(w, w->code + at * w->codes, weight);
    if (apart && w->functions)
        largest = largest_size(weight, extent, levels, BLOCK);
    if (w->ready) {
        memset(top, 0, BLOCK * sizeof(double));
        return largest;
    }
    for (int64_t i = 0; i < BLOCK; i++)
        top[i] = weight[i];
    for (int64_t k = 1; k < levels; k++)
        for (int64_t i = 0; i < BLOCK; i++)
            top[i] = weight[k * STRIDE + i] > top[i] ? weight[k * STRIDE + i] : top[i];
    for (int64_t i = 0; i < BLOCK; i += LANES) {
        const lanes middle = AT(top + i);
        for (int64_t k = 0; k < levels; k++)
            AT(weight + k * STRIDE + i) = small_exp(AT(weight + k * STRIDE + i) - middle);
    }
    return largest;
}

/* Adds the largest log weights of rows that count, from step `from` on, and finds the largest of them. */
static void add_tops(const bundle *this, int64_t time, int64_t from, const double *top, double *total, double *highest)
{
    if (time >= from && time + STEPS <= this->shortest) {
        double sum[16] = {0.0}, high[16];
        for (int64_t j = 0; j < 16; j++)
            high[j] = top[j];
        for (int64_t i = 0; i < BLOCK; i += 16)
            for (int64_t j = 0; j < 16; j++) {
                sum[j] += top[i + j];
                high[j] = top[i + j] > high[j] ? top[i + j] : high[j];
            }
        for (int64_t j = 0; j < 16; j++) {
            *total += sum[j];
            *highest = high[j] > *highest ? high[j] : *highest;
        }
        return;
    }
    for (int64_t i = 0; i < BLOCK; i++)
        if (time + i / WIDTH >= from && time + i / WIDTH < this->length[i % WIDTH]) {
            *total += top[i];
            *highest = top[i] > *highest ? top[i] : *highest;
        }
}

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
            (*scale)[lane] = 1.0;
            (*inverse)[lane] = 0.0;
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
            step_forward(own, levels, own ? matrix + s * WIDTH : matrix, from, now, inverse + s * WIDTH, to, pitch, whole);
        else
            for (int64_t k = 0; k < levels; k++)
                for (int v = 0; v < GROUPS; v++)
                    whole[v] += OF(to + k * pitch + v * GROUP) = OF(now + k * STRIDE + v * GROUP);
        for (int v = 0; v < GROUPS; v++) {
            group scale = whole[v], inverted = 1.0 / whole[v];
            if (time >= this->shortest)
                end_lanes(this, time, v, &scale, &inverted);
            OF(inverse + (s + 1) * WIDTH + v * GROUP) = inverted;
            const whole_group less = scale < least, bits = (whole_group)scale;
            least = (group)(((whole_group)scale & less) | ((whole_group)least & ~less));
            shift[v] += (bits >> 52) - 1023;
            many[v] *= (group)((bits & 0xfffffffffffff) | 0x3ff0000000000000);
        }
    }
    for (int v = 0; v < GROUPS; v++)
        for (int64_t lane = 0; lane < GROUP; lane++) {
            this->log_scale += log(many[v][lane]) + 0.693147180559945309417 * (double)shift[v][lane];
            this->least = least[lane] < this->least ? least[lane] : this->least;
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
                const group g = (group)((whole_group)(scaled * beyond) & (whole_group)(u > 0.0));
                OF(share + k * STRIDE + s * WIDTH + v * GROUP) = u * beyond;
                OF(here + k * STRIDE + v * GROUP) = begins ? (group){0.0} : g;
                const whole_group more = g > peak;
                peak = (group)(((whole_group)g & more) | ((whole_group)peak & ~more));
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
        this->peak = peak[lane] <= this->peak ? this->peak : peak[lane];
}

/* -- sums --------------------------------------------------------------------------------------------------------- */

/* What the first rows of sequences add; they are taken out of `share`, which the later rows are added up from. */
static void add_first(const double *basis, int64_t functions, double *share, int64_t levels, double *sums)
{
    for (int64_t k = 0; k < levels; k++) {
        for (int64_t p = 0; p < functions; p++)
            for (int64_t i = 0; i < WIDTH; i++)
                sums[(k * functions + p) * LANES + i % LANES] += share[k * STRIDE + i] * basis[p * STRIDE + i];
        for (int64_t i = 0; i < WIDTH; i++)
            share[k * STRIDE + i] = 0.0;
    }
}

/* Sums of the functions of the rows of a block times their shares, and counts of their codes. */
static void add_block(const weighing *w, int64_t apart, int64_t at, int64_t begins, double *basis, double *share,
                      double *held, double *counts)
{
    const int64_t levels = w->levels, functions = w->functions;
    const int64_t together = apart ? 1 : levels;
    if (w->codes)
        count_turned(w, w->code + at * w->codes, share, counts);
    for (int64_t line = 0; at && line < BLOCK * w->columns; line += 8)
        __builtin_prefetch(w->tiles + (at - BLOCK) * w->columns + line, 0, 2); /* the block before comes next */
    for (int64_t k = 0; functions && k < levels; k += together) {
        fill_basis(basis, w->tiles, w->columns, functions, w->pair, w->centre + k * functions, at);
        if (begins)
            add_first(basis, functions, share + k * STRIDE, together, held + k * functions * LANES);
        add_up(basis, functions, share + k * STRIDE, together, held + (levels + k) * functions * LANES);
    }
}
"""
