/* Scores of every node with every allowed set of parents, for sums and maxima over all networks.
 *
 *     scores[node][parents without the node's own bit]
 *
 * Where Markov-equivalent networks score the same, the log evidence of a set of columns does not hang on the way they
 * are taken in, and a local score is the difference of two sets: 2^n evidences instead of n 2^(n-1).
 */

static int64_t squeezed(int64_t set, int64_t node)
{
    const int64_t low = ((int64_t)1 << node) - 1;
    return (set & low) | ((set >> 1) & ~low);
}

static Set as_set(int64_t bits)
{
    Set set = NOBODY;
    set.word[0] = (uint64_t)bits;
    return set;
}

int64_t fill_scores(Scorer *s, double *scores, int64_t equivalent, const volatile int32_t *stop)
{
    const Data *d = &s->data;
    const int64_t nodes = d->nodes, sets = (int64_t)1 << nodes, half = sets / 2;
    double *joint = equivalent ? malloc((size_t)sets * sizeof *joint) : NULL;
    if (equivalent && !joint) return 1;
    for (int64_t k = 0; k < nodes * half; k++) scores[k] = -INFINITY;
    if (joint) joint[0] = 0.0;
    for (int64_t bits = 1; bits < sets && !*stop; bits++) {
        if (__builtin_popcountll((uint64_t)bits) > d->most + 1) continue;
        if (joint && d->equivalent) {
            const Set all = as_set(bits);
            joint[bits] = joint_evidence(s, &all);
        } else if (joint) {
            const int64_t last = 63 - __builtin_clzll((uint64_t)bits);
            const Set rest = as_set(bits & ~((int64_t)1 << last));
            joint[bits] = joint[bits & ~((int64_t)1 << last)] + evidence_of(s, last, &rest);
        }
        for (int64_t child = 0; child < nodes; child++) {
            if (!(bits >> child & 1)) continue;
            const int64_t above = bits & ~((int64_t)1 << child);
            const Set parents = as_set(above);
            if (!within(&parents, &d->allowed[child]) || !within(&d->required[child], &parents)) continue;
            const double found = joint ? joint[bits] - joint[above] : evidence_of(s, child, &parents);
            scores[child * half + squeezed(above, child)] = found + prior_of(s, child, &parents);
        }
    }
    free(joint);
    return s->lacking;
}
