"""Throw damaged and hostile texts at the reader: only clean errors, each small, and fast for its length.

    PYTHONPATH=src:tests python -m bugs.fuzz 100000 [seed]

Four texts of five are mutations of the snippets, the fifth is made to hurt (`hostile.py`). Every kind of damage is
drawn from one seed, so a finding can be repeated. Where the system can tell (Linux), memory is measured text by text.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bugs.hostile import hostile
from bugs.snippets import SNIPPETS
from platewright.errors import PlatewrightError
from platewright.language.bugs.reader import read_bugs

TOKENS = [
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ";",
    ":",
    "~",
    "<-",
    "=",
    "+",
    "-",
    "*",
    "/",
    "^",
    "%*%",
    "==",
    "<",
    ">",
    "<=",
    "&&",
    "||",
    "!",
    "#",
    "/*",
    "*/",
    "for",
    "in",
    "model",
    "data",
    "var",
    "T(",
    "I(",
    "C(",
    "N",
    "1",
    "0",
    "-1",
    "2.5",
    "1e308",
    "1e-308",
    "1e999",
    "99999999999",
    "1:1000000000",
    "1:1000000",
    "NA",
    "x[",
    "x",
    "y[i]",
    "mu[1:3]",
    "p[,]",
    "dnorm(",
    "dnorm(0,1)",
    "dcat(",
    "dwish(",
    "dmnorm(",
    "dgamma(0,0)",
    "dfoo(1)",
    "foo(1)",
    "log(",
    "logit(",
    "sum(",
    "mean(",
    "inverse(",
    "prod(",
    "sd(",
    "cut(x)",
    "i",
    "i+1",
    "i-1",
    "y[i-1]",
    "z[y[1]]",
    "\n",
    "\t",
    "\x00",
    "",
    "é",
    "∞",
    "'",
    '"',
    "\\",
    "$",
    "@",
    "__import__('os')",
    "eval(1)",
    "${HOME}",
    "list(",
    "c(",
    "structure(",
    ".Data",
    ".Dim=",
    "END",
    "NaN",
    "Inf",
    "rep(1,1e9)",
]
WORDS = (
    "list(",
    "c(",
    "structure(",
    ".Data=",
    ".Dim=",
    "NA",
    "1:10",
    "1:1e9",
    "rep(1, 99999999)",
    "system('ls')",
    ")",
    ",",
)


@dataclass(frozen=True)
class Trial:
    """One damaged model text with one, perhaps damaged, data text."""

    text: str
    data: str


def rendered(data: dict[str, object], choice: random.Random) -> str:
    """Data as JSON, as an S list or as an R dump."""
    kind = choice.randrange(3)
    if kind == 0:
        return json.dumps(data)
    parts = []
    for name, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], list):
            flat = ", ".join("NA" if cell is None else str(cell) for row in value for cell in row)
            shown = f"structure(.Data = c({flat}), .Dim = c({len(value)}, {len(value[0])}))"
        elif isinstance(value, list):
            shown = "c(" + ", ".join("NA" if cell is None else str(cell) for cell in value) + ")"
        else:
            shown = str(value)
        parts.append(f"{name} = {shown}" if kind == 1 else f'"{name}" <- {shown}')
    return f"list({', '.join(parts)})" if kind == 1 else "\n".join(parts)


def damaged(text: str, choice: random.Random, tokens: tuple[str, ...] | list[str]) -> str:
    """A text after one to six random injuries."""
    for _ in range(choice.randrange(1, 7)):
        at = choice.randrange(len(text) + 1)
        to = min(len(text), at + choice.randrange(1, 12))
        kind = choice.randrange(9)
        if kind == 0:
            text = text[:at] + text[to:]
        elif kind == 1:
            text = text[:at] + choice.choice(tokens) + text[at:]
        elif kind == 2:
            text = text[:at] + choice.choice(tokens) + text[to:]
        elif kind == 3:
            text = text[:at] + text[at:to] * choice.randrange(2, 5) + text[to:]
        elif kind == 4:
            other = choice.randrange(len(text) + 1)
            text = text[:at] + text[other : other + 8] + text[at:]
        elif kind == 5:
            text = text[:at]
        elif kind == 6:
            bracket = choice.choice(["(", "[", "{", "-(", "x[", "!", "-", "2^", "a/", "(1+"])
            text = text[:at] + bracket * choice.choice([3, 50, 2000]) + text[at:]
        elif kind == 7:
            text = text.replace(choice.choice("NTKiktxy"), choice.choice(["N", "i", "0", "7", "1e6", "x.y"]))
        else:
            text = text[:at] + chr(choice.choice([0, 9, 127, 160, 955, 8734, 65279, 128512])) + text[at:]
    return text[:200_000]


_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9._]*|[0-9.]+(?:[eE][+-]?[0-9]+)?|\s+|<-|[^A-Za-z0-9\s]")
NUMBERS = ("0", "1", "2", "3", "7", "-1", "0.5", "1e6", "1e300", "100000", "1e-320", "12")


def bruised(text: str, choice: random.Random) -> str:
    """A text that still parses, mostly: names and numbers replaced by others, statements dropped or said twice."""
    parts = _TOKEN.findall(text)
    names = [part for part in parts if part[0].isalpha()]
    for _ in range(choice.randrange(1, 5)):
        at = choice.randrange(len(parts))
        if parts[at][0].isalpha():
            parts[at] = choice.choice([*names, *NUMBERS[:4]])
        elif parts[at][0].isdigit():
            parts[at] = choice.choice([*NUMBERS, *names[:3]])
        elif parts[at] in "+-*/^,:":
            parts[at] = choice.choice(["+", "-", "*", "/", "^", ",", ":", "%*%", "<"])
    return "".join(parts)


def trial(seed: int, number: int) -> Trial:
    """The trial with this number."""
    choice = random.Random(f"{seed}-{number}")
    if number % 5 == 4:
        return Trial(*hostile(choice))
    text, data = SNIPPETS[choice.choice(list(SNIPPETS))]
    shown = rendered(data, choice)
    target = choice.randrange(4)
    if target == 1 or choice.random() < 0.6:
        text = bruised(text, choice)
    elif target != 0:
        text = damaged(text, choice, TOKENS)
    if target in (0, 3):
        shown = damaged(shown, choice, [*TOKENS, *WORDS])
    return Trial(text, shown)


def run(one: Trial) -> tuple[str, float]:
    """What came of a trial (`read`, or the class of a clean error), and the processor seconds it took."""
    start = time.process_time()
    try:
        read = read_bugs(one.text + "\n", one.data + "\n")
        read.data()
        str(read.report)
        outcome = "read"
    except PlatewrightError as error:
        str(error)
        outcome = type(error).__name__
    return outcome, time.process_time() - start


def allowed(one: Trial) -> float:
    """Seconds that a trial may take: one, and another for every 20,000 characters of a long model text."""
    return 1 + len(one.text) // 20_000


def resident(field: str) -> float:
    """Megabytes of this process: `VmRSS` now, `VmHWM` at most; 0 where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0.0
    found = re.search(rf"{field}:\s+(\d+)", status)
    return int(found.group(1)) / 1024 if found else 0.0


