"""Small C functions of emitted samplers besides the draws: rows rotated to triangular form, roots, inverses.

Matrices are small and dense, row after row. What is not positive definite gives zero back, and the caller says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from platewright.backends.c.support import SUPPORT, VECTOR_MATH, support_text, used_of
from platewright.backends.c_gibbs.chain_support import CHAIN
from platewright.backends.c_gibbs.charts import CHARTS
from platewright.backends.c_gibbs.paths import PATHS
from platewright.backends.c_gibbs.random import RANDOM
from platewright.backends.c_gibbs.special import SPECIAL

ALGEBRA: Mapping[str, str] = {
    "space": """
/* Working space of a chain, at least so many doubles; what was in it is lost. */
static double *space(struct chain *chain, int64_t count)
{
    if (count > chain->room) {
        free(chain->work);
        chain->work = malloc(sizeof(double) * (size_t)count);
        chain->room = chain->work ? count : 0;
    }
    return chain->work;
}
""",
    "product": """
/* A product in which an exact zero wins over an infinity: nothing times log 0 is nothing. */
static inline double product(double a, double b)
{
    return a == 0.0 || b == 0.0 ? 0.0 : a * b;
}
""",
    "softening": """
/* log(1 + exp(-|x|)), to the last digits where it is small: what rounding takes from 1 + e is put back. */
static inline double softening(double x)
{
    const double e = exp(-fabs(x)), whole = 1.0 + e;
    return log(whole) + (e - WHOLE(whole - 1.0)) / whole;
}
""",
    "softened": """
/* log(1 + e) for 0 <= e <= 1, to the last digits where e is small: what rounding takes from 1 + e is put back. */
static inline double softened(double e)
{
    const double whole = 1.0 + e;
    return log(whole) + (e - WHOLE(whole - 1.0)) / whole;
}
""",
    "logistic_of": """
/* 1 / (1 + exp(-x)) by exp(-|x|), which never overflows. */
static inline double logistic_of(double x)
{
    const double e = exp(-fabs(x));
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}
""",
    "trigamma": """
/* The second derivative of lgamma. */
static double trigamma(double x)
{
    if (x <= 0.0) {
        const double sine = sin(3.14159265358979323846 * x);
        return x == floor(x) ? NAN : 9.8696044010893586188 / (sine * sine) - trigamma(1.0 - x);
    }
    double shifted = 0.0;
    for (; x < 10.0; x += 1.0)
        shifted += 1.0 / (x * x);
    const double q = 1.0 / (x * x);
    const double series = q * (1.0 / 6 - q * (1.0 / 30 - q * (1.0 / 42 - q * (1.0 / 30 - q * (5.0 / 66
                          - q * (691.0 / 2730 - q * 7.0 / 6))))));
    return shifted + 1.0 / x + 0.5 * q + series / x;
}
""",
    "multivariate_lgamma": """
static double multivariate_lgamma(double x, double dimension)
{
    double sum = 0.25 * dimension * (dimension - 1.0) * 1.1447298858494001741;
    for (double j = 0.0; j < dimension; j += 1.0)
        sum += lgamma(x - 0.5 * j);
    return sum;
}
""",
    "cholesky": """
/* The lower root L of a matrix L L', in place (what is above the diagonal stays); zero when it is not positive. */
static int cholesky(int64_t count, double *matrix)
{
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = j; i < count; i++) {
            double sum = matrix[i * count + j];
            for (int64_t k = 0; k < j; k++)
                sum -= matrix[i * count + k] * matrix[j * count + k];
            if (i == j && !(sum > 0.0))
                return 0;
            matrix[i * count + j] = i == j ? sqrt(sum) : sum / matrix[j * count + j];
        }
    return 1;
}
""",
    "lower_root": """
/* The lower root with zeros above it; NaN when the matrix is not positive. */
static void lower_root(int64_t count, double *matrix)
{
    const int good = cholesky(count, matrix);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = good ? i + 1 : 0; j < count; j++)
            matrix[i * count + j] = good ? 0.0 : NAN;
}
""",
    "eliminated": """
/* Rows of `left` made triangular by elimination with the largest pivot, `right` along with it; the log of the size of
 * the determinant. */
