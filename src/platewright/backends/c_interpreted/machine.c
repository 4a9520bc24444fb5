/* A machine of registers that runs what the reader has read.
 *
 *     frame:  constants, last first | arguments, variables, passing values | arrays that blocks declare
 *
 * Register 0 is the first argument, register -1 the first constant. */

/* The machine at work in this thread, for functions that shared code calls back. */
static _Thread_local struct machine *working;

static value run(struct machine *machine, const struct function *function, const value *arguments)
{
#define X(NAME, ...) &&at_##NAME,
    static const void *const places[] = {EVERY};
#undef X
    value result = {.i = 0}, *const base = machine->top;
    if (function->constants + function->registers > machine->end - base) {
        machine->full = 1;
        return result;
    }
    memcpy(base, function->constant, sizeof(value) * (size_t)function->constants);
    value *const r = base + function->constants;
    memcpy(r, arguments, sizeof(value) * (size_t)function->arguments);
    machine->top = r + function->registers;
    if (function->assembled) {
        result.i = function->assembled(r, machine);
        goto end;
    }
    const struct code *const code = function->code, *at = code;
    machine->steps += function->length;
    goto *places[at->op];
#define GO(PLACE)                                                                                                      \
    {                                                                                                                  \
        at = code + (PLACE);                                                                                           \
        goto *places[at->op];                                                                                          \
    }
#define BACK(PLACE)                                                                                                    \
    {                                                                                                                  \
        machine->steps += at - code - (PLACE);                                                                         \
        at = code + (PLACE);                                                                                           \
        goto *places[at->op];                                                                                          \
    }
#define X(NAME, ...)                                                                                                   \
    at_##NAME : {                                                                                                      \
        __VA_ARGS__;                                                                                                   \
    }                                                                                                                  \
    at++;                                                                                                              \
    goto *places[at->op];
    EVERY
#undef X
end:
    machine->top = base;
    return result;
}

static value called_back(int place, const value *arguments)
{
    return run(working, &working->program->function[working->program->handed[place]], arguments);
}
