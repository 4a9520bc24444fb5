/* Instructions, registers and constants: where values are while a function is written down. */

static int emit(struct reader *reader, int op, int32_t a, int32_t b, int32_t c)
{
    struct function *const f = reader->function;
    if (f->length == f->room) {
        f->room = 2 * f->room + 64;
        struct code *const grown = realloc(f->code, sizeof(struct code) * (size_t)f->room);
        if (!grown)
            refuse(reader, "no memory");
        f->code = grown;
    }
    if (f->length == MOST_CODE)
        refuse(reader, "a function is too long");
    f->code[f->length] = (struct code){(int16_t)op, (int16_t)a, (int16_t)b, (int16_t)c, 0, 0};
    return f->length++;
}

static int is_variable(const struct reader *reader, int32_t place)
{
    for (int k = reader->variables - 1; k >= 0; k--)
        if (reader->variable[k].is.kind == HELD && reader->variable[k].is.a == place)
            return 1;
    return 0;
}

/* The last instruction, where it only serves to put a passing value into a register. */
static const struct code *passing(const struct reader *reader, int op, int32_t into)
{
    const struct function *const f = reader->function;
    const struct code *const last = f->code + f->length - 1;
    if (f->length <= reader->label || last->op != op || last->a != into || is_variable(reader, into))
        return NULL;
    return last;
}

/* In the place of the last instruction one that does its work too. */
static void emit_joined(struct reader *reader, int op, int32_t a, int32_t b, int32_t c, int32_t d, int32_t e)
{
    reader->function->length--;
    struct code *const made = reader->function->code + emit(reader, op, a, b, c);
    made->d = (int16_t)d;
    made->e = (int16_t)e;
}

/* An instruction; where a product was just computed for it alone, both become one. */
static void emit_value(struct reader *reader, int op, int32_t a, int32_t b, int32_t c)
{
    const struct code *last = NULL;
    if (b != c && op == ADD && (last = passing(reader, MULTIPLY, c)))
        emit_joined(reader, ADD_PRODUCT, a, b, last->b, last->c, 0);
    else if (b != c && op == SUBTRACT && (last = passing(reader, MULTIPLY, c)))
        emit_joined(reader, SUBTRACT_PRODUCT, a, b, last->b, last->c, 0);
    else if (b != c && op == ADD_WHOLE && (last = passing(reader, MULTIPLY_WHOLE, b)))
        emit_joined(reader, ADD_PRODUCT_WHOLE, a, last->b, last->c, c, 0);
    else if (b != c && op == LOAD && !reader->kept && (last = passing(reader, ADD_PRODUCT_WHOLE, c)))
        emit_joined(reader, LOAD_OF_TABLE, a, b, last->b, last->c, last->d);
    else
        emit(reader, op, a, b, c);
}

static void lands_here(struct reader *reader, int jump)
{
    reader->function->code[jump].c = reader->label = reader->function->length;
}

static int32_t fresh(struct reader *reader)
{
    if (++reader->free > reader->function->registers)
        reader->function->registers = reader->free;
    if (reader->free > MOST_CODE)
        refuse(reader, "too many registers");
    return reader->free - 1;
}

static int32_t constant(struct reader *reader, value number)
{
    struct function *const f = reader->function;
    for (int k = 0; k < f->constants; k++)
        if (f->constant[k].i == number.i)
            return -1 - k;
    if (f->constants == MOST_CODE)
        refuse(reader, "too many constants");
    value *const grown = realloc(f->constant, sizeof(value) * (size_t)(f->constants + 1));
    if (!grown)
        refuse(reader, "no memory");
    f->constant = grown;
    f->constant[f->constants++] = number;
    return -f->constants;
}

static int32_t whole_number(struct reader *reader, int64_t number)
{
    return constant(reader, (value){.i = number});
}

static struct operand of_constant(int type, value number)
{
    return (struct operand){.kind = CONSTANT, .type = type, .constant = number};
}

static struct operand in_register(int type, int32_t place)
{
    return (struct operand){.kind = HELD, .type = type, .a = place};
}

/* A value just computed, in the register that is free next. */
static struct operand result_of(struct reader *reader, int type, int op, int32_t b, int32_t c)
{
    struct operand found = in_register(type, fresh(reader));
    found.temporary = 1;
    emit_value(reader, op, found.a, b, c);
    return found;
}

/* The register that holds an operand. */
static int32_t held(struct reader *reader, struct operand it)
{
    if (it.type == NOTHING)
        refuse(reader, "this has no value");
    switch (it.kind) {
    case CONSTANT:
        return constant(reader, it.constant);
    case PLACE:
        return result_of(reader, it.type, LOAD, it.a, it.b).a;
    case COMPARED:
        return result_of(reader, INTEGER, it.op, it.a, it.b).a;
    }
    return it.a;
}

static void put_into(struct reader *reader, struct operand it, int32_t into)
{
    struct function *const f = reader->function;
    if (it.kind == HELD && it.a == into)
        return;
    if (it.kind == PLACE)
        emit_value(reader, LOAD, into, it.a, it.b);
    else if (it.kind == COMPARED)
        emit(reader, it.op, into, it.a, it.b);
    else if (it.kind == HELD && it.temporary && f->length > reader->label && f->code[f->length - 1].op < UNLESS_LESS
             && f->code[f->length - 1].a == it.a)
        f->code[f->length - 1].a = into; /* the last instruction writes there at once */
    else
        emit(reader, MOVE, into, held(reader, it), 0);
}

static struct operand as_type(struct reader *reader, struct operand it, int type)
{
    if (it.type == NOTHING && type != NOTHING)
        refuse(reader, "this has no value");
    if ((type == REAL) == (it.type == REAL) || type == NOTHING) {
        it.type = type;
        return it;
    }
    if (type != REAL && type != INTEGER)
        refuse(reader, "a number is no address");
    if (it.type >= POINTER)
        refuse(reader, "an address is no number");
    if (it.kind == CONSTANT)
        return of_constant(type, type == REAL ? (value){.d = (double)it.constant.i} : (value){.i = (int64_t)it.constant.d});
    const int before = reader->free;
    const int32_t from = held(reader, it);
    reader->free = before;
    return result_of(reader, type, type == REAL ? REAL_OF : WHOLE_OF, from, 0);
}
