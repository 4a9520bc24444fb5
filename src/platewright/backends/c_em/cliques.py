"""Print the expectation of hidden classes that meet as C: messages up the cliques of a row, counts on the way down.

Everything about a row is a code: seen values, and whether they were seen. A class that was seen has one level in its
loops, one that is missing has all of them, so the work of a row is that of its missing cells. Probabilities are
multiplied as they are; each message is divided by its largest entry, whose logarithm goes to the objective.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from platewright.backends.c.support import c_comment
from platewright.schemas.hidden import Clique


@dataclass(frozen=True)
class RowTable:
    """A factor as a table: codes of the row, then levels of classes; both by number."""

    codes: tuple[int, ...]
    classes: tuple[int, ...]
    because: str


@dataclass(frozen=True)
class RowCount:
    """Expected counts: codes of the row, then levels of classes, in the clique that holds them."""

    clique: int
    codes: tuple[int, ...]
    classes: tuple[int, ...]
    because: str


@dataclass(frozen=True)
class CliquePass:
    """What is printed: cliques by the number of their variables, factors, counts, and how many values things have."""

    title: str
    cliques: tuple[Clique, ...]
    number: Mapping[str, int]
    """The number of each class."""
    levels: tuple[int, ...]
    values: tuple[int, ...]
    """How many values each code has."""
    seen: Mapping[int, tuple[int, int]]
    """For a class that may have been seen: the code that says so, and the code of its value."""
    tables: tuple[tuple[RowTable, ...], ...]
    """The factors of each clique."""
    counts: tuple[RowCount, ...]


def clique_source(one: CliquePass) -> str:
    """The whole file."""
    lines = [
        f"/* {c_comment(one.title)}: expected counts of hidden classes, derived and written by Platewright.",
        " *",
        " * code: the codes of each row; share: how many rows are like it; table: factors; count: what is counted",
        " * tally: sum of log probabilities, largest log probability of a row",
        " * Returns -1, or the first row that no values of its classes allow. */",
        "#include <math.h>",
        "#include <stdint.h>",
        "",
        f"enum {{ CODES = {max(len(one.values), 1)} }};",
        "",
        "int64_t expect(const int32_t *code, const double *share, const double *const *table, double *const *count,",
        "    int64_t start, int64_t stop, double *tally)",
        "{",
        "    for (int64_t row = start; row < stop; row++) {",
        "        const int32_t *const c = code + row * CODES;",
        "        (void)c;",
        "        double log_norm = 0.0;",
    ]
    body = [*_ranges(one), *_pointers(one)]
    for number in range(len(one.cliques)):
        body += _upwards(one, number)
    body += ["tally[0] += share[row] * log_norm;", "if (log_norm > tally[1])", "    tally[1] = log_norm;"]
    for number in reversed(range(len(one.cliques))):
        body += _downwards(one, number)
    lines += [f"        {line}" if line else "" for line in body]
    return "\n".join([*lines, "    }", "    return -1;", "}", ""])


def _ranges(one: CliquePass) -> list[str]:
    """The levels that each class may have in this row."""
    lines = []
    for name, k in one.number.items():
        if k in one.seen:
            flag, value = one.seen[k]
            lines.append(f"/* {c_comment(name)} */")
            lines.append(f"const int32_t low_{k} = c[{flag}] ? c[{value}] : 0;")
            lines.append(f"const int32_t end_{k} = c[{flag}] ? c[{value}] + 1 : {one.levels[k]};")
        else:
            lines.append(f"const int32_t low_{k} = 0, end_{k} = {one.levels[k]}; /* {c_comment(name)} */")
    return lines


def _pointers(one: CliquePass) -> list[str]:
    """Where the tables of this row begin."""
    lines, place = [], 0
    for held in one.tables:
        for table in held:
            size = prod(one.levels[k] for k in table.classes)
            offset = _offset([f"c[{k}]" for k in table.codes], [one.values[k] for k in table.codes])
            at = f" + (int64_t)({offset}) * {size}" if table.codes else ""
            lines.append(f"const double *const t{place} = table[{place}]{at}; /* {c_comment(table.because)} */")
            place += 1
    for number, counted in enumerate(one.counts):
        size = prod(one.levels[k] for k in counted.classes)
        offset = _offset([f"c[{k}]" for k in counted.codes], [one.values[k] for k in counted.codes])
        at = f" + (int64_t)({offset}) * {size}" if counted.codes else ""
        lines.append(f"double *const n{number} = count[{number}]{at}; /* {c_comment(counted.because)} */")
    return lines


def _offset(names: Sequence[str], sizes: Sequence[int]) -> str:
    """The place of an entry of a table, the last index running fastest."""
    text = ""
    for name, size in zip(names, sizes, strict=True):
        text = name if not text else f"({text}) * {size} + {name}"
    return text or "0"


def _place(one: CliquePass, classes: Sequence[int]) -> str:
    return _offset([f"v{k}" for k in classes], [one.levels[k] for k in classes])


def _loops(classes: Sequence[int], inside: Sequence[str], depth: int = 0) -> list[str]:
    """Loops over the levels of classes, with lines inside."""
    lines = []
    for number, k in enumerate(classes):
        lines.append("    " * (depth + number) + f"for (int32_t v{k} = low_{k}; v{k} < end_{k}; v{k}++)")
    if lines:
        lines[-1] += " {"
    lines += ["    " * (depth + len(classes)) + line for line in inside]
    return lines + (["    " * (depth + len(classes) - 1) + "}"] if classes else [])


def _scope(one: CliquePass, number: int) -> tuple[int, tuple[int, ...]]:
    clique = one.cliques[number]
    return one.number[clique.first], tuple(one.number[name] for name in clique.others)


def _upwards(one: CliquePass, number: int) -> list[str]:
    """The weights of a clique, and its message about the others."""
    clique = one.cliques[number]
    first, others = _scope(one, number)
    size = prod(one.levels[k] for k in others)
    begun = sum(len(held) for held in one.tables[:number])
    factors = [f"t{begun + k}[{_place(one, table.classes)}]" for k, table in enumerate(one.tables[number])]
    for name in clique.inner:
        sender = next(k for k, other in enumerate(one.cliques) if other.first == name)
        factors.append(f"sent_{sender}[{_place(one, _scope(one, sender)[1])}]")
    whole = _place(one, (*others, first))
    inside = [
        "double sum = 0.0;",
        *_loops(
            [first],
            [f"const double w = {' * '.join(factors) or '1.0'};", f"weight_{number}[{whole}] = w;", "sum += w;"],
        ),
        f"message_{number}[{_place(one, others)}] = sum;",
        f"top_{number} = sum > top_{number} ? sum : top_{number};",
    ]
    given = f" given {', '.join(clique.others)}" if clique.others else ""
    lines = [
        "",
        f"/* {c_comment(clique.first + given)} */",
        f"double weight_{number}[{size * one.levels[first]}], message_{number}[{size}], top_{number} = 0.0;",
        *(_loops(others, inside) if others else ["{", *(f"    {line}" for line in inside), "}"]),
        f"if (!(top_{number} > 0.0))",
        "    return row;",
        f"log_norm += log(top_{number});",
    ]
    if others:
        lines.append(f"double sent_{number}[{size}];")
        at = _place(one, others)
        lines += _loops(others, [f"sent_{number}[{at}] = message_{number}[{at}] / top_{number};"])
    return lines


def _downwards(one: CliquePass, number: int) -> list[str]:
    """The probabilities of a clique, and what is counted there."""
    clique = one.cliques[number]
    first, others = _scope(one, number)
    size = prod(one.levels[k] for k in others)
    at = _place(one, others)
    whole = _place(one, (*others, first))
    lines = ["", f"double belief_{number}[{size * one.levels[first]}], given_{number}[{size}];"]
    if others:
        above = next(k for k, other in enumerate(one.cliques) if other.first == clique.others[0])
        top, beside = _scope(one, above)
        rest = [k for k in (*beside, top) if k not in others]
        lines += _loops(others, [f"given_{number}[{at}] = 0.0;"])
        upper = f"belief_{above}[{_place(one, (*beside, top))}]"
        lines += _loops([*others, *rest], [f"given_{number}[{at}] += {upper};"])
        divided = f"message_{number}[{at}] > 0.0 ? given_{number}[{at}] / message_{number}[{at}] : 0.0"
        lines += _loops(others, [f"given_{number}[{at}] = {divided};"])
    else:
        lines.append(f"given_{number}[0] = 1.0 / message_{number}[0];")
    counted = []
    for place, found in enumerate(one.counts):
        if found.clique == number:
            counted.append(f"n{place}[{_place(one, found.classes)}] += share[row] * p;")
    inside = [f"const double p = weight_{number}[{whole}] * given_{number}[{at}];", f"belief_{number}[{whole}] = p;"]
    return lines + _loops([*others, first], [*inside, *counted])
