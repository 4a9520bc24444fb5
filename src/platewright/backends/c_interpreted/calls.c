/* Reckoning, elements, members and calls. */

static struct operand compared(struct reader *reader, int op, struct operand left, struct operand right)
{
    const int real = left.type == REAL || right.type == REAL;
    if (real) {
        left = as_type(reader, left, REAL);
        right = as_type(reader, right, REAL);
    }
    const int32_t a = held(reader, left), b = held(reader, right);
    return (struct operand){.kind = COMPARED, .type = INTEGER, .a = a, .b = b, .op = op + (real ? 0 : SET_LESS_WHOLE - SET_LESS)};
}

/* Zero or one. */
static struct operand truth(struct reader *reader, struct operand it)
{
    if (it.kind == COMPARED)
        return it;
    return compared(reader, SET_UNLIKE, it, of_constant(it.type == REAL ? REAL : INTEGER, (value){.i = 0}));
}

/* Values that stay in registers while others are computed: a place is loaded, for it may be written meanwhile. */
static struct operand settled(struct reader *reader, struct operand it)
{
    if (it.kind != PLACE && it.kind != COMPARED)
        return it;
    struct operand found = in_register(it.type, held(reader, it));
    found.temporary = 1;
    return found;
}

static int is_one(struct operand it)
{
    return it.kind == CONSTANT && (it.type == REAL ? it.constant.d == 1.0 : it.constant.i == 1);
}

static struct operand arithmetic(struct reader *reader, int sign, struct operand left, struct operand right, int before)
{
    if (left.type >= POINTER) {
        const int bytes = left.type == POINTER + CHARACTER;
        const int known = (sign == '+' || (sign == '-' && !bytes)) && right.type == INTEGER;
        if (!known || left.type == POINTER + NOTHING || left.type == POINTER + CHAIN)
            refuse(reader, "such reckoning with addresses is not ours");
        if (right.kind == CONSTANT && !right.constant.i)
            return settled(reader, left);
        const int32_t a = held(reader, left), b = held(reader, right);
        reader->free = before;
        return result_of(reader, left.type, bytes ? ADVANCE_BYTES : sign == '+' ? ADVANCE : RETREAT, a, b);
    }
    if (right.type >= POINTER)
        refuse(reader, "such reckoning with addresses is not ours");
    const int real = left.type == REAL || right.type == REAL;
    if (left.kind == CONSTANT && right.kind == CONSTANT && !real && (sign == '+' || sign == '-' || sign == '*')) {
        const int64_t a = left.constant.i, b = right.constant.i;
        return of_constant(INTEGER, (value){.i = sign == '+' ? a + b : sign == '-' ? a - b : a * b});
    }
    left = as_type(reader, left, real ? REAL : INTEGER);
    right = as_type(reader, right, real ? REAL : INTEGER);
    if (sign == '*' && is_one(right))
        return settled(reader, left);
    if (sign == '*' && is_one(left))
        return settled(reader, right);
    if (!real && (sign == '+' || sign == '-') && right.kind == CONSTANT && !right.constant.i)
        return settled(reader, left);
    if (!real && sign == '+' && left.kind == CONSTANT && !left.constant.i)
        return settled(reader, right);
    const int32_t a = held(reader, left), b = held(reader, right);
    reader->free = before;
    static const char signs[] = "+-*/%|";
    static const int ops[2][6] = {{ADD_WHOLE, SUBTRACT_WHOLE, MULTIPLY_WHOLE, DIVIDE_WHOLE, REST_WHOLE, EITHER},
                                  {ADD, SUBTRACT, MULTIPLY, DIVIDE, -1, -1}};
    const int op = ops[real][strchr(signs, sign) - signs];
    if (op < 0)
        refuse(reader, "such reckoning with doubles is not ours");
    return result_of(reader, real ? REAL : INTEGER, op, a, b);
}

static int precedence(const struct reader *reader)
{
    if (reader->word.kind != SIGN)
        return 0;
    switch (reader->word.sign) {
    case PAIR('|', '|'):
        return 1;
    case PAIR('&', '&'):
        return 2;
    case PAIR('=', '='):
    case PAIR('!', '='):
        return 3;
    case '<':
    case '>':
    case PAIR('<', '='):
    case PAIR('>', '='):
        return 4;
    case '+':
    case '-':
        return 5;
    case '*':
    case '/':
    case '%':
        return 6;
    }
    return 0;
}

static struct operand indexed(struct reader *reader, struct operand base, struct operand at)
{
    if (base.type < POINTER || base.type == POINTER + NOTHING || base.type == POINTER + CHARACTER)
        refuse(reader, "this has no elements");
    struct operand found = {.kind = PLACE, .type = base.type - POINTER};
    found.a = held(reader, base);
    found.b = held(reader, as_type(reader, at, INTEGER));
    return found;
}

static struct operand member(struct reader *reader, struct operand chain)
{
    static const struct {
        const char *name;
        int type;
    } fields[] = {{"array", 2 * POINTER + NOTHING}, {"size", POINTER + INTEGER}, {"random", POINTER + INTEGER},
                  {"work", POINTER + REAL},         {"room", INTEGER},           {"missing", INTEGER}};
    for (int k = 0; chain.type == POINTER + CHAIN && k < 6; k++)
        if (took_name(reader, fields[k].name)) {
            struct operand found = indexed(reader, chain, of_constant(INTEGER, (value){.i = k}));
            found.type = fields[k].type;
            return found;
        }
    refuse(reader, "there is no such member");
    return chain;
}

