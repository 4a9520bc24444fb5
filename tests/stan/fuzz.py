"""Throw damaged and hostile Stan texts at the reader: only clean errors, each small, and fast for its length.

    PYTHONPATH=src:tests python -m stan.fuzz 100000 [seed]

Four texts of five are mutations of the snippets, the fifth is made to hurt. Every kind of damage is drawn from one
seed, so a finding can be repeated.
"""

from __future__ import annotations

import json
import random
import sys
import time

from bugs.fuzz import TOKENS, Trial, bruised, damaged, measured
from platewright.errors import PlatewrightError
from platewright.reading import read_stan
from stan.snippets import SNIPPETS

WORDS = [
    "real", "int", "vector", "matrix[2, 2]", "vector[N]", "simplex[3]", "array[N]", "array[1000000000]", "ordered[2]",
    "cov_matrix[2]", "corr_matrix[3]", "unit_vector[3]", "<lower=0>", "<lower=", "<upper=x>", "target += ", "target()",
    "+= ", "~ normal(0, 1);", "~ foo(1);", "normal_lpdf(x | 0, 1)", "log_mix(", "log_sum_exp(", "if (1) ", "else ",
    "while (1) ", "for (i in 1:1000000000) ", "for (n in 1:N) ", "for (x in y) ", "return 1;", "break;", "print(1);",
    "reject(\"x\");", "T[0, ]", "? ", " : ", "'", ".*", "\\", "%/%", "functions { real f(real x) { return x; } }",
    "#include <x>", "ode_rk45(f, y, t)", "transformed ", "data {", "model {", "generated quantities {", "}",
    "rep_vector(0, N)",
    "rep_matrix(1, 100000, 100000)", "identity_matrix(3)", "inverse(", "softmax(", "x[1:2]", "x[{1, 2}]",
    "{1, 2}", "[1, 2]",
    "x'", "x[:]", "x[,1]", "x[n - 1]", "1e400", "99999999999999999999", "_lpdf", "y[n]", "//", "/*", "*/", '"',
]  # fmt: skip
PLAIN = """data { int N; vector[N] y; } transformed data { real u = 1; } parameters { real a; real<lower=0> s; }
model { y ~ normal(a, s); }"""


def hostile(choice: random.Random) -> tuple[str, dict[str, object]]:
    """A text that aims at one weakness: depth, length, ranges, circles, carried values."""
    depth = choice.choice([5, 60, 61, 199, 201, 1000, 20_000])
    large = choice.choice(["1000000000", "500001", "99999", "2147483648", "-5", "0", "1e9"])
    inside = choice.choice(["(", "exp(", "-", "!", "1 + ", "2 ^ ", "a * ", "{", "[", "x[", "1 ? 2 : ", "a'"])
    texts = [
        PLAIN.replace("y ~ normal(a", f"y ~ normal({inside * depth}a"),
        PLAIN.replace("y ~", "{ " * depth + "y ~"),
        PLAIN.replace("model {", "model { " + "if (1) " * depth),
        PLAIN.replace("model {", "model { " + "for (i in 1:2) { " * min(depth, 3000)),
        PLAIN.replace("model {", f"model {{ for (i in 1:{large}) target += a;"),
        PLAIN.replace("model {", f"model {{ for (i in 1:{large}) for (j in 1:{large}) a ~ normal(i, j);"),
        PLAIN.replace("model {", f"model {{ real h = a; for (i in 1:{large}) h = h * h + a; target += h;"),
        PLAIN.replace("real a;", f"vector[{large}] a; simplex[{large}] w; cov_matrix[{large}] S;"),
        PLAIN.replace("real u = 1", f"array[{large}] real u = rep_array(1.0, {large})"),
        PLAIN.replace("real u = 1", f"matrix[{large}, {large}] u = rep_matrix(1.0, {large}, {large})"),
        PLAIN.replace("model {", "model { vector[2] v; v[1] = v[2]; v[2] = v[1]; target += v[1];"),
        PLAIN.replace("model {", "model { a ~ normal(s, 1); s ~ normal(a, 1);"),
        PLAIN.replace("model {", "model { " + " ".join(f"real h{k} = a;" for k in range(min(depth, 3000)))),
        PLAIN.replace("model {", "model { real h = a; " + "h = h * h; " * min(depth, 300) + "target += h;"),
        PLAIN.replace("a;", f"{'n' * depth * 3};"),
        "functions {" * choice.choice([1, 50]), "\x00" * depth, "model {" + "}" * depth, "é" * depth, "",
        "data { int N; } " * choice.choice([2, 300]), "/*" * depth, '"' * depth,
    ]  # fmt: skip
    return choice.choice(texts), {
        "N": choice.choice([2, 2.5, 0, -1, 1e9, [1]]),
        "y": choice.choice([[1, 2], [], 1, [[1]]]),
    }


def trial(seed: int, number: int) -> Trial:
    """The trial with this number."""
    choice = random.Random(f"{seed}-{number}")
    if number % 5 == 4:
        text, data = hostile(choice)
        return Trial(text, json.dumps(data))
    snippet = SNIPPETS[choice.choice(list(SNIPPETS))]
    text, shown = snippet.text, json.dumps(snippet.data)
    text = bruised(text, choice) if choice.random() < 0.5 else damaged(text, choice, [*TOKENS, *WORDS])
    if choice.random() < 0.1:
        shown = damaged(shown, choice, TOKENS)
    return Trial(text, "" if choice.random() < 0.1 else shown)


def run(one: Trial) -> tuple[str, float]:
    """What came of a trial (`read`, or the class of a clean error), and the processor seconds it took."""
    start = time.process_time()
    try:
        read = read_stan(one.text + "\n", one.data + "\n" if one.data else None).read_from
        read.data()
        str(read.report)
        outcome = "read"
    except PlatewrightError as error:
        str(error)
        outcome = type(error).__name__
    return outcome, time.process_time() - start


if __name__ == "__main__":
    sys.exit(measured(sys.argv[1:], trial, run))
