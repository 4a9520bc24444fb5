/* Trees with options: at each node its leaf, and the questions that are kept, each with a node for each answer.
 *
 *     value(node) = log [ (1 - s) p(rows | leaf) + sum over questions of s q exp(sum over answers of value(child)) ]
 *
 * s(depth) is the prior probability of a split, q = 1 / (inputs x questions of the input) among those that part the
 * rows. With all questions kept the value is the sum over all trees; `best` has the maximum in place of the sum.
 * `table_cell`, `table_group` and `regression` are printed from the derivation.
 */
enum { CLASSES = 0, NUMBERS = 1 };
enum { BELOW = 0, LEVEL = 1, EVERY = 2 };
#define MEMO 65536

typedef struct {
    int64_t rows, inputs, size, kind, shared;
    const uint8_t *table;                       /* [rows][inputs] */
    const int64_t *codes, *is_category, *starts; /* of each input: codes, whether it is a category, first bin */
    const int32_t *classes;
    const double *numbers;                      /* less their centre */
    const double *alpha;
    double shape, rate, away, worth;            /* away: the prior mean less the centre */
    double probability, decay;
    int64_t deepest, least, ahead, options, patience, exhaustive, most;
    double width, window;
} Data;

typedef struct { int64_t input, kind, code, first, answers; double prior, sum, best; } Option;
typedef struct { int64_t first, options, depth, chosen; double share, stop, leaf, sum, best; } Node;
typedef struct { int64_t input, kind, code; double prior, score; } Question;

typedef struct {
    Data data;
    int64_t nodes, options, room, option_room, failed;
    Node *node;
    Option *option;
    double *statistics;     /* [nodes][size] */
    int64_t *order, *spare; /* rows, those of a node together */
    double *bins;           /* [sum of codes][size] */
    uint32_t *counts;
    double *cell, *group;   /* memo of evidences by count */
    int64_t memo;           /* below which count */
    double total;
    volatile int32_t *stop;
} Grower;

static double of_cell(const Grower *g, int64_t k, double count, double share)
{
    double one = 1.0, alpha = g->data.alpha[k] * share;
    if (count == 0.0) return 0.0;
    if (!g->data.shared && count < (double)g->memo) return g->cell[k * g->memo + (int64_t)count];
    return table_cell(&alpha, &count, &one);
}

static double of_group(const Grower *g, double count, double share)
{
    double one = 1.0, alpha = g->total * share;
    if (count == 0.0) return 0.0;
    if (!g->data.shared && count < (double)g->memo) return g->group[(int64_t)count];
    return table_group(&alpha, &count, &one);
}

/* log p(rows of a leaf), from their statistics. */
static double evidence(const Grower *g, const double *s, double share)
{
    const Data *d = &g->data;
    if (d->kind == CLASSES) {
        double found = 0.0, count = 0.0;
        if (!d->shared) share = 1.0;
        for (int64_t k = 0; k < d->size; k++) { found += of_cell(g, k, s[k], share); count += s[k]; }
        return found + of_group(g, count, share);
    }
    double count = s[0];
    if (count == 0.0) return 0.0;
    double mean = s[1] / count, scatter = s[2] - s[1] * mean, far = mean - d->away;
    if (scatter < 0.0) scatter = 0.0;
    double residual = scatter + d->worth * count / (d->worth + count) * far * far;
    double sum_k = log(d->worth), root = 0.5 * log(d->worth + count);
    return regression(&d->shape, &d->rate, &sum_k, &count, &root, &residual);
}

static double log_split(const Grower *g, int64_t depth)
{
    return log(g->data.probability) - g->data.decay * log(1.0 + (double)depth);
}

static double log_stop(const Grower *g, int64_t depth)
{
    return log1p(-exp(log_split(g, depth)));
}

static double total_of(const Grower *g, const double *s)
{
    if (g->data.kind == NUMBERS) return s[0];
    double count = 0.0;
    for (int64_t k = 0; k < g->data.size; k++) count += s[k];
    return count;
}

