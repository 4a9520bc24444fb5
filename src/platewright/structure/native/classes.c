/* Greedy search over Markov equivalence classes (Chickering, 2002); `classes.py` has the moves and what they gain.
 *
 *     above[y]    nodes with an arc into y that all networks of the class have
 *     near[y]     nodes with a line to y, which some of them turn
 *
 * What a pair of nodes gains hangs on little of the graph, so it is kept until that changes.
 */

typedef struct { int64_t nodes; Set *above, *near, *below, *joined; } Pattern;

static void complete(Pattern *g)
{
    for (int64_t c = 0; c < g->nodes; c++) g->below[c] = NOBODY;
    for (int64_t c = 0; c < g->nodes; c++) for EACH(p, g->above[c]) put(&g->below[p], c);
    for (int64_t c = 0; c < g->nodes; c++) g->joined[c] = both_of(both_of(g->above[c], g->below[c]), g->near[c]);
}

/* Rooms for a graph of so many nodes, one after another in one piece. */
static int open_pattern(Pattern *g, int64_t nodes)
{
    Set *all = malloc((size_t)(4 * nodes) * sizeof *all);
    *g = (Pattern){nodes, all, all + nodes, all + 2 * nodes, all + 3 * nodes};
    return all != NULL;
}

static int is_forced(const Pattern *g, int64_t parent, int64_t child)
{
    if (!is_empty(less_of(g->above[parent], g->joined[child]))) return 1;
    for EACH(middle, g->above[child]) if (has(&g->above[middle], parent)) return 1;
    const Set loose = shared_of(g->near[parent], g->above[child]);
    for EACH(one, loose) if (!is_empty(less_of(less_of(loose, g->joined[one]), only(one)))) return 1;
    return 0;
}

/* The class of a network: arcs into colliders whose parents are not joined, and what these force (Meek, 1995). */
static void take_class(Pattern *g, const Set *state)
{
    for (int64_t c = 0; c < g->nodes; c++) g->joined[c] = state[c];
    for (int64_t c = 0; c < g->nodes; c++) for EACH(p, state[c]) put(&g->joined[p], c);
    for (int64_t c = 0; c < g->nodes; c++) {
        g->above[c] = NOBODY;
        for EACH(p, state[c]) if (!is_empty(less_of(less_of(state[c], g->joined[p]), only(p)))) put(&g->above[c], p);
    }
    for (int64_t c = 0; c < g->nodes; c++) g->near[c] = less_of(g->joined[c], g->above[c]);
    for (int64_t c = 0; c < g->nodes; c++) for EACH(p, g->above[c]) drop(&g->near[p], c);
    for (int changed = 1; changed;) {
        changed = 0;
        for (int64_t child = 0; child < g->nodes; child++) {
            const Set lines = g->near[child];
            for EACH(parent, lines) {
                if (!has(&g->near[child], parent) || !is_forced(g, parent, child)) continue;
                put(&g->above[child], parent);
                drop(&g->near[child], parent);
                drop(&g->near[parent], child);
                changed = 1;
            }
        }
    }
    complete(g);
}

/* A network with these arcs whose lines make no new collider (Dor and Tarsi, 1992); 0 where there is none. */
static int take_network(const Pattern *g, Set *made)
{
    Set left = NOBODY;
    for (int64_t c = 0; c < g->nodes; c++) { put(&left, c); made[c] = g->above[c]; }
    while (!is_empty(left)) {
        int64_t sink = -1;
        for EACH(node, left) {
            if (!is_empty(shared_of(g->below[node], left))) continue;
            const Set lines = shared_of(g->near[node], left), beside = shared_of(g->joined[node], left);
            int fits = 1;
            for EACH(one, lines) fits &= is_empty(less_of(less_of(beside, only(one)), g->joined[one]));
            if (!fits) continue;
            made[node] = both_of(made[node], lines);
            sink = node;
            break;
        }
        if (sink < 0) return 0;
        drop(&left, sink);
    }
    return 1;
}

/* -- moves -------------------------------------------------------------------------------------------------------- */

typedef struct { double gain; Set turned; } Turn;
typedef struct { Turn *at; int64_t count, room, ready; uint64_t hangs_on; } Turns;

static void note(Scorer *s, Turns *found, double gain, Set turned)
{
    if (found->count == found->room) {
        Turn *more = realloc(found->at, (size_t)(2 * found->room + 4) * sizeof *more);
        if (!more) { s->lacking = 1; return; }
        found->at = more;
        found->room = 2 * found->room + 4;
    }
    found->at[found->count++] = (Turn){gain, turned};
}

