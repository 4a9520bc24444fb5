"""Random numbers in C: xoshiro256++ and the draws that conditionals need; a file carries those it uses.

    uniform   53 bits of xoshiro256++ (Blackman and Vigna 2019)
    normal    ratio of uniforms (Leva 1992): no tables, nothing kept between draws
    gamma     Marsaglia and Tsang 2000; below shape one by a power of a uniform, in logs where it may underflow
    counts    inversion where they are small, else transformed rejection (Hoermann 1993)

All state is the four words of the chain, so a chain cut into any number of calls gives the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping

RANDOM: Mapping[str, str] = {
    "next_bits": """
/* The next 64 random bits of a chain: xoshiro256++ (Blackman and Vigna). */
static inline uint64_t rotated(uint64_t bits, int by)
{
    return (bits << by) | (bits >> (64 - by));
}
static inline uint64_t next_bits(uint64_t *random)
{
    const uint64_t result = rotated(random[0] + random[3], 23) + random[0];
    const uint64_t shifted = random[1] << 17;
    random[2] ^= random[0];
    random[3] ^= random[1];
    random[1] ^= random[2];
    random[0] ^= random[3];
    random[2] ^= shifted;
    random[3] = rotated(random[3], 45);
    return result;
}
""",
    "uniform": """
/* Uniform on [0, 1): 53 bits. */
static inline double uniform(uint64_t *random)
{
    return (double)(next_bits(random) >> 11) * 0x1p-53;
}
""",
    "above_zero": """
/* Uniform on (0, 1], so that it has a logarithm. */
static inline double above_zero(uint64_t *random)
{
    return (double)((next_bits(random) >> 11) + 1) * 0x1p-53;
}
""",
    "exponential": """
static inline double exponential(uint64_t *random)
{
    return -log(above_zero(random));
}
""",
    "normal": """
/* Standard normal by the ratio of uniforms, with Leva's quadratic bounds: the logarithm is needed once in 80 draws. */
static double normal(uint64_t *random)
{
    for (;;) {
        const double u = above_zero(random);
        const double v = 1.7156 * (uniform(random) - 0.5);
        const double x = u - 0.449871, y = fabs(v) + 0.386595;
        const double q = x * x + y * (0.19600 * y - 0.25472 * x);
        if (q < 0.27597 || (q < 0.27846 && v * v <= -4.0 * u * u * log(u)))
            return v / u;
    }
}
""",
    "gamma_from_one": """
/* Gamma of shape at least one and rate one (Marsaglia and Tsang). */
static double gamma_from_one(uint64_t *random, double shape)
{
    const double d = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        const double x = normal(random), root = 1.0 + c * x;
        if (root <= 0.0)
            continue;
        const double v = root * root * root, u = above_zero(random);
        if (u < 1.0 - 0.0331 * (x * x) * (x * x) || log(u) < 0.5 * x * x + d * (1.0 - v + log(v)))
            return d * v;
    }
}
""",
    "gamma_draw": """
/* Gamma of any shape, rate one; NaN when the shape is not positive. */
static double gamma_draw(uint64_t *random, double shape)
{
    if (!(shape > 0.0))
        return NAN;
    if (shape >= 1.0)
        return gamma_from_one(random, shape);
    const double larger_one = gamma_from_one(random, shape + 1.0);
    return larger_one * exp(log(above_zero(random)) / shape);
}
""",
    "log_gamma_draw": """
/* The logarithm of a Gamma draw: small shapes give numbers far below the smallest double. */
static double log_gamma_draw(uint64_t *random, double shape)
{
    if (!(shape > 0.0))
        return NAN;
    if (shape >= 1.0)
        return log(gamma_from_one(random, shape));
    const double larger_one = gamma_from_one(random, shape + 1.0);
    return log(larger_one) + log(above_zero(random)) / shape;
}
""",
    "beta_draw": """
static double beta_draw(uint64_t *random, double a, double b)
{
    if (a >= 1.0 && b >= 1.0) {
        const double one = gamma_from_one(random, a), other = gamma_from_one(random, b);
        return one / (one + other);
    }
    const double one = log_gamma_draw(random, a), other = log_gamma_draw(random, b);
    return 1.0 / (1.0 + exp(other - one));
}
""",
    "dirichlet_draw": """
