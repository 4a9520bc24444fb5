/* Pieces of machine code of x86-64: loads, stores, reckoning, comparisons, jumps.
 *
 *     rbx: the frame | r12: the machine | xmm0, rax: the value just written, so that it is not loaded again */

#if defined(__x86_64__) && (defined(__linux__) || defined(__APPLE__))
#define ASSEMBLED 1
#endif

#ifdef ASSEMBLED

struct assembler {
    unsigned char *text;
    size_t length, room;
    int failed;
    const struct function *function;
    int real, whole;               /* the registers of the frame that xmm0 and rax hold */
    size_t *starts, *leaps, leapt; /* where instructions begin; jumps: where they stand and the instruction they go to */
};

enum { RAX, RCX, RDX, RSI = 6, RDI };
enum { BELOW = 2, NOT_BELOW, LIKE, NOT_LIKE, NOT_ABOVE, ABOVE, UNORDERED = 10, ORDERED, SMALLER, NOT_SMALLER, NOT_GREATER, GREATER };
#define NOTHING_HELD INT32_MIN

static void put_bytes(struct assembler *to, int count, const unsigned char *bytes)
{
    if (to->length + (size_t)count > to->room) {
        to->room = 2 * to->room + 4096;
        unsigned char *const grown = realloc(to->text, to->room);
        if (!grown) {
            to->failed = 1;
            return;
        }
        to->text = grown;
    }
    memcpy(to->text + to->length, bytes, (size_t)count);
    to->length += (size_t)count;
}
#define PUT(...) put_bytes(to, sizeof((unsigned char[]){__VA_ARGS__}), (unsigned char[]){__VA_ARGS__})

static void put_number(struct assembler *to, int64_t number, int bytes)
{
    for (int k = 0; k < bytes; k++, number >>= 8)
        PUT((unsigned char)number);
}

/* The operands: a register of the processor, and one of the frame. */
static void operands(struct assembler *to, int processor, int32_t place)
{
    const int near = place >= -16 && place < 16;
    PUT((unsigned char)((near ? 0x43 : 0x83) | processor << 3));
    put_number(to, 8 * (int64_t)place, near ? 1 : 4);
}

static void with_real(struct assembler *to, int op, int processor, int32_t place)
{
    PUT(0xf2, 0x0f, (unsigned char)op);
    operands(to, processor, place);
}

static void with_whole(struct assembler *to, int op, int processor, int32_t place)
{
    PUT(0x48, (unsigned char)op);
    operands(to, processor, place);
}

static void multiply_whole(struct assembler *to, int32_t place)
{
    PUT(0x48, 0x0f, 0xaf);
    operands(to, RAX, place);
}

static void load_real(struct assembler *to, int32_t place)
{
    if (to->real != place)
        with_real(to, 0x10, 0, place);
    to->real = NOTHING_HELD;
}

static void load_whole(struct assembler *to, int32_t place)
{
    if (to->whole != place)
        with_whole(to, 0x8b, RAX, place);
    to->whole = NOTHING_HELD;
}

static void store_real(struct assembler *to, int32_t place)
{
    with_real(to, 0x11, 0, place);
    to->real = place;
    to->whole = to->whole == place ? NOTHING_HELD : to->whole;
}

static void store_whole(struct assembler *to, int32_t place)
{
    with_whole(to, 0x89, RAX, place);
    to->whole = place;
    to->real = to->real == place ? NOTHING_HELD : to->real;
}

static void forget_held(struct assembler *to)
{
    to->real = to->whole = NOTHING_HELD;
}

static void reckon(struct assembler *to, int op, const struct code *at, int commutes)
{
    const int turned = commutes && to->real == at->c;
    load_real(to, turned ? at->c : at->b);
    with_real(to, op, 0, turned ? at->b : at->c);
    store_real(to, at->a);
}

static void reckon_whole(struct assembler *to, int op, const struct code *at)
{
    load_whole(to, at->b);
    with_whole(to, op, RAX, at->c);
    store_whole(to, at->a);
}

/* r[b] + r[c] r[d], or r[b] - r[c] r[d]; both steps are rounded, as they are in the machine. */
static void with_product(struct assembler *to, const struct code *at, int less)
{
    with_real(to, 0x10, 1, at->c);
    with_real(to, 0x59, 1, at->d);
    load_real(to, at->b);
    PUT(0xf2, 0x0f, less ? 0x5c : 0x58, 0xc1);
    store_real(to, at->a);
}

/* A register of the frame that holds a small constant. */
static int is_small(const struct assembler *to, int32_t place, int64_t *number)
{
    if (place >= 0)
        return 0;
    *number = to->function->constant[to->function->constants + place].i;
    return *number >= -100000000 && *number <= 100000000;
}