/* What a branch is worth that is not looked into. */
static double as_leaf(const Grower *g, const double *s, int64_t depth, double share)
{
    double count = total_of(g, s);
    return evidence(g, s, share) + (count > 1.0 && depth < g->data.deepest ? log_stop(g, depth) : 0.0);
}

static void add_up(const Grower *g, int64_t low, int64_t high, double *s)
{
    const Data *d = &g->data;
    for (int64_t k = 0; k < d->size; k++) s[k] = 0.0;
    for (int64_t at = low; at < high; at++) {
        int64_t row = g->order[at];
        if (d->kind == CLASSES) { s[d->classes[row]] += 1.0; continue; }
        double y = d->numbers[row];
        s[0] += 1.0; s[1] += y; s[2] += y * y;
    }
}

/* Whether all rows of a node agree in all inputs. */
static int alike(const Grower *g, int64_t low, int64_t high)
{
    int64_t inputs = g->data.inputs;
    const uint8_t *first = g->data.table + g->order[low] * inputs;
    for (int64_t at = low + 1; at < high; at++) {
        const uint8_t *other = g->data.table + g->order[at] * inputs;
        for (int64_t j = 0; j < inputs; j++) if (first[j] != other[j]) return 0;
    }
    return 1;
}

static int pure(const Grower *g, const double *s)
{
    if (g->data.kind == NUMBERS) return 0;
    int found = 0;
    for (int64_t k = 0; k < g->data.size; k++) found += s[k] > 0.0;
    return found <= 1;
}

static void fill_bins(Grower *g, int64_t low, int64_t high)
{
    const Data *d = &g->data;
    int64_t inputs = d->inputs, size = d->size, all = d->starts[inputs] * size;
    if (d->kind == CLASSES) {
        memset(g->counts, 0, (size_t)all * sizeof *g->counts);
        for (int64_t at = low; at < high; at++) {
            int64_t row = g->order[at];
            const uint8_t *codes = d->table + row * inputs;
            uint32_t *bins = g->counts + d->classes[row];
            for (int64_t j = 0; j < inputs; j++) bins[(d->starts[j] + codes[j]) * size]++;
        }
        for (int64_t k = 0; k < all; k++) g->bins[k] = g->counts[k];
        return;
    }
    memset(g->bins, 0, (size_t)all * sizeof *g->bins);
    for (int64_t at = low; at < high; at++) {
        int64_t row = g->order[at];
        const uint8_t *codes = d->table + row * inputs;
        double y = d->numbers[row], square = y * y;
        for (int64_t j = 0; j < inputs; j++) {
            double *bin = g->bins + (d->starts[j] + codes[j]) * 3;
            bin[0] += 1.0; bin[1] += y; bin[2] += square;
        }
    }
}

/* What two branches are worth: one has these statistics, the other what is left of the whole. */
static double of_two(Grower *g, const double *whole, const double *one, double *rest, int64_t depth, double share)
{
    for (int64_t k = 0; k < g->data.size; k++) rest[k] = whole[k] - one[k];
    return as_leaf(g, one, depth + 1, 0.5 * share) + as_leaf(g, rest, depth + 1, 0.5 * share);
}

