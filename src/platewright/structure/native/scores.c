/* Local scores: the log evidence of one column given others, from counts or from least-squares rows.
 *
 *     score(child | parents) = sum over groups of rows that agree in the parents of the derived evidence
 *
 * The functions `table_cell`, `table_group`, `regression` and `grouped` are printed from the derivation.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { uint64_t word[WORDS]; } Set;

static const Set NOBODY;
static inline int has(const Set *set, int64_t node) { return (int)(set->word[node >> 6] >> (node & 63) & 1); }
static inline void put(Set *set, int64_t node) { set->word[node >> 6] |= (uint64_t)1 << (node & 63); }
static inline void drop(Set *set, int64_t node) { set->word[node >> 6] &= ~((uint64_t)1 << (node & 63)); }
static inline int same(const Set *a, const Set *b) { return memcmp(a, b, sizeof *a) == 0; }
static inline int within(const Set *a, const Set *b)
{
    for (int k = 0; k < WORDS; k++)
        if (a->word[k] & ~b->word[k]) return 0;
    return 1;
}
static inline int64_t count_of(const Set *set)
{
    int64_t total = 0;
    for (int k = 0; k < WORDS; k++) total += __builtin_popcountll(set->word[k]);
    return total;
}

static inline Set both_of(Set a, Set b) { for (int k = 0; k < WORDS; k++) a.word[k] |= b.word[k]; return a; }
static inline Set shared_of(Set a, Set b) { for (int k = 0; k < WORDS; k++) a.word[k] &= b.word[k]; return a; }
static inline Set less_of(Set a, Set b) { for (int k = 0; k < WORDS; k++) a.word[k] &= ~b.word[k]; return a; }
static inline Set only(int64_t node) { Set s = NOBODY; put(&s, node); return s; }
static inline int is_empty(Set a) { for (int k = 0; k < WORDS; k++) if (a.word[k]) return 0; return 1; }

/* The first member from a node on; -1 where there is none. */
static inline int64_t member_from(const Set *set, int64_t node)
{
    for (int64_t k = node >> 6; k < WORDS; k++) {
        const uint64_t left = k == node >> 6 ? set->word[k] & (~(uint64_t)0 << (node & 63)) : set->word[k];
        if (left) return 64 * k + __builtin_ctzll(left);
    }
    return -1;
}
#define EACH(node, set) (int64_t node = member_from(&(set), 0); node >= 0; node = node + 1 < 64 * WORDS ? member_from(&(set), node + 1) : -1)

enum { REAL = 0, TABLE = 1, GROUPED = 2 };
enum { BY_TOTAL = 0, BY_CELL = 1 };
#define MEMO 4096
#define BASES 2
#define USES_BEFORE_SPLIT 1

typedef struct { double alpha, levels; double *cell, *group; } Memo;
typedef struct { Set parents; int64_t node; double score; } Kept;

typedef struct {
    int64_t nodes, rows, all, few, reals;
    const int64_t *kinds, *levels;
    const uint16_t *codes;      /* [nodes][rows]; zero for columns without levels */
    const uint16_t *each;       /* [nodes][all]: the same, of every row and not of distinct ones; for bitmaps */
    const double *values;       /* [nodes][rows]; the numbers of columns without levels, centred */
    const int32_t *weights;     /* how many rows each row stands for */
    const double *mass;         /* of a prior network: what each row counts for in the prior; NULL where there is none */
    const double *factor;       /* [nodes + 1][few]: a few rows with the moments of all, the ones in the last column */
    double total, share;        /* share: what one row counts for, where several fillings stand for the missing cells */
    int64_t spread;             /* what `strength` is: of a whole table, or of each cell */
    double strength;
    double degrees, gain, scale, centre, slope;  /* normal columns: shape = (degrees + gain parents) / 2, rate = scale / 2 */
    const int64_t *forms, *first; /* of columns with a model of their own: which one, and where its statistics stand */
    const double *statistics;   /* [statistic][rows]: what each row adds */
    const double *log_odds;     /* [parent][child]: what the prior over structures gives for an arc */
    const Set *allowed, *required;
    int64_t most, equivalent;   /* equivalent: a score is the difference of two sets of columns */
} Data;