static double eliminated(int64_t count, double *left, int64_t wide, double *right)
{
    double log_size = 0.0;
    for (int64_t j = 0; j < count; j++) {
        int64_t best = j;
        for (int64_t i = j + 1; i < count; i++)
            if (fabs(left[i * count + j]) > fabs(left[best * count + j]))
                best = i;
        for (int64_t k = 0; best != j && k < count; k++) {
            const double held = left[j * count + k];
            left[j * count + k] = left[best * count + k];
            left[best * count + k] = held;
        }
        for (int64_t k = 0; best != j && k < wide; k++) {
            const double held = right[j * wide + k];
            right[j * wide + k] = right[best * wide + k];
            right[best * wide + k] = held;
        }
        log_size += log(fabs(left[j * count + j]));
        for (int64_t i = j + 1; i < count; i++) {
            const double share = left[i * count + j] / left[j * count + j];
            for (int64_t k = j; k < count; k++)
                left[i * count + k] -= share * left[j * count + k];
            for (int64_t k = 0; k < wide; k++)
                right[i * wide + k] -= share * right[j * wide + k];
        }
    }
    return log_size;
}
""",
    "log_determinant": """
/* The log of the size of a determinant; the matrix is used up. */
static double log_determinant(int64_t count, double *matrix)
{
    return eliminated(count, matrix, 0, matrix);
}
""",
    "inverse_of": """
/* The inverse; the matrix is used up, and the log of the size of its determinant comes back. */
static double inverse_of(int64_t count, double *matrix, double *inverse)
{
    for (int64_t k = 0; k < count * count; k++)
        inverse[k] = k % (count + 1) == 0 ? 1.0 : 0.0;
    const double log_size = eliminated(count, matrix, count, inverse);
    for (int64_t i = count - 1; i >= 0; i--)
        for (int64_t j = 0; j < count; j++) {
            double sum = inverse[i * count + j];
            for (int64_t k = i + 1; k < count; k++)
                sum -= matrix[i * count + k] * inverse[k * count + j];
            inverse[i * count + j] = sum / matrix[i * count + i];
        }
    return log_size;
}
""",
    "rows_of_pool": """
/* Few rows with the same squares as all rows of a pool: its mean by the root of its weight, then a root of its
 * scatter; a column without spread gives a row of zeros. `rows` has width + 1 rows, and `scatter` is used up. */
static void rows_of_pool(double total, const double *mean, double *scatter, int64_t width, double *rows)
{
    const double heavy = sqrt(total);
    for (int64_t j = 0; j < width; j++)
        rows[j] = heavy * mean[j];
    double *row = rows + width, *const smallest = rows + width * width; /* the last row, which is written last */
    for (int64_t j = 0; j < width; j++)
        smallest[j] = scatter[j * width + j] * (double)width * 0x1p-52;
    for (int64_t j = 0; j < width; j++, row += width) {
        const double pivot = scatter[j * width + j];
        const double share = pivot > smallest[j] ? 1.0 / sqrt(pivot) : 0.0;
        for (int64_t k = 0; k < width; k++)
            row[k] = k < j ? 0.0 : scatter[j * width + k] * share;
        for (int64_t i = j + 1; i < width; i++)
            for (int64_t k = i; k < width; k++)
                scatter[i * width + k] -= row[i] * row[k];
    }
}
""",
    "add_rows": """
/* Add rows that lie one after another to a pool, each with the same weight. */
static void add_rows(int64_t count, const double *rows, double weight, int64_t width, double *total, double *centre,
                     double *offset, double *scatter)
{
    for (int64_t r = 0; r < count; r++)
        add_row(rows + r * width, weight, width, total, centre, offset, scatter);
}
""",
    "add_column": """
/* Add a column of the rows of a pool, so many times, to a column of other rows. */
static void add_column(double *line, int64_t width, const double *pool, int64_t wide, double times)
{
    for (int64_t r = 0; r <= wide; r++)
        line[r * width] += times * pool[r * wide];
}
""",
    "part_of": """
/* Some columns of some rows as a table of their own. */
static void part_of(const double *table, int64_t width, int64_t rows, int64_t start, int64_t wide, double *part)
{
    for (int64_t r = 0; r < rows; r++)
        memcpy(part + r * wide, table + r * width + start, sizeof(double) * wide);
}
""",
    "triangularised": """
/* Rotate rows to upper triangular form by Householder's reflections, the largest entry of a column in the pivot row
 * (Powell and Reid): rows of very different size keep their digits each. Returns how many of the first `eliminated`
 * columns follow from others, so that nothing is known about their unknowns; `rows` is at least `width`. Rows that
 * these columns leave are rotated on only where they are too many. */
