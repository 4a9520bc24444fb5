/* Whole functions and texts, and the doors through which a program is called. */

static void function(struct reader *reader)
{
    struct program *const program = reader->program;
    took_name(reader, "static");
    const int base = type_word(reader), type = stars(reader, base);
    const struct word name = name_here(reader);
    if (base < 0 || program->functions == MOST_FUNCTIONS || name.length > 63)
        refuse(reader, "no function was expected");
    struct function *const f = reader->function = &program->function[program->functions++];
    memcpy(f->name, name.at, (size_t)name.length);
    f->type = type;
    reader->variables = reader->free = reader->label = 0;
    reader->skips = NULL;
    take(reader, '(');
    do {
        const int kind = stars(reader, type_word(reader));
        if (f->arguments == 16)
            refuse(reader, "too many arguments");
        f->kinds[f->arguments++] = kind;
        declare(reader, name_here(reader), in_register(kind, fresh(reader)));
    } while (took(reader, ','));
    take(reader, ')');
    if (!sign_is(reader, '{'))
        refuse(reader, "the function has no lines");
    statement(reader);
    emit(reader, RETURN, whole_number(reader, 0), 0, 0);
    for (int k = 0; k < f->constants / 2; k++) {
        const value held = f->constant[k];
        f->constant[k] = f->constant[f->constants - 1 - k];
        f->constant[f->constants - 1 - k] = held;
    }
}

void platewright_forget(struct program *program)
{
    if (!program)
        return;
    for (int k = 0; k < program->functions; k++) {
        free(program->function[k].code);
        free(program->function[k].constant);
    }
    for (int k = 0; k < program->tables; k++)
        free(program->table[k]);
    free(program->table);
    forget_assembled(program);
    free(program);
}

static int was_read(struct reader *reader)
{
    if (setjmp(reader->refused))
        return 0;
    for (advance(reader); reader->word.kind != END;)
        function(reader);
    return 1;
}

/* The program of a text, or NULL and what stands against it. */
struct program *platewright_read(const char *text, char *trouble, int64_t room)
{
    struct program *const program = calloc(1, sizeof(struct program));
    struct reader *const reader = calloc(1, sizeof(struct reader));
    int good = program && reader;
    if (good) {
        reader->program = program;
        reader->next = text;
        reader->trouble = trouble;
        reader->room = room;
        good = was_read(reader);
    }
    free(reader);
    if (good)
        return program;
    platewright_forget(program);
    return NULL;
}

/* The number of a function, or -1. */
int64_t platewright_find(const struct program *program, const char *name)
{
    for (int k = 0; k < program->functions; k++)
        if (!strcmp(program->function[k].name, name))
            return k;
    return -1;
}

#define MOST_VALUES 32768 /* that frames may hold */

/* Call a function; `steps` grows by about the instructions run. Returns -2 where its frames were too large. */
int64_t platewright_call(const struct program *program, int64_t number, int64_t *steps, int64_t a, int64_t b, int64_t c,
                         int64_t d, int64_t e, int64_t f, int64_t g, int64_t h)
{
    value frames[MOST_VALUES];
    const value arguments[] = {{.i = a}, {.i = b}, {.i = c}, {.i = d}, {.i = e}, {.i = f}, {.i = g}, {.i = h}};
    struct machine machine = {program, frames, frames + MOST_VALUES, 0, 0}, *const before = working;
    working = &machine;
    const value found = run(&machine, &program->function[number], arguments);
    working = before;
    *steps += machine.steps;
    return machine.full ? -2 : found.i;
}
