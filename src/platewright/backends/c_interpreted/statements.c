/* Declarations and statements. */

static void declare(struct reader *reader, struct word name, struct operand is)
{
    if (reader->variables == MOST_VARIABLES)
        refuse(reader, "too many variables");
    reader->variable[reader->variables++] = (struct variable){name.at, name.length, is};
}

static struct word name_here(struct reader *reader)
{
    const struct word name = reader->word;
    if (name.kind != NAME)
        refuse(reader, "a name was expected");
    advance(reader);
    return name;
}

/* A table of constants, written once with the program. */
static void table(struct reader *reader, struct word name, int type)
{
    struct program *const program = reader->program;
    value *numbers = NULL, **const tables = realloc(program->table, sizeof(value *) * (size_t)(program->tables + 1));
    if (!tables)
        refuse(reader, "no memory");
    program->table = tables;
    tables[program->tables++] = NULL;
    take(reader, '=');
    take(reader, '{');
    int64_t count = 0, room = 0;
    do {
        const struct operand it = as_type(reader, assignment(reader), type);
        if (it.kind != CONSTANT)
            refuse(reader, "a constant was expected");
        if (count == room) {
            room = 2 * room + 16;
            value *const grown = realloc(numbers, sizeof(value) * (size_t)room);
            if (!grown)
                refuse(reader, "no memory");
            tables[program->tables - 1] = numbers = grown;
        }
        numbers[count++] = it.constant;
    } while (took(reader, ','));
    take(reader, '}');
    declare(reader, name, of_constant(type + POINTER, (value){.p = numbers}));
}

/* An array in the frame: of a size, or as long as what it begins with. */
static void array(struct reader *reader, struct word name, int type)
{
    const int32_t into = fresh(reader);
    struct operand is = in_register(type + POINTER, into);
    reader->arrays = 1;
    int allotted = -1;
    if (!sign_is(reader, ']')) {
        const struct operand count = as_type(reader, expression(reader), INTEGER);
        is.constant.i = count.kind == CONSTANT ? count.constant.i : 0;
        allotted = emit(reader, ALLOT, into, held(reader, count), 0);
    }
    take(reader, ']');
    if (took(reader, '=')) {
        take(reader, '{');
        int64_t count = 0;
        const int first = allotted < 0 ? emit(reader, ALLOT, into, 0, 1) : allotted;
        reader->function->code[first].c = 1; /* what is not given is zero */
        do {
            const struct operand it = settled(reader, as_type(reader, assignment(reader), type));
            emit(reader, STORE, into, whole_number(reader, count++), held(reader, it));
        } while (took(reader, ','));
        if (allotted < 0)
            reader->function->code[first].b = whole_number(reader, count);
        take(reader, '}');
    } else if (allotted < 0)
        refuse(reader, "an array has no size");
    reader->free = into + 1;
    declare(reader, name, is);
}

/* A chain in the frame: `struct chain chain = {array, size, random, NULL, 0, 0};` */
static void chain_here(struct reader *reader, struct word name)
{
    const int32_t into = fresh(reader);
    emit(reader, ALLOT, into, whole_number(reader, 6), 1);
    take(reader, '=');
    take(reader, '{');
    for (int64_t k = 0; k < 6; k++) {
        if (k)
            take(reader, ',');
        const struct operand it = settled(reader, assignment(reader));
        emit(reader, STORE, into, whole_number(reader, k), held(reader, it));
    }
    take(reader, '}');
    reader->free = into + 1;
    declare(reader, name, in_register(POINTER + CHAIN, into));
}

static void declaration(struct reader *reader, int constant_only)
{
    const int fixed = is(reader, "const"), base = type_word(reader);
    if (base < 0)
        refuse(reader, "a type was expected");
    do {
        const int type = stars(reader, base);
        const struct word name = name_here(reader);
        if (took(reader, '[')) {
            if (!constant_only) {
                array(reader, name, type);
                continue;
            }
            take(reader, ']');
            table(reader, name, type);
            continue;
        }
        if (constant_only)
            refuse(reader, "only tables are static");
        if (type == CHAIN) {
            chain_here(reader, name);
            continue;
        }
        const int before = reader->free;
        struct operand is = {.kind = HELD, .type = type, .a = before};
        if (took(reader, '=')) {
            const struct operand it = as_type(reader, assignment(reader), type);
            reader->free = before;
            if (fixed && it.kind == CONSTANT && type < POINTER)
                is = it;
            else
                put_into(reader, it, fresh(reader));
        } else
            fresh(reader);
        declare(reader, name, is);
    } while (took(reader, ','));
    take(reader, ';');
}