typedef struct {
    Set set;
    double states;
    int64_t used, ready, groups;    /* groups: by `key`, which is made when rows are gone through; 0 before */
    int64_t again, bits;            /* how often it was extended; whether `split` holds its states */
    uint32_t *key;
    Split split;
} Base;

typedef struct {
    Data data;
    Kept *kept;
    int64_t room, filled, asked, counted;
    Base bases[BASES];          /* rows by the states of sets that were last extended by one more column */
    Bitmaps bitmaps;
    Split whole, spare;         /* all rows; what a set is split into on the way */
    int64_t clock, hint;        /* hint: the column that changes from one set to the next */
    Memo *memos;
    int64_t memo_count, memo_room;
    uint32_t *key, *cell, *slots, *ids;
    int64_t slots_room;
    int32_t *counts;
    int64_t counts_room;
    double *matrix;
    int64_t matrix_room;
    int64_t lacking;            /* set where memory ran out */
} Scorer;

static uint64_t mixed(uint64_t x)
{
    x ^= x >> 30; x *= 0xbf58476d1ce4e5b9u; x ^= x >> 27; x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

Scorer *open_scorer(const Data *data)
{
    Scorer *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->data = *data;
    s->room = 1 << 12;
    s->hint = -1;
    s->kept = malloc((size_t)s->room * sizeof *s->kept);
    s->key = malloc((size_t)data->rows * 4 + 64);
    s->cell = malloc((size_t)data->rows * 4 + 64);
    s->ids = malloc((size_t)data->rows * 4 + 64);
    s->slots_room = 64;
    while (s->slots_room < 2 * data->rows) s->slots_room *= 2;
    s->slots = malloc((size_t)s->slots_room * 4);
    for (int b = 0; b < BASES; b++)
        if (!(s->bases[b].key = malloc((size_t)data->rows * 4 + 64))) s->lacking = 1;
    if (!s->kept || !s->key || !s->cell || !s->ids || !s->slots || s->lacking) { s->lacking = 1; return s; }
    if (data->equivalent) s->bitmaps = open_bitmaps(data->nodes, data->all, data->levels, data->each);
    if (s->bitmaps.of) take_whole(&s->whole, data->all, s->bitmaps.words);
    for (int64_t k = 0; k < s->room; k++) s->kept[k].node = -1;
    return s;
}

void close_scorer(Scorer *s)
{
    if (!s) return;
    for (int64_t k = 0; k < s->memo_count; k++) { free(s->memos[k].cell); free(s->memos[k].group); }
    for (int b = 0; b < BASES; b++) { free(s->bases[b].key); close_split(&s->bases[b].split); }
    close_bitmaps(&s->bitmaps, s->data.nodes);
    close_split(&s->whole);
    close_split(&s->spare);
    free(s->memos); free(s->kept); free(s->key); free(s->cell); free(s->ids); free(s->slots);
    free(s->counts); free(s->matrix); free(s);
}

int64_t scorer_counts(const Scorer *s, int64_t which) { return which == 0 ? s->asked : which == 1 ? s->counted : s->lacking; }

/* -- groups of rows that agree ------------------------------------------------------------------------------------ */

/* Number the values of `key` from 0 in the order of first appearance. */
static int64_t renumber(Scorer *s, uint32_t *key)
{
    const int64_t rows = s->data.rows;
    const uint64_t mask = (uint64_t)s->slots_room - 1;
    int64_t found = 0;
    memset(s->slots, 0xff, (size_t)s->slots_room * 4);
    for (int64_t n = 0; n < rows; n++) {
        uint64_t at = mixed(key[n]) & mask;
        while (s->slots[at] != UINT32_MAX && s->ids[s->slots[at]] != key[n]) at = (at + 1) & mask;
        if (s->slots[at] == UINT32_MAX) { s->slots[at] = (uint32_t)found; s->ids[found++] = key[n]; }
        key[n] = s->slots[at];
    }
    return found;
}

/* The group of each row by the parents that have levels: at most `limit` numbers, and how many there may be. */
static int64_t group_rows(Scorer *s, uint32_t *restrict key, const Set *parents, int64_t limit)
{
    const Data *d = &s->data;
    int64_t groups = 1, first = 1;
    for (int64_t p = 0; p < d->nodes; p++) {
        if (!has(parents, p) || d->kinds[p] != TABLE) continue;
        const uint16_t *restrict code = d->codes + p * d->rows;
        if (groups * d->levels[p] > limit && !first) groups = renumber(s, key);
        const uint32_t levels = (uint32_t)d->levels[p];
        if (first) for (int64_t n = 0; n < d->rows; n++) key[n] = code[n];
        else for (int64_t n = 0; n < d->rows; n++) key[n] = key[n] * levels + code[n];
        groups *= d->levels[p];
        first = 0;
    }
    if (first) memset(key, 0, (size_t)d->rows * 4);
    if (groups > limit) groups = renumber(s, key);
    return groups;
}

static int32_t *cleared(Scorer *s, int64_t cells)
{
    if (cells > s->counts_room) {
        free(s->counts);
        s->counts_room = cells + cells / 2;
        s->counts = malloc((size_t)s->counts_room * 4);
        if (!s->counts) { s->counts_room = 0; s->lacking = 1; return NULL; }
    }
    memset(s->counts, 0, (size_t)cells * 4);
    return s->counts;
}

/* -- tables --------------------------------------------------------------------------------------------------------- */

static Memo *memo_of(Scorer *s, double alpha, double levels)
{
    for (int64_t k = 0; k < s->memo_count; k++)
        if (s->memos[k].alpha == alpha && s->memos[k].levels == levels) return &s->memos[k];
    if (s->memo_count >= 512) return NULL;
    if (s->memo_count == s->memo_room) {
        s->memo_room = s->memo_room ? 2 * s->memo_room : 16;
        s->memos = realloc(s->memos, (size_t)s->memo_room * sizeof *s->memos);
    }
    Memo *memo = &s->memos[s->memo_count++];
    memo->alpha = alpha; memo->levels = levels;
    memo->cell = malloc(MEMO * sizeof(double));
    memo->group = malloc(MEMO * sizeof(double));
    for (int k = 0; k < MEMO; k++) memo->cell[k] = memo->group[k] = UNKNOWN;
    return memo;
}

static inline double cell_term(const Scorer *s, Memo *memo, double alpha, double levels, int32_t n)
{
    const double count = n * s->data.share;
    if (!memo || n >= MEMO) return table_cell(&alpha, &count, &levels);
    if (memo->cell[n] == UNKNOWN) memo->cell[n] = table_cell(&alpha, &count, &levels);
    return memo->cell[n];
}

static inline double group_term(const Scorer *s, Memo *memo, double alpha, double levels, int32_t n)
{
    const double count = n * s->data.share;
    if (!memo || n >= MEMO) return table_group(&alpha, &count, &levels);
    if (memo->group[n] == UNKNOWN) memo->group[n] = table_group(&alpha, &count, &levels);
    return memo->group[n];
}

/* The prior counts of each cell are those of a network: rows that weigh nothing among the data bring them along. */
static double table_score_of_network(Scorer *s, int64_t groups, int64_t levels, const int32_t *counts)
{
    const Data *d = &s->data;
    double *alpha = calloc((size_t)(groups * levels), sizeof *alpha), score = 0.0;
    const double one = 1.0;
    if (!alpha) { s->lacking = 1; return UNKNOWN; }
    for (int64_t n = 0; n < d->rows; n++) alpha[s->cell[n]] += d->mass[n];
    for (int64_t g = 0; g < groups; g++) {
        double sum = 0.0, whole = 0.0;
        for (int64_t k = g * levels; k < (g + 1) * levels; k++) {
            const double count = counts[k] * d->share;
            sum += count;
            whole += alpha[k];
            if (counts[k]) score += table_cell(&alpha[k], &count, &one);
        }
        if (sum > 0.0) score += table_group(&whole, &sum, &one);
    }
    free(alpha);
    return score;
}

static double table_score(Scorer *s, int64_t child, const Set *parents)
{
    const Data *d = &s->data;
    const int64_t levels = d->levels[child];
    const int64_t limit = (4 * d->rows > 4096 ? 4 * d->rows : 4096) / levels + 1;
    const int64_t groups = group_rows(s, s->key, parents, limit);
    double states = 1.0;
    for (int64_t p = 0; p < d->nodes; p++)
        if (has(parents, p)) states *= (double)d->levels[p];
    const double alpha = d->spread == BY_TOTAL ? d->strength / (states * (double)levels) : d->strength;
    int32_t *restrict counts = cleared(s, groups * levels);
    if (!counts) return UNKNOWN;
    const uint16_t *restrict code = d->codes + child * d->rows;
    uint32_t *restrict key = s->key, *restrict cell = s->cell;
    const uint32_t times = (uint32_t)levels;
    for (int64_t n = 0; n < d->rows; n++) cell[n] = key[n] * times + code[n];
    for (int64_t n = 0; n < d->rows; n++) counts[cell[n]] += d->weights[n];
    if (d->mass) return table_score_of_network(s, groups, levels, counts);
    Memo *memo = memo_of(s, alpha, (double)levels);
    double score = 0.0;
    for (int64_t g = 0; g < groups; g++) {
        int32_t sum = 0;
        double terms = 0.0;
        for (int64_t k = 0; k < levels; k++) {
            const int32_t n = counts[g * levels + k];
            if (n) { sum += n; terms += cell_term(s, memo, alpha, (double)levels, n); }
        }
        if (sum) score += terms + group_term(s, memo, alpha, (double)levels, sum);
    }
    return score;
}

static double joint_evidence(Scorer *s, const Set *set);

/* -- columns with a model of their own --------------------------------------------------------------------------------- */

static double grouped_score(Scorer *s, int64_t child, const Set *parents)
{
    const Data *d = &s->data;
    const int64_t groups = group_rows(s, s->key, parents, 4 * d->rows + 4096);
    const int64_t width = d->first[child + 1] - d->first[child], step = width + 1;
    double *sums = calloc((size_t)(groups * step), sizeof *sums), score = 0.0;
    if (!sums) { s->lacking = 1; return UNKNOWN; }
    const double *statistic = d->statistics + d->first[child] * d->rows;
    for (int64_t n = 0; n < d->rows; n++) {
        double *at = sums + step * (int64_t)s->key[n], w = d->weights[n] * d->share;
        at[0] += w;
        for (int64_t k = 0; k < width; k++) at[k + 1] += w * statistic[k * d->rows + n];
    }
    for (int64_t g = 0; g < groups; g++)
        if (sums[step * g] > 0.0) score += grouped(d->forms[child], sums + step * g);
    free(sums);
    return score;
}

/* -- normal columns ---------------------------------------------------------------------------------------------------- */

/* Rotate rows (column by column in `a`) to triangular form; the last column is the right-hand side. */
static void triangularise(double *a, int64_t rows, int64_t columns, double *log_root, double *residual)
{
    *log_root = 0.0;
    for (int64_t j = 0; j + 1 < columns; j++) {
        double *x = a + j * rows, norm = 0.0;
        for (int64_t n = j; n < rows; n++) norm += x[n] * x[n];
        norm = sqrt(norm);
        *log_root += log(norm);
        if (norm == 0.0) continue;
        const double top = x[j] + (x[j] > 0.0 ? norm : -norm), inverse = 1.0 / (norm * fabs(top));
        x[j] = top;
        for (int64_t c = j + 1; c < columns; c++) {
            double *y = a + c * rows, dot = 0.0;
            for (int64_t n = j; n < rows; n++) dot += x[n] * y[n];
            dot *= inverse;
            for (int64_t n = j; n < rows; n++) y[n] -= dot * x[n];
        }
    }
    double sum = 0.0;
    const double *y = a + (columns - 1) * rows;
    for (int64_t n = columns - 1; n < rows; n++) sum += y[n] * y[n];
    *residual = sum;
}

static double regression_of(Scorer *s, double *a, int64_t rows, int64_t columns, double total)
{
    const Data *d = &s->data;
    const int64_t slopes = columns - 2, all = rows + slopes + 1;
    if (d->share != 1.0)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t n = 0; n < rows; n++) a[c * all + n] *= sqrt(d->share);
    for (int64_t c = 0; c < columns; c++) memset(a + c * all + rows, 0, (size_t)(slopes + 1) * sizeof *a);
    double sum_k = log(d->centre);
    a[rows] = sqrt(d->centre);
    for (int64_t c = 1; c <= slopes; c++) { a[c * all + rows + c] = sqrt(d->slope); sum_k += log(d->slope); }
    const double shape = 0.5 * (d->degrees + d->gain * (double)slopes), rate = 0.5 * d->scale;
    double log_root, residual;
    triangularise(a, all, columns, &log_root, &residual);
    return regression(&shape, &rate, &sum_k, &total, &log_root, &residual);
}