/* All cliques that a clique grows to by members of `free` from a node on; each is scored, with or without x. */
static void over_cliques(Scorer *s, const Pattern *g, int64_t x, int64_t y, Set clique, Set free, int64_t from, Set all,
                         int inserting, Turns *found)
{
    const Set without = less_of(both_of(clique, g->above[y]), only(x));
    Set with = without;
    put(&with, x);
    if (count_of(&without) < s->data.most) {
        s->hint = x;
        const double change = local_score(s, y, &with) - local_score(s, y, &without);
        const double gain = inserting ? change : -change;
        if (gain > LEAST_GAIN) note(s, found, gain, inserting ? shared_of(clique, all) : less_of(all, clique));
        s->hint = -1;
    }
    for (int64_t node = from; node < g->nodes; node++) {
        if (!has(&free, node) || !within(&clique, &g->joined[node])) continue;
        Set more = clique;
        put(&more, node);
        over_cliques(s, g, x, y, more, free, node + 1, all, inserting, found);
    }
}

/* What gains for one pair, whether or not something blocks the ways. */
static void find_turns(Scorer *s, const Pattern *g, int64_t x, int64_t y, int inserting, Turns *found)
{
    const Set shared = shared_of(g->near[y], g->joined[x]);
    found->count = 0;
    if (inserting) {
        if (has(&g->joined[y], x)) return;
        for EACH(one, shared) if (!is_empty(less_of(less_of(shared, g->joined[one]), only(one)))) return;
        const Set free = less_of(g->near[y], shared);
        over_cliques(s, g, x, y, shared, free, 0, free, 1, found);
    } else if (has(&g->above[y], x) || has(&g->near[y], x)) over_cliques(s, g, x, y, NOBODY, shared, 0, shared, 0, found);
}

/* Whether arcs and lines lead from one node to another, never against an arc nor through what is blocked. */
static int leads_to(const Pattern *g, int64_t from, int64_t to, Set blocked)
{
    Set reached = only(from), fresh = reached;
    while (!is_empty(fresh)) {
        Set next = NOBODY;
        for EACH(at, fresh) next = both_of(next, both_of(g->below[at], g->near[at]));
        fresh = less_of(less_of(next, reached), blocked);
        if (has(&fresh, to)) return 1;
        reached = both_of(reached, fresh);
    }
    return 0;
}

/* The graph after a move; 0 where a way from y to x is left open. */
static int turn(const Pattern *g, int64_t x, int64_t y, Set turned, int inserting, Pattern *made)
{
    memcpy(made->above, g->above, (size_t)g->nodes * sizeof *g->above);
    memcpy(made->near, g->near, (size_t)g->nodes * sizeof *g->near);
    if (inserting) {
        if (leads_to(g, y, x, both_of(shared_of(g->near[y], g->joined[x]), turned))) return 0;
        made->above[y] = both_of(both_of(made->above[y], turned), only(x));
        made->near[y] = less_of(made->near[y], turned);
        for EACH(node, turned) drop(&made->near[node], y);
    } else {
        drop(&made->above[y], x);
        made->near[y] = less_of(less_of(made->near[y], turned), only(x));
        drop(&made->near[x], y);
        for EACH(node, turned) {
            drop(&made->near[node], y);
            put(&made->above[node], y);
            if (!has(&made->near[x], node)) continue;
            drop(&made->near[x], node);
            drop(&made->near[node], x);
            put(&made->above[node], x);
        }
    }
    complete(made);
    return 1;
}

/* -- the search --------------------------------------------------------------------------------------------------- */

static uint64_t hashed(uint64_t hash, const Set *set)
{
    for (int k = 0; k < WORDS; k++) hash = mixed(hash ^ set->word[k]) + 0x9e3779b97f4a7c15u;
    return hash;
}

static void refresh(Scorer *s, const Pattern *g, int inserting, Turns *kept)
{
    for (int64_t y = 0; y < g->nodes; y++) {
        uint64_t around = hashed(hashed(1, &g->above[y]), &g->near[y]);
        for EACH(node, g->near[y]) { const Set there = shared_of(g->joined[node], g->near[y]); around = hashed(around, &there); }
        const Set matters = both_of(g->near[y], only(y));
        for (int64_t x = 0; x < g->nodes; x++) {
            if (x == y) continue;
            Turns *found = &kept[x * g->nodes + y];
            const Set there = shared_of(g->joined[x], matters);
            const uint64_t hangs_on = hashed(around, &there);
            if (found->ready && found->hangs_on == hangs_on) continue;
            find_turns(s, g, x, y, inserting, found);
            found->hangs_on = hangs_on;
            found->ready = 1;
        }
    }
}

