/* All marginals of a network, one row of evidence after another, on a junction tree that was made once.

   collect      product(clique) = its tables x its children's messages;  message = the sum over its first variable
   distribute   belief(clique) = product x what its parent says;  each child is told the sum over all but its separator,
                over its own message

   Evidence is a level at which a variable is looked at: `begin` and `extent` of each variable say which of its levels
   are possible, and tables of messages and cliques are as long as these. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define MOST_AXES 64
#define LEAST_PRODUCT 1e-290
#define LEAST_BELIEF 1e-200
enum { FOUND, IMPOSSIBLE, UNDERFLOWED };

/* Axes of an array and the steps of another one along them, neighbours taken together where that is one long step. */
typedef struct {
    int64_t count, extent[MOST_AXES], step[MOST_AXES];
} Walk;

static void add_axis(Walk *walk, int64_t extent, int64_t step) {
    if (extent == 1) return;
    int64_t last = walk->count - 1;
    if (last >= 0 && walk->step[last] == step * extent) {
        walk->extent[last] *= extent;
        walk->step[last] = step;
        return;
    }
    walk->extent[walk->count] = extent;
    walk->step[walk->count++] = step;
}

/* Go over all but the last axis; `at` counts the elements of the long array, `there` those of the other. */
static int next_place(const Walk *walk, int64_t *place, int64_t *there) {
    for (int64_t axis = walk->count - 2; axis >= 0; axis--) {
        *there += walk->step[axis];
        if (++place[axis] < walk->extent[axis]) return 1;
        *there -= walk->step[axis] * walk->extent[axis];
        place[axis] = 0;
    }
    return 0;
}

/* product = (product x) other, spread over the axes that it does not have. */
static void multiply(double *restrict product, const double *restrict other, const Walk *walk, int is_first) {
    int64_t place[MOST_AXES] = {0}, there = 0;
    int64_t length = walk->count ? walk->extent[walk->count - 1] : 1;
    int64_t step = walk->count ? walk->step[walk->count - 1] : 0;
    do {
        const double *from = other + there;
        if (is_first && step == 1) for (int64_t k = 0; k < length; k++) product[k] = from[k];
        else if (is_first) for (int64_t k = 0; k < length; k++) product[k] = from[k * step];
        else if (step == 1) for (int64_t k = 0; k < length; k++) product[k] *= from[k];
        else if (step == 0) { double one = *from; for (int64_t k = 0; k < length; k++) product[k] *= one; }
        else for (int64_t k = 0; k < length; k++) product[k] *= from[k * step];
        product += length;
    } while (next_place(walk, place, &there));
}

static double sum_of(const double *restrict values, int64_t length) {
    double a = 0, b = 0, c = 0, d = 0;
    int64_t k = 0;
    for (; k + 4 <= length; k += 4) { a += values[k]; b += values[k + 1]; c += values[k + 2]; d += values[k + 3]; }
    for (; k < length; k++) a += values[k];
    return (a + b) + (c + d);
}

/* sums += the whole, summed over the axes that the sums do not have. */
static void sum_down(double *restrict sums, const double *restrict whole, const Walk *walk) {
    int64_t place[MOST_AXES] = {0}, there = 0;
    int64_t length = walk->count ? walk->extent[walk->count - 1] : 1;
    int64_t step = walk->count ? walk->step[walk->count - 1] : 0;
    do {
        double *to = sums + there;
        if (step == 1) for (int64_t k = 0; k < length; k++) to[k] += whole[k];
        else if (step == 0) *to += sum_of(whole, length);
        else for (int64_t k = 0; k < length; k++) to[k * step] += whole[k];
        whole += length;
    } while (next_place(walk, place, &there));
}

/* The largest value, by which all are divided, and the least that is not zero. */
static double rescale(double *values, int64_t length, double *least) {
    double top = 0, low = 1;
    for (int64_t k = 0; k < length; k++) top = values[k] > top ? values[k] : top;
    if (top > 0)
        for (int64_t k = 0; k < length; k++) {
            values[k] /= top;
            low = values[k] > 0 && values[k] < low ? values[k] : low;
        }
    *least = low;
    return top;
}

typedef struct {
    int64_t count, entries, separators, tables;
    const int64_t *sizes, *levels_at;                   /* of each variable, in the order of elimination */
    const int64_t *axes_at, *axes;                      /* of each clique; its own variable comes first */
    const int64_t *table_at, *values_at, *scope_at, *scope;
    const int64_t *child_at, *children;
    const double *values, *least;
} Tree;

typedef struct {
    int64_t *begin, *extent, *product_at, *message_at, *length;
    double *products, *messages, *told, *least;
} Room;

static int64_t find(const int64_t *axes, int64_t count, int64_t axis) {
    for (int64_t k = 0; k < count; k++) if (axes[k] == axis) return k;
    return -1;
}

/* How a table, whose axes have all their levels, lies along a clique; where its first possible entry is. */
static int64_t table_walk(const Tree *tree, const Room *room, int64_t clique, int64_t table, Walk *walk) {
    int64_t steps[MOST_AXES], first = 0, step = 1;
    const int64_t *scope = tree->scope + tree->scope_at[table];
    int64_t wide = tree->scope_at[table + 1] - tree->scope_at[table];
    for (int64_t k = wide - 1; k >= 0; k--) {
        steps[k] = step;
        first += room->begin[scope[k]] * step;
        step *= tree->sizes[scope[k]];
    }
    walk->count = 0;
    for (int64_t at = tree->axes_at[clique]; at < tree->axes_at[clique + 1]; at++) {
        int64_t place = find(scope, wide, tree->axes[at]);
        add_axis(walk, room->extent[tree->axes[at]], place < 0 ? 0 : steps[place]);
    }
    return tree->values_at[table] + first;
}

