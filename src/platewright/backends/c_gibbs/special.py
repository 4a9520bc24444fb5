"""Functions of emitted samplers that C's library lacks: Bessel functions of directions, cumulative distributions.

    I0(x) = sum q^k / (k!)^2,   I1(x) = (x / 2) sum q^k / (k! (k + 1)!),   q = x^2 / 4
    P(a, x), I_x(a, b)          a series where it is short, a continued fraction elsewhere (Lentz)

Series of positive terms lose no digits; large arguments have the usual expansions, cut where they change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

SPECIAL: Mapping[str, str] = {
    "log_bessel0": """
/* log I0(x), without overflow. */
static double log_bessel0(double x)
{
    x = fabs(x);
    const double q = 0.25 * x * x;
    double term = 1.0, sum = 1.0;
    if (x < 30.0) {
        for (double k = 1.0; term > 1e-18 * sum; k += 1.0)
            sum += term *= q / (k * k);
        return log(sum);
    }
    for (double k = 1.0; k < 30.0 && term > 1e-18; k += 1.0)
        sum += term *= (2.0 * k - 1.0) * (2.0 * k - 1.0) / (8.0 * k * x);
    return x - 0.5 * log(6.2831853071795864769 * x) + log(sum);
}
""",
    "bessel_ratio": """
/* I1(x) / I0(x), the slope of log I0. */
static double bessel_ratio(double x)
{
    const double size = fabs(x), q = 0.25 * x * x;
    double one = 1.0, zero = 1.0, top = 1.0, bottom = 1.0;
    if (size < 30.0) {
        for (double k = 1.0; zero > 1e-18 * bottom; k += 1.0) {
            bottom += zero *= q / (k * k);
            top += one *= q / (k * (k + 1.0));
        }
        return 0.5 * x * top / bottom;
    }
    for (double k = 1.0; k < 30.0 && zero > 1e-18; k += 1.0) {
        const double square = (2.0 * k - 1.0) * (2.0 * k - 1.0);
        bottom += zero *= square / (8.0 * k * size);
        top += one *= (square - 4.0) / (8.0 * k * size);
    }
    return (x < 0.0 ? -top : top) / bottom;
}
""",
    "normal_quantile": """
/* The inverse of the normal cumulative distribution: a rational start (26.2.23 of Abramowitz and Stegun), then three of
   Halley's steps in the tail where p lies. */
static double normal_quantile(double p)
{
    const double tail = p < 0.5 ? p : 1.0 - p;
    if (!(tail > 0.0))
        return tail == 0.0 ? (p < 0.5 ? -INFINITY : INFINITY) : NAN;
    const double t = sqrt(-2.0 * log(tail));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int64_t k = 0; k < 3; k++) {
        const double step = (0.5 * erfc(x * 0.70710678118654752440) - tail) * 2.50662827463100050242 * exp(0.5 * x * x);
        x += step / (1.0 - 0.5 * step * x);
    }
    return p < 0.5 ? -x : x;
}
""",
    "away_from_zero": """
/* Lentz's rule: a denominator of exactly nothing is very little. */
static inline double away_from_zero(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}
""",
    "gamma_cdf": """
/* The cumulative distribution of a Gamma with rate 1. */
static double gamma_cdf(double shape, double x)
{
    if (!(shape > 0.0) || isnan(x))
        return NAN;
    if (x <= 0.0 || x > 1e300)
        return x > 0.0 ? 1.0 : 0.0;
    const double front = exp(shape - x - scaled_lgamma(shape, x));
    if (x < shape + 1.0) {
        double term = 1.0 / shape, sum = term;
        for (double n = shape + 1.0; term > 1e-18 * sum; n += 1.0)
            sum += term *= x / n;
        return front * sum;
    }
    double b = x + 1.0 - shape, c = 1e300, d = 1.0 / b, product = d;
    for (double n = 1.0; n < 1e6; n += 1.0) {
        const double a = n * (shape - n);
        b += 2.0;
        d = 1.0 / away_from_zero(a * d + b);
        c = away_from_zero(b + a / c);
        product *= c * d;
        if (fabs(c * d - 1.0) < 4e-16)
            break;
    }
    return 1.0 - front * product;
}
""",
    "beta_fraction": """
/* The continued fraction of the incomplete Beta function. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), product = d;
    for (double m = 1.0; m < 1e6; m += 1.0) {
        const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        product *= c * d;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        product *= c * d;
        if (fabs(c * d - 1.0) < 4e-16)
            break;
    }
    return product;
}
""",
    "beta_cdf": """
/* The cumulative distribution of a Beta. */
static double beta_cdf(double a, double b, double x)
{
    if (!(a > 0.0) || !(b > 0.0) || isnan(x))
        return NAN;
    if (x <= 0.0 || x >= 1.0)
        return x > 0.0 ? 1.0 : 0.0;
    const double front = exp(a * log(x) + b * log1p(-x) - log_beta(a, b));
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * beta_fraction(a, b, x) / a;
    return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}
""",
}