static double *with_room(Scorer *s, int64_t cells)
{
    if (cells > s->matrix_room) {
        free(s->matrix);
        s->matrix_room = cells + cells / 2;
        s->matrix = malloc((size_t)s->matrix_room * sizeof(double));
        if (!s->matrix) { s->matrix_room = 0; s->lacking = 1; }
    }
    return s->matrix;
}

static double regression_score(Scorer *s, int64_t child, const Set *parents)
{
    const Data *d = &s->data;
    int64_t columns = 2, grouped = 0;
    for (int64_t p = 0; p < d->nodes; p++) {
        if (!has(parents, p)) continue;
        if (d->kinds[p] == TABLE) grouped = 1; else columns++;
    }
    if (!grouped) {
        const int64_t all = d->few + columns - 1;
        double *a = with_room(s, all * columns);
        if (!a) return UNKNOWN;
        int64_t c = 0;
        memcpy(a + all * c++, d->factor + d->nodes * d->few, (size_t)d->few * sizeof *a);
        for (int64_t p = 0; p < d->nodes; p++)
            if (has(parents, p)) memcpy(a + all * c++, d->factor + p * d->few, (size_t)d->few * sizeof *a);
        memcpy(a + all * c, d->factor + child * d->few, (size_t)d->few * sizeof *a);
        return regression_of(s, a, d->few, columns, d->total);
    }
    const int64_t groups = group_rows(s, s->key, parents, 4 * d->rows + 4096);
    int32_t *counts = cleared(s, groups + 1);
    if (!counts) return UNKNOWN;
    for (int64_t n = 0; n < d->rows; n++) counts[s->key[n] + 1]++;
    for (int64_t g = 0; g < groups; g++) counts[g + 1] += counts[g];
    for (int64_t n = 0; n < d->rows; n++) s->cell[counts[s->key[n]]++] = (uint32_t)n;
    double score = 0.0;
    for (int64_t g = 0; g < groups; g++) {
        const int64_t from = g ? counts[g - 1] : 0, size = counts[g] - from;
        if (!size) continue;
        const int64_t all = size + columns - 1;
        double *a = with_room(s, all * columns);
        if (!a) return UNKNOWN;
        int64_t c = 1;
        for (int64_t n = 0; n < size; n++) a[n] = 1.0;
        for (int64_t p = 0; p <= d->nodes; p++) {
            const int64_t from_node = p < d->nodes ? p : child;
            if (p < d->nodes && (!has(parents, p) || d->kinds[p] == TABLE)) continue;
            const double *value = d->values + from_node * d->rows;
            for (int64_t n = 0; n < size; n++) a[all * c + n] = value[s->cell[from + n]];
            c++;
        }
        score += regression_of(s, a, size, columns, (double)size * d->share);
    }
    return score;
}

