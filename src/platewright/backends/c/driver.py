"""The C that takes the rows of a pass block by block and merges what the blocks leave; it belongs to no model.

    ((b0 b1) (b2 b3)) ((b4 b5) b6)

Blocks have a fixed number of rows and the tree is fixed, so who worked on which block does not show in the result.
"""

from __future__ import annotations

FLAGS = ("-O2", "-ffp-contract=off", "-shared", "-fPIC")
"""Every operation as it is written: differences of centres must not be taken apart."""

KINDS = ("count", "sum", "max", "min", "pool")
"""What an output is, by number."""

DRIVER = """/* Blocks of rows, taken in turn by whoever is free, and merged in a fixed tree. */
#include <stdint.h>
#include <string.h>

typedef int pass(const void *const *column, const int64_t *size, int64_t start, int64_t stop, void *const *out);

/* What all who work on one pass share. */
struct work {
    int64_t rows, step, blocks, arrays;
    int64_t next, done, failed;
};

/* Work until no block is left; block k writes to places k * arrays and on of `out`. Returns the blocks done by all. */
int64_t drive(pass *run, const void *const *column, const int64_t *size, void *const *out, struct work *work)
{
    for (;;) {
        const int64_t k = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED);
        if (k >= work->blocks)
            return __atomic_load_n(&work->done, __ATOMIC_ACQUIRE);
        const int64_t start = k * work->step;
        const int64_t stop = work->rows - start < work->step ? work->rows : start + work->step;
        const int code = run(column, size, start, stop, out + k * work->arrays);
        if (code)
            __atomic_fetch_or(&work->failed, code, __ATOMIC_RELAXED);
        __atomic_fetch_add(&work->done, 1, __ATOMIC_ACQ_REL);
    }
}

/* Chan's rule for cells that carry a centre: means are offsets from it, and their difference keeps its digits. */
static void merge_pool(int64_t cells, int64_t width, void *const *left, void *const *right, double *shift)
{
    double *total = left[0], *centre = left[1], *offset = left[2], *scatter = left[3];
    const double *more = right[0], *centre_2 = right[1], *offset_2 = right[2], *scatter_2 = right[3];
    for (int64_t cell = 0; cell < cells; cell++) {
        const int64_t row = cell * width, square = row * width;
        if (more[cell] == 0.0)
            continue;
        if (total[cell] == 0.0) {
            total[cell] = more[cell];
            memcpy(centre + row, centre_2 + row, sizeof(double) * width);
            memcpy(offset + row, offset_2 + row, sizeof(double) * width);
            memcpy(scatter + square, scatter_2 + square, sizeof(double) * width * width);
            continue;
        }
        const double all = total[cell] + more[cell], share = more[cell] / all, pull = total[cell] * share;
        for (int64_t p = 0; p < width; p++)
            shift[p] = (centre_2[row + p] - centre[row + p]) + (offset_2[row + p] - offset[row + p]);
        for (int64_t p = 0; p < width; p++) {
            offset[row + p] += share * shift[p];
            for (int64_t q = 0; q < width; q++) {
                const int64_t at = square + p * width + q;
                scatter[at] = scatter[at] + scatter_2[at] + pull * (shift[p] * shift[q]);
            }
        }
        total[cell] = all;
    }
}

/* The larger or smaller of two; NaN stays NaN. */
static double picked(double a, double b, int larger)
{
    return a != a ? a : b != b ? b : (larger ? a > b : a < b) ? a : b;
}

static void merge(int64_t outputs, const int64_t *shape, void *const *left, void *const *right, double *shift)
{
    for (int64_t k = 0; k < outputs; k++, shape += 3) {
        const int64_t kind = shape[0], length = shape[1];
        if (kind == 4) {
            merge_pool(length, shape[2], left, right, shift);
            left += 4, right += 4;
            continue;
        }
        if (kind == 0)
            for (int64_t i = 0; i < length; i++)
                ((int64_t *)*left)[i] += ((const int64_t *)*right)[i];
        else if (kind == 1)
            for (int64_t i = 0; i < length; i++)
                ((double *)*left)[i] += ((const double *)*right)[i];
        else
            for (int64_t i = 0; i < length; i++)
                ((double *)*left)[i] = picked(((double *)*left)[i], ((const double *)*right)[i], kind == 2);
        left++, right++;
    }
}

/* Merge what blocks left, pair by pair, into the first. An output has three numbers: its kind, length and width. */
void fold(int64_t outputs, const int64_t *shape, int64_t arrays, void *const *out, int64_t blocks, double *shift)
{
    for (int64_t apart = 1; apart < blocks; apart *= 2)
        for (int64_t k = 0; k + apart < blocks; k += 2 * apart)
            merge(outputs, shape, out + k * arrays, out + (k + apart) * arrays, shift);
}

/* Whether much is left of every column of a scatter after those before it, and after its mean: all numbers are finite
 * then, and nobody need look closer. Of the last column `last` is asked. `work` has room for the scatter. */
static int is_sound(int64_t width, double total, const double *centre, const double *offset, const double *scatter,
                    double asked, double last, double far, double *work)
{
    if (!(total > 0.0) || total - total != 0.0)
        return 0;
    memcpy(work, scatter, sizeof(double) * width * width);
    for (int64_t p = 0; p < width; p++) {
        const double pivot = work[p * width + p], whole = scatter[p * width + p], mean = centre[p] + offset[p];
        if (!(pivot > (p + 1 < width ? asked : last) * whole) || !(whole > 0.0) || !(total * mean * mean < far * whole))
            return 0;
        for (int64_t r = p + 1; r < width; r++) {
            const double share = work[p * width + r] / pivot;
            for (int64_t q = r; q < width; q++)
                work[r * width + q] -= share * work[p * width + q];
        }
    }
    return 1;
}

/* The same for all pools of a pass; sums must be finite, and of other statistics nothing is said. */
int all_sound(int64_t outputs, const int64_t *shape, void *const *out, double asked, double last, double far,
              double *work)
{
    for (int64_t k = 0; k < outputs; k++, shape += 3) {
        const int64_t kind = shape[0], length = shape[1], width = shape[2];
        if (kind == 4) {
            const double *total = out[0], *centre = out[1], *offset = out[2], *scatter = out[3];
            for (int64_t cell = 0; cell < length; cell++)
                if (!is_sound(width, total[cell], centre + cell * width, offset + cell * width,
                              scatter + cell * width * width, asked, last, far, work))
                    return 0;
            out += 4;
            continue;
        }
        for (int64_t i = 0; kind && i < length; i++)
            if (((const double *)*out)[i] - ((const double *)*out)[i] != 0.0)
                return 0;
        out++;
    }
    return 1;
}
"""
