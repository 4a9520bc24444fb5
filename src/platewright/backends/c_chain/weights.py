"""The C by which passes over hidden chains weigh a block of steps, and add up what its probabilities say.

weigh_block    functions and codes of the rows -> weights of levels, relative to the largest of each row
add_block      probabilities of levels -> sums of functions of the rows, counts of their codes

First steps of sequences have coefficients, table rows and sums of their own.
"""

from __future__ import annotations

WEIGHTS = """
/* Sequences of a bundle go side by side, all of them from their first step; a block is STEPS steps of a bundle. */
#define STEPS (BLOCK / WIDTH)
#if WIDTH < LANES
#define GROUP WIDTH
#else
#define GROUP LANES
#endif
#define GROUPS (WIDTH / GROUP)
#if LANES == 1
typedef double group;
typedef int64_t whole_group;
#define WHOLE_OF(x) ((whole_group)bits_of(x))
#define GROUP_OF(bits) of_bits((whole_lanes)(bits))
#define TAKEN(so, one, other) ((so) ? (one) : (other))
#else
typedef double group __attribute__((vector_size(8 * GROUP), aligned(8), may_alias));
typedef int64_t whole_group __attribute__((vector_size(8 * GROUP), aligned(8), may_alias));
#define WHOLE_OF(x) ((whole_group)(x))
#define GROUP_OF(bits) ((group)(bits))
#define TAKEN(so, one, other) ((group)(((whole_group)(one) & (so)) | ((whole_group)(other) & ~(so))))
#endif
#define OF(pointer) (*(group *)(pointer))

/* How functions and codes of the rows enter log weights. There are two of `coefficient`: for first steps, then for
 * later ones; codes of later steps stand for other rows of the table. When `ready`, the table holds no logs but the
 * weights themselves, and nothing else does. */
typedef struct {
    int64_t levels, functions, columns, codes, pitch, ready;
    const double *tiles, *centre, *coefficient, *table;
    const int32_t *code, *pair;
} weighing;

/* Functions of the rows of a block: 1, columns, products; room for columns less their centre, and for products. */
typedef struct {
    const double **basis;
    double *moved, *products;
} shelf;

/* A recursion and what it leaves beside the weights: logs of scales, their smallest, the largest of g. */
typedef struct {
    const int64_t *length; /* of each lane */
    int64_t shortest;
    double log_scale, least, peak;
} bundle;

/* -- weights ------------------------------------------------------------------------------------------------------ */

/* The first rows of a block that begins sequences. */
static void weigh_first(const double *const *basis, int64_t functions, const double *coefficient, int64_t levels,
                        double *weight)
{
    for (int64_t k = 0; k < levels; k++) {
        double sum[WIDTH];
        for (int64_t i = 0; i < WIDTH; i++)
            sum[i] = coefficient[k];
        for (int64_t p = 1; p < functions; p++)
            for (int64_t i = 0; i < WIDTH; i++)
                sum[i] += coefficient[p * levels + k] * basis[p][i];
        for (int64_t i = 0; i < WIDTH; i++)
            weight[k * STRIDE + i] = sum[i];
    }
}

/* Rows of LANES numbers turned into columns: elements whose places differ in one bit change sides, bit by bit. */
#if LANES > 1
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
#else
INLINE void turn(lanes row[LANES])
{
    (void)row;
}
#endif

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

/* Where the functions of the rows of a block are; the centre of a level is taken off where levels are apart. */
static void lay_out(const weighing *w, int64_t apart, int64_t level, int64_t at, shelf *room)
{
    const double *const tile = w->tiles + at / BLOCK * w->columns * STRIDE;
    if (apart)
        fill(room->moved, tile, w->columns, w->centre + level * w->functions + 1);
    point(room->basis, apart ? room->moved : tile, w->columns, room->products, w->functions);
}

/* All functions of the rows as they enter the weight of one level, or of all when they share their centres. */
static void weigh_levels(const weighing *w, int64_t apart, int64_t at, int64_t begins, int64_t first, int64_t levels,
                         shelf *room, double *weight)
{
    const int64_t functions = w->functions;
    const double *const coefficient = w->coefficient + first * functions;
    lay_out(w, apart, first, at, room);
    weigh(room->basis, functions, coefficient + w->levels * functions, levels, weight + first * STRIDE, w->columns,
          room->products, w->pair);
    if (begins)
        weigh_first(room->basis, functions, coefficient, levels, weight + first * STRIDE);
}

/* Weights of a block relative to the largest of each row, whose log is left in `top`; with `apart` each level is about
 * its own centre, and the largest size of its terms is returned. */
static double weigh_block(const weighing *w, int64_t apart, int64_t at, int64_t begins, shelf *room, double *extent,
                          double *weight, double *top)
{
    const int64_t levels = w->levels;
    double largest = 0.0;
    if (w->functions && !apart)
        weigh_levels(w, 0, at, begins, 0, levels, room, weight);
    else if (w->functions)
        for (int64_t k = 0; k < levels; k++) {
            weigh_levels(w, 1, at, begins, k, 1, room, weight);
            weigh_sizes(room->basis, w->functions, w->coefficient + (levels + k) * w->functions, extent + k * STRIDE);
        }
    if (w->codes)
        look_up_turned(w, w->code + at * w->codes, weight);
    if (apart && w->functions)
        largest = largest_size(weight, extent, levels, BLOCK);
    if (w->ready) {
        memset(top, 0, BLOCK * sizeof(double));
        return largest;
    }
    const double *next = w->tiles + (at / BLOCK + 1) * w->columns * STRIDE;
    const int64_t lines = lines_for(w->columns, levels);
    for (int64_t i = 0; i < BLOCK; i += WIDE * LANES, next += 8 * lines * levels) {
        lanes high[WIDE], sum[WIDE];
        relate(weight + i, levels, high, sum, next, lines);
        ABREAST AT(top + i + v * LANES) = high[v];
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

/* -- sums --------------------------------------------------------------------------------------------------------- */

/* Sums of products with each of some functions, at least three: the caller fills up with ones or zeros. */
static void add_up(const double *const *basis, int64_t functions, double *weight, int64_t levels, double *sums)
{
    for (int64_t k = 0, some; k < levels; k += some) {
        some = part(levels, k);
        for (int64_t p = 0, wide; p < functions; p += wide) {
            wide = part(functions, p);
            add_tile(some, wide, basis + p, weight + k * STRIDE, sums + (k * functions + p) * LANES, functions);
        }
    }
}

/* What the first rows of sequences add; they are taken out of `share`, which the later rows are added up from. */
static void add_first(const double *const *basis, int64_t functions, double *share, int64_t levels, double *sums)
{
    for (int64_t k = 0; k < levels; k++) {
        for (int64_t p = 0; p < functions; p++)
            for (int64_t i = 0; i < WIDTH; i++)
                sums[(k * functions + p) * LANES + i % LANES] += share[k * STRIDE + i] * basis[p][i];
        for (int64_t i = 0; i < WIDTH; i++)
            share[k * STRIDE + i] = 0.0;
    }
}

/* Sums of the functions of the rows of a block times their shares, and counts of their codes. */
static void add_block(const weighing *w, int64_t apart, int64_t at, int64_t begins, shelf *room, double *share,
                      double *held, double *counts)
{
    const int64_t levels = w->levels, functions = w->functions;
    const int64_t together = apart ? 1 : levels;
    if (w->codes)
        count_turned(w, w->code + at * w->codes, share, counts);
    const double *const before = w->tiles + (at / BLOCK - 1) * w->columns * STRIDE;
    for (int64_t line = 0; at && line < w->columns * STRIDE; line += 8)
        FETCH(before + line); /* the block before comes next */
    for (int64_t k = 0; functions && k < levels; k += together) {
        lay_out(w, apart, k, at, room);
        multiply(room->basis, w->columns, room->products, functions, w->pair);
        if (begins)
            add_first(room->basis, functions, share + k * STRIDE, together, held + k * functions * LANES);
        add_up(room->basis, functions, share + k * STRIDE, together, held + (levels + k) * functions * LANES);
    }
}
"""
