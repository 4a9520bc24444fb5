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

/* The root that was learned, each row stretched as the rest fixes its coordinate. Learned are d, G and C, then of each
 * coordinate a and b: one of which the rest fixes f is stretched by sqrt(a + b f). */
static int arrow(struct metric *m, int64_t count, int64_t leaves, int64_t wide, const int64_t *places,
                 const double *learned, double *fixed, double *room)
{
    const int64_t trunk = count - leaves;
    *m = (struct metric){count, leaves, wide, trunk, places, places + count, room, room + leaves,
                         room + leaves + leaves * wide};
    const double *const across = learned + leaves, *const lower = across + leaves * wide;
    const double *const a = lower + trunk * trunk, *const b = a + count;
    for (int64_t i = 0; i < count; i++) {
        fixed[i] = sqrt(a[i] + b[i] * fmin(fixed[i], 1e12));
        if (!isfinite(fixed[i]))
            return 0;
    }
    for (int64_t i = 0; i < leaves; i++) {
        m->leaf[i] = learned[i] * fixed[m->order[i]];
        for (int64_t v = 0; v < wide; v++)
            m->across[i * wide + v] = across[i * wide + v] * fixed[m->order[leaves + m->ties[i * wide + v]]];
    }
    for (int64_t t = 0; t < trunk; t++)
        for (int64_t k = 0; k <= t; k++)
            m->lower[t * trunk + k] = lower[t * trunk + k] * fixed[m->order[leaves + t]];
    return 1;
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
