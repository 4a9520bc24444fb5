/* A program as machine code of x86-64, instruction by instruction; elsewhere it stays interpreted.
 *
 * It reckons as the machine does, bit for bit, and counts no steps. */

#ifdef ASSEMBLED

static int64_t entered(struct machine *machine, int64_t number, value *arguments)
{
    return run(machine, &machine->program->function[number], arguments).i;
}

static value *allotted(struct machine *machine, int64_t count, int64_t cleared)
{
    value *const room = machine->top;
    if (count < 0 || count > machine->end - room) {
        machine->full = 1;
        return NULL;
    }
    for (int64_t k = 0; cleared && k < count; k++)
        room[k].i = 0;
    machine->top = room + count;
    return room;
}

/* One instruction. Those that end the function go to the place behind the last. */
static void assemble(struct assembler *to, const struct code *at)
{
    const int end = to->function->length;
    const unsigned char top = offsetof(struct machine, top), full = offsetof(struct machine, full);
    int64_t number;
    if (at->op >= SET_LESS && at->op < UNLESS_LESS) {
        set(to, at, (at->op - SET_LESS) % 4, at->op >= SET_LESS_WHOLE);
        return;
    }
    if (at->op >= UNLESS_LESS && at->op < AGAIN_LESS) {
        branch(to, at, (at->op - UNLESS_LESS) % 4, at->op >= UNLESS_LESS_WHOLE, 1);
        return;
    }
    if (at->op >= AGAIN_LESS && at->op < STORE) {
        branch(to, at, (at->op - AGAIN_LESS) % 4, at->op >= AGAIN_LESS_WHOLE, 0);
        return;
    }
    switch ((enum operation)at->op) {
    case MOVE:
        if (to->real == at->b) {
            store_real(to, at->a);
            return;
        }
        load_whole(to, at->b);
        break;
    case REAL_OF:
        PUT(0x0f, 0x57, 0xc0, 0xf2, 0x48, 0x0f, 0x2a);
        operands(to, 0, at->b);
        store_real(to, at->a);
        return;
    case WHOLE_OF:
        PUT(0xf2, 0x48, 0x0f, 0x2c);
        operands(to, RAX, at->b);
        break;
    case ADD:
        reckon(to, 0x58, at, 1);
        return;
    case SUBTRACT:
        reckon(to, 0x5c, at, 0);
        return;
    case MULTIPLY:
        reckon(to, 0x59, at, 1);
        return;
    case DIVIDE:
        reckon(to, 0x5e, at, 0);
        return;
    case NEGATE:
        load_whole(to, at->b);
        PUT(0x48, 0x0f, 0xba, 0xf8, 63);
        break;
    case SQUARE_ROOT:
        with_real(to, 0x51, 0, at->b);
        store_real(to, at->a);
        return;
    case FINITE:
        load_whole(to, at->b);
        PUT(0x48, 0x0f, 0xba, 0xf0, 63, 0x48, 0xb9);
        put_number(to, 0x7ff0000000000000, 8);
        PUT(0x48, 0x39, 0xc8, 0x0f, 0x9c, 0xc0, 0x0f, 0xb6, 0xc0);
        break;
    case ADD_WHOLE:
    case ADVANCE_BYTES:
        reckon_whole(to, 0x03, at);
        return;
    case SUBTRACT_WHOLE:
        reckon_whole(to, 0x2b, at);
        return;
    case EITHER:
        reckon_whole(to, 0x0b, at);
        return;
    case MULTIPLY_WHOLE:
        load_whole(to, at->b);
        multiply_whole(to, at->c);
        break;
    case DIVIDE_WHOLE:
    case REST_WHOLE:
        load_whole(to, at->b);
        PUT(0x48, 0x99);
        with_whole(to, 0xf7, 7, at->c);
        if (at->op == REST_WHOLE)
            PUT(0x48, 0x89, 0xd0);
        break;
    case NEGATE_WHOLE:
        load_whole(to, at->b);
        PUT(0x48, 0xf7, 0xd8);
        break;
    case ADVANCE:
    case RETREAT:
        load_whole(to, at->b);
        with_whole(to, 0x8b, RCX, at->c);
        if (at->op == RETREAT)
            PUT(0x48, 0xf7, 0xd9);
        PUT(0x48, 0x8d, 0x04, 0xc8);
        break;
    case LOAD:
        load_whole(to, at->b);
        if (is_small(to, at->c, &number)) {
            load_element(to, at, 1, number);
            return;
        }
        with_whole(to, 0x8b, RCX, at->c);
        load_element(to, at, 0, 0);
        return;
    case LOAD_OF_TABLE:
        position(to, at->c, at->d, at->e);
        PUT(0x48, 0x89, 0xc1);
        load_whole(to, at->b);
        load_element(to, at, 0, 0);
        return;
    case ADD_PRODUCT:
    case SUBTRACT_PRODUCT:
        with_product(to, at, at->op == SUBTRACT_PRODUCT);
        return;
    case ADD_PRODUCT_WHOLE:
        position(to, at->b, at->c, at->d);
        break;
    case STORE:
        store_element(to, at);
        return;
    case JUMP:
        leap(to, -1, at->c);
        return;
    case UNLESS:
    case WHEN:
    case AGAIN:
        with_whole(to, 0x83, 7, at->a);
        PUT(0);
        leap(to, at->op == UNLESS ? LIKE : NOT_LIKE, at->c);
        return;
    case NEXT:
        load_whole(to, at->a);
        PUT(0x48, 0xff, 0xc0);
        store_whole(to, at->a);
        with_whole(to, 0x3b, RAX, at->b);
        leap(to, SMALLER, at->c);
        return;
    case WITHIN:
        load_whole(to, at->b);
        PUT(0x31, 0xc9, 0x31, 0xd2);
        with_whole(to, 0x3b, RAX, at->c);
        PUT(0x0f, 0x93, 0xc1, 0x48, 0x0f, 0x43, 0xc2);
        with_whole(to, 0x09, RCX, at->d);
        to->real = to->real == at->d ? NOTHING_HELD : to->real;
        break;
    case CALL:
        with_whole(to, 0x8d, RDI, at->a);
        call_out(to, (const void *)(intptr_t)natives[at->b].call);
        return;
    case ENTER:
        PUT(0x4c, 0x89, 0xe7, 0xbe);
        put_number(to, at->b, 4);
        with_whole(to, 0x8d, RDX, at->a);
        call_out(to, (const void *)(intptr_t)entered);
        store_whole(to, at->a);
        PUT(0x41, 0x83, 0x7c, 0x24, full, 0);
        leap(to, NOT_LIKE, end);
        return;
    case ALLOT:
        PUT(0x4c, 0x89, 0xe7, 0xba);
        put_number(to, at->c, 4);
        with_whole(to, 0x8b, RSI, at->b);
        call_out(to, (const void *)(intptr_t)allotted);
        store_whole(to, at->a);
        PUT(0x48, 0x85, 0xc0);
        leap(to, LIKE, end);
        return;
    case MARK:
        to->whole = NOTHING_HELD;
        PUT(0x49, 0x8b, 0x44, 0x24, top);
        break;
    case RELEASE:
        load_whole(to, at->a);
        PUT(0x49, 0x89, 0x44, 0x24, top);
        return;
    case RETURN:
        load_whole(to, at->a);
        leap(to, -1, end);
        return;
    default:
        to->failed = 1;
        return;
    }
    store_whole(to, at->a);
}

