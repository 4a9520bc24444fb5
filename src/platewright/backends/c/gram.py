"""The C of squares and products of columns: rows of a block lie side by side, sums of a tile stay in registers.

    turned    rows of a matrix become columns, less their centre
    gram      gram += heavy' rows, upper triangle

Each sum keeps its lanes apart until the end of the range, while there is room for them.
"""

from __future__ import annotations

from collections.abc import Mapping

ROOM = 64
"""Up to so many columns the lanes of all sums stay apart: they fit into the second cache."""

GRAM: Mapping[str, str] = {
    "turned": """
/* Columns of BLOCK rows from a matrix whose rows lie side by side, less their centre. */
#if LANES > 1
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
#define FOUR(pointer) (*(four *)(pointer))
#if defined(__clang__)
#define PICK(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
typedef int64_t picked __attribute__((vector_size(32)));
#define PICK(x, y, a, b, c, d) __builtin_shuffle(x, y, (picked){a, b, c, d})
#endif
INLINE void turn(double *to, const double *from, int64_t width, const double *centre)
{
    const four middle = FOUR(centre);
    const four a = FOUR(from) - middle, b = FOUR(from + width) - middle;
    const four c = FOUR(from + 2 * width) - middle, d = FOUR(from + 3 * width) - middle;
    const four even_ab = PICK(a, b, 0, 4, 2, 6), odd_ab = PICK(a, b, 1, 5, 3, 7);
    const four even_cd = PICK(c, d, 0, 4, 2, 6), odd_cd = PICK(c, d, 1, 5, 3, 7);
    FOUR(to) = PICK(even_ab, even_cd, 0, 1, 4, 5);
    FOUR(to + STRIDE) = PICK(odd_ab, odd_cd, 0, 1, 4, 5);
    FOUR(to + 2 * STRIDE) = PICK(even_ab, even_cd, 2, 3, 6, 7);
    FOUR(to + 3 * STRIDE) = PICK(odd_ab, odd_cd, 2, 3, 6, 7);
}
#endif
static void turned(double *to, const double *from, int64_t count, int64_t width, const double *centre)
{
    int64_t i = 0;
#if LANES > 1
    for (; width >= 4 && i + 4 <= count; i += 4)
        for (int64_t j = 0; j < width; j += 4) {
            const int64_t k = j + 4 <= width ? j : width - 4; /* the last four, some of them once more */
            turn(to + k * STRIDE + i, from + i * width + k, width, centre + k);
        }
#endif
    for (; i < count; i++)
        for (int64_t j = 0; j < width; j++)
            to[j * STRIDE + i] = from[i * width + j] - centre[j];
}
""",
    "shifted": """
/* Columns of a block from a matrix whose columns lie side by side, each of `pitch` doubles, less their centre. */
static void shifted(double *restrict to, const double *restrict from, int64_t pitch, int64_t count, int64_t width,
                    const double *restrict centre)
{
    for (int64_t j = 0; j < width; j++)
        for (int64_t i = 0; i < count; i++)
            to[j * STRIDE + i] = from[j * pitch + i] - centre[j];
}
""",
    "weighted": """
/* Columns times the weights of their rows. */
static void weighted(double *restrict heavy, const double *restrict rows, const double *restrict weight, int64_t count,
                     int64_t width)
{
    for (int64_t j = 0; j < width; j++)
        for (int64_t i = 0; i < count; i++)
            heavy[j * STRIDE + i] = weight[i] * rows[j * STRIDE + i];
}
""",
    "recentre": """
/* Move the centre by the mean of the first `count` rows, which were taken from the old centre. */
static void recentre(double *centre, const double *rows, int64_t count, int64_t width)
{
    for (int64_t j = 0; j < width; j++) {
        double sum = 0.0;
        for (int64_t i = 0; i < count; i++)
            sum += rows[j * STRIDE + i];
        centre[j] += sum / (double)count;
    }
}
""",
    "gram": """
/* gram += heavy' rows, upper triangle, and the sums of `heavy` in a last column. Each entry has `step` doubles: its
 * lanes, or one. The `ahead` doubles from `next` on, BLOCK by BLOCK with `pitch` from one to the next, are fetched
 * while this goes on. */
#if LANES > 1
struct ahead { const double *start; int64_t pitch, line, lines, at_once; };

/* A few lines of cache in every turn of the innermost loop: many at once would wait for each other. */
INLINE void fetch(struct ahead *ahead)
{
    for (int64_t k = 0; k < ahead->at_once && ahead->line < ahead->lines; k++, ahead->line++) {
        const int64_t block = ahead->line / (BLOCK / 8), line = ahead->line % (BLOCK / 8);
        __builtin_prefetch(ahead->start + block * ahead->pitch + line * 8, 0, 2);
    }
}

#if LANES == 8 || defined(__aarch64__)
#define TILE 5 /* TILE x TILE sums and their operands fill 32 registers */
#else
#define TILE 3
#endif
INLINE lanes taken(const double *sum, int64_t step)
{
    return step == LANES ? AT(sum) : (lanes){*sum};
}

INLINE void put(double *to, int64_t step, lanes sum)
{
    if (step == LANES) {
        AT(to) = sum;
        return;
    }
    *to = 0.0;
    for (int k = 0; k < LANES; k++)
        *to += sum[k];
}

INLINE void gram_tile(const int tall, const int wide, const int corner, const double *heavy, const double *rows,
                      int64_t count, double *gram, int64_t pitch, int64_t step, double *last, struct ahead *ahead)
{
    lanes sum[TILE][TILE], plain[TILE];
#pragma GCC unroll 8
    for (int p = 0; p < tall; p++) {
#pragma GCC unroll 8
        for (int q = corner ? p : 0; q < wide; q++)
            sum[p][q] = taken(gram + (p * pitch + q) * step, step);
        if (corner)
            plain[p] = taken(last + p * pitch * step, step);
    }
    for (int64_t i = 0; i < count; i += LANES) {
        fetch(ahead);
        lanes right[TILE];
#pragma GCC unroll 8
        for (int q = 0; q < wide; q++) {
            lanes held = AT(rows + q * STRIDE + i);
            HOLD(held); /* in a register: loads are as dear as products */
            right[q] = held;
        }
#pragma GCC unroll 8
        for (int p = 0; p < tall; p++) {
            lanes left = AT(heavy + p * STRIDE + i);
            HOLD(left);
#pragma GCC unroll 8
            for (int q = corner ? p : 0; q < wide; q++)
                sum[p][q] += left * right[q];
            if (corner)
                plain[p] += left;
        }
    }
#pragma GCC unroll 8
    for (int p = 0; p < tall; p++) {
#pragma GCC unroll 8
        for (int q = corner ? p : 0; q < wide; q++)
            put(gram + (p * pitch + q) * step, step, sum[p][q]);
        if (corner)
            put(last + p * pitch * step, step, plain[p]);
    }
}

/* Parts as equal as can be, none above TILE, the larger ones first. */
INLINE int64_t part(int64_t left)
{
    const int64_t parts = (left + TILE - 1) / TILE;
    return (left + parts - 1) / parts;
}

static void gram(double *heavy, double *rows, int64_t count, int64_t width, double *gram, int64_t step,
                 const double *next, int64_t pitch, int64_t ahead)
{
    const int64_t down = width + 1, parts = (width + TILE - 1) / TILE, tiles = parts * (parts + 1) / 2;
    const int64_t turns = tiles * ((count + LANES - 1) / LANES);
    struct ahead later = {next, pitch, 0, ahead / 8, turns ? (ahead / 8 + turns - 1) / turns : 0};
    for (int64_t i = count; i % LANES; i++) /* the last vector is filled up with zeros */
        for (int64_t j = 0; j < width; j++)
            heavy[j * STRIDE + i] = rows[j * STRIDE + i] = 0.0;
    for (int64_t p = 0, tall; p < width; p += tall) {
        tall = part(width - p);
        for (int64_t q = p, wide; q < width; q += wide) {
            wide = part(width - q);
#define EACH(a, b, corner)                                                                                    \\
    if (tall == a && wide == b && (p == q) == corner)                                                         \\
        gram_tile(a, b, corner, heavy + p * STRIDE, rows + q * STRIDE, count, gram + (p * down + q) * step,   \\
                  down, step, gram + (p * down + width) * step, &later);
            EACH(1, 1, 1) EACH(2, 2, 1) EACH(3, 3, 1) EACH(2, 2, 0) EACH(3, 2, 0) EACH(3, 3, 0)
#if TILE == 5
            EACH(4, 4, 1) EACH(5, 5, 1) EACH(4, 3, 0) EACH(4, 4, 0) EACH(5, 4, 0) EACH(5, 5, 0)
#endif
        }
    }
}
#else
static void gram(double *heavy, double *rows, int64_t count, int64_t width, double *gram, int64_t step,
                 const double *next, int64_t pitch, int64_t ahead)
{
    (void)next, (void)pitch, (void)ahead, (void)step;
    for (int64_t p = 0; p < width; p++)
        for (int64_t i = 0; i < count; i++) {
            const double left = heavy[p * STRIDE + i];
            for (int64_t q = p; q < width; q++)
                gram[p * (width + 1) + q] += left * rows[q * STRIDE + i];
            gram[p * (width + 1) + width] += left;
        }
}
#endif
""",
    "keep": """
/* Unpack the sums of one cell. */
static void keep(const double *gram, int64_t width, int64_t step, double *offset, double *scatter)
{
    for (int64_t p = 0; p < width; p++)
        for (int64_t q = p; q <= width; q++) {
            double sum = 0.0;
            for (int64_t k = 0; k < step; k++)
                sum += gram[(p * (width + 1) + q) * step + k];
            if (q < width)
                scatter[p * width + q] = sum;
            else
                offset[p] = sum;
        }
}
""",
}
