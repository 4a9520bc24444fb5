"""Read networks in the format of the UAI inference competitions, and their evidence.

    MARKOV  3  2 2 3  2   2 0 1  2 1 2   4  ...  6  ...         variables x0, x1, x2; two factors with 4 and 6 weights

Weights run with the last variable of a factor fastest. In a BAYES file the last variable of each factor is the child.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from platewright.language.model import Model
from platewright.language.networks.network import Conditional, Weights, directed_model, undirected_model
from platewright.language.networks.tokens import Words, read_text

M = TypeVar("M", bound=Model)

_PLAIN: Callable[[str], Any] = Model

MOST_ENTRIES = 1 << 27
LARGEST_GAP = 0.01

_WORDS = re.compile(r"\S+")


def read_uai(source: str | Path, make: Callable[[str], M] = _PLAIN) -> M:
    """The model in a UAI file (plain or gzip) or text; variables are x0, x1, ... with levels 0, 1, ..."""
    text, title = read_text(source)
    words = Words(text, title, _WORDS)
    kind = words.next("MARKOV or BAYES").upper()
    if kind not in ("MARKOV", "BAYES"):
        raise words.error(f"found `{kind[:40]}`", "MARKOV or BAYES", at=0)
    sizes = _sizes(words)
    scopes = _scopes(words, len(sizes))
    tables = [_table(words, number, [sizes[v] for v in scope]) for number, scope in enumerate(scopes)]
    if not words.is_done():
        raise words.error("there is more after the last table", "the end of the text")
    labels = {f"x{at}": range(size) for at, size in enumerate(sizes)}
    named = [tuple(f"x{v}" for v in scope) for scope in scopes]
    title = title.split(".")[0]
    if kind == "MARKOV":
        factors = [Weights(f"f{at}", names, table) for at, (names, table) in enumerate(zip(named, tables, strict=True))]
        return undirected_model(make, title, labels, factors)
    return directed_model(make, title, labels, _conditionals(words, named, tables, len(sizes)))


def read_uai_evidence(source: str | Path) -> dict[str, int]:
    """The evidence in an `.evid` file: variable names and levels. An empty file is no evidence."""
    text, title = read_text(source)
    words = Words(text, title, _WORDS)
    if words.is_done():
        return {}
    count = words.whole_number("the number of observed variables")
    if len(words.words) != 1 + 2 * count and count == 1 and len(words.words) > 1:
        # The older format has the number of samples first; one sample is what an inference problem has.
        count = words.whole_number("the number of observed variables")
    found: dict[str, int] = {}
    for _ in range(count):
        variable = words.whole_number("the number of a variable")
        found[f"x{variable}"] = words.whole_number("a level")
    if not words.is_done():
        raise words.error("there is more after the last observation", f"{count} pairs of variable and level")
    return found


def _sizes(words: Words) -> list[int]:
    count = words.whole_number("the number of variables", most=len(words.words))
    sizes = []
    for _ in range(count):
        sizes.append(words.whole_number("the number of levels of a variable", most=len(words.words)))
        if sizes[-1] < 1:
            raise words.error("a variable with no levels", "at least 1", at=words.at - 1)
    return sizes


def _scopes(words: Words, variables: int) -> list[tuple[int, ...]]:
    scopes = []
    for _ in range(words.whole_number("the number of factors", most=len(words.words))):
        at = words.at
        count = words.whole_number("the number of variables of a factor", most=variables)
        scope = tuple(words.whole_number("a variable", most=variables - 1) for _ in range(count))
        if len(set(scope)) < count:
            raise words.error("a variable twice in one factor", "distinct variables", at=at)
        scopes.append(scope)
    return scopes


def _table(words: Words, number: int, shape: list[int]) -> np.ndarray:
    at = words.at
    count = words.whole_number(f"the number of entries of factor {number}", most=MOST_ENTRIES)
    if count != prod(shape):
        raise words.error(f"factor {number} has {count} entries", f"{prod(shape)}", at=at)
    listed = words.words[words.at : words.at + count]
    try:
        values = np.array(listed, dtype=float)
    except ValueError:
        values = np.full(len(listed), np.nan)
    if len(values) < count or not (np.isfinite(values) & (values >= 0)).all():
        for _ in range(count):
            words.number("a weight of at least 0")
    words.at += count
    return values.reshape(shape)


def _conditionals(
    words: Words, named: list[tuple[str, ...]], tables: list[np.ndarray], variables: int
) -> list[Conditional]:
    found: dict[str, Conditional] = {}
    for number, (names, table) in enumerate(zip(named, tables, strict=True)):
        if not names or names[-1] in found:
            what = f"`{names[-1]}` is the child of two factors" if names else f"factor {number} has no variables"
            raise words.error(what, "one factor a variable in a BAYES network")
        if np.abs(table.sum(axis=-1) - 1).max() > LARGEST_GAP:
            raise words.error(f"probabilities of `{names[-1]}` do not sum to one", "a row sum of 1", "use MARKOV")
        found[names[-1]] = Conditional(names[-1], names[:-1], table)
    if len(found) < variables:
        missing = next(f"x{at}" for at in range(variables) if f"x{at}" not in found)
        raise words.error(f"`{missing}` has no factor", "one factor a variable in a BAYES network")
    return list(found.values())
