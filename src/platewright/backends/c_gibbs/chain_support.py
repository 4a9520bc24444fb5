"""Small C functions for Gaussian chains in emitted samplers: rows rotated into a triangle, and back substitution."""

from __future__ import annotations

from collections.abc import Mapping

CHAIN: Mapping[str, str] = {
    "rotate_in": """
/* Rotate a row into a triangle, column after column up to `last`; the row is used up. */
static inline void rotate_in(double *triangle, int64_t width, int64_t last, double *row)
{
    for (int64_t j = 0; j < last; j++) {
        double *const own = triangle + j * width;
        const double part = row[j], pivot = own[j];
        if (part == 0.0)
            continue;
        if (pivot == 0.0) { /* the first row that reaches this column */
            for (int64_t k = j; k < width; k++)
                own[k] = part < 0.0 ? -row[k] : row[k];
            return;
        }
        double length = sqrt(pivot * pivot + part * part);
        if (!(length > 1e-140 && length < 1e140))
            length = hypot(pivot, part);
        const double over = 1.0 / length, keep = pivot * over, turn = part * over;
        own[j] = length;
        for (int64_t k = j + 1; k < width; k++) {
            const double above = own[k], below = row[k];
            own[k] = keep * above + turn * below;
            row[k] = keep * below - turn * above;
        }
    }
}
""",
    "merge_before": """
/* Coefficients of the step before go to the step itself. */
static void merge_before(double *row, const double *end, int64_t width, int64_t state)
{
    for (; row < end; row += width)
        for (int64_t i = 0; i < state; i++) {
            row[state + i] += row[i];
            row[i] = 0.0;
        }
}
""",
    "undetermined": """
/* How many of the first columns of a triangle follow from others: nothing is known about their unknowns. */
static inline int64_t undetermined(const double *triangle, int64_t width, int64_t state)
{
    int64_t lost = 0;
    for (int64_t j = 0; j < state; j++) {
        double largest = 0.0;
        for (int64_t i = 0; i <= j; i++)
            largest = fmax(largest, fabs(triangle[i * width + j]));
        lost += triangle[j * width + j] <= 8.0 * (double)width * 0x1p-52 * largest;
    }
    return lost;
}
""",
    "slide": """
/* Go on to the next step: what was the step itself is the step before, and of the new one nothing is known yet. */
static inline void slide(double *triangle, int64_t width, int64_t state)
{
    for (int64_t i = 0; i < state; i++) {
        double *const before = triangle + i * width, *const own = before + state * width;
        for (int64_t k = 0; k < state; k++) {
            before[k] = own[state + k];
            before[state + k] = own[state + k] = 0.0;
        }
        for (int64_t k = 2 * state; k < width; k++) {
            before[k] = own[k];
            own[k] = 0.0;
        }
    }
}
""",
    "solved_along": """
/* R[t] x[t] = right[t] - next[t] x[t + 1] from the last step to the first, in place; `wide` right-hand sides. */
static void solved_along(int64_t steps, int64_t state, const double *root, const double *next, int64_t wide,
                         double *right)
{
    for (int64_t t = steps - 1; t >= 0; t--) {
        double *const now = right + t * state * wide, *const after = now + state * wide;
        const double *const link = next + t * state * state;
        for (int64_t i = 0; t + 1 < steps && i < state; i++)
            for (int64_t k = 0; k < state; k++)
                for (int64_t j = 0; j < wide; j++)
                    now[i * wide + j] -= link[i * state + k] * after[k * wide + j];
        solved(state, root + t * state * state, wide, now);
    }
}
""",
}
