/* Read the C that samplers are written in, and write it down for `machine.c`.
 *
 * The part of C that emitted functions use and no more: doubles, 64-bit integers, pointers to them, `struct chain`,
 * `if`, `for`, `return`, calls. Whatever else is met, the text is refused, and the compiler takes it. One pass. */

enum { NOTHING, INTEGER, REAL, CHARACTER, CHAIN, POINTER = 8 }; /* a type: what it is, and 8 for each star */
enum { END, NAME, NUMBER, DECIMAL, SIGN };
enum { CONSTANT, HELD, PLACE, COMPARED };

#define PAIR(a, b) ((a) * 256 + (b))
#define MOST_VARIABLES 1024
#define MOST_CODE 30000

struct word {
    int kind, sign;
    const char *at;
    int64_t length;
    value number;
};

struct operand {
    int kind, type, temporary;
    int32_t a, b; /* register; base and position of a place; both sides of a comparison */
    int op;
    value constant;
};

struct variable {
    const char *at;
    int64_t length;
    struct operand is;
};

struct reader {
    const char *next;
    struct word word;
    struct program *program;
    struct function *function;
    struct variable variable[MOST_VARIABLES];
    int variables, free, label, arrays, *skips, skipped;
    int kept; /* whether the position of a place is read again */
    char *trouble;
    int64_t room;
    jmp_buf refused;
};

static struct operand expression(struct reader *reader);
static struct operand assignment(struct reader *reader);
static void statement(struct reader *reader);

static void refuse(struct reader *reader, const char *why)
{
    snprintf(reader->trouble, (size_t)reader->room, "%s at: %.40s", why, reader->word.at);
    longjmp(reader->refused, 1);
}

/* -- words --------------------------------------------------------------------------------------------------------- */

static int is_part(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void number(struct reader *reader)
{
    struct word *const word = &reader->word;
    const char *end = word->at;
    int decimal = 0;
    for (;; end++) {
        const int exponent = end > word->at && (end[-1] == 'e' || end[-1] == 'E' || end[-1] == 'p');
        if (!is_part(*end) && *end != '.' && !((*end == '-' || *end == '+') && exponent))
            break;
        decimal |= *end == '.' || *end == 'e' || *end == 'E' || *end == 'p' || *end == 'x';
    }
    char *stop;
    word->kind = decimal ? DECIMAL : NUMBER;
    if (decimal)
        word->number.d = strtod(word->at, &stop);
    else
        word->number.i = strtoll(word->at, &stop, 10);
    if (stop != end)
        refuse(reader, "a number is written unlike ours");
    word->length = end - word->at;
    reader->next = end;
}

static void advance(struct reader *reader)
{
    const char *p = reader->next;
    for (;;) {
        while (*p == ' ' || *p == '\n')
            p++;
        if (p[0] != '/' || p[1] != '*')
            break;
        for (p += 2; *p && !(p[0] == '*' && p[1] == '/'); p++)
            ;
        p += *p ? 2 : 0;
    }
    struct word *const word = &reader->word;
    word->at = p;
    if (!*p) {
        word->kind = END;
        return;
    }
    if (*p >= '0' && *p <= '9') {
        number(reader);
        return;
    }
    if (is_part(*p)) {
        while (is_part(*p))
            p++;
        word->kind = NAME;
        word->length = p - word->at;
        reader->next = p;
        return;
    }
    word->kind = SIGN;
    word->sign = p[0];
    static const char pairs[] = "->++--+=-=*=/=|=<=>===!=&&||";
    for (const char *pair = pairs; *pair; pair += 2)
        if (p[0] == pair[0] && p[1] == pair[1])
            word->sign = PAIR(p[0], p[1]);
    word->length = word->sign > 255 ? 2 : 1;
    reader->next = p + word->length;
}

static int is(const struct reader *reader, const char *name)
{
    const size_t length = strlen(name);
    return reader->word.kind == NAME && (size_t)reader->word.length == length
           && !memcmp(reader->word.at, name, length);
}

static int sign_is(const struct reader *reader, int sign)
{
    return reader->word.kind == SIGN && reader->word.sign == sign;
}

static int took(struct reader *reader, int sign)
{
    if (!sign_is(reader, sign))
        return 0;
    advance(reader);
    return 1;
}

static int took_name(struct reader *reader, const char *name)
{
    if (!is(reader, name))
        return 0;
    advance(reader);
    return 1;
}

static void take(struct reader *reader, int sign)
{
    if (!took(reader, sign))
        refuse(reader, "another sign was expected");
}