typedef struct { double gain; int64_t x, y; const Set *turned; } Choice;
typedef struct { Choice *at; int64_t count, room; } Heap;

static void sift(Heap *h, int64_t at)
{
    for (;;) {
        int64_t top = at;
        for (int64_t k = 2 * at + 1; k <= 2 * at + 2 && k < h->count; k++) if (h->at[k].gain > h->at[top].gain) top = k;
        if (top == at) return;
        const Choice held = h->at[at];
        h->at[at] = h->at[top];
        h->at[top] = held;
        at = top;
    }
}

static int pile_up(const Turns *kept, int64_t nodes, Heap *h)
{
    h->count = 0;
    for (int64_t pair = 0; pair < nodes * nodes; pair++) {
        if (h->count + kept[pair].count > h->room) {
            h->room = 2 * (h->count + kept[pair].count);
            Choice *more = realloc(h->at, (size_t)h->room * sizeof *more);
            if (!more) return 0;
            h->at = more;
        }
        for (int64_t k = 0; k < kept[pair].count; k++)
            h->at[h->count++] = (Choice){kept[pair].at[k].gain, pair / nodes, pair % nodes, &kept[pair].at[k].turned};
    }
    for (int64_t k = h->count / 2 - 1; k >= 0; k--) sift(h, k);
    return 1;
}

/* The best move that can be made, made; 0 where there is none. */
static double best_turn(const Pattern *g, int inserting, Heap *h, Pattern *made, Set *found, Set *state)
{
    while (h->count) {
        const Choice best = h->at[0];
        h->at[0] = h->at[--h->count];
        sift(h, 0);
        if (!turn(g, best.x, best.y, *best.turned, inserting, made) || !take_network(made, found)) continue;
        memcpy(state, found, (size_t)g->nodes * sizeof *state);
        return best.gain;
    }
    return 0.0;
}

/* Inserts, or deletes, while one gains; what they gained in all. The network is changed in place. */
double climb_classes(Scorer *s, Set *state, int64_t inserting, const volatile int32_t *stop)
{
    const int64_t nodes = s->data.nodes;
    Pattern g, made;
    double gained = 0.0;
    Turns *kept = calloc((size_t)(nodes * nodes), sizeof *kept);
    Set *found = malloc((size_t)nodes * sizeof *found);
    Heap heap = {NULL, 0, 0};
    const int roomy = open_pattern(&g, nodes) & open_pattern(&made, nodes);
    if (!roomy || !kept || !found) s->lacking = 1;
    while (!s->lacking && !*stop) {
        take_class(&g, state);
        refresh(s, &g, (int)inserting, kept);
        if (!pile_up(kept, nodes, &heap)) s->lacking = 1;
        const double gain = s->lacking ? 0.0 : best_turn(&g, (int)inserting, &heap, &made, found, state);
        if (gain == 0.0) break;
        gained += gain;
    }
    if (kept) for (int64_t k = 0; k < nodes * nodes; k++) free(kept[k].at);
    free(kept); free(heap.at); free(found); free(g.above); free(made.above);
    return gained;
}

/* -- one at a time, for who wants to look --------------------------------------------------------------------------- */

/* The class of a network: arcs into `above`, lines into `near`. */
int64_t class_of(int64_t nodes, const Set *state, Set *above, Set *near)
{
    Pattern g;
    if (!open_pattern(&g, nodes)) return 0;
    take_class(&g, state);
    memcpy(above, g.above, (size_t)nodes * sizeof *above);
    memcpy(near, g.near, (size_t)nodes * sizeof *near);
    free(g.above);
    return 1;
}

/* Networks that the moves of one pair lead to, and what each gains; how many. */
int64_t turns_of(Scorer *s, const Set *state, int64_t x, int64_t y, int64_t inserting, int64_t most, Set *networks, double *gains)
{
    const int64_t nodes = s->data.nodes;
    Pattern g, made;
    Turns found = {NULL, 0, 0, 0, 0};
    int64_t count = 0;
    if (!(open_pattern(&g, nodes) & open_pattern(&made, nodes))) s->lacking = 1;
    else {
        take_class(&g, state);
        find_turns(s, &g, x, y, (int)inserting, &found);
        for (int64_t k = 0; k < found.count && count < most; k++)
            if (turn(&g, x, y, found.at[k].turned, (int)inserting, &made) && take_network(&made, networks + count * nodes))
                gains[count++] = found.at[k].gain;
    }
    free(found.at); free(g.above); free(made.above);
    return count;
}