/* All questions about one input that part the rows; `score` is still without the prior of the question. */
static int64_t ask(Grower *g, int64_t input, const double *whole, int64_t depth, double share, Question *found)
{
    const Data *d = &g->data;
    int64_t size = d->size, codes = d->codes[input], many = 0, before = -1, present = 0;
    const double *bins = g->bins + d->starts[input] * size;
    double *left = g->bins + d->starts[d->inputs] * size, *rest = left + size;
    for (int64_t k = 0; k < size; k++) left[k] = 0.0;
    for (int64_t code = 0; code < codes; code++) {
        const double *bin = bins + code * size;
        if (total_of(g, bin) == 0.0) continue;
        if (!d->is_category[input] && before >= 0) {
            Question asked = {input, BELOW, (before + code - 1) / 2, 0.0, 0.0};
            asked.score = of_two(g, whole, left, rest, depth, share);
            found[many++] = asked;
        }
        if (d->is_category[input] && codes > 2) {
            Question asked = {input, LEVEL, code, 0.0, 0.0};
            asked.score = of_two(g, whole, bin, rest, depth, share);
            found[many++] = asked;
        }
        for (int64_t k = 0; k < size; k++) left[k] += bin[k];
        before = code;
        present++;
    }
    if (present < 2) return 0;
    if (d->is_category[input]) {
        Question asked = {input, EVERY, 0, 0.0, 0.0};
        for (int64_t code = 0; code < codes; code++)
            asked.score += as_leaf(g, bins + code * size, depth + 1, share / (double)codes);
        found[many++] = asked;
    }
    return many;
}

/* The questions of a node with their prior: the best of each input, or all of them. */
static int64_t questions(Grower *g, int64_t low, int64_t high, const double *whole, int64_t depth, double share,
                         Question *found, int all)
{
    const Data *d = &g->data;
    int64_t many = 0, parting = 0;
    Question asked[257];
    fill_bins(g, low, high);
    for (int64_t input = 0; input < d->inputs; input++) {
        int64_t here = ask(g, input, whole, depth, share, asked);
        if (here == 0) continue;
        parting++;
        int64_t first = 0, last = here;
        if (!all) {
            for (int64_t k = 1; k < here; k++) if (asked[k].score > asked[first].score) first = k;
            last = first + 1;
        }
        for (int64_t k = first; k < last; k++) {
            asked[k].prior = log_split(g, depth) - log((double)here);
            found[many++] = asked[k];
        }
    }
    for (int64_t k = 0; k < many; k++) {
        found[k].prior -= log((double)parting);
        found[k].score += found[k].prior;
    }
    return many;
}

static int64_t answer(const Data *d, const Question *asked, int64_t row)
{
    int64_t code = d->table[row * d->inputs + asked->input];
    if (asked->kind == BELOW) return code > asked->code;
    if (asked->kind == LEVEL) return code != asked->code;
    return code;
}

static int64_t answers_of(const Data *d, const Question *asked)
{
    return asked->kind == EVERY ? d->codes[asked->input] : 2;
}

/* Order the rows of a node by their answers; `ends` says where those of each answer end. */
static void part(Grower *g, int64_t low, int64_t high, const Question *asked, int64_t *ends)
{
    const Data *d = &g->data;
    int64_t answers = answers_of(d, asked), place[256];
    for (int64_t k = 0; k < answers; k++) place[k] = 0;
    for (int64_t at = low; at < high; at++) place[answer(d, asked, g->order[at])]++;
    int64_t sum = low;
    for (int64_t k = 0; k < answers; k++) { int64_t here = place[k]; place[k] = sum; sum += here; ends[k] = sum; }
    for (int64_t at = low; at < high; at++) {
        int64_t row = g->order[at];
        g->spare[place[answer(d, asked, row)]++] = row;
    }
    memcpy(g->order + low, g->spare + low, (size_t)(high - low) * sizeof *g->order);
}

static int is_leaf_surely(const Grower *g, int64_t low, int64_t high, int64_t depth)
{
    return depth >= g->data.deepest || high - low < 2 || high - low < g->data.least || alike(g, low, high);
}

