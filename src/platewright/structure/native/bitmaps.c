/* Rows as bits: one bitmap for each level of a column, and counts of cells as populations of their intersections.
 *
 *     count(group, level) = popcount(rows of the group AND rows of the level)        sixty-four rows a word
 *
 * The last level of a group is what the others leave. Columns of many levels have no bitmaps, and sets of columns with
 * many occupied states are counted row by row instead.
 */

enum { MOST_BIT_LEVELS = 16 };
#ifdef __AVX512VPOPCNTDQ__
enum { MOST_BIT_GROUPS = 128, WORDS_PER_ROW = 12, SETUP_WORDS = 64 };  /* what a row costs, counted by itself, in words */
#else
enum { MOST_BIT_GROUPS = 32, WORDS_PER_ROW = 3, SETUP_WORDS = 16 };
#endif

typedef struct {
    int64_t words;        /* of one bitmap; none where rows have no bitmaps */
    uint64_t **of;        /* [column]: its levels one after another; NULL where it has none */
} Bitmaps;

/* The occupied states of a set of columns: which rows have each, and how many they are. */
typedef struct { int64_t groups, room; uint64_t *rows; int32_t *total; } Split;

static int64_t overlap(const uint64_t *a, const uint64_t *b, int64_t words)
{
    int64_t sum = 0;
    for (int64_t w = 0; w < words; w++) sum += __builtin_popcountll(a[w] & b[w]);
    return sum;
}

static void close_bitmaps(Bitmaps *b, int64_t columns)
{
    if (b->of) for (int64_t c = 0; c < columns; c++) free(b->of[c]);
    free(b->of);
    *b = (Bitmaps){0, NULL};
}

/* Bitmaps of all columns of few levels; without memory for them there are none. */
static Bitmaps open_bitmaps(int64_t columns, int64_t rows, const int64_t *levels, const uint16_t *codes)
{
    Bitmaps b = {(rows + 63) / 64, calloc((size_t)columns, sizeof *b.of)};
    if (!b.of) return (Bitmaps){0, NULL};
    for (int64_t c = 0; c < columns; c++) {
        if (levels[c] > MOST_BIT_LEVELS) continue;
        uint64_t *bits = b.of[c] = calloc((size_t)(levels[c] * b.words), sizeof *bits);
        if (!bits) { close_bitmaps(&b, columns); return b; }
        const uint16_t *code = codes + c * rows;
        for (int64_t n = 0; n < rows; n++) bits[code[n] * b.words + (n >> 6)] |= (uint64_t)1 << (n & 63);
    }
    return b;
}

static void close_split(Split *s)
{
    free(s->rows); free(s->total);
    *s = (Split){0, 0, NULL, NULL};
}

static int has_room(Split *s, int64_t groups, int64_t words)
{
    if (groups <= s->room) return 1;
    free(s->rows); free(s->total);
    s->room = groups;
    s->rows = malloc((size_t)(groups * words) * sizeof *s->rows);
    s->total = malloc((size_t)groups * sizeof *s->total);
    if (s->rows && s->total) return 1;
    close_split(s);
    return 0;
}

/* All rows as one group; no group where memory ran out. */
static void take_whole(Split *s, int64_t rows, int64_t words)
{
    if (!has_room(s, 1, words)) return;
    for (int64_t w = 0; w < words; w++) s->rows[w] = ~(uint64_t)0;
    if (rows & 63) s->rows[words - 1] = ((uint64_t)1 << (rows & 63)) - 1;
    s->total[0] = (int32_t)rows;
    s->groups = 1;
}

/* Split every group by the levels of one more column into `made`; 0 where there are too many, or no memory. */
static int split_by(const Bitmaps *b, const Split *from, int64_t column, int64_t levels, Split *made)
{
    int64_t count = 0;
    if (!b->of[column] || !has_room(made, MOST_BIT_GROUPS, b->words)) return 0;
    for (int64_t g = 0; g < from->groups; g++) {
        int32_t left = from->total[g];
        for (int64_t k = 0; k < levels && left; k++) {
            if (count == MOST_BIT_GROUPS) return 0;
            const uint64_t *restrict one = from->rows + g * b->words, *restrict two = b->of[column] + k * b->words;
            uint64_t *restrict both = made->rows + count * b->words;
            for (int64_t w = 0; w < b->words; w++) both[w] = one[w] & two[w];
            const int64_t sum = overlap(both, both, b->words);
            if (!sum) continue;
            made->total[count++] = (int32_t)sum;
            left -= (int32_t)sum;
        }
    }
    made->groups = count;
    return 1;
}

/* How many rows of each group have each level: counts[group * levels + level]. */
static void count_levels(const Bitmaps *b, const Split *s, int64_t column, int64_t levels, int32_t *restrict counts)
{
    for (int64_t g = 0; g < s->groups; g++) {
        int32_t left = s->total[g], *at = counts + g * levels;
        for (int64_t k = 0; k + 1 < levels; k++) {
            at[k] = left ? (int32_t)overlap(s->rows + g * b->words, b->of[column] + k * b->words, b->words) : 0;
            left -= at[k];
        }
        at[levels - 1] = left;
    }
}
