"""The C of fused passes that look parameters up by codes of the row: levels side by side, codes one after the other.

look_up        weight[k][i] += sum_c table[code[i][c]][k]
count_codes    table[code[i][c]][k] += probability[k][i]
"""

from __future__ import annotations

LOOK_UPS = """
/* Sums of table rows at the codes of each row of data, levels side by side: `wide` of them, no more than 16. */
INLINE void look_up_wide(const int64_t wide, const int64_t pitch, const int32_t *code, int64_t columns,
                         const double *table, int64_t levels, int64_t count, double *weight)
{
    for (int64_t i = 0; i < count; i++, code += columns) {
        double sum[16];
        for (int64_t k = 0; k < wide; k++)
            sum[k] = table[code[0] * pitch + k];
        for (int64_t c = 1; c < columns; c++)
            for (int64_t k = 0; k < wide; k++)
                sum[k] += table[code[c] * pitch + k];
        for (int64_t k = 0; k < levels; k++)
            weight[k * STRIDE + i] += sum[k];
    }
}

INLINE void count_wide(const int64_t wide, const int64_t pitch, const int32_t *code, int64_t columns,
                       double *restrict table, int64_t levels, int64_t count, const double *restrict weight)
{
    double side[16];
    for (int64_t k = 0; k < wide; k++)
        side[k] = 0.0;
    for (int64_t i = 0; i < count; i++, code += columns) {
        for (int64_t k = 0; k < levels; k++)
            side[k] = weight[k * STRIDE + i];
        for (int64_t c = 0; c < columns; c++)
            for (int64_t k = 0; k < wide; k++)
                table[code[c] * pitch + k] += side[k];
    }
}

#define AT_MOST_16(n) ((n) < 16 ? (n) : 16)
#define EACH_PITCH(DO) switch (pitch) { \\
    case 4: DO(4, 0); break; case 8: DO(8, 0); break; case 12: DO(12, 0); break; case 16: DO(16, 0); break; \\
    default: for (int64_t s = 0; s < levels; s += 16) DO(AT_MOST_16(pitch - s), s); }
static void look_up(int64_t pitch, const int32_t *code, int64_t columns, const double *table, int64_t levels,
                    int64_t count, double *weight)
{
#define LOOK_UP(n, s) \\
    look_up_wide(n, pitch, code, columns, table + s, AT_MOST_16(levels - s), count, weight + s * STRIDE)
    EACH_PITCH(LOOK_UP)
}

static void count_codes(int64_t pitch, const int32_t *code, int64_t columns, double *table, int64_t levels,
                        int64_t count, const double *weight)
{
#define COUNT(n, s) count_wide(n, pitch, code, columns, table + s, AT_MOST_16(levels - s), count, weight + s * STRIDE)
    EACH_PITCH(COUNT)
}
"""