/* How what a child says, about its axes but the first, lies along a clique. */
static void message_walk(const Tree *tree, const Room *room, int64_t clique, int64_t child, Walk *walk) {
    int64_t steps[MOST_AXES], step = 1;
    const int64_t *axes = tree->axes + tree->axes_at[child] + 1;
    int64_t wide = tree->axes_at[child + 1] - tree->axes_at[child] - 1;
    for (int64_t k = wide - 1; k >= 0; k--) { steps[k] = step; step *= room->extent[axes[k]]; }
    walk->count = 0;
    for (int64_t at = tree->axes_at[clique]; at < tree->axes_at[clique + 1]; at++) {
        int64_t place = find(axes, wide, tree->axes[at]);
        add_axis(walk, room->extent[tree->axes[at]], place < 0 ? 0 : steps[place]);
    }
}

static void lay_out(const Tree *tree, Room *room, const int64_t *given) {
    int64_t products = 0, messages = 0;
    for (int64_t at = 0; at < tree->count; at++) {
        room->begin[at] = given[at] < 0 ? 0 : given[at];
        room->extent[at] = given[at] < 0 ? tree->sizes[at] : 1;
    }
    for (int64_t at = 0; at < tree->count; at++) {
        int64_t length = 1;
        for (int64_t k = tree->axes_at[at] + 1; k < tree->axes_at[at + 1]; k++) length *= room->extent[tree->axes[k]];
        room->length[at] = length;
        room->product_at[at] = products;
        room->message_at[at] = messages;
        products += length * room->extent[at];
        messages += length;
    }
}

static int collect(const Tree *tree, Room *room, double *log_total) {
    Walk walk;
    for (int64_t at = 0; at < tree->count; at++) {
        double *product = room->products + room->product_at[at], least = 1;
        int64_t length = room->length[at], is_first = 1;
        for (int64_t k = tree->table_at[at]; k < tree->table_at[at + 1]; k++, is_first = 0) {
            int64_t first = table_walk(tree, room, at, k, &walk);
            multiply(product, tree->values + first, &walk, is_first);
            least *= tree->least[k];
        }
        for (int64_t k = tree->child_at[at]; k < tree->child_at[at + 1]; k++, is_first = 0) {
            int64_t child = tree->children[k];
            message_walk(tree, room, at, child, &walk);
            multiply(product, room->messages + room->message_at[child], &walk, is_first);
            least *= room->least[child];
        }
        if (is_first) for (int64_t k = 0; k < length * room->extent[at]; k++) product[k] = 1;
        if (least < LEAST_PRODUCT) return UNDERFLOWED;
        double *message = room->messages + room->message_at[at];
        for (int64_t k = 0; k < length; k++) message[k] = product[k];
        for (int64_t level = 1; level < room->extent[at]; level++)
            for (int64_t k = 0; k < length; k++) message[k] += product[level * length + k];
        double top = rescale(message, length, room->least + at);
        if (top == 0) return IMPOSSIBLE;
        *log_total += log(top);
    }
    return FOUND;
}

static int distribute(const Tree *tree, Room *room, double *marginals) {
    Walk walk;
    for (int64_t at = tree->count - 1; at >= 0; at--) {
        double *belief = room->products + room->product_at[at], total = 0, unused;
        int64_t length = room->length[at], levels = room->extent[at];
        if (tree->axes_at[at + 1] - tree->axes_at[at] > 1) {
            const double *told = room->told + room->message_at[at];
            for (int64_t level = 0; level < levels; level++)
                for (int64_t k = 0; k < length; k++) belief[level * length + k] *= told[k];
        }
        double *own = marginals + tree->levels_at[at] + room->begin[at];
        for (int64_t level = 0; level < levels; level++) total += own[level] = sum_of(belief + level * length, length);
        if (total < LEAST_BELIEF) return UNDERFLOWED;
        for (int64_t level = 0; level < levels; level++) own[level] /= total;
        for (int64_t k = tree->child_at[at]; k < tree->child_at[at + 1]; k++) {
            int64_t child = tree->children[k], wide = room->length[child];
            double *told = room->told + room->message_at[child];
            const double *said = room->messages + room->message_at[child];
            for (int64_t j = 0; j < wide; j++) told[j] = 0;
            message_walk(tree, room, at, child, &walk);
            sum_down(told, belief, &walk);
            for (int64_t j = 0; j < wide; j++) told[j] = said[j] > 0 ? told[j] / said[j] : 0;
            rescale(told, wide, &unused);
        }
    }
    return FOUND;
}

/* Levels that are given (-1 where none is), the marginals of all variables, log evidence and outcome of each row. */
int64_t infer_rows(const Tree *tree, int64_t rows, const int64_t *given, double *marginals, double *logs,
                   int64_t *outcome) {
    int64_t n = tree->count, *numbers = malloc((size_t)(5 * n + 1) * sizeof *numbers);
    double *room_of = malloc((size_t)(tree->entries + 2 * tree->separators + n + 1) * sizeof *room_of);
    if (!numbers || !room_of) {
        free(numbers);
        free(room_of);
        return 0;
    }
    Room room = {numbers, numbers + n, numbers + 2 * n, numbers + 3 * n, numbers + 4 * n, room_of,
                 room_of + tree->entries, room_of + tree->entries + tree->separators,
                 room_of + tree->entries + 2 * tree->separators};
    int64_t levels = tree->levels_at[n];
    for (int64_t row = 0; row < rows; row++) {
        lay_out(tree, &room, given + row * n);
        logs[row] = 0;
        outcome[row] = collect(tree, &room, logs + row);
        if (outcome[row] == FOUND) outcome[row] = distribute(tree, &room, marginals + row * levels);
    }
    free(numbers);
    free(room_of);
    return 1;
}
