"""Probability vectors and positive definite matrices on coordinates without constraints, in C.

The charts of `backends/kernels/coordinates.py`: a softmax with the last coordinate 0, and S = L L' with the logs of
the diagonal of L. Arrays hold one value after another.
"""

from __future__ import annotations

from collections.abc import Mapping

CHARTS: Mapping[str, str] = {
    "shares_at": """
/* Probability vectors at their coordinates, each one shorter; the log of the volume factor. */
static double shares_at(const double *u, int64_t rows, int64_t wide, double *x)
{
    double volume = 0.0;
    for (int64_t r = 0; r < rows; r++, u += wide - 1, x += wide) {
        double top = 0.0, sum = 0.0;
        for (int64_t j = 0; j < wide - 1; j++)
            top = u[j] > top ? u[j] : top;
        for (int64_t j = 0; j < wide; j++)
            sum += exp((j < wide - 1 ? u[j] : 0.0) - top);
        const double whole = top + log(sum);
        for (int64_t j = 0; j < wide; j++) {
            const double log_share = (j < wide - 1 ? u[j] : 0.0) - whole;
            x[j] = exp(log_share);
            volume += log_share;
        }
    }
    return volume;
}
""",
    "coordinates_of_shares": """
/* The coordinates of probability vectors. */
static void coordinates_of_shares(const double *x, int64_t rows, int64_t wide, double *u)
{
    for (int64_t r = 0; r < rows; r++, u += wide - 1, x += wide) {
        const double last = log(x[wide - 1] > 1e-300 ? x[wide - 1] : 1e-300);
        for (int64_t j = 0; j < wide - 1; j++)
            u[j] = log(x[j] > 1e-300 ? x[j] : 1e-300) - last;
    }
}
""",
    "slopes_of_shares": """
/* Slopes in the coordinates, volume factor included, from those in the probabilities. */
static void slopes_of_shares(const double *x, const double *given, int64_t rows, int64_t wide, double *slope)
{
    for (int64_t r = 0; r < rows; r++, slope += wide - 1, x += wide, given += wide) {
        double mean = 0.0;
        for (int64_t j = 0; j < wide; j++)
            mean += given[j] * x[j];
        for (int64_t j = 0; j < wide - 1; j++)
            slope[j] = x[j] * (given[j] - mean) + 1.0 - (double)wide * x[j];
    }
}
""",
    "root_at": """
/* An entry of a triangular root, at or below its diagonal, from its coordinates. */
static inline double root_at(const double *u, int64_t i, int64_t j)
{
    const double entry = u[i * (i + 1) / 2 + j];
    return i == j ? exp(entry) : entry;
}
""",
    "matrices_at": """
/* Matrices S = L L' at the entries of L, row by row, with the logs of its diagonal; the log of the volume factor. */
static double matrices_at(const double *u, int64_t rows, int64_t wide, double *x)
{
    double volume = (double)(rows * wide) * 0.69314718055994530942;
    for (int64_t r = 0; r < rows; r++, u += wide * (wide + 1) / 2, x += wide * wide)
        for (int64_t i = 0; i < wide; i++) {
            volume += (double)(wide + 1 - i) * u[i * (i + 1) / 2 + i];
            for (int64_t j = 0; j <= i; j++) {
                double sum = 0.0;
                for (int64_t k = 0; k <= j; k++)
                    sum += root_at(u, i, k) * root_at(u, j, k);
                x[i * wide + j] = x[j * wide + i] = sum;
            }
        }
    return volume;
}
""",
    "coordinates_of_matrices": """
/* The coordinates of positive definite matrices; NaN where one is not. */
static void coordinates_of_matrices(const double *x, int64_t rows, int64_t wide, double *u)
{
    for (int64_t r = 0; r < rows; r++, u += wide * (wide + 1) / 2, x += wide * wide) {
        int good = 1;
        for (int64_t i = 0; i < wide; i++)
            for (int64_t j = 0; j <= i; j++) {
                double entry = x[i * wide + j];
                for (int64_t k = 0; k < j; k++)
                    entry -= root_at(u, i, k) * root_at(u, j, k);
                good = good && (i > j || entry > 0.0);
                u[i * (i + 1) / 2 + j] = i > j ? entry / root_at(u, j, j) : 0.5 * log(entry);
            }
        for (int64_t i = 0; !good && i < wide * (wide + 1) / 2; i++)
            u[i] = NAN;
    }
}
""",
    "slopes_of_matrices": """
/* Slopes in the coordinates, volume factor included, from those in the entries: (G + G') L. */
static void slopes_of_matrices(const double *u, const double *given, int64_t rows, int64_t wide, double *slope)
{
    const int64_t many = wide * (wide + 1) / 2;
    for (int64_t r = 0; r < rows; r++, u += many, slope += many, given += wide * wide)
        for (int64_t i = 0; i < wide; i++)
            for (int64_t j = 0; j <= i; j++) {
                double sum = 0.0;
                for (int64_t k = j; k < wide; k++)
                    sum += (given[i * wide + k] + given[k * wide + i]) * root_at(u, k, j);
                slope[i * (i + 1) / 2 + j] = i == j ? sum * root_at(u, i, i) + (double)(wide + 1 - i) : sum;
            }
}
""",
}