/* Weights that add up to one, in place of their concentrations; through logs when a concentration is below one. */
static void dirichlet_draw(uint64_t *random, int64_t count, double *weight)
{
    double lowest = INFINITY, top = -INFINITY, total = 0.0;
    for (int64_t k = 0; k < count; k++)
        lowest = weight[k] < lowest ? weight[k] : lowest;
    for (int64_t k = 0; k < count; k++)
        weight[k] = lowest >= 1.0 ? gamma_from_one(random, weight[k]) : log_gamma_draw(random, weight[k]);
    if (lowest < 1.0) {
        for (int64_t k = 0; k < count; k++)
            top = weight[k] > top ? weight[k] : top;
        for (int64_t k = 0; k < count; k++)
            weight[k] = exp(weight[k] - top);
    }
    for (int64_t k = 0; k < count; k++)
        total += weight[k];
    for (int64_t k = 0; k < count; k++)
        weight[k] /= total;
}
""",
    "poisson_draw": """
/* Poisson: products of uniforms below ten, transformed rejection (Hoermann's PTRS) above. */
static double poisson_draw(uint64_t *random, double rate)
{
    if (!(rate >= 0.0) || rate > 1e15)
        return NAN;
    if (rate < 10.0) {
        const double limit = exp(-rate);
        double product = above_zero(random), count = 0.0;
        for (; product > limit; count += 1.0)
            product *= above_zero(random);
        return count;
    }
    const double root = sqrt(rate), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), peak = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        const double u = uniform(random) - 0.5, v = above_zero(random), edge = 0.5 - fabs(u);
        const double count = floor((2.0 * a / edge + b) * u + rate + 0.43);
        if (edge >= 0.07 && v <= peak)
            return count;
        if (count < 0.0 || (edge < 0.013 && v > edge))
            continue;
        if (log(v) + log(inverse_alpha) - log(a / (edge * edge) + b) <= count * log(rate) - rate - lgamma(count + 1.0))
            return count;
    }
}
""",
    "binomial_draw": """
/* Binomial: inversion where few successes are expected, transformed rejection (Hoermann's BTRS) elsewhere. */
static double binomial_draw(uint64_t *random, double trials, double p)
{
    if (!(p >= 0.0 && p <= 1.0 && trials >= 0.0))
        return NAN;
    if (p > 0.5)
        return trials - binomial_draw(random, trials, 1.0 - p);
    const double odds = p / (1.0 - p);
    if (trials * p < 10.0) {
        double term = exp(trials * log1p(-p)), u = uniform(random), count = 0.0;
        for (; u > term && count < trials; count += 1.0) {
            u -= term;
            term *= odds * (trials - count) / (count + 1.0);
        }
        return count;
    }
    const double root = sqrt(trials * p * (1.0 - p)), b = 1.15 + 2.53 * root, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double centre = trials * p + 0.5, peak = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * root;
    const double mode = floor((trials + 1.0) * p), at_mode = lgamma(mode + 1.0) + lgamma(trials - mode + 1.0);
    for (;;) {
        const double u = uniform(random) - 0.5, v = above_zero(random), edge = 0.5 - fabs(u);
        const double count = floor((2.0 * a / edge + b) * u + centre);
        if (edge >= 0.07 && v <= peak)
            return count;
        if (count < 0.0 || count > trials)
            continue;
        const double height = at_mode - lgamma(count + 1.0) - lgamma(trials - count + 1.0) + (count - mode) * log(odds);
        if (log(v * alpha / (a / (edge * edge) + b)) <= height)
            return count;
    }
}
""",
    "inverse_gaussian_draw": """
/* Michael, Schucany and Haas: the smaller root of a quadratic, or its mirror image. */
static double inverse_gaussian_draw(uint64_t *random, double mean, double shape)
{
    const double z = normal(random), y = mean * z * z / (2.0 * shape);
    const double x = mean * (1.0 + y - sqrt(y * (2.0 + y)));
    return uniform(random) * (mean + x) <= mean ? x : mean * mean / x;
}
""",
    "wishart_draw": """
/* Wishart, in place of its inverse scale C C': root of chi and normal draws A, then C^-T A A' C^-1 (Bartlett); or the
 * inverse of that, which is inverse Wishart with scale C C'. `work` holds 2 count^2 doubles. */