/* A function: what it does first and last, and its instructions between; jumps are written when all places are known. */
static size_t assemble_function(struct assembler *to, const struct function *function)
{
    const size_t start = to->length, length = (size_t)function->length;
    char *const label = calloc(length + 1, 1);
    to->starts = malloc(sizeof(size_t) * (length + 1));
    to->leaps = malloc(sizeof(size_t) * 4 * (length + 1)); /* an instruction has two at most */
    to->leapt = 0;
    to->function = function;
    to->failed |= !label || !to->starts || !to->leaps;
    for (size_t k = 0; !to->failed && k < length; k++)
        if (function->code[k].op >= UNLESS_LESS && function->code[k].op != STORE && function->code[k].op <= AGAIN)
            label[function->code[k].c] = 1;
    PUT(0x53, 0x41, 0x54, 0x48, 0x83, 0xec, 8, 0x48, 0x89, 0xfb, 0x49, 0x89, 0xf4);
    forget_held(to);
    for (size_t k = 0; !to->failed && k < length; k++) {
        if (label[k])
            forget_held(to);
        to->starts[k] = to->length;
        assemble(to, function->code + k);
    }
    if (!to->failed) {
        to->starts[length] = to->length;
        PUT(0x48, 0x83, 0xc4, 8, 0x41, 0x5c, 0x5b, 0xc3);
    }
    for (size_t k = 0; !to->failed && k < to->leapt; k++) {
        const size_t from = to->leaps[2 * k];
        const int32_t far = (int32_t)((int64_t)to->starts[to->leaps[2 * k + 1]] - (int64_t)from - 4);
        memcpy(to->text + from, &far, 4);
    }
    free(label);
    free(to->starts);
    free(to->leaps);
    return start;
}

/* The program as machine code; returns 0 where there is no room for it, and it stays interpreted. */
int64_t platewright_assemble(struct program *program)
{
    struct assembler held = {0}, *const to = &held;
    size_t starts[MOST_FUNCTIONS];
    if (program->assembled)
        return 1;
    for (int k = 0; k < program->functions; k++)
        starts[k] = assemble_function(to, &program->function[k]);
    char *room = MAP_FAILED;
    if (!to->failed)
        room = mmap(NULL, to->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (room != MAP_FAILED) {
        memcpy(room, to->text, to->length);
        if (mprotect(room, to->length, PROT_READ | PROT_EXEC)) {
            munmap(room, to->length);
            room = MAP_FAILED;
        }
    }
    free(to->text);
    if (room == MAP_FAILED)
        return 0;
    program->assembled = room;
    program->bytes = to->length;
    for (int k = 0; k < program->functions; k++)
        program->function[k].assembled = (assembled_function *)(intptr_t)(room + starts[k]);
    return 1;
}

static void forget_assembled(struct program *program)
{
    if (program->assembled)
        munmap(program->assembled, program->bytes);
}

#else

int64_t platewright_assemble(struct program *program)
{
    return !program;
}

static void forget_assembled(struct program *program)
{
    (void)program;
}

#endif