/* The best of a leaf and of trees of so many more questions below one another. */
static double seen_ahead(Grower *g, int64_t low, int64_t high, int64_t depth, double share, int64_t steps)
{
    const Data *d = &g->data;
    double *s = malloc((size_t)d->size * sizeof *s);
    add_up(g, low, high, s);
    double found = evidence(g, s, share);
    if (!is_leaf_surely(g, low, high, depth)) {
        found += log_stop(g, depth);
        if (steps > 0 && !pure(g, s) && !*g->stop) {
            Question *asked = malloc((size_t)d->inputs * sizeof *asked);
            int64_t many = questions(g, low, high, s, depth, share, asked, 0);
            for (int64_t k = 0; k < many; k++) {
                double score = asked[k].score;
                if (steps > 1) {
                    int64_t ends[256], first = low, answers = answers_of(d, asked + k);
                    part(g, low, high, asked + k, ends);
                    score = asked[k].prior;
                    for (int64_t b = 0; b < answers; first = ends[b++])
                        if (ends[b] > first)
                            score += seen_ahead(g, first, ends[b], depth + 1, share / (double)answers, steps - 1);
                }
                if (score > found) found = score;
            }
            free(asked);
        }
    }
    free(s);
    return found;
}

static void look_ahead(Grower *g, int64_t low, int64_t high, int64_t depth, double share, Question *asked, int64_t many)
{
    for (int64_t k = 0; k < many; k++) {
        int64_t ends[256], first = low, answers = answers_of(&g->data, asked + k);
        part(g, low, high, asked + k, ends);
        asked[k].score = asked[k].prior;
        for (int64_t b = 0; b < answers; first = ends[b++])
            if (ends[b] > first)
                asked[k].score +=
                    seen_ahead(g, first, ends[b], depth + 1, share / (double)answers, g->data.ahead - 1);
    }
}

static int64_t new_nodes(Grower *g, int64_t many)
{
    while (g->nodes + many > g->room) {
        int64_t room = 2 * g->room + many;
        Node *node = realloc(g->node, (size_t)room * sizeof *node);
        if (node) g->node = node;
        double *statistics = realloc(g->statistics, (size_t)(room * g->data.size) * sizeof *statistics);
        if (statistics) g->statistics = statistics;
        if (!node || !statistics) { g->failed = 1; return -1; }
        g->room = room;
    }
    if (g->nodes + many > g->data.most) { g->failed = 2; return -1; }
    g->nodes += many;
    return g->nodes - many;
}

static int64_t new_options(Grower *g, int64_t many)
{
    while (g->options + many > g->option_room) {
        int64_t room = 2 * g->option_room + many;
        Option *option = realloc(g->option, (size_t)room * sizeof *option);
        if (!option) { g->failed = 1; return -1; }
        g->option = option;
        g->option_room = room;
    }
    g->options += many;
    return g->options - many;
}

static double added(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;
    return low == -INFINITY ? high : high + log1p(exp(low - high));
}

/* Best first, as many as are kept. */
static int64_t kept(const Grower *g, Question *asked, int64_t many, int64_t most)
{
    for (int64_t k = 0; k < many && k < most; k++) {
        int64_t best = k;
        for (int64_t j = k + 1; j < many; j++) if (asked[j].score > asked[best].score) best = j;
        Question held = asked[best];
        for (int64_t j = best; j > k; j--) asked[j] = asked[j - 1];
        asked[k] = held;
        if (held.score < asked[0].score - g->data.window) return k;
    }
    return many < most ? many : most;
}

