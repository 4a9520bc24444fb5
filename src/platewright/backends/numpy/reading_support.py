"""How an emitted program reads its table and its options; copied into it as they stand here, without type hints.

A table is read as texts by column; what a cell should have been is said with its column and row.
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from platewright.family import Array

MISSING = ("", "na", "n/a", "nan", "null", "none")
"""What a cell holds when nothing is known."""
TRUTH = {"true": 1, "false": 0}

Table = Mapping[str, Sequence[str]]


def table_of(path: str) -> dict[str, list[str]]:
    """The columns of a CSV file as texts, by the names in its header."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    if not lines:
        raise ValueError("the file is empty; expected a header with the names of columns, then rows")
    header, *rows = lines
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {number} (the first is 0) has {len(row)} cells, the header {len(header)}")
    return {name: [row[k].strip() for row in rows] for k, name in enumerate(header)}


def count_rows(table: Table, expected: int | None = None) -> int:
    """The number of rows, which the model may fix."""
    found = len(next(iter(table.values())))
    if expected is not None and found != expected:
        raise ValueError(f"the file has {found} rows; expected {expected}")
    return found


def indexed(table: Table, name: str, count: int | None = None, labels: Sequence[str] | None = None) -> list[str]:
    """The columns name[0], name[1], ... (or name_0, name_1, ...) that side by side make one variable, in order."""
    found = [column for column in table if column.startswith(f"{name}[") and column.endswith("]")]
    if labels is not None:
        found = [f"{name}[{label}]" for label in labels]
    elif sorted(found) == sorted(f"{name}[{k}]" for k in range(len(found))):
        found = [f"{name}[{k}]" for k in range(len(found))]
    if not found:
        while f"{name}_{len(found)}" in table:
            found.append(f"{name}_{len(found)}")
    if not found or (count is not None and len(found) != count):
        wanted = "several" if count is None else f"{count}"
        raise ValueError(f"expected {wanted} columns {name}[0], {name}[1], ...; the file has {', '.join(table)}")
    return found


def cells(table: Table, names: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Column, row and text of every cell of some columns, row by row."""
    for name in names:
        if name not in table:
            raise ValueError(f"there is no column {name!r}; the file has {', '.join(table)}")
    for row in range(count_rows(table)):
        for name in names:
            yield name, row, table[name][row]


def misfit(name: str, row: int, text: str, expected: str) -> ValueError:
    """The error for a cell that is not what the model needs."""
    found = "nothing" if text.lower() in MISSING else repr(text)
    return ValueError(f"column {name!r}, row {row} (the first is 0): found {found}, expected {expected}")


def numbers(
    table: Table,
    names: Sequence[str],
    expected: str,
    lower: float = -np.inf,
    upper: float = np.inf,
    above: float = -np.inf,
    whole: bool = False,
) -> Array:
    """Some columns side by side as numbers in their range; true and false are 1 and 0."""
    found = []
    for name, row, text in cells(table, names):
        try:
            value = TRUTH[text.lower()] if text.lower() in TRUTH else int(text) if text.isdigit() else float(text)
        except ValueError:
            raise misfit(name, row, text, expected) from None
        is_inside = np.isfinite(value) and lower <= value <= upper and above < value
        if not is_inside or (whole and value != int(value)):
            raise misfit(name, row, text, expected)
        found.append(int(value) if whole else float(value))
    return np.array(found, dtype=int if whole else float).reshape(-1, len(names))


def levels(table: Table, names: Sequence[str], count: int | None = None) -> list[str]:
    """The labels in some columns: numbers are codes if there is a 0 or a known count; all else is sorted."""
    texts = {text for _, _, text in cells(table, names) if text.lower() not in MISSING}
    if not texts or not all(text.lstrip("+-").isdigit() for text in texts):
        if count is not None and texts and len(texts) != count:
            raise ValueError(f"columns {', '.join(names)} show {len(texts)} labels; expected {count}")
        return sorted(texts)
    values = sorted({int(text) for text in texts})
    if count is None and values[0] != 0:
        return [str(value) for value in values]
    return [str(code) for code in range(values[-1] + 1 if count is None else count)]


def codes(table: Table, names: Sequence[str], labels: Sequence[str]) -> Array:
    """Some columns side by side as the positions of their labels."""
    position = {label: code for code, label in enumerate(labels)}
    found = []
    for name, row, text in cells(table, names):
        label = str(int(text)) if text.lstrip("+-").isdigit() and text not in position else text
        if label not in position:
            raise misfit(name, row, text, f"one of {', '.join(labels)}")
        found.append(position[label])
    return np.array(found, dtype=int).reshape(-1, len(names))


def observed(table: Table, names: Sequence[str]) -> Array:
    """Which cells of some columns hold something: ones and zeros."""
    return np.array([float(text.lower() not in MISSING) for _, _, text in cells(table, names)]).reshape(-1, len(names))


def gaps_filled(table: Table, names: Sequence[str]) -> Table:
    """The table with the first value seen in every hole of some columns, where nobody reads it."""
    known = [text for _, _, text in cells(table, names) if text.lower() not in MISSING]
    if not known:
        raise ValueError(f"nothing is known in {', '.join(names)}")
    return {
        name: [known[0] if name in names and text.lower() in MISSING else text for text in column]
        for name, column in table.items()
    }


def beginnings(groups: Sequence[str]) -> Array:
    """Ones where a sequence begins: at the first row of each group, whose rows are together."""
    begins = [k == 0 or groups[k] != groups[k - 1] for k in range(len(groups))]
    if sum(begins) != len(set(groups)):
        raise ValueError("the rows of a sequence are not together")
    return np.array(begins, dtype=int)


def options(words: Iterable[str]) -> dict[str, float]:
    """The options of `learn` from words such as seed=1."""
    parameters = inspect.signature(learn).parameters.values()
    known = {given.name: given.default for given in parameters if given.default != given.empty}
    found = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            found[name] = type(known[name])(value)
        except (KeyError, ValueError):
            shown = " ".join(f"{option}={default}" for option, default in known.items())
            raise ValueError(f"{word!r} is not an option; expected some of {shown}") from None
    return found


def learn(data: Mapping[str, Array], size: Mapping[str, int]) -> dict[str, Array]:
    """Stands in for the algorithm of a program, which the emitter writes."""
    raise NotImplementedError
