"""The few C functions that emitted passes share; each emitted file carries the ones it uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from platewright.backends.c.gram import GRAM
from platewright.backends.c.vectors import VECTORS
from platewright.backends.naming import comment

BLOCK = 256
"""Rows worked on at once: per-row scalars are arrays of this length and stay in cache."""

SUPPORT: Mapping[str, str] = {
    "VECTOR_MATH": """
/* Let loops call the vector functions of glibc (libmvec; within 4 units in the last place). */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && defined(__OPTIMIZE__)
#if __GLIBC_PREREQ(2, 22) && !defined(PLATEWRIGHT_PLAIN)
extern double log(double) __attribute__((simd("notinbranch")));
extern double exp(double) __attribute__((simd("notinbranch")));
extern double sin(double) __attribute__((simd("notinbranch")));
extern double cos(double) __attribute__((simd("notinbranch")));
#endif
#endif
""",
    "WHOLE": """
/* A difference that is taken before it is added to anything: -fassociative-math may not open it. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
#define WHOLE(x) __builtin_assoc_barrier(x)
#elif __has_builtin(__arithmetic_fence)
#define WHOLE(x) __arithmetic_fence(x)
#endif
#endif
#if !defined(WHOLE)
static inline double taken_first(double x)
{
    volatile double held = x;
    return held;
}
#define WHOLE(x) taken_first(x)
#endif
""",
    "within": """
/* A code held inside its plate; `bad` remembers that one was outside, and the caller is told. */
static inline int64_t within(int64_t code, int64_t size, int *bad)
{
    const int outside = (uint64_t)code >= (uint64_t)size;
    *bad |= outside;
    return outside ? 0 : code;
}
""",
    "previous": """
/* The previous position of an ordered plate; the first repeats itself and is masked by the model. */
static inline int64_t previous(int64_t position)
{
    return position > 0 ? position - 1 : 0;
}
""",
    "square": """
static inline double square(double x)
{
    return x * x;
}
""",
    "xlogy": """
/* x log y, and nothing where x is zero, whatever y is. */
static inline double xlogy(double x, double y)
{
    return x == 0.0 && y == y ? 0.0 : x * log(y);
}
""",
    "larger": """
/* The larger of two; NaN stays NaN. */
static inline double larger(double a, double b)
{
    return a > b || a != a ? a : b;
}
""",
    "smaller": """
/* The smaller of two; NaN stays NaN. */
static inline double smaller(double a, double b)
{
    return a < b || a != a ? a : b;
}
""",
    "logistic": """
static inline double logistic(double x)
{
    return 1.0 / (1.0 + exp(-x));
}
""",
    "log_logistic": """
static inline double log_logistic(double x)
{
    return x < 0 ? x - log1p(exp(x)) : -log1p(exp(-x));
}
""",
    "scaled_lgamma": """
/* lgamma(x) - x log(scale) + x, from 10 on by Stirling's series, so that large parts do not cancel. */
static inline double scaled_lgamma(double x, double scale)
{
    if (!(x >= 10.0))
        return lgamma(x) - x * log(scale) + x;
    const double beyond = WHOLE(x - scale) / scale;
    const double ratio = fabs(beyond) < 0.5 ? log1p(beyond) : log(x / scale);
    const double y = 1.0 / (x * x);
    double series = 1.0 / 156;
    series = 691.0 / 360360 - y * series;
    series = 1.0 / 1188 - y * series;
    series = 1.0 / 1680 - y * series;
    series = 1.0 / 1260 - y * series;
    series = 1.0 / 360 - y * series;
    series = 1.0 / 12 - y * series;
    return (x - 0.5) * ratio - 0.5 * log(scale) + 0.91893853320467274178 + series / x;
}
""",
    "log_beta": """
/* lgamma(a) + lgamma(b) - lgamma(a + b), also where these are large. */
static inline double log_beta(double a, double b)
{
    const double sum = a + b;
    return scaled_lgamma(a, sum) + scaled_lgamma(b, sum) - scaled_lgamma(sum, sum);
}
""",
    "digamma": """
