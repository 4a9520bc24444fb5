"""Hamiltonian paths in C: double a path until it turns back, and choose one of its points by weight.

The same kernel as `backends/kernels/hamiltonian.py` (Hoffman and Gelman 2014, Betancourt 2017) with the metric of
`backends/kernels/metric.py`; the step learns as `backends/kernels/hamiltonian_mover.py` says.
"""

from __future__ import annotations

from collections.abc import Mapping

from platewright.backends.c_gibbs.arrow import ARROW
from platewright.backends.kernels.hamiltonian_mover import WANTED

PATHS: Mapping[str, str] = {
    "arrow": ARROW,
    "learn_step": f"""
/* Dual averaging towards an acceptance of {WANTED} (Hoffman and Gelman 2014), as `DualAveraging` learns in Python. */
static void learn_step(double *tuning, double acceptance)
{{
    const double count = tuning[TUNING_COUNT] += 1.0, share = 1.0 / (count + 10.0), weight = pow(count, -0.75);
    tuning[TUNING_ERROR] = (1.0 - share) * tuning[TUNING_ERROR] + share * ({WANTED} - acceptance);
    tuning[TUNING_LOG_STEP] = tuning[TUNING_CENTRE] - sqrt(count) / 0.05 * tuning[TUNING_ERROR];
    tuning[TUNING_LOG_AVERAGE] = weight * tuning[TUNING_LOG_STEP] + (1.0 - weight) * tuning[TUNING_LOG_AVERAGE];
    tuning[TUNING_STEP] = exp(tuning[TUNING_LOG_STEP]);
}}
""",
    "metric_size": """
/* How many numbers the metric of so many coordinates has. */
static int64_t metric_size(int64_t count, const double *tuning)
{
    const int64_t leaves = (int64_t)tuning[TUNING_LEAVES], trunk = count - leaves;
    return leaves * (1 + (int64_t)tuning[TUNING_WIDE]) + trunk * trunk;
}
""",
    "move_along": """
#define MOST_DOUBLINGS 10
#define DIVERGED 1000.0 /* a rise in energy beyond which a path is lost */
typedef double gradient_function(struct chain *chain, const double *u, double *slope);

/* A point of a path, and a piece of a path: its ends, the point chosen, and sums over its points. */
struct point {
    double *u, *r, *slope, log_density;
};
struct path {
    struct point first, last;
    double *chosen, *momentum, log_weight, acceptance;
    int64_t steps;
    int goes_on, diverged;
};
struct follower {
    gradient_function *gradient;
    struct chain *chain;
    int64_t count;
    const struct metric *metric;
    double step, energy, *scratch;
    struct path paths[MOST_DOUBLINGS + 2];
};

static double dot(const double *a, const double *b, int64_t count)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void copy_point(struct point *to, const struct point *from, int64_t count)
{
    memcpy(to->u, from->u, sizeof(double) * count);
    memcpy(to->r, from->r, sizeof(double) * count);
    memcpy(to->slope, from->slope, sizeof(double) * count);
    to->log_density = from->log_density;
}

/* One step along a path: reversible, and it keeps volumes. */
static void leapfrog(const struct follower *f, const struct point *from, double step, struct point *to)
{
    double *const pull = f->scratch, *const half = pull + f->count;
    pulled(f->metric, from->slope, pull);
    for (int64_t i = 0; i < f->count; i++)
        half[i] = from->r[i] + 0.5 * step * pull[i];
    memcpy(to->r, half, sizeof(double) * f->count);
    pushed(f->metric, to->r, pull);
    for (int64_t i = 0; i < f->count; i++)
        to->u[i] = from->u[i] + step * pull[i];
    to->log_density = f->gradient(f->chain, to->u, to->slope);
    pulled(f->metric, to->slope, pull);
    for (int64_t i = 0; i < f->count; i++)
        to->r[i] = half[i] + 0.5 * step * pull[i];
}

/* Whether the ends of a piece with momenta `sum` (and perhaps one more) approach each other. */
static int turns(const struct follower *f, const double *sum, const double *more, const double *one, const double *two)
{
    double left = dot(sum, one, f->count), right = dot(sum, two, f->count);
    if (more) {
        left += dot(more, one, f->count);
        right += dot(more, two, f->count);
    }
    return !(left > 0.0) || !(right > 0.0);
}

static double log_add(double a, double b)
{
    const double top = a > b ? a : b;
    return top > -INFINITY ? top + log(exp(a - top) + exp(b - top)) : top;
}

/* Put a neighbouring piece to a path; `biased` prefers the newer half, as the whole path does. */
static void join(struct follower *f, struct path *path, const struct path *newer, int backwards, int biased)
{
    const struct path *before = backwards ? newer : path, *after = backwards ? path : newer;
    const double whole = log_add(path->log_weight, newer->log_weight);
    const double chance = newer->log_weight - (biased ? path->log_weight : whole);
    if (newer->goes_on && log(above_zero(f->chain->random)) < chance)
        memcpy(path->chosen, newer->chosen, sizeof(double) * f->count);
    int turning = turns(f, before->momentum, after->first.r, before->first.r, after->first.r);
    turning |= turns(f, after->momentum, before->last.r, before->last.r, after->last.r);
    turning |= turns(f, path->momentum, newer->momentum, before->first.r, after->last.r);
    for (int64_t i = 0; i < f->count; i++)
        path->momentum[i] += newer->momentum[i];
    copy_point(backwards ? &path->first : &path->last, backwards ? &newer->first : &newer->last, f->count);
    path->log_weight = newer->goes_on ? whole : path->log_weight;
    path->acceptance += newer->acceptance;
    path->steps += newer->steps;
    path->diverged = newer->diverged;
    path->goes_on = newer->goes_on && !turning;
}

/* 2^depth further points from an end of the path. */
static void piece(struct follower *f, const struct point *start, int backwards, int depth, struct path *out)
{
    if (depth == 0) {
        leapfrog(f, start, backwards ? -f->step : f->step, &out->first);
        copy_point(&out->last, &out->first, f->count);
        memcpy(out->chosen, out->first.u, sizeof(double) * f->count);
        memcpy(out->momentum, out->first.r, sizeof(double) * f->count);
        const double energy = 0.5 * dot(out->first.r, out->first.r, f->count) - out->first.log_density;
        const double weight = f->energy - energy;
        out->log_weight = isfinite(weight) ? weight : -INFINITY;
        out->acceptance = out->log_weight < 0.0 ? exp(out->log_weight) : 1.0;
        out->steps = 1;
        out->diverged = out->log_weight < -DIVERGED;
        out->goes_on = !out->diverged;
        return;
    }
    piece(f, start, backwards, depth - 1, out);
    if (!out->goes_on)
        return;
    struct path *const newer = &f->paths[depth];
    piece(f, backwards ? &out->first : &out->last, backwards, depth - 1, newer);
    join(f, out, newer, backwards, 0);
}

/* One move from `u`, which becomes a point of the path; during warm-up the step learns from it. `room` holds 98 count
 * doubles. */
static void follow(gradient_function *gradient, struct chain *chain, int64_t count, double *u,
                   const struct metric *metric, double *tuning, double *room)
{
    struct follower f = {gradient, chain, count, metric, tuning[TUNING_STEP], 0.0, room, {{{0}}}};
    room += 2 * count;
    for (int k = 0; k < MOST_DOUBLINGS + 2; k++) {
        struct path *const p = &f.paths[k];
        double **const parts[] = {&p->first.u, &p->first.r,     &p->first.slope, &p->last.u,
                                  &p->last.r,  &p->last.slope, &p->chosen,      &p->momentum};
        for (int part = 0; part < 8; part++, room += count)
            *parts[part] = room;
    }
    struct path *const path = &f.paths[0], *const newer = &f.paths[MOST_DOUBLINGS + 1];
    memcpy(path->first.u, u, sizeof(double) * count);
    path->first.log_density = gradient(chain, u, path->first.slope);
    for (int64_t i = 0; i < count; i++)
        path->first.r[i] = path->momentum[i] = normal(chain->random);
    copy_point(&path->last, &path->first, count);
    memcpy(path->chosen, u, sizeof(double) * count);
    f.energy = 0.5 * dot(path->first.r, path->first.r, count) - path->first.log_density;
    path->goes_on = 1;
    for (int depth = 0; depth < (int)tuning[TUNING_DOUBLINGS] && path->goes_on; depth++) {
        const int backwards = uniform(chain->random) < 0.5;
        piece(&f, backwards ? &path->first : &path->last, backwards, depth, newer);
        join(&f, path, newer, backwards, 1);
    }
    memcpy(u, path->chosen, sizeof(double) * count);
    tuning[TUNING_ACCEPTANCE] = path->acceptance / (double)(path->steps > 0 ? path->steps : 1);
    tuning[TUNING_LOST] = path->diverged;
    tuning[TUNING_STEPS] = (double)path->steps;
    const double gap = f.energy - tuning[TUNING_MEAN], change = f.energy - tuning[TUNING_LAST];
    tuning[TUNING_CHANGES] += tuning[TUNING_PATHS] > 0.0 ? change * change : 0.0;
    tuning[TUNING_PATHS] += 1.0;
    tuning[TUNING_ALL_LOST] += path->diverged;
    tuning[TUNING_LAST] = f.energy;
    tuning[TUNING_MEAN] += gap / tuning[TUNING_PATHS];
    tuning[TUNING_SQUARES] += gap * (f.energy - tuning[TUNING_MEAN]);
    if (tuning[TUNING_LEARNS] != 0.0)
        learn_step(tuning, tuning[TUNING_ACCEPTANCE]);
}

/* Move the coordinates in `room`, after the metric and before the precision that the rest gives each; the caller puts
 * the state there. Returns 0 where the metric or a coordinate is lost. */
static int move_along(gradient_function *gradient, struct chain *chain, int64_t count, double *room, double *tuning,
                      const int64_t *places, const double *learned, double *sums)
{
    struct metric metric;
    const int64_t leaves = (int64_t)tuning[TUNING_LEAVES], wide = (int64_t)tuning[TUNING_WIDE];
    double *const u = room + metric_size(count, tuning), *const fixed = u + count;
    for (int64_t i = 0; i < count; i++)
        sums[i] += 1.0 / fixed[i]; /* infinite where the rest fixes nothing */
    if (!arrow(&metric, count, leaves, wide, places, learned, fixed, room))
        return 0;
    follow(gradient, chain, count, u, &metric, tuning, fixed + count);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(u[i]))
            return 0;
    return 1;
}
""",
}
