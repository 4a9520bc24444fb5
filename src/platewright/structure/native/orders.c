/* Best-order score search with grow-shrink trees (Andrews, Ramsey, Sanchez-Romero, Camchong and Kummerfeld, 2023).
 *
 * An order of the nodes stands for the network in which each node takes, among the nodes before it, the parents that
 * growing and then shrinking finds. The tree of a node keeps every path that growing has gone:
 *
 *     {} -> {a} -> {a, c}        a branch for each parent that would raise the score, the best first; the first branch
 *        -> {b}                  that lies before the node in the order is taken
 */

typedef struct { Set set, shrunk; double score, shrunk_score; int64_t first, count; } Grown;
typedef struct { double score; int64_t node, tree; } Branch;
typedef struct {
    Grown *grown; int64_t grown_count, grown_room;
    Branch *branches; int64_t branch_count, branch_room;
} Forest;

static int64_t plant(Forest *f, Set set, double score)
{
    if (f->grown_count == f->grown_room) {
        f->grown_room = f->grown_room ? 2 * f->grown_room : 1024;
        f->grown = realloc(f->grown, (size_t)f->grown_room * sizeof *f->grown);
    }
    f->grown[f->grown_count] = (Grown){set, set, score, UNKNOWN, -1, 0};
    return f->grown_count++;
}

static int by_score(const void *a, const void *b)
{
    const double x = ((const Branch *)a)->score, y = ((const Branch *)b)->score;
    return x < y ? 1 : x > y ? -1 : (int)(((const Branch *)a)->node - ((const Branch *)b)->node);
}

static void grow(Scorer *s, Forest *f, int64_t at, int64_t child)
{
    const Data *d = &s->data;
    const Set set = f->grown[at].set;
    if (f->branch_count + d->nodes > f->branch_room) {
        f->branch_room = 2 * f->branch_room + d->nodes;
        f->branches = realloc(f->branches, (size_t)f->branch_room * sizeof *f->branches);
    }
    const int64_t first = f->branch_count;
    if (count_of(&set) < d->most)
        for (int64_t p = 0; p < d->nodes; p++) {
            if (p == child || has(&set, p) || !has(&d->allowed[child], p)) continue;
            Set more = set;
            put(&more, p);
            s->hint = p;
            const double score = local_score(s, child, &more);
            if (score > f->grown[at].score) f->branches[f->branch_count++] = (Branch){score, p, -1};
        }
    s->hint = -1;
    qsort(f->branches + first, (size_t)(f->branch_count - first), sizeof *f->branches, by_score);
    f->grown[at].first = first;
    f->grown[at].count = f->branch_count - first;
}

static void shrink(Scorer *s, Grown *g, int64_t child)
{
    g->shrunk = g->set;
    g->shrunk_score = g->score;
    for (;;) {
        double top = g->shrunk_score;
        int64_t worst = -1;
        for (int64_t p = 0; p < s->data.nodes; p++) {
            if (!has(&g->shrunk, p) || has(&s->data.required[child], p)) continue;
            Set less = g->shrunk;
            drop(&less, p);
            const double score = local_score(s, child, &less);
            if (score > top) { top = score; worst = p; }
        }
        if (worst < 0) return;
        drop(&g->shrunk, worst);
        g->shrunk_score = top;
    }
}

/* The score of a node after a set of others, and the parents it takes. */
static double trace(Scorer *s, Forest *f, int64_t child, const Set *before, Set *parents)
{
    int64_t at = child;
    if (!within(&s->data.required[child], before)) return -INFINITY;
    for (;;) {
        if (f->grown[at].first < 0) grow(s, f, at, child);
        int64_t taken = -1;
        for (int64_t k = 0; k < f->grown[at].count; k++)
            if (has(before, f->branches[f->grown[at].first + k].node)) { taken = f->grown[at].first + k; break; }
        if (taken < 0) break;
        if (f->branches[taken].tree < 0) {
            Set more = f->grown[at].set;
            put(&more, f->branches[taken].node);
            const int64_t tree = plant(f, more, f->branches[taken].score);
            f->branches[taken].tree = tree;
        }
        at = f->branches[taken].tree;
    }
    if (f->grown[at].shrunk_score == UNKNOWN) shrink(s, &f->grown[at], child);
    if (parents) *parents = f->grown[at].shrunk;
    return f->grown[at].shrunk_score;
}

Forest *open_forest(Scorer *s)
{
    Forest *f = calloc(1, sizeof *f);
    for (int64_t c = 0; c < s->data.nodes; c++)
        plant(f, s->data.required[c], local_score(s, c, &s->data.required[c]));
    return f;
}

void close_forest(Forest *f) { free(f->grown); free(f->branches); free(f); }

/* Move one node after another to its best place until none moves; the order and its network are changed in place. */
double best_order(Scorer *s, Forest *f, int64_t *order, Set *parents, const volatile int32_t *stop)
{
    const int64_t nodes = s->data.nodes;
    int64_t *others = malloc((size_t)nodes * sizeof *others), *turns = malloc((size_t)nodes * sizeof *turns);
    double *ahead = malloc((size_t)(nodes + 1) * 3 * sizeof *ahead);
    double *own = ahead + nodes + 1, *behind = own + nodes + 1;
    for (int moved = 1; moved && !*stop;) {
        moved = 0;
        memcpy(turns, order, (size_t)nodes * sizeof *turns);
        for (int64_t turn = 0; turn < nodes && !*stop; turn++) {
            const int64_t v = turns[turn];
            int64_t place = 0, count = 0;
            for (int64_t k = 0; k < nodes; k++) if (order[k] == v) place = k; else others[count++] = order[k];
            Set before = NOBODY;
            ahead[0] = 0.0;
            for (int64_t k = 0; k <= count; k++) {
                own[k] = trace(s, f, v, &before, NULL);
                if (k == count) break;
                ahead[k + 1] = ahead[k] + trace(s, f, others[k], &before, NULL);
                put(&before, others[k]);
            }
            behind[count] = 0.0;
            put(&before, v);
            for (int64_t k = count - 1; k >= 0; k--) {
                drop(&before, others[k]);
                behind[k] = behind[k + 1] + trace(s, f, others[k], &before, NULL);
            }
            int64_t best = place;
            double top = ahead[place] + own[place] + behind[place] + 1e-9;
            for (int64_t k = 0; k <= count; k++)
                if (ahead[k] + own[k] + behind[k] > top) { top = ahead[k] + own[k] + behind[k]; best = k; }
            if (best == place) continue;
            moved = 1;
            memcpy(order, others, (size_t)best * sizeof *order);
            order[best] = v;
            memcpy(order + best + 1, others + best, (size_t)(count - best) * sizeof *order);
        }
    }
    double total = 0.0;
    Set before = NOBODY;
    for (int64_t k = 0; k < nodes; k++) {
        total += trace(s, f, order[k], &before, &parents[order[k]]);
        put(&before, order[k]);
    }
    free(others); free(turns); free(ahead);
    return total;
}
