"""Whole texts made to hurt: each kind aims at one weakness that readers are known to have.

    choice = random.Random("7-3");  model, data = hostile(choice)

A kind is a function from a source of chance to a model text and a data text; `KINDS` lists them all.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

LARGE = ("1e18", "9223372036854775807", "18446744073709551616", "1e308", "1e999", "4294967296", "2147483647", "1000001")
ODD = ("NA", "NaN", "Inf", "-Inf", "-1", "0", "1.5", "-0.0", "1e-320", *LARGE)
LETTERS = ("λ", "а", "x\u200b", "\u202ex", "e\u0301", "ﬁ", "変数", "😀", "\ufeffx", "x\u00a0", "Å", "𝒙", "ı", "\ud7ff")
LINE = "model { for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], 1) } a ~ dnorm(0, 1) b ~ dnorm(0, 1) }"
DATA = "list(N = 3, y = c(1, 2, 3), x = c(0, 1, 2))"


def nested(choice: Random) -> tuple[str, str]:
    """Brackets, calls, loops, indices, signs and powers inside each other, closed or not."""
    depth = choice.choice([5, 59, 60, 61, 99, 101, 1000, 15_000])
    opening, closing = choice.choice(
        [("(", ")"), ("exp(", ")"), ("x[", "]"), ("-", ""), ("2^", ""), ("!", ""), ("(1 + ", ")"), ("pow(2, ", ")"),
         ("ifelse(x > 0, 1, ", ")"), ("c(", ")"), ("- -", ""), ("a %*% (", ")")]
    )  # fmt: skip
    inside = opening * depth + choice.choice(["1", "x", "y[1]", ""]) + closing * (depth - choice.choice([0, 0, 0, 1]))
    if choice.random() < 0.3:
        loops = min(depth, 2000)
        return "model { " + "for (i in 1:2) { " * loops + "z ~ dnorm(0, 1)" + " }" * (loops + 1), "list()"
    if choice.random() < 0.3:
        return LINE, f"list(N = 3, x = c(0, 1, 2), y = {inside})"
    return f"model {{ x ~ dnorm(0, 1) z <- {inside} }}", "list(y = c(1, 2))"


def long_range(choice: Random) -> tuple[str, str]:
    """Ranges, repetitions and indices that would fill any memory."""
    first, last = choice.choice(["1", "0", *ODD]), choice.choice(LARGE)
    texts = [
        f"model {{ for (i in {first}:{last}) {{ x[i] ~ dnorm(0, 1) }} }}",
        f"model {{ x[{first}:{last}] ~ dmnorm(m[], P[,]) }}",
        f"model {{ x[{last}] ~ dnorm(0, 1) }}",
        "model { for (t in 3:N) { x[t] ~ dnorm(x[t - 1] + x[t - 2], 1) } x[1] ~ dflat() x[2] ~ dflat() }",
        f"model {{ for (i in 1:N) {{ for (j in 1:{last}) {{ x[i, j] ~ dnorm(0, 1) }} }} }}",
        f"var x[{last}, {first}]; model {{ x[1, 1] ~ dnorm(0, 1) }}",
        f"model {{ s <- sum(y[{first}:{last}]) z ~ dnorm(s, 1) }}",
        f"data {{ for (i in {first}:{last}) {{ w[i] <- i }} }} model {{ z ~ dnorm(w[1], 1) }}",
        "model { for (i in 1:N) { for (j in 1:N) { for (k in 1:N) { for (l in 1:N) { x[i,j,k,l] ~ dnorm(0,1) } } } } }",
    ]
    several = ", ".join(f"v{k} = 1:1000000" for k in range(choice.choice([1, 30, 300])))
    data = [
        DATA,
        f"list(N = 3, y = {first}:{last}, x = c(0, 1, 2))",
        f"list(N = 3, y = rep(c(1, 2, 3), {last}), x = c(0, 1, 2))",
        f"list(N = 3, y = rep({last}, {choice.choice(['1e7', '3e6', '999999'])}), x = c(0, 1, 2))",
        f"list(N = 3, y = c(1, 2, 3), x = c(0, 1, 2), {several})",
        "list(N = 3, x = c(" + ", ".join(["1:1000000"] * choice.choice([2, 40, 400])) + "), y = c(1, 2, 3))",
        f"list(N = {choice.choice(['100', '999', '1990', '4444', '70000', '499999'])}, y = c(1, 2, 3), x = c(0, 1, 2))",
        "list(N = 3, y = " + "rep(" * 20 + "1" + ", 10)" * 20 + ")",
    ]
    return choice.choice(texts), choice.choice(data)


def giant_structure(choice: Random) -> tuple[str, str]:
    """Dimensions that are huge, wrong, missing, fractional, negative, or many."""
    sizes = [choice.choice(["1", "2", "3", *ODD]) for _ in range(choice.choice([0, 1, 2, 3, 31, 40, 400]))]
    cells = choice.choice(["c(1, 2, 3)", "1:3", "c()", "NA", "c(1, NA, Inf)", "rep(1, 1000000)", "1:1000000"])
    listed = f"c({', '.join(sizes)})"
    shown = choice.choice(
        [f"structure({cells}, .Dim = {listed})", f"structure(.Data = {cells}, .Dim = {listed})",
         f"structure({cells}, .Dim = {choice.choice(ODD)})", f"structure(.Dim = {listed})",
         f"structure({cells}, .Dim = c(3), .Dim = c(1), .Dimnames = list(c('a'", f"structure({cells}, .Names = )"]
    )  # fmt: skip
    if choice.random() < 0.2:
        shown = shown.replace("c(", "list(a = ", 1)
    return LINE, f"list(N = 3, x = c(0, 1, 2), y = {shown})"


def strange_names(choice: Random) -> tuple[str, str]:
    """Names of other alphabets, of control marks, of Python's and of C's own words."""
    words = ("class", "def", "lambda", "None", "int", "double", "__class__", "main", "end", "list", "c", "T", "I", "in")
    name = "".join(
        choice.choice([*LETTERS, *words, ".", "_", "x1", "\x1b[31m"]) for _ in range(choice.choice([1, 2, 9]))
    )
    text, data = LINE.replace(choice.choice("aby"), name), DATA.replace(choice.choice("xyN"), name)
    return (text, data) if choice.random() < 0.7 else (text, json.dumps({name: 3, "N": 3, "y": [1, 2, 3]}))


def unterminated(choice: Random) -> tuple[str, str]:
    """Strings, remarks, numbers and brackets that begin and do not end."""
    tail = choice.choice(
        ['"', "'", "`", "/*", "#", "\\", "1e", "1e+", ".", "c(", "list(", "structure(.Data", "<", "x[", "{"]
    )
    tail = tail + choice.choice(["", "abc", "\n", " " * 5000, "x" * 50_000, '"' * 3001])
    cut = choice.randrange(len(LINE))
    return choice.choice([(LINE[:cut] + tail, DATA), (LINE, DATA[: choice.randrange(len(DATA))] + tail)])


def not_numbers(choice: Random) -> tuple[str, str]:
    """NaN, infinities, fractions and negatives where counts, indices and values belong."""
    odd = [choice.choice(ODD) for _ in range(4)]
    text = choice.choice(
        [LINE, "model { for (i in 1:N) { y[i] ~ dnorm(m[g[i]], 1) } for (k in 1:3) { m[k] ~ dnorm(0, x[k]) } }",
         "model { for (i in 1:N) { y[i] ~ dbin(p, x[i]) } p ~ dbeta(1, 1) }",
         "model { for (i in 1:N) { y[i] ~ dcat(q[]) } q[1:3] ~ ddirch(x[]) }",
         "model { for (i in 1:N) { for (j in 1:x[i]) { z[i, j] ~ dnorm(y[i], 1) } } }",
         "model { for (i in 1:N) { y[i] ~ dnorm(0, 1) T(x[i], g[i]) } }"]
    )  # fmt: skip
    if choice.random() < 0.3:
        numbers = choice.choice(["NaN", "Infinity", "-Infinity", "1e400", "1" * 5000, "true", '"3"', "{}", "[[1], 2]"])
        return text, f'{{"N": {numbers}, "y": [1, {numbers}, 3], "x": [0, 1, null], "g": [1, 2, 3], "N": 3}}'
    size = choice.choice(["3", odd[0]])
    return text, f"list(N = {size}, y = c(1, {odd[1]}, 3), x = c(0, {odd[2]}, 2), g = c(1, {odd[3]}, 3))"


def circles(choice: Random) -> tuple[str, str]:
    """Definitions that need themselves: at once, through others, through an index, or through data."""
    length = choice.choice([1, 2, 3, 50, 1500])
    ring = " ".join(f"a{k} <- a{(k + 1) % length} + 1" for k in range(length))
    drawn = " ".join(f"a{k} ~ dnorm(a{(k + 1) % length}, 1)" for k in range(length))
    return choice.choice(
        [f"model {{ {ring} z ~ dnorm(a0, 1) }}", f"model {{ {drawn} }}",
         "model { for (i in 1:9) { x[i] ~ dnorm(x[10 - i], 1) } }", "model { x[1] ~ dcat(p[x[1], ]) }",
         "model { for (i in 1:9) { x[i] <- x[i + 1] } x[10] <- x[1] z ~ dnorm(x[3], 1) }",
         "model { z[1] ~ dcat(q[]) z[z[1]] ~ dcat(q[]) q[1:2] ~ ddirch(q[]) }",
         "data { u <- v v <- u } model { z ~ dnorm(u, 1) }", "model { x ~ dnorm(0, 1) x <- x + 1 }",
         "model { for (i in 1:i) { x[i] ~ dnorm(0, 1) } }", "model { for (x in 1:x) { x[x] <- x } }"]
    ), "list()"  # fmt: skip


def long_names(choice: Random) -> tuple[str, str]:
    """One name of a million letters, or many thousands of names."""
    name = "n" * choice.choice([1000, 30_000, 63_000, 1_000_000])
    count = choice.choice([300, 1500, 3000])
    many = " ".join(f"v{k} ~ dnorm(0, 1)" for k in range(count))
    lines = ", ".join(f"v{k} = {k}" for k in range(20 * count))
    return choice.choice(
        [(f"model {{ {name} ~ dnorm(0, 1) }}", "list()"), (f"model {{ {many} }}", "list()"),
         (f"model {{ z ~ dnorm({name}, 1) }}", f"list({name} = 1)"), (LINE, f"list({lines})"),
         (f"model {{ z ~ {name}(1) }}", "list()"), (LINE, f'{{"{name}": 1, "N": 3}}'), (LINE, f"list({name})"),
         (f"model {{ z ~ dnorm({name}[1], 1) {name}[1] ~ dnorm(0, 1) }}", "list()")]
    )  # fmt: skip


def duplicates(choice: Random) -> tuple[str, str]:
    """The same node, loop or datum said twice, in agreement or not."""
    twice = choice.choice(
        ["a ~ dnorm(0, 2)", "y[2] ~ dnorm(0, 1)", "a <- 3", "N ~ dpois(3)", "for (i in 2:3) { y[i] ~ dnorm(0, 1) }",
         "for (i in 1:2) { for (i in 1:2) { u[i] ~ dnorm(0, 1) } }", "x[4] ~ dnorm(0, 1)", "y ~ dnorm(0, 1)",
         "a[1] ~ dnorm(0, 1)", "for (i in 1:3) { u ~ dnorm(0, 1) }", "y[1:2, 1] ~ dmnorm(x[], x[])"]
    )  # fmt: skip
    data = choice.choice(
        [DATA, DATA + "\n" + DATA, DATA[:-1] + ", y = 1:9)", DATA[:-1] + ", a = 1)", "N <- 3\n" + DATA]
    )
    return LINE[:-1] + twice * choice.choice([1, 2, 40]) + " }", data


def tables(choice: Random) -> tuple[str, str]:
    """Rectangular data with rows, heads and ends that do not fit."""
    head = choice.choice(
        ["x[] y[]", "x[,1] x[,2] y[]", "x[,1] x[,3] y[]", "x[", "x[] x[]", "x[,] y[]", "x[1,] y[]", "x[-1]"]
    )
    rows = "\n".join(
        " ".join(choice.choice(["1", "2.5", *ODD]) for _ in range(choice.choice([2, 2, 2, 3]))) for _ in range(3)
    )
    end = choice.choice(["END", "END\n", "", "END END", "list(N=3)"])
    return LINE, f"{head}\n{rows}\n{end}\nlist(N = 3)"


KINDS: tuple[Callable[[Random], tuple[str, str]], ...] = (
    nested,
    long_range,
    giant_structure,
    strange_names,
    unterminated,
    not_numbers,
    circles,
    long_names,
    duplicates,
    tables,
)


def hostile(choice: Random) -> tuple[str, str]:
    """A model text and a data text of one of the kinds."""
    return choice.choice(KINDS)(choice)