/* -- each score once ---------------------------------------------------------------------------------------------------- */

double evidence_of(Scorer *s, int64_t child, const Set *parents)
{
    s->counted++;
    switch (s->data.kinds[child]) {
    case TABLE: return table_score(s, child, parents);
    case GROUPED: return grouped_score(s, child, parents);
    default: return regression_score(s, child, parents);
    }
}

static double prior_of(const Scorer *s, int64_t child, const Set *parents)
{
    double sum = 0.0;
    for (int64_t p = 0; p < s->data.nodes; p++)
        if (has(parents, p)) sum += s->data.log_odds[p * s->data.nodes + child];
    return sum;
}

static uint64_t place_of(int64_t child, const Set *parents)
{
    uint64_t hash = mixed((uint64_t)child + 1);
    for (int k = 0; k < WORDS; k++) hash = mixed(hash ^ parents->word[k]);
    return hash;
}

static void make_room(Scorer *s)
{
    Kept *old = s->kept;
    const int64_t before = s->room;
    s->room *= 4;
    s->kept = malloc((size_t)s->room * sizeof *s->kept);
    if (!s->kept) { s->kept = old; s->room = before; s->lacking = 1; return; }
    for (int64_t k = 0; k < s->room; k++) s->kept[k].node = -1;
    for (int64_t k = 0; k < before; k++) {
        if (old[k].node < 0) continue;
        uint64_t at = place_of(old[k].node, &old[k].parents) & (uint64_t)(s->room - 1);
        while (s->kept[at].node >= 0) at = (at + 1) & (uint64_t)(s->room - 1);
        s->kept[at] = old[k];
    }
    free(old);
}

