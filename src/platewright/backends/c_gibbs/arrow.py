"""The metric of paths in C: leaves that meet only a trunk, as in `backends/kernels/metric.py`; and what is tuned."""

from __future__ import annotations

STATE = "STEP LEAVES WIDE DOUBLINGS LEARNS CENTRE COUNT ERROR LOG_STEP LOG_AVERAGE"
BACK = "ACCEPTANCE LOST STEPS PATHS ALL_LOST LAST MEAN SQUARES CHANGES"
TUNING = tuple(f"{STATE} {BACK}".split())
"""The numbers of a block: its step, the form of its metric, most doublings; dual averaging; and back of the last path
acceptance, whether it was lost, steps; and over all paths their number, those lost, and of the energy the last, the
mean, squares about it and squares of changes."""

ARROW = (
    f"enum {{ {', '.join(f'TUNING_{word}' for word in TUNING)} }};\n"
    + """
/* The root L = (d 0; G' C) of a precision: d for each leaf, G where a leaf meets the trunk, C for the trunk. */
struct metric {
    int64_t count, leaves, wide, trunk;
    const int64_t *order, *ties; /* all coordinates, leaves first; places of the trunk that each leaf meets */
    double *leaf, *across, *lower;
};

/* The root of learned + fixed, in `room` for as many numbers as were learned and one for each coordinate. */
static int arrow(struct metric *m, int64_t count, int64_t leaves, int64_t wide, const int64_t *places,
                 const double *learned, const double *fixed, double *room)
{
    const int64_t trunk = count - leaves;
    *m = (struct metric){count, leaves, wide, trunk, places, places + count, room, room + leaves,
                         room + leaves + leaves * wide};
    memcpy(m->lower, learned + leaves + leaves * wide, sizeof(double) * trunk * trunk);
    for (int64_t t = 0; t < trunk; t++)
        m->lower[t * trunk + t] += fixed[m->order[leaves + t]];
    for (int64_t i = 0; i < leaves; i++) {
        const int64_t *const tie = m->ties + i * wide;
        double *const across = m->across + i * wide;
        m->leaf[i] = sqrt(learned[i] + fixed[m->order[i]]);
        for (int64_t v = 0; v < wide; v++)
            across[v] = learned[leaves + i * wide + v] / m->leaf[i];
        for (int64_t v = 0; v < wide; v++)
            for (int64_t w = 0; w < wide; w++)
                m->lower[tie[v] * trunk + tie[w]] -= across[v] * across[w];
    }
    return cholesky(trunk, m->lower);
}

/* out = R' slope, for R R' = the inverse of the precision. */
static void pulled(const struct metric *m, const double *slope, double *out)
{
    double *const trunk = out + m->leaves;
    for (int64_t t = 0; t < m->trunk; t++)
        trunk[t] = slope[m->order[m->leaves + t]];
    for (int64_t i = 0; i < m->leaves; i++) {
        out[i] = slope[m->order[i]] / m->leaf[i];
        for (int64_t v = 0; v < m->wide; v++)
            trunk[m->ties[i * m->wide + v]] -= m->across[i * m->wide + v] * out[i];
    }
    for (int64_t t = 0; t < m->trunk; t++) {
        for (int64_t k = 0; k < t; k++)
            trunk[t] -= m->lower[t * m->trunk + k] * trunk[k];
        trunk[t] /= m->lower[t * m->trunk + t];
    }
}

/* out = R r; r is used up. */
static void pushed(const struct metric *m, double *r, double *out)
{
    double *const trunk = r + m->leaves;
    for (int64_t t = m->trunk - 1; t >= 0; t--) {
        trunk[t] /= m->lower[t * m->trunk + t];
        for (int64_t k = 0; k < t; k++)
            trunk[k] -= m->lower[t * m->trunk + k] * trunk[t];
        out[m->order[m->leaves + t]] = trunk[t];
    }
    for (int64_t i = 0; i < m->leaves; i++) {
        double sum = r[i];
        for (int64_t v = 0; v < m->wide; v++)
            sum -= m->across[i * m->wide + v] * trunk[m->ties[i * m->wide + v]];
        out[m->order[i]] = sum / m->leaf[i];
    }
}
"""
)