static int64_t triangularised(double *design, int64_t rows, int64_t width, int64_t eliminated)
{
    int64_t lost = 0;
    const int64_t last = rows > width ? width : eliminated;
    for (int64_t j = 0; j < last; j++) {
        double whole = 0.0, below = 0.0, largest = 0.0;
        int64_t best = j;
        for (int64_t i = 0; i < rows; i++) {
            const double size = fabs(design[i * width + j]);
            if (i < j)
                whole += size * size;
            else if (size > largest) {
                largest = size;
                best = i;
            }
        }
        if (largest == 0.0) {
            lost += j < eliminated;
            continue;
        }
        for (int64_t k = j; best != j && k < width; k++) {
            const double held = design[j * width + k];
            design[j * width + k] = design[best * width + k];
            design[best * width + k] = held;
        }
        const double unit = largest < 1e-140 || largest > 1e140 ? largest : 1.0; /* so that no square is lost */
        for (int64_t i = j; i < rows; i++) {
            const double part = unit == 1.0 ? design[i * width + j] : design[i * width + j] / unit;
            below += part * part;
        }
        const double length = unit * sqrt(below), first = design[j * width + j];
        const double pivot = first < 0.0 ? length : -length, mirror = first - pivot;
        if (j < eliminated && length <= 8.0 * (double)width * 0x1p-52 * sqrt(whole + length * length))
            lost++;
        for (int64_t k = j + 1; k < width; k++) {
            double sum = mirror * design[j * width + k];
            for (int64_t i = j + 1; i < rows; i++)
                sum += design[i * width + j] * design[i * width + k];
            const double share = sum / (mirror * pivot);
            design[j * width + k] += share * mirror;
            for (int64_t i = j + 1; i < rows; i++)
                design[i * width + k] += share * design[i * width + j];
        }
        design[j * width + j] = pivot;
        for (int64_t i = j + 1; i < rows; i++)
            design[i * width + j] = 0.0;
    }
    /* pivots of eliminated columns are positive */
    for (int64_t j = 0; j < eliminated; j++)
        for (int64_t k = j; design[j * width + j] < 0.0 && k < width; k++)
            design[j * width + k] = k == j ? design[j * width + k] : -design[j * width + k];
    for (int64_t j = 0; j < eliminated; j++)
        design[j * width + j] = fabs(design[j * width + j]);
    return lost;
}
""",
    "solved": """
/* R x = right for upper triangular R, in place; `wide` right-hand sides. */
static void solved(int64_t count, const double *root, int64_t wide, double *right)
{
    for (int64_t i = count - 1; i >= 0; i--)
        for (int64_t j = 0; j < wide; j++) {
            double sum = right[i * wide + j];
            for (int64_t k = i + 1; k < count; k++)
                sum -= root[i * count + k] * right[k * wide + j];
            right[i * wide + j] = sum / root[i * count + i];
        }
}
""",
    "coloured": """
/* Noise z in each row becomes x with x' L = z' for the lower root L of `matrix` (used up): covariance matrix^-1. */
static int coloured(int64_t rows, int64_t wide, double *matrix, double *noise)
{
    if (!cholesky(wide, matrix))
        return 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = wide - 1; i >= 0; i--) {
            double sum = noise[r * wide + i];
            for (int64_t k = i + 1; k < wide; k++)
                sum -= matrix[k * wide + i] * noise[r * wide + k];
            noise[r * wide + i] = sum / matrix[i * wide + i];
        }
    return 1;
}
""",
    "sorted_by": """
/* Rows in the order of their codes: those of code c are order[start[c]] .. order[start[c + 1] - 1]. */
static void sorted_by(const int64_t *code, int64_t rows, int64_t codes, int64_t *start, int64_t *order)
{
    for (int64_t c = 0; c <= codes; c++)
        start[c] = 0;
    for (int64_t r = 0; r < rows; r++)
        start[code[r] + 1]++;
    for (int64_t c = 0; c < codes; c++)
        start[c + 1] += start[c];
    for (int64_t r = 0; r < rows; r++)
        order[start[code[r]]++] = r;
    for (int64_t c = codes; c > 0; c--)
        start[c] = start[c - 1];
    start[0] = 0;
}
""",
}


SHARED: Mapping[str, str] = {**ALGEBRA, **CHAIN, **SPECIAL, **CHARTS, **RANDOM, **PATHS}
"""Every shared function by name, those used by others first."""


def shared_text(body: str, table: Mapping[str, str] = SHARED) -> list[str]:
    """The shared functions that the body uses, directly or through one another, those used by others first.

    Not the vector functions of one C library: their last digits are their own.
    """
    own = used_of(body, table, {})
    return [*(text for text in support_text("\n".join([*own, body])) if text != VECTOR_MATH), *own]


TAKEN = frozenset({*SUPPORT, *SHARED})
"""Words that emitted variables must not have."""
