/* What grown trees say of new rows: at each node its own leaf and its questions have weights that sum to one.
 *
 *     say(row, node) = weight of the leaf x leaf + sum over questions of weight x say(row, the child that it answers)
 *
 * A leaf says some numbers, or the Student density of a given one.
 */
typedef struct {
    int64_t inputs, width;
    const uint8_t *table;
    const Node *node;
    const Option *option;
    const double *of_leaf, *of_option;
    const double *values;       /* [nodes][width] */
    const double *numbers;      /* of each row, where a density is asked for: values are degrees, place, scale, log Z */
} Follower;

static void follow(const Follower *f, const uint8_t *codes, const double *number, int64_t at, double weight, double *said)
{
    const Node *node = f->node + at;
    double here = f->of_leaf[at];
    for (int64_t k = 0; k < node->options; k++) {
        const Option *option = f->option + node->first + k;
        double share = f->of_option[node->first + k];
        int64_t code = codes[option->input], way = code;
        if (option->kind == BELOW) way = code > option->code;
        if (option->kind == LEVEL) way = code != option->code;
        if (way >= option->answers) { here += share; continue; }
        if (share > 0.0) follow(f, codes, number, option->first + way, weight * share, said);
    }
    if (here <= 0.0) return;
    const double *values = f->values + at * f->width;
    if (number) {
        double far = (*number - values[1]) / values[2];
        said[0] += weight * here * exp(-values[3] - 0.5 * (values[0] + 1.0) * log1p(far * far / values[0]));
        return;
    }
    for (int64_t k = 0; k < f->width; k++) said[k] += weight * here * values[k];
}

void follow_rows(const Follower *f, int64_t rows, double *said)
{
    int64_t width = f->numbers ? 1 : f->width;
    for (int64_t k = 0; k < rows * width; k++) said[k] = 0.0;
    for (int64_t row = 0; row < rows; row++)
        follow(f, f->table + row * f->inputs, f->numbers ? f->numbers + row : 0, 0, 1.0, said + row * width);
}

/* How many of at most 255 cuts lie at or below each value: eight halvings without a branch. */
void code_numbers(const double *values, int64_t rows, const double *cuts, int64_t many, uint8_t *codes)
{
    double held[256];
    for (int64_t k = 0; k < 256; k++) held[k] = k < many ? cuts[k] : INFINITY;
    for (int64_t row = 0; row < rows; row++) {
        double value = values[row];
        int64_t at = 0;
        for (int64_t step = 128; step > 0; step >>= 1) at += held[at + step - 1] <= value ? step : 0;
        codes[row] = (uint8_t)at;
    }
}