/* Skip to the bracket that closes, or to a sign before it. */
static void skip(struct reader *reader, int until)
{
    for (int depth = 0; reader->word.kind != END; advance(reader)) {
        if (depth == 0 && sign_is(reader, until))
            return;
        depth += sign_is(reader, '(') - sign_is(reader, ')');
    }
    refuse(reader, "a bracket is not closed");
}

/*     begin; unless condition go to end;  body: ...  step;  while condition go to body;  end: */
static void loop(struct reader *reader)
{
    const int variables = reader->variables, before = reader->free, arrays = reader->arrays;
    int *const skips = reader->skips, skipped = reader->skipped;
    int leaving[64];
    take(reader, '(');
    if (!took(reader, ';')) {
        const struct reader here = *reader;
        const int type = type_word(reader);
        reader->next = here.next;
        reader->word = here.word;
        if (type >= 0)
            declaration(reader, 0);
        else {
            expression(reader);
            take(reader, ';');
        }
    }
    const int32_t mark = fresh(reader);
    emit(reader, MARK, mark, 0, 0);
    const int within = reader->free;
    const char *const test = reader->word.at;
    const int out = unless(reader, expression(reader));
    take(reader, ';');
    const char *const step = reader->word.at;
    skip(reader, ')');
    advance(reader);
    reader->free = within;
    reader->arrays = 0;
    reader->skips = leaving;
    reader->skipped = 0;
    const int body = reader->label = reader->function->length;
    statement(reader);
    for (int k = 0; k < reader->skipped; k++)
        lands_here(reader, leaving[k]);
    if (reader->arrays)
        emit(reader, RELEASE, mark, 0, 0);
    const char *const after = reader->word.at;
    reader->free = within;
    reader->next = step;
    advance(reader);
    if (!sign_is(reader, ')'))
        expression(reader);
    reader->free = within;
    reader->next = test;
    advance(reader);
    const struct operand again = truth(reader, expression(reader));
    const struct code *const last = reader->function->code + reader->function->length - 1;
    const int one = whole_number(reader, 1), steps = last->op == ADD_WHOLE && last->a == last->b && last->c == one;
    if (steps && again.op == SET_LESS_WHOLE && again.a == last->a && reader->function->length > reader->label) {
        reader->function->length--;
        emit(reader, NEXT, again.a, again.b, body);
    } else
        emit(reader, again.op + (AGAIN_LESS - SET_LESS), again.a, again.b, body);
    lands_here(reader, out);
    reader->next = after;
    advance(reader);
    reader->variables = variables;
    reader->free = before;
    reader->arrays |= arrays;
    reader->skips = skips;
    reader->skipped = skipped;
}

static void choice(struct reader *reader)
{
    const int before = reader->free;
    take(reader, '(');
    const struct operand condition = expression(reader);
    take(reader, ')');
    const int otherwise = unless(reader, condition);
    reader->free = before;
    statement(reader);
    if (!took_name(reader, "else")) {
        lands_here(reader, otherwise);
        return;
    }
    const int over = emit(reader, JUMP, 0, 0, 0);
    lands_here(reader, otherwise);
    statement(reader);
    lands_here(reader, over);
}

static void statement(struct reader *reader)
{
    const int before = reader->free, variables = reader->variables;
    if (took(reader, '{')) {
        while (!took(reader, '}'))
            statement(reader);
        reader->free = before;
        reader->variables = variables;
        return;
    }
    if (took(reader, ';'))
        return;
    if (took_name(reader, "if")) {
        choice(reader);
        return;
    }
    if (took_name(reader, "for")) {
        loop(reader);
        return;
    }
    if (took_name(reader, "continue")) {
        if (!reader->skips || reader->skipped == 64)
            refuse(reader, "there is no loop to go on with");
        reader->skips[reader->skipped++] = emit(reader, JUMP, 0, 0, 0);
        take(reader, ';');
        return;
    }
    if (took_name(reader, "return")) {
        int32_t from = whole_number(reader, 0);
        if (!sign_is(reader, ';'))
            from = held(reader, as_type(reader, expression(reader), reader->function->type));
        emit(reader, RETURN, from, 0, 0);
        take(reader, ';');
        reader->free = before;
        return;
    }
    if (took_name(reader, "static")) {
        declaration(reader, 1);
        return;
    }
    const struct reader here = *reader;
    const int type = type_word(reader);
    reader->next = here.next;
    reader->word = here.word;
    if (type >= 0) {
        declaration(reader, 0);
        return;
    }
    expression(reader);
    take(reader, ';');
    reader->free = before;
}