static double kept_joint(Scorer *s, const Set *set)
{
    if (same(set, &NOBODY)) return 0.0;
    uint64_t at = place_of(s->data.nodes, set) & (uint64_t)(s->room - 1);
    while (s->kept[at].node >= 0) {
        if (s->kept[at].node == s->data.nodes && same(&s->kept[at].parents, set)) return s->kept[at].score;
        at = (at + 1) & (uint64_t)(s->room - 1);
    }
    const double score = joint_evidence(s, set);
    s->kept[at] = (Kept){*set, s->data.nodes, score};
    if (2 * ++s->filled > s->room) make_room(s);
    return score;
}

/* Log evidence of a column given others, plus what the prior over structures says about these arcs. */
double local_score(Scorer *s, int64_t child, const Set *parents)
{
    s->asked++;
    if (s->data.equivalent) {
        Set both = *parents;
        put(&both, child);
        return kept_joint(s, &both) - kept_joint(s, parents) + prior_of(s, child, parents);
    }
    uint64_t at = place_of(child, parents) & (uint64_t)(s->room - 1);
    while (s->kept[at].node >= 0) {
        if (s->kept[at].node == child && same(&s->kept[at].parents, parents)) return s->kept[at].score;
        at = (at + 1) & (uint64_t)(s->room - 1);
    }
    const double score = evidence_of(s, child, parents) + prior_of(s, child, parents);
    s->kept[at] = (Kept){*parents, child, score};
    if (2 * ++s->filled > s->room) make_room(s);
    return score;
}
