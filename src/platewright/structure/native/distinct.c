/* Rows that are alike stand once, with a weight: a number for each row, column by column, and a table of what was met. */

static inline uint64_t spread(uint64_t x) { x *= 0x9e3779b97f4a7c15u; return x ^ (x >> 29); }

/* Number the values of `key` from 0 in the order of first appearance; how many they are. */
static int64_t number_keys(uint64_t *key, int64_t rows, uint64_t *met, int32_t *slots, int64_t room)
{
    int64_t found = 0;
    memset(slots, 0xff, (size_t)room * sizeof *slots);
    for (int64_t n = 0; n < rows; n++) {
        uint64_t at = spread(key[n]) & (uint64_t)(room - 1);
        while (slots[at] >= 0 && met[slots[at]] != key[n]) at = (at + 1) & (uint64_t)(room - 1);
        if (slots[at] < 0) { slots[at] = (int32_t)found; met[found++] = key[n]; }
        key[n] = (uint64_t)slots[at];
    }
    return found;
}

/* `kept` holds the distinct rows, [columns][what is returned]; -1 where memory ran out. */
int64_t distinct_rows(int64_t columns, int64_t rows, const int64_t *levels, const uint16_t *codes, uint16_t *kept, int32_t *weights)
{
    int64_t room = 64, count = -1;
    while (room < 2 * rows) room *= 2;
    uint64_t *key = calloc((size_t)rows, sizeof *key), *met = malloc((size_t)rows * sizeof *met);
    int32_t *slots = malloc((size_t)room * sizeof *slots), *first = malloc((size_t)rows * sizeof *first);
    if (key && met && slots && first) {
        double size = 1.0;
        for (int64_t c = 0; c < columns; c++) {
            const uint64_t times = (uint64_t)levels[c];
            const uint16_t *restrict code = codes + c * rows;
            uint64_t *restrict to = key;
            if (size * (double)times > 0x1p62) size = (double)number_keys(key, rows, met, slots, room);
            for (int64_t n = 0; n < rows; n++) to[n] = to[n] * times + code[n];
            size *= (double)times;
        }
        count = number_keys(key, rows, met, slots, room);
        memset(weights, 0, (size_t)count * sizeof *weights);
        for (int64_t n = 0; n < rows; n++) if (!weights[key[n]]++) first[key[n]] = (int32_t)n;
        for (int64_t c = 0; c < columns; c++)
            for (int64_t g = 0; g < count; g++) kept[c * count + g] = codes[c * rows + first[g]];
    }
    free(key); free(met); free(slots); free(first);
    return count;
}
