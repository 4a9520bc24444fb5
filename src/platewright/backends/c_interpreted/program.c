/* What a program is: instructions on registers, which hold a double, an integer or an address. */

typedef union value {
    double d;
    int64_t i;
    void *p;
    void (*f)(void);
} __attribute__((may_alias)) value;

struct code {
    int16_t op, a, b, c, d, e;
};

#define COMPARISONS(X) X(LESS, <) X(AT_MOST, <=) X(EQUAL, ==) X(UNLIKE, !=)

/* Those that write register `a` stand first; the reader may give them another. */
#define WRITING(X)                                                                                                     \
    X(MOVE, r[at->a] = r[at->b])                                                                                       \
    X(REAL_OF, r[at->a].d = (double)r[at->b].i)                                                                        \
    X(WHOLE_OF, r[at->a].i = (int64_t)r[at->b].d)                                                                      \
    X(ADD, r[at->a].d = r[at->b].d + r[at->c].d)                                                                       \
    X(SUBTRACT, r[at->a].d = r[at->b].d - r[at->c].d)                                                                  \
    X(MULTIPLY, r[at->a].d = r[at->b].d *r[at->c].d)                                                                   \
    X(DIVIDE, r[at->a].d = r[at->b].d / r[at->c].d)                                                                    \
    X(NEGATE, r[at->a].d = -r[at->b].d)                                                                                \
    X(SQUARE_ROOT, r[at->a].d = sqrt(r[at->b].d))                                                                      \
    X(FINITE, r[at->a].i = !!isfinite(r[at->b].d))                                                                     \
    X(ADD_WHOLE, r[at->a].i = r[at->b].i + r[at->c].i)                                                                 \
    X(SUBTRACT_WHOLE, r[at->a].i = r[at->b].i - r[at->c].i)                                                            \
    X(MULTIPLY_WHOLE, r[at->a].i = r[at->b].i * r[at->c].i)                                                            \
    X(DIVIDE_WHOLE, r[at->a].i = r[at->b].i / r[at->c].i)                                                              \
    X(REST_WHOLE, r[at->a].i = r[at->b].i % r[at->c].i)                                                                \
    X(NEGATE_WHOLE, r[at->a].i = -r[at->b].i)                                                                          \
    X(EITHER, r[at->a].i = r[at->b].i | r[at->c].i)                                                                    \
    X(ADVANCE, r[at->a].p = (value *)r[at->b].p + r[at->c].i)                                                          \
    X(RETREAT, r[at->a].p = (value *)r[at->b].p - r[at->c].i)                                                          \
    X(ADVANCE_BYTES, r[at->a].p = (char *)r[at->b].p + r[at->c].i)                                                     \
    X(LOAD, r[at->a] = ((value *)r[at->b].p)[r[at->c].i])                                                              \
    X(LOAD_OF_TABLE, r[at->a] = ((value *)r[at->b].p)[r[at->c].i * r[at->d].i + r[at->e].i])                           \
    X(ADD_PRODUCT, r[at->a].d = r[at->b].d + r[at->c].d * r[at->d].d)                                                  \
    X(SUBTRACT_PRODUCT, r[at->a].d = r[at->b].d - r[at->c].d * r[at->d].d)                                             \
    X(ADD_PRODUCT_WHOLE, r[at->a].i = r[at->b].i * r[at->c].i + r[at->d].i)

#define SET_REAL(NAME, SIGN) X(SET_##NAME, r[at->a].i = r[at->b].d SIGN r[at->c].d)
#define SET_WHOLE(NAME, SIGN) X(SET_##NAME##_WHOLE, r[at->a].i = r[at->b].i SIGN r[at->c].i)
#define UNLESS_REAL(NAME, SIGN) X(UNLESS_##NAME, if (!(r[at->a].d SIGN r[at->b].d)) GO(at->c))
#define UNLESS_WHOLE(NAME, SIGN) X(UNLESS_##NAME##_WHOLE, if (!(r[at->a].i SIGN r[at->b].i)) GO(at->c))
#define AGAIN_REAL(NAME, SIGN) X(AGAIN_##NAME, if (r[at->a].d SIGN r[at->b].d) BACK(at->c))
#define AGAIN_WHOLE(NAME, SIGN) X(AGAIN_##NAME##_WHOLE, if (r[at->a].i SIGN r[at->b].i) BACK(at->c))

#define OTHERS(X)                                                                                                      \
    X(STORE, ((value *)r[at->a].p)[r[at->b].i] = r[at->c])                                                             \
    X(JUMP, GO(at->c))                                                                                                 \
    X(UNLESS, if (!r[at->a].i) GO(at->c))                                                                              \
    X(WHEN, if (r[at->a].i) GO(at->c))                                                                                 \
    X(NEXT, if (++r[at->a].i < r[at->b].i) BACK(at->c))                                                                \
    X(AGAIN, if (r[at->a].i) BACK(at->c))                                                                              \
    X(WITHIN, const int outside = (uint64_t)r[at->b].i >= (uint64_t)r[at->c].i; r[at->d].i |= outside;                 \
      r[at->a].i = outside ? 0 : r[at->b].i)                                                                           \
    X(CALL, natives[at->b].call(r + at->a))                                                                            \
    X(ENTER, r[at->a] = run(machine, &machine->program->function[at->b], r + at->a); if (machine->full) goto end)      \
    X(ALLOT, value *const room = machine->top; const int64_t count = r[at->b].i;                                       \
      if (count < 0 || count > machine->end - room) { machine->full = 1; goto end; }                                   \
      for (int64_t k = 0; at->c && k < count; k++) room[k].i = 0;                                                      \
      machine->top = room + count; r[at->a].p = room)                                                                  \
    X(MARK, r[at->a].p = machine->top)                                                                                 \
    X(RELEASE, machine->top = r[at->a].p)                                                                              \
    X(RETURN, result = r[at->a]; goto end)

#define EVERY                                                                                                          \
    WRITING(X) COMPARISONS(SET_REAL) COMPARISONS(SET_WHOLE) COMPARISONS(UNLESS_REAL) COMPARISONS(UNLESS_WHOLE)         \
        COMPARISONS(AGAIN_REAL) COMPARISONS(AGAIN_WHOLE) OTHERS(X)

#define X(NAME, ...) NAME,
enum operation { EVERY };
#undef X

struct machine;
typedef int64_t assembled_function(value *frame, struct machine *machine);

struct function {
    char name[64];
    int type, arguments, registers, constants, length, room;
    int kinds[16];
    struct code *code;
    value *constant; /* in the order of the frame: the first one last */
    assembled_function *assembled; /* the same as machine code, where it is made */
};

#define MOST_FUNCTIONS 256


struct program {
    int functions, handed[MOST_HANDED], hands, tables;
    struct function function[MOST_FUNCTIONS];
    value **table;
    void *assembled; /* pages of machine code */
    size_t bytes;
};

struct machine {
    const struct program *program;
    value *top, *end;
    int full;
    int64_t steps; /* about how many instructions were run */
};

struct native {
    const char *name;
    void (*call)(value *);
    const char *kinds; /* of the result, then of the arguments: d, i, p, v; a digit is a function of that kind */
};

/* A function of the program that shared code calls back, by its place among those handed over. */
static value called_back(int place, const value *arguments);