/* The derivative of lgamma: by reflection to x > 0, by recurrence to x >= 10, then Stirling's series. */
static double digamma(double x)
{
    double sum = 0.0;
    if (x <= 0.0) {
        if (x == floor(x))
            return x == 0.0 ? -INFINITY : NAN;
        sum = -3.14159265358979323846 / tan(3.14159265358979323846 * (x - floor(x)));
        x = 1.0 - x;
    }
    for (; x < 10.0; x += 1.0)
        sum -= 1.0 / x;
    const double y = 1.0 / (x * x);
    double series = 1.0 / 12;
    series = 691.0 / 32760 - y * series;
    series = 1.0 / 132 - y * series;
    series = 1.0 / 240 - y * series;
    series = 1.0 / 252 - y * series;
    series = 1.0 / 120 - y * series;
    series = 1.0 / 12 - y * series;
    return sum + log(x) - 0.5 / x - y * series;
}
""",
    "normal_cdf": """
static inline double normal_cdf(double x)
{
    return 0.5 * erfc(x * -0.70710678118654752440);
}
""",
    "log_normal_cdf": """
static double log_normal_cdf(double x)
{
    if (x > -30.0)
        return x > 5.0 ? log1p(-0.5 * erfc(x * 0.70710678118654752440)) : log(0.5 * erfc(x * -0.70710678118654752440));
    const double square = 1.0 / (x * x);
    const double series = 1.0 - square * (1.0 - square * (3.0 - square * (15.0 - square * 105.0)));
    return -0.5 * x * x - log(-x) - 0.91893853320467274178 + log(series);
}
""",
    "VECTORS": VECTORS,
    **GRAM,
    "add_row": """
/* Add a row to its cell; the first row of a cell becomes its centre. */
static inline void add_row(const double *x, double weight, int64_t width, double *total, double *centre, double *offset,
                           double *scatter)
{
    if (*total == 0.0)
        for (int64_t p = 0; p < width; p++)
            centre[p] = x[p];
    *total += weight;
    for (int64_t p = 0; p < width; p++) {
        const double heavy = weight * WHOLE(x[p] - centre[p]);
        offset[p] += heavy;
        for (int64_t q = p; q < width; q++)
            scatter[p * width + q] += heavy * WHOLE(x[q] - centre[q]);
    }
}
""",
    "settle": """
/* From sums and squares about the centre to the mean (as an offset from the centre) and the scatter about the mean. */
static void settle(int64_t cells, int64_t width, const double *total, double *offset, double *scatter)
{
    for (int64_t cell = 0; cell < cells; cell++, offset += width, scatter += width * width) {
        const double share = total[cell] > 0.0 ? 1.0 / total[cell] : 0.0;
        for (int64_t p = 0; p < width; p++)
            for (int64_t q = p; q < width; q++) {
                const double about_mean = scatter[p * width + q] - offset[p] * offset[q] * share;
                scatter[p * width + q] = scatter[q * width + p] = about_mean;
            }
        for (int64_t p = 0; p < width; p++)
            offset[p] *= share;
    }
}
""",
}


VECTOR_MATH = SUPPORT["VECTOR_MATH"].strip("\n")
"""What samplers leave out: the last digits of these functions are those of one C library."""

WORDS = {"VECTORS": ("LANES", "STRIDE"), "VECTOR_MATH": ("log(", "exp(", "sin(", "cos(")}
"""How the use of a shared part shows, where it is not a call."""


def c_comment(text: str) -> str:
    """User text made safe for a C comment: it can neither end it nor open another, nor hide a line end."""
    return comment(text).replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


def support_text(body: str) -> list[str]:
    """The shared functions that the body uses, directly or through one another, in the order of the table."""
    return used_of(body, SUPPORT, WORDS)


def used_of(body: str, table: Mapping[str, str], words: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The parts of a table that a text uses, directly or through one another, in the order of the table."""
    wanted: set[str] = set()
    waiting = [body]
    while waiting:
        found = _words(waiting.pop())
        more = [name for name in table if name not in wanted and not found.isdisjoint(words.get(name, (f"{name}(",)))]
        wanted.update(more)
        waiting += [table[name] for name in more]
    return [table[name].strip("\n") for name in table if name in wanted]


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    """The names in a text outside its comments; those that are called with the bracket."""
    return frozenset(re.findall(r"\b[A-Za-z_]\w*\b\(?", re.sub(r"/\*.*?\*/", "", text, flags=re.S)))