static void grow_node(Grower *g, int64_t at, int64_t low, int64_t high, int64_t depth, double share, int64_t losing,
                      double width)
{
    const Data *d = &g->data;
    double *s = g->statistics + at * d->size;
    add_up(g, low, high, s);
    Node made = {0, 0, depth, -1, share, 0.0, evidence(g, s, share), 0.0, 0.0};
    int ends_here = is_leaf_surely(g, low, high, depth);
    if (!ends_here) made.stop = log_stop(g, depth);
    made.sum = made.best = made.stop + made.leaf;
    g->node[at] = made;
    if (ends_here || *g->stop || (!d->exhaustive && pure(g, s))) return;
    int64_t most = d->exhaustive ? d->starts[d->inputs] + d->inputs : d->inputs;
    Question *asked = malloc((size_t)most * sizeof *asked);
    int64_t many = questions(g, low, high, s, depth, share, asked, (int)d->exhaustive);
    if (!d->exhaustive) {
        if (d->ahead > 1) look_ahead(g, low, high, depth, share, asked, many);
        int64_t wide = width < 1.0 ? 1 : (int64_t)width;
        many = kept(g, asked, many, d->options < wide ? d->options : wide);
        losing = asked[0].score > made.best ? 0 : losing + 1;
        if (losing > d->patience) many = 0;
    }
    int64_t first = new_options(g, many);
    for (int64_t k = 0; k < many && !g->failed && !*g->stop; k++) {
        int64_t ends[256], from = low, answers = answers_of(d, asked + k), child = new_nodes(g, answers);
        if (child < 0) break;
        part(g, low, high, asked + k, ends);
        Option option = {asked[k].input, asked[k].kind, asked[k].code, child, answers, asked[k].prior, 0.0, 0.0};
        option.sum = option.best = asked[k].prior;
        for (int64_t b = 0; b < answers && !g->failed; from = ends[b++]) {
            grow_node(g, child + b, from, ends[b], depth + 1, share / (double)answers, losing, width / (double)many);
            option.sum += g->node[child + b].sum;
            option.best += g->node[child + b].best;
        }
        g->option[first + k] = option;
        Node *node = g->node + at;
        node->first = first;
        node->options = k + 1;
        node->sum = added(node->sum, option.sum);
        if (option.best > node->best) { node->best = option.best; node->chosen = k; }
    }
    free(asked);
}

static void remember(Grower *g)
{
    const Data *d = &g->data;
    int64_t most = d->rows < MEMO ? d->rows + 1 : MEMO;
    if (d->kind != CLASSES || d->shared || d->size * most > 64 * (int64_t)MEMO) return;
    g->cell = malloc((size_t)(d->size * most) * sizeof *g->cell);
    g->group = malloc((size_t)most * sizeof *g->group);
    if (!g->cell || !g->group) { g->failed = 1; return; }
    double one = 1.0;
    for (int64_t k = 0; k < most; k++) {
        double count = (double)k;
        for (int64_t c = 0; c < d->size; c++) g->cell[c * most + k] = table_cell(d->alpha + c, &count, &one);
        g->group[k] = table_group(&g->total, &count, &one);
    }
    g->memo = most;
}

void *grow(const Data *data, int32_t *stop)
{
    Grower *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->data = *data;
    g->stop = stop;
    int64_t bins = data->starts[data->inputs] * data->size;
    g->order = malloc((size_t)(data->rows + 1) * sizeof *g->order);
    g->spare = malloc((size_t)(data->rows + 1) * sizeof *g->spare);
    g->bins = malloc((size_t)(bins + 2 * data->size) * sizeof *g->bins);
    g->counts = malloc((size_t)(bins + 1) * sizeof *g->counts);
    for (int64_t k = 0; data->kind == CLASSES && k < data->size; k++) g->total += data->alpha[k];
    if (!g->order || !g->spare || !g->bins || !g->counts) { g->failed = 1; return g; }
    for (int64_t k = 0; k < data->rows; k++) g->order[k] = k;
    remember(g);
    if (!g->failed && new_nodes(g, 1) == 0) grow_node(g, 0, 0, data->rows, 0, 1.0, 0, data->width);
    return g;
}

int64_t grown_sizes(const Grower *g, int64_t which)
{
    return which == 0 ? g->nodes : which == 1 ? g->options : g->failed;
}

void grown(const Grower *g, Node *node, Option *option, double *statistics)
{
    memcpy(node, g->node, (size_t)g->nodes * sizeof *node);
    if (g->options) memcpy(option, g->option, (size_t)g->options * sizeof *option);
    memcpy(statistics, g->statistics, (size_t)(g->nodes * g->data.size) * sizeof *statistics);
}

void close_grower(Grower *g)
{
    free(g->node); free(g->option); free(g->statistics); free(g->order); free(g->spare);
    free(g->bins); free(g->counts); free(g->cell); free(g->group); free(g);
}
