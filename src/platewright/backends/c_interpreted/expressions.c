/* Expressions, from names and numbers up to assignments. */

static struct operand named(struct reader *reader)
{
    static const struct {
        const char *name;
        int type;
        value is;
    } known[] = {{"NULL", POINTER + NOTHING, {.i = 0}}, {"INFINITY", REAL, {.d = INFINITY}}, {"NAN", REAL, {.d = NAN}}};
    const struct word name = reader->word;
    advance(reader);
    if (took(reader, '('))
        return call(reader, name);
    for (int k = reader->variables - 1; k >= 0; k--)
        if (reader->variable[k].length == name.length && !memcmp(reader->variable[k].at, name.at, (size_t)name.length))
            return reader->variable[k].is;
    for (int k = 0; k < 3; k++)
        if (strlen(known[k].name) == (size_t)name.length && !memcmp(known[k].name, name.at, (size_t)name.length))
            return of_constant(known[k].type, known[k].is);
    reader->word.at = name.at;
    refuse(reader, "this name is not known");
    return of_constant(INTEGER, (value){.i = 0});
}

/* A type at the reader's place, or -1. */
static int type_word(struct reader *reader)
{
    while (is(reader, "const"))
        advance(reader);
    static const struct {
        const char *name;
        int type;
    } types[] = {{"double", REAL},    {"int64_t", INTEGER}, {"int", INTEGER},    {"uint64_t", INTEGER},
                 {"size_t", INTEGER}, {"void", NOTHING},    {"char", CHARACTER}, {"struct", CHAIN}};
    for (int k = 0; k < 8; k++)
        if (took_name(reader, types[k].name)) {
            if (types[k].type == CHAIN && !took_name(reader, "chain"))
                refuse(reader, "this structure is not known");
            return types[k].type;
        }
    return -1;
}

static int stars(struct reader *reader, int type)
{
    for (;;)
        if (took(reader, '*'))
            type += POINTER;
        else if (!took_name(reader, "const"))
            return type;
}

static struct operand primary(struct reader *reader)
{
    const struct word word = reader->word;
    if (word.kind == NUMBER || word.kind == DECIMAL) {
        advance(reader);
        return of_constant(word.kind == NUMBER ? INTEGER : REAL, word.number);
    }
    if (took_name(reader, "sizeof")) {
        take(reader, '(');
        int64_t size = 8;
        if (type_word(reader) != REAL) { /* or of an array whose length is a constant */
            const struct operand it = named(reader);
            size *= it.constant.i;
            if (it.kind != HELD || !size)
                refuse(reader, "this size is not known");
        }
        take(reader, ')');
        return of_constant(INTEGER, (value){.i = size});
    }
    if (word.kind == NAME)
        return named(reader);
    take(reader, '(');
    struct operand found = expression(reader);
    take(reader, ')');
    return found;
}

static struct operand unary(struct reader *reader);

static struct operand postfix(struct reader *reader)
{
    struct operand found = primary(reader);
    for (;;) {
        if (took(reader, '[')) {
            found = settled(reader, found);
            const struct operand at = expression(reader);
            take(reader, ']');
            found = indexed(reader, found, at);
        } else if (took(reader, PAIR('-', '>')) || took(reader, '.'))
            found = member(reader, settled(reader, found));
        else
            return found;
    }
}

static struct operand cast(struct reader *reader, int type)
{
    type = stars(reader, type);
    take(reader, ')');
    const struct operand found = unary(reader);
    if (type >= POINTER && found.type < POINTER)
        refuse(reader, "a number is no address");
    return as_type(reader, found, type);
}

static struct operand unary(struct reader *reader)
{
    const int before = reader->free;
    if (took(reader, '-')) {
        struct operand it = unary(reader);
        if (it.kind == CONSTANT && it.type == REAL)
            return of_constant(REAL, (value){.d = -it.constant.d});
        if (it.kind == CONSTANT && it.type == INTEGER)
            return of_constant(INTEGER, (value){.i = -it.constant.i});
        const int32_t from = held(reader, it);
        reader->free = before;
        return result_of(reader, it.type, it.type == REAL ? NEGATE : NEGATE_WHOLE, from, 0);
    }
    if (took(reader, '!')) {
        const struct operand it = unary(reader);
        const value nothing = {.i = 0};
        return compared(reader, SET_EQUAL, settled(reader, it), of_constant(it.type == REAL ? REAL : INTEGER, nothing));
    }
    if (took(reader, '*'))
        return indexed(reader, settled(reader, unary(reader)), of_constant(INTEGER, (value){.i = 0}));
    if (took(reader, '&')) { /* the chain, which is known by its address */
        const struct operand it = unary(reader);
        if (it.type != POINTER + CHAIN || it.kind != HELD)
            refuse(reader, "only a chain has an address");
        return it;
    }
    if (sign_is(reader, '(')) {
        const struct reader here = *reader;
        advance(reader);
        const int type = type_word(reader);
        if (type >= 0)
            return cast(reader, type);
        reader->next = here.next;
        reader->word = here.word;
    }
    return postfix(reader);
}

