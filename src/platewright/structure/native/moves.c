/* Moves of a Markov chain over networks, each of which leaves the posterior as it is.
 *
 * `outcomes` lists where a proposal leads from a network, with probabilities that add up to one. The chain draws from
 * this list, and the laws add it up over all proposals to the transition matrix.
 */

enum { TOGGLE = 0, REVERSE = 1, SWAP = 2, REDRAW = 3 };
#define WIDEST 5
#define MOST_OUTCOMES ((1 << WIDEST) + 1)

/* The node and all that directed arcs lead to from it. */
static Set below(const Set *state, int64_t nodes, int64_t node)
{
    Set reached = NOBODY, frontier = NOBODY;
    put(&reached, node);
    put(&frontier, node);
    for (int more = 1; more;) {
        Set found = NOBODY;
        more = 0;
        for (int64_t child = 0; child < nodes; child++) {
            if (has(&reached, child)) continue;
            for (int k = 0; k < WORDS; k++)
                if (state[child].word[k] & frontier.word[k]) { put(&found, child); more = 1; break; }
        }
        for (int k = 0; k < WORDS; k++) reached.word[k] |= found.word[k];
        frontier = found;
    }
    return reached;
}

static int is_cyclic(const Set *state, int64_t nodes)
{
    Set placed = NOBODY;
    int64_t left = nodes;
    for (int moved = 1; moved && left;) {
        moved = 0;
        for (int64_t node = 0; node < nodes; node++)
            if (!has(&placed, node) && within(&state[node], &placed)) { put(&placed, node); left--; moved = 1; }
    }
    return left > 0;
}

static int keeps_rules(const Data *d, int64_t node, const Set *parents)
{
    return within(parents, &d->allowed[node]) && within(&d->required[node], parents) && count_of(parents) <= d->most;
}

static int64_t one_change(Scorer *s, const Set *state, Set *made, double *probability)
{
    const int64_t nodes = s->data.nodes;
    double ratio = 0.0;
    for (int64_t node = 0; node < nodes; node++) {
        if (same(&made[node], &state[node])) continue;
        if (!keeps_rules(&s->data, node, &made[node])) return 0;
        ratio += local_score(s, node, &made[node]) - local_score(s, node, &state[node]);
    }
    if (is_cyclic(made, nodes)) return 0;
    probability[0] = ratio < 0.0 ? exp(ratio) : 1.0;
    return 1;
}

/* Which of a block of nodes are parents of the first, drawn from its conditional given all else. */
static int64_t redrawn(Scorer *s, const Set *state, const int64_t *chosen, Set *made, double *probability)
{
    const Data *d = &s->data;
    const int64_t nodes = d->nodes, node = chosen[0];
    const Set under = below(state, nodes, node);
    int64_t free[WIDEST], width = 0, count = 0;
    Set kept = state[node];
    for (int64_t k = 1; k <= WIDEST && chosen[k] >= 0; k++) {
        const int64_t other = chosen[k];
        if (has(&under, other) || !has(&d->allowed[node], other) || has(&d->required[node], other)) continue;
        free[width++] = other;
        drop(&kept, other);
    }
    double top = -INFINITY, total = 0.0;
    for (int64_t code = 0; code < (int64_t)1 << width; code++) {
        Set parents = kept;
        for (int64_t k = 0; k < width; k++) if (code >> k & 1) put(&parents, free[k]);
        if (count_of(&parents) > d->most) continue;
        memcpy(made + count * nodes, state, (size_t)nodes * sizeof *made);
        made[count * nodes + node] = parents;
        probability[count] = local_score(s, node, &parents);
        if (probability[count] > top) top = probability[count];
        count++;
    }
    for (int64_t k = 0; k < count; k++) { probability[k] = exp(probability[k] - top); total += probability[k]; }
    for (int64_t k = 0; k < count; k++) probability[k] /= total;
    return count;
}

/* Where a proposal leads: `made` holds the networks one after another; what is left of 1 stays where it is. */
int64_t outcomes(Scorer *s, const Set *state, int64_t kind, const int64_t *chosen, Set *made, double *probability)
{
    const int64_t nodes = s->data.nodes, one = chosen[0], two = chosen[1];
    if (kind == REDRAW) return redrawn(s, state, chosen, made, probability);
    memcpy(made, state, (size_t)nodes * sizeof *made);
    if (kind == TOGGLE) {
        if (has(&made[two], one)) drop(&made[two], one); else put(&made[two], one);
    } else if (kind == REVERSE) {
        if (!has(&made[two], one)) return 0;
        drop(&made[two], one);
        put(&made[one], two);
    } else {
        const Set held = made[one];
        made[one] = made[two];
        made[two] = held;
        for (int64_t node = 0; node < nodes; node++) {
            const int first = has(&made[node], one), second = has(&made[node], two);
            if (first == second) continue;
            drop(&made[node], first ? one : two);
            put(&made[node], first ? two : one);
        }
    }
    return one_change(s, state, made, probability);
}

static double uniform(uint64_t *random) { return (double)(next_random(random) >> 11) * 0x1p-53; }
static int64_t below_count(uint64_t *random, int64_t count) { return (int64_t)(uniform(random) * (double)count); }

static int64_t propose(int64_t nodes, uint64_t *random, const double *shares, int64_t *chosen)
{
    const double at = uniform(random);
    int64_t kind = at < shares[0] ? TOGGLE : at < shares[0] + shares[1] ? REVERSE
                 : at < shares[0] + shares[1] + shares[2] ? SWAP : REDRAW;
    chosen[0] = below_count(random, nodes);
    int64_t wanted = kind == REDRAW ? (nodes - 1 < WIDEST ? nodes - 1 : WIDEST) : 1;
    for (int64_t k = 1; k <= wanted; k++)
        for (int again = 1; again;) {
            chosen[k] = below_count(random, nodes);
            again = 0;
            for (int64_t j = 0; j < k; j++) again |= chosen[j] == chosen[k];
        }
    for (int64_t k = wanted + 1; k <= WIDEST; k++) chosen[k] = -1;
    return kind;
}

/* Go on from `state`: `draws` networks with their scores, `thin` moves before each; returns how many moves moved. */
int64_t walk(Scorer *s, Set *state, int64_t draws, int64_t thin, const double *shares, uint64_t *random, Set *kept,
             double *scores, const volatile int32_t *stop)
{
    const int64_t nodes = s->data.nodes;
    int64_t moved = 0, chosen[WIDEST + 1];
    double probability[MOST_OUTCOMES];
    if (nodes < 2) thin = 0;
    Set *made = malloc((size_t)(MOST_OUTCOMES * nodes) * sizeof *made);
    if (!made) { s->lacking = 1; return 0; }
    for (int64_t draw = 0; draw < draws && !*stop; draw++) {
        for (int64_t step = 0; step < thin; step++) {
            const int64_t kind = propose(nodes, random, shares, chosen);
            const int64_t count = outcomes(s, state, kind, chosen, made, probability);
            double left = uniform(random);
            for (int64_t k = 0; k < count; k++) {
                left -= probability[k];
                if (left >= 0.0) continue;
                moved += memcmp(state, made + k * nodes, (size_t)nodes * sizeof *state) != 0;
                memcpy(state, made + k * nodes, (size_t)nodes * sizeof *state);
                break;
            }
        }
        if (!kept) continue;
        memcpy(kept + draw * nodes, state, (size_t)nodes * sizeof *state);
        scores[draw] = 0.0;
        for (int64_t node = 0; node < nodes; node++) scores[draw] += local_score(s, node, &state[node]);
    }
    free(made);
    return moved;
}