/* rax = r[b] r[c] + r[d] */
static void position(struct assembler *to, int32_t b, int32_t c, int32_t d)
{
    int64_t number;
    if (is_small(to, c, &number)) {
        PUT(0x48, 0x69);
        operands(to, RAX, b);
        put_number(to, number, 4);
    } else {
        load_whole(to, b);
        multiply_whole(to, c);
    }
    with_whole(to, 0x03, RAX, d);
    to->whole = NOTHING_HELD;
}

/* Whether the next instruction reckons with doubles, so that what is loaded is best put into xmm0. */
static int reckons(int op)
{
    return (op >= ADD && op <= DIVIDE) || op == SQUARE_ROOT || op == ADD_PRODUCT || op == SUBTRACT_PRODUCT;
}

/* r[a] = what rax + 8 rcx points to, or rax + 8 number where the position is known. */
static void load_element(struct assembler *to, const struct code *at, int known, int64_t number)
{
    const int real = reckons(at[1].op);
    to->whole = NOTHING_HELD;
    if (real)
        PUT(0xf2, 0x0f, 0x10);
    else
        PUT(0x48, 0x8b);
    if (known) {
        PUT(0x80);
        put_number(to, 8 * number, 4);
    } else
        PUT(0x04, 0xc8);
    if (real)
        store_real(to, at->a);
    else
        store_whole(to, at->a);
}

static void leap(struct assembler *to, int condition, int place)
{
    if (condition < 0)
        PUT(0xe9);
    else
        PUT(0x0f, (unsigned char)(0x80 | condition));
    to->leaps[2 * to->leapt] = to->length;
    to->leaps[2 * to->leapt++ + 1] = (size_t)place;
    put_number(to, 0, 4);
}

static void call_out(struct assembler *to, const void *function)
{
    PUT(0x48, 0xb8);
    put_number(to, (int64_t)(intptr_t)function, 8);
    PUT(0xff, 0xd0);
    forget_held(to);
}

/* Compare r[a] with r[b]; returns the condition under which they are so, by the number of a comparison. */
static int compare(struct assembler *to, int comparison, int whole, int32_t a, int32_t b)
{
    static const int wholes[] = {SMALLER, NOT_GREATER, LIKE, NOT_LIKE}, reals[] = {ABOVE, NOT_BELOW, LIKE, NOT_LIKE};
    if (whole) {
        load_whole(to, a);
        with_whole(to, 0x3b, RAX, b);
        to->whole = a;
        return wholes[comparison];
    }
    load_real(to, b); /* turned round: a number that is none is not above any */
    PUT(0x66, 0x0f, 0x2e);
    operands(to, 0, a);
    to->real = b;
    return reals[comparison];
}

static void set(struct assembler *to, const struct code *at, int comparison, int whole)
{
    const int condition = compare(to, comparison, whole, at->b, at->c);
    PUT(0x0f, (unsigned char)(0x90 | condition), 0xc0);
    if (!whole && comparison == 2)
        PUT(0x0f, 0x9b, 0xc1, 0x20, 0xc8); /* and ordered */
    if (!whole && comparison == 3)
        PUT(0x0f, 0x9a, 0xc1, 0x08, 0xc8); /* or not */
    PUT(0x0f, 0xb6, 0xc0);
    store_whole(to, at->a);
}

/* Go to an instruction where r[a] and r[b] compare so, or (`unless`) where they do not. */
static void branch(struct assembler *to, const struct code *at, int comparison, int whole, int unless)
{
    const int condition = compare(to, comparison, whole, at->a, at->b);
    const int equality = !whole && comparison >= 2, when_unlike = (comparison == 3) != unless;
    if (equality && when_unlike)
        leap(to, UNORDERED, at->c);
    else if (equality)
        PUT(0x7a, 6); /* over the next one */
    leap(to, condition ^ unless, at->c);
}

/* What r[a] points to, `r[b]` further on, becomes r[c]. */
static void store_element(struct assembler *to, const struct code *at)
{
    int64_t number;
    const int known = is_small(to, at->b, &number), real = to->real == at->c;
    if (!real && to->whole == at->c)
        PUT(0x48, 0x89, 0xc2);
    else if (!real)
        with_whole(to, 0x8b, RDX, at->c);
    load_whole(to, at->a);
    if (!known)
        with_whole(to, 0x8b, RCX, at->b);
    if (real)
        PUT(0xf2, 0x0f, 0x11, known ? 0x80 : 0x04);
    else
        PUT(0x48, 0x89, known ? 0x90 : 0x14);
    if (known)
        put_number(to, 8 * number, 4);
    else
        PUT(0xc8);
    to->whole = at->a;
}

#endif
