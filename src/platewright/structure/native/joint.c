/* The log evidence of a set of columns as one table of all their states; equivalent networks share these terms.
 *
 *     score(child | parents) = evidence(parents and child) - evidence(parents)
 *
 * A set is counted as one column more than another whose states are kept: by intersecting bitmaps where that set has few
 * occupied states, else row by row.
 */

/* Add up the weights of rows by cell, in four tables where they are small: one cell may follow itself at once. */
static void add_up(const Data *d, int32_t *restrict counts, const uint32_t *restrict key, const uint16_t *restrict code,
                   uint32_t levels, int64_t cells)
{
    const int32_t *restrict weight = d->weights;
    int64_t n = 0;
    if (cells > 4096) {
        for (; n < d->rows; n++) counts[key[n] * levels + code[n]] += weight[n];
        return;
    }
    int32_t *restrict two = counts + cells, *restrict three = two + cells, *restrict four = three + cells;
    for (; n + 4 <= d->rows; n += 4) {
        counts[key[n] * levels + code[n]] += weight[n];
        two[key[n + 1] * levels + code[n + 1]] += weight[n + 1];
        three[key[n + 2] * levels + code[n + 2]] += weight[n + 2];
        four[key[n + 3] * levels + code[n + 3]] += weight[n + 3];
    }
    for (; n < d->rows; n++) counts[key[n] * levels + code[n]] += weight[n];
    for (int64_t k = 0; k < cells; k++) counts[k] += two[k] + three[k] + four[k];
}

/* The occupied states of a set as bitmaps, column by column; whether it has few enough. */
static int64_t split_into(Scorer *s, const Set *set, Split *made)
{
    const Split *from = &s->whole;
    if (!s->bitmaps.of || !from->groups) return 0;
    int64_t left = count_of(set);
    if (!left) {
        if (!has_room(made, MOST_BIT_GROUPS, s->bitmaps.words)) return 0;
        memcpy(made->rows, from->rows, (size_t)s->bitmaps.words * sizeof *from->rows);
        made->total[0] = from->total[0];
        made->groups = 1;
        return 1;
    }
    for (int64_t p = 0; p < s->data.nodes; p++) {
        if (!has(set, p)) continue;
        Split *to = --left & 1 ? &s->spare : made;
        if (!split_by(&s->bitmaps, from, p, s->data.levels[p], to)) return 0;
        from = to;
    }
    return 1;
}

/* The states of a set, in place of the one that was used the longest time ago. */
static Base *base_of(Scorer *s, const Set *set)
{
    Base *oldest = &s->bases[0];
    for (int b = 1; b < BASES; b++) if (s->bases[b].used < oldest->used) oldest = &s->bases[b];
    oldest->set = *set;
    oldest->groups = 0;
    oldest->ready = 1;
    oldest->bits = oldest->again = 0;
    oldest->states = 1.0;
    for (int64_t p = 0; p < s->data.nodes; p++)
        if (has(set, p)) oldest->states *= (double)s->data.levels[p];
    return oldest;
}

/* Whether intersections are fewer steps than rows; a set is split when it is extended for the second time. */
static int64_t is_by_bits(Scorer *s, Base *base, int64_t column)
{
    if (!s->bitmaps.of || !s->bitmaps.of[column]) return 0;
    if (base->again++ == USES_BEFORE_SPLIT) base->bits = split_into(s, &base->set, &base->split);
    if (!base->bits) return 0;
    return base->split.groups * (s->data.levels[column] - 1) * (s->bitmaps.words + SETUP_WORDS) <= WORDS_PER_ROW * s->data.rows;
}

static double joint_evidence(Scorer *s, const Set *set)
{
    const Data *d = &s->data;
    const int64_t limit = d->rows / 8 > 256 ? d->rows / 8 : 256;
    Base *base = NULL;
    int64_t last = -1;
    for (int b = 0; b < BASES && !base; b++) {
        if (!s->bases[b].ready || !within(&s->bases[b].set, set) || count_of(&s->bases[b].set) + 1 != count_of(set)) continue;
        base = &s->bases[b];
    }
    if (!base) {
        Set less = *set;
        int64_t out = -1;
        for (int64_t p = 0; p < d->nodes; p++) if (has(set, p)) out = s->hint >= 0 && has(set, s->hint) ? s->hint : p;
        drop(&less, out);
        base = base_of(s, &less);
    }
    base->used = ++s->clock;
    for (int64_t p = 0; p < d->nodes; p++) if (has(set, p) && !has(&base->set, p)) last = p;
    const int64_t levels = d->levels[last], by_bits = is_by_bits(s, base, last);
    if (!by_bits && !base->groups) base->groups = group_rows(s, base->key, &base->set, limit);
    const int64_t cells = (by_bits ? base->split.groups : base->groups) * levels;
    int32_t *counts = cleared(s, cells > 4096 ? cells : 4 * cells);
    if (!counts) return UNKNOWN;
    if (by_bits) count_levels(&s->bitmaps, &base->split, last, levels, counts);
    else add_up(d, counts, base->key, d->codes + last * d->rows, (uint32_t)levels, cells);
    const double states = base->states * (double)levels, alpha = d->strength / states;
    Memo *memo = memo_of(s, alpha, states);
    double score = table_group(&alpha, &d->total, &states);
    for (int64_t k = 0; k < cells; k++)
        if (counts[k]) score += cell_term(s, memo, alpha, states, counts[k]);
    s->counted++;
    return score;
}