def forget_peak() -> None:
    """Begin a new reckoning of the largest memory."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return  # the peak is then that of the whole run, which only errs on the strict side


def measured(
    arguments: list[str], trial: Callable[[int, int], Trial], run: Callable[[Trial], tuple[str, float]]
) -> int:
    """Run many trials and print a table; the exit status says whether all were clean, fast and small."""
    count = int(arguments[0]) if arguments else 100_000
    seed = int(arguments[1]) if len(arguments) > 1 else 0
    found: dict[str, int] = {}
    slowest, largest, failures, late = (0.0, -1), (0.0, -1), 0, 0
    run(trial(seed, 0))  # the parser's tables are built at first use
    start = resident("VmRSS")
    for number in range(count):
        one = trial(seed, number)
        forget_peak()
        before = resident("VmRSS")
        try:
            outcome, seconds = run(one)
        except Exception as error:
            outcome, seconds = f"UNCLEAN {type(error).__name__}", 0.0
            failures += 1
            if failures <= 20:
                print(f"trial {seed}-{number}: {type(error).__name__}: {str(error)[:200]}", flush=True)
        found[outcome] = found.get(outcome, 0) + 1
        slowest = max(slowest, (seconds, number))
        late += seconds > allowed(one)
        largest = max(largest, (resident("VmHWM") - before, number))
    table = {
        "outcomes": dict(sorted(found.items())),
        "slowest, seconds and number": slowest,
        "slower than their length allows": late,
        "largest, megabytes and number": (round(largest[0], 1), largest[1]),
        "the process grew by, megabytes": round(resident("VmRSS") - start, 1),
    }
    print(json.dumps(table, indent=1))
    return 0 if failures == 0 and late == 0 and largest[0] < 200 else 1


def main(arguments: list[str]) -> int:
    """Many trials of the BUGS reader."""
    return measured(arguments, trial, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