static int wishart_draw(uint64_t *random, int64_t count, double degrees, double *matrix, int inverted, double *work)
{
    double *const factor = work, *const half = work + count * count;
    if (!cholesky(count, matrix))
        return 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++)
            factor[i * count + j] = i == j  ? sqrt(2.0 * gamma_draw(random, 0.5 * (degrees - (double)i)))
                                    : j < i ? normal(random)
                                            : 0.0;
    /* half = C^-T A, or C A^-T: either times its transpose is the draw */
    for (int64_t j = 0; j < count; j++) {
        if (!inverted)
            for (int64_t i = count - 1; i >= 0; i--) {
                double sum = factor[i * count + j];
                for (int64_t k = i + 1; k < count; k++)
                    sum -= matrix[k * count + i] * half[k * count + j];
                half[i * count + j] = sum / matrix[i * count + i];
            }
        else
            for (int64_t i = 0; i < count; i++) { /* row j of C A^-T solves x A' = row j of C */
                double sum = i <= j ? matrix[j * count + i] : 0.0;
                for (int64_t k = 0; k < i; k++)
                    sum -= half[j * count + k] * factor[i * count + k];
                half[j * count + i] = sum / factor[i * count + i];
            }
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < count; k++)
                sum += half[i * count + k] * half[j * count + k];
            matrix[i * count + j] = sum;
        }
    return 1;
}
""",
    "von_mises_draw": """
/* A direction, within half a turn of 0 (Best and Fisher 1979): a wrapped Cauchy covers the density. */
static double von_mises_draw(uint64_t *random, double mean, double concentration)
{
    const double turn = 6.2831853071795864769, k = concentration;
    double angle = turn * (uniform(random) - 0.5);
    if (k > 1e8)
        angle = normal(random) / sqrt(k); /* the same to the last digits */
    else if (k > 1e-8) {
        const double tau = 1.0 + sqrt(1.0 + 4.0 * k * k), rho = (tau - sqrt(2.0 * tau)) / (2.0 * k);
        const double r = k < 1e-5 ? 1.0 / k + k : (1.0 + rho * rho) / (2.0 * rho);
        for (int tries = 0; tries < 10000; tries++) {
            const double z = cos(0.5 * turn * uniform(random)), f = (1.0 + r * z) / (r + z), c = k * (r - f);
            const double v = above_zero(random);
            if (c * (2.0 - c) > v || log(c / v) + 1.0 >= c) {
                angle = acos(f > 1.0 ? 1.0 : f < -1.0 ? -1.0 : f);
                break;
            }
        }
        angle = uniform(random) < 0.5 ? -angle : angle;
    }
    angle += mean;
    return angle - turn * floor(angle / turn + 0.5);
}
""",
    "slice_draw": """
/* One update of a number by slice sampling (Neal 2003): a level below the density, step out, shrink. What is returned
 * is where the density was looked at last, so that a density which sets the state leaves it there. */
typedef double density_function(const struct chain *chain, const int64_t *at, const double *kept, double x);
static double slice_draw(density_function *density, const struct chain *chain, uint64_t *random, const int64_t *at,
                         const double *kept, double value, double width)
{
    double start = density(chain, at, kept, value);
    for (int tries = 0; tries < 2 * MOST_STEPS && !(start > -INFINITY); tries++) {
        /* an impossible start is left for a possible place, looked for further and further away */
        const double trial = value + ldexp(width, tries / 4) * (2.0 * uniform(random) - 1.0);
        start = density(chain, at, kept, trial);
        value = start > -INFINITY ? trial : value;
    }
    if (!(start > -INFINITY)) {
        density(chain, at, kept, value);
        return value;
    }
    const double level = start - exponential(random);
    double low = value - width * uniform(random), high = low + width;
    for (int steps = 0; steps < MOST_STEPS && density(chain, at, kept, low) > level; steps++)
        low -= width;
    for (int steps = 0; steps < MOST_STEPS && density(chain, at, kept, high) > level; steps++)
        high += width;
    for (int tries = 0; tries < 10 * MOST_STEPS; tries++) {
        const double trial = low + (high - low) * uniform(random);
        const double height = density(chain, at, kept, trial);
        if (height >= level)
            return trial;
        if (trial < value)
            low = trial;
        else
            high = trial;
    }
    density(chain, at, kept, value);
    return value;
}
""",
}