static int type_of(char kind)
{
    return kind == 'd' ? REAL : kind == 'i' ? INTEGER : kind == 'p' ? POINTER + REAL : NOTHING;
}

/* Arguments one after another from the next free register on. */
static int32_t arguments(struct reader *reader, const int *types, int count)
{
    const int32_t base = reader->free;
    for (int k = 0; k < count; k++) {
        if (k)
            take(reader, ',');
        struct operand given = assignment(reader);
        if (types[k] == REAL || types[k] == INTEGER)
            given = as_type(reader, given, types[k]);
        else if (given.type < POINTER && !(given.kind == CONSTANT && !given.constant.i))
            refuse(reader, "an address was expected");
        reader->free = base + k;
        put_into(reader, given, fresh(reader));
    }
    take(reader, ')');
    reader->free = base;
    return fresh(reader);
}

static int own_function(const struct reader *reader, struct word name)
{
    for (int k = 0; k < reader->program->functions; k++)
        if (strlen(reader->program->function[k].name) == (size_t)name.length
            && !memcmp(reader->program->function[k].name, name.at, (size_t)name.length))
            return k;
    return -1;
}

static struct operand call_native(struct reader *reader, struct word name)
{
    int place = 0;
    while (natives[place].name
           && (strlen(natives[place].name) != (size_t)name.length || memcmp(natives[place].name, name.at, (size_t)name.length)))
        place++;
    const struct native *const native = &natives[place];
    if (!native->name)
        refuse(reader, "this function is not known");
    int types[16], count = (int)strlen(native->kinds) - 1;
    for (int k = 0; k < count; k++)
        types[k] = type_of(native->kinds[k + 1]) ? type_of(native->kinds[k + 1]) : POINTER;
    const int32_t base = reader->free;
    const int handed = native->kinds[1] >= '0' && native->kinds[1] <= '9'; /* a function of ours comes first */
    if (handed) {
        const int own = own_function(reader, reader->word);
        struct program *const program = reader->program;
        if (own < 0 || program->hands == MOST_HANDED)
            refuse(reader, "this function cannot be handed over");
        program->handed[program->hands] = own;
        const value door = {.f = doors[native->kinds[1] - '0'][program->hands++]};
        advance(reader);
        take(reader, ',');
        emit(reader, MOVE, fresh(reader), constant(reader, door), 0);
    }
    arguments(reader, types + handed, count - handed);
    reader->free = base;
    emit(reader, CALL, base, place, 0);
    struct operand found = in_register(type_of(native->kinds[0]), fresh(reader));
    return found.temporary = 1, found;
}

static struct operand call(struct reader *reader, struct word name)
{
    const int before = reader->free;
    if (name.length == 5 && !memcmp(name.at, "WHOLE", 5)) { /* nothing is reckoned in another order here */
        struct operand found = expression(reader);
        take(reader, ')');
        return found;
    }
    if (name.length == 6 && !memcmp(name.at, "square", 6)) {
        const int32_t it = held(reader, as_type(reader, expression(reader), REAL));
        take(reader, ')');
        reader->free = before;
        return result_of(reader, REAL, MULTIPLY, it, it);
    }
    static const struct {
        const char *name;
        int type, op;
    } quick[] = {{"sqrt", REAL, SQUARE_ROOT}, {"isfinite", INTEGER, FINITE}};
    for (int k = 0; k < 2; k++)
        if ((size_t)name.length == strlen(quick[k].name) && !memcmp(name.at, quick[k].name, (size_t)name.length)) {
            const int32_t it = held(reader, as_type(reader, expression(reader), REAL));
            take(reader, ')');
            reader->free = before;
            return result_of(reader, quick[k].type, quick[k].op, it, 0);
        }
    if (name.length == 6 && !memcmp(name.at, "within", 6)) {
        const struct operand at = settled(reader, as_type(reader, assignment(reader), INTEGER));
        take(reader, ',');
        const struct operand limit = settled(reader, as_type(reader, assignment(reader), INTEGER));
        take(reader, ',');
        take(reader, '&');
        const struct operand bad = assignment(reader);
        take(reader, ')');
        if (bad.kind != HELD || bad.type != INTEGER || bad.temporary)
            refuse(reader, "a variable was expected");
        const int known = at.kind == CONSTANT && limit.kind == CONSTANT;
        if (known && (uint64_t)at.constant.i < (uint64_t)limit.constant.i) {
            reader->free = before;
            return at;
        }
        const int32_t code = held(reader, at), size = held(reader, limit);
        reader->free = before;
        struct operand found = result_of(reader, INTEGER, WITHIN, code, size);
        reader->function->code[reader->function->length - 1].d = (int16_t)bad.a;
        return found;
    }
    const int own = own_function(reader, name);
    if (own < 0)
        return call_native(reader, name);
    const struct function *const called = &reader->program->function[own];
    const int32_t base = reader->free;
    arguments(reader, called->kinds, called->arguments);
    emit(reader, ENTER, base, own, 0);
    struct operand found = in_register(called->type, base);
    return found.temporary = 1, found;
}
