/* Greedy steps over networks, one arc added, removed or reversed at a time, with a memory of where it has been.
 *
 * By Lemma 6.3 an arc changes one local score (a reversal two), so after a step one column of gains is computed anew.
 */

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    return mixed(*state);
}

/* Whether a directed path leads from one node to another, leaving out one arc. */
static int leads(const Set *parents, int64_t from, int64_t to, int64_t skip_from, int64_t skip_to)
{
    Set seen = only(to), fresh = seen;
    while (!is_empty(fresh)) {
        Set next = NOBODY;
        for EACH(at, fresh) {
            Set above = parents[at];
            if (at == skip_to) drop(&above, skip_from);
            next = both_of(next, above);
        }
        if (has(&next, from)) return 1;
        fresh = less_of(next, seen);
        seen = both_of(seen, fresh);
    }
    return 0;
}

static void gains_into(Scorer *s, const Set *parents, double *gain, int64_t child)
{
    const Data *d = &s->data;
    const double here = local_score(s, child, &parents[child]);
    for (int64_t p = 0; p < d->nodes; p++) {
        double value = -INFINITY;
        Set other = parents[child];
        if (has(&other, p)) {
            drop(&other, p);
            if (!has(&d->required[child], p)) value = local_score(s, child, &other) - here;
        } else if (p != child && has(&d->allowed[child], p) && count_of(&other) < d->most) {
            put(&other, p);
            s->hint = p;
            value = local_score(s, child, &other) - here;
        }
        gain[p * d->nodes + child] = value;
    }
    s->hint = -1;
}

static uint64_t arc_mark(int64_t p, int64_t c) { return mixed((uint64_t)(p * 65536 + c) + 77); }

/* Climb from `parents`; up to `patience` steps without a new best, never back to one of the last `memory` networks. */
double climb(Scorer *s, Set *parents, int64_t memory, int64_t patience, const volatile int32_t *stop)
{
    const int64_t nodes = s->data.nodes;
    double *gain = malloc((size_t)(nodes * nodes) * sizeof *gain);
    Set *best = malloc((size_t)nodes * sizeof *best);
    uint64_t *past = calloc((size_t)(memory + 1), sizeof *past), mark = 0;
    double score = 0.0, best_score;
    int64_t waited = 0, steps = 0;
    for (int64_t c = 0; c < nodes; c++) {
        gains_into(s, parents, gain, c);
        score += local_score(s, c, &parents[c]);
        for (int64_t p = 0; p < nodes; p++) if (has(&parents[c], p)) mark ^= arc_mark(p, c);
    }
    best_score = score;
    memcpy(best, parents, (size_t)nodes * sizeof *best);
    while (!*stop) {
        double top = memory ? -INFINITY : 1e-9;
        int64_t from = -1, to = -1, turn = 0;
        for (int64_t p = 0; p < nodes; p++) for (int64_t c = 0; c < nodes; c++) {
            const double one = gain[p * nodes + c];
            if (p == c || one == -INFINITY) continue;
            const int there = has(&parents[c], p);
            for (int flip = 0; flip <= there; flip++) {
                double value = one;
                if (flip) {
                    const double back = gain[c * nodes + p];
                    if (back == -INFINITY) continue;
                    value += back;
                }
                if (value <= top) continue;
                uint64_t after = mark ^ arc_mark(p, c) ^ (flip ? arc_mark(c, p) : 0);
                int known = 0;
                for (int64_t k = 0; k < memory; k++) known |= past[k] == after;
                if (known) continue;
                if (!there && leads(parents, c, p, -1, -1)) continue;
                if (flip && leads(parents, p, c, p, c)) continue;
                top = value; from = p; to = c; turn = flip;
            }
        }
        if (from < 0) break;
        if (memory) past[steps++ % memory] = mark;
        mark ^= arc_mark(from, to);
        score += top;
        if (has(&parents[to], from)) drop(&parents[to], from); else put(&parents[to], from);
        if (turn) { put(&parents[from], to); mark ^= arc_mark(to, from); gains_into(s, parents, gain, from); }
        gains_into(s, parents, gain, to);
        if (score > best_score + 1e-9) { best_score = score; waited = 0; memcpy(best, parents, (size_t)nodes * sizeof *best); }
        else if (++waited > patience) break;
    }
    memcpy(parents, best, (size_t)nodes * sizeof *best);
    free(gain); free(best); free(past);
    double total = 0.0;
    for (int64_t c = 0; c < nodes; c++) total += local_score(s, c, &parents[c]);
    return total;
}

/* Some random legal arc changes, to begin again elsewhere. */
void shake(Scorer *s, Set *parents, int64_t changes, uint64_t seed)
{
    const Data *d = &s->data;
    for (int64_t tries = 0; changes > 0 && tries < 1000; tries++) {
        const int64_t p = (int64_t)(next_random(&seed) % (uint64_t)d->nodes), c = (int64_t)(next_random(&seed) % (uint64_t)d->nodes);
        if (p == c || !has(&d->allowed[c], p)) continue;
        if (has(&parents[c], p)) {
            if (has(&d->required[c], p)) continue;
            drop(&parents[c], p);
        } else {
            if (count_of(&parents[c]) >= d->most || leads(parents, c, p, -1, -1)) continue;
            put(&parents[c], p);
        }
        changes--;
    }
}