/* The right side of `&&` or `||` is read only where it is needed. */
static struct operand joined(struct reader *reader, struct operand left, int level, int before);

static struct operand binary(struct reader *reader, int least)
{
    const int before = reader->free;
    struct operand left = unary(reader);
    for (;;) {
        const int level = precedence(reader), sign = reader->word.sign;
        if (level < least || level == 0)
            return left;
        advance(reader);
        if (level <= 2) {
            left = joined(reader, left, level, before);
            continue;
        }
        left = settled(reader, left);
        struct operand right = binary(reader, level + 1);
        if (level >= 5) {
            left = arithmetic(reader, sign, left, right, before);
            continue;
        }
        right = settled(reader, right);
        const int swapped = sign == '>' || sign == PAIR('>', '=');
        const int op = level == 3 ? (sign == PAIR('=', '=') ? SET_EQUAL : SET_UNLIKE)
                                  : (sign == '<' || sign == '>' ? SET_LESS : SET_AT_MOST);
        left = compared(reader, op, swapped ? right : left, swapped ? left : right);
    }
}

static struct operand joined(struct reader *reader, struct operand left, int level, int before)
{
    const struct operand first = truth(reader, left);
    reader->free = before;
    const int32_t into = fresh(reader);
    put_into(reader, first, into);
    const int jump = emit(reader, level == 1 ? WHEN : UNLESS, into, 0, 0);
    const struct operand second = truth(reader, binary(reader, level + 1));
    put_into(reader, second, into);
    lands_here(reader, jump);
    reader->free = into + 1;
    return in_register(INTEGER, into);
}

/* Go on only where a condition holds; the jump that is taken otherwise. */
static int unless(struct reader *reader, struct operand condition)
{
    const struct operand it = truth(reader, condition);
    return emit(reader, it.op + (UNLESS_LESS - SET_LESS), it.a, it.b, 0);
}

static struct operand conditional(struct reader *reader)
{
    const int before = reader->free;
    const struct operand condition = binary(reader, 1);
    if (!took(reader, '?'))
        return condition;
    const int otherwise = unless(reader, condition);
    reader->free = before;
    const int32_t into = fresh(reader);
    const struct operand first = expression(reader);
    take(reader, ':');
    const int moved = emit(reader, MOVE, into, held(reader, first), 0);
    const int over = emit(reader, JUMP, 0, 0, 0);
    lands_here(reader, otherwise);
    reader->free = into + 1;
    struct operand second = conditional(reader);
    int type = first.type >= POINTER || second.type < POINTER ? first.type : second.type;
    if (first.type == INTEGER && second.type == REAL) {
        reader->function->code[moved].op = REAL_OF;
        type = REAL;
    } else if (first.type == REAL)
        second = as_type(reader, second, REAL);
    put_into(reader, second, into);
    lands_here(reader, over);
    reader->free = into + 1;
    return in_register(type, into);
}

static void store(struct reader *reader, struct operand to, struct operand it)
{
    if (to.kind == PLACE)
        emit(reader, STORE, to.a, to.b, held(reader, it));
    else if (to.kind == HELD && !to.temporary)
        put_into(reader, it, to.a);
    else
        refuse(reader, "nothing can be stored here");
}

static struct operand assignment(struct reader *reader)
{
    const int before = reader->free;
    struct operand to = conditional(reader);
    const int sign = reader->word.kind == SIGN ? reader->word.sign : 0;
    if (sign == '=') {
        advance(reader);
        store(reader, to, as_type(reader, assignment(reader), to.type));
    } else if (sign == PAIR('+', '+') || sign == PAIR('-', '-')) {
        advance(reader);
        const struct operand one = of_constant(INTEGER, (value){.i = 1});
        reader->kept = 1;
        const struct operand was = settled(reader, to);
        reader->kept = 0;
        store(reader, to, arithmetic(reader, sign == PAIR('+', '+') ? '+' : '-', was, one, reader->free));
        to = of_constant(NOTHING, (value){.i = 0}); /* nobody reads what it was */
    } else if (sign > 255 && (sign & 255) == '=' && strchr("+-*/|", sign >> 8)) {
        advance(reader);
        const struct operand by = settled(reader, assignment(reader));
        reader->kept = 1;
        const struct operand was = settled(reader, to);
        reader->kept = 0;
        const struct operand made = arithmetic(reader, sign >> 8, was, by, reader->free);
        store(reader, to, as_type(reader, made, to.type));
    } else
        return to;
    if (to.kind != HELD)
        reader->free = before;
    return to;
}

static struct operand expression(struct reader *reader)
{
    struct operand found = assignment(reader);
    while (took(reader, ','))
        found = assignment(reader);
    return found;
}
