"""The outer groups of long tables, and where each series begins.

word   doc          parents["word"]    first["word"], when `word` is ordered
a      d1           0                  true
b      d1           0                  false
c      d2           1                  true
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from platewright.data.cells import Table
from platewright.data.signature import Signature
from platewright.data.support import freeze
from platewright.errors import DataError, MissingColumn


def check_parents(signature: Signature, table: Table, used: Iterable[str]) -> None:
    """Each plate within another that the data use must say which outer element its rows belong to."""
    for plate in used:
        outer = signature.plates[plate].within
        if outer is not None and plate not in table.parents:
            raise MissingColumn(
                f"plate `{plate}` is within `{outer}`, but the data do not say which `{outer}` each row belongs to",
                where=f"plate {plate}",
                expected=f"a column `{outer}` with one value for each {plate}",
            )


def used_plates(signature: Signature, table: Table) -> tuple[str, ...]:
    """The plates that some column of the data lives on, and the outer plates of these."""
    used = dict.fromkeys(plate for name in table.columns for plate in signature.columns[name].plates)
    if not used:
        # Rows to be predicted may bring nothing but the groups they are in.
        used = dict.fromkeys(table.parents)
    for plate in tuple(used):
        outer = signature.plates[plate].within
        while outer is not None and outer not in used:
            used[outer] = None
            outer = signature.plates[outer].within
    return tuple(used)


def lift(
    inner: NDArray[np.int64], outer: NDArray[np.int64], size: int, inner_plate: str, name: str
) -> NDArray[np.int64]:
    """From one outer code a row to one for each inner group; rows of a group must agree.

    In a table of words with columns `sentence` and `doc`, the doc of a sentence is that of its words.
    """
    lifted = np.full(size, -1, dtype=np.int64)
    lifted[inner] = outer
    odd = np.flatnonzero(lifted[inner] != outer)
    if odd.size:
        raise DataError(
            f"one {inner_plate} belongs to two different values of `{name}`",
            where=f"column `{name}`, row {int(odd[0])}",
            expected=f"one `{name}` for each {inner_plate}",
        )
    if (lifted < 0).any():
        raise DataError(
            f"{inner_plate} {int(np.flatnonzero(lifted < 0)[0])} has no rows, so its `{name}` is not known",
            where=f"column `{name}`",
            hint="give a dict of arrays, with one value for each " + inner_plate,
        )
    return np.asarray(freeze(lifted))


def find_first(
    plate: str, size: int, outer: str | None, codes: NDArray[np.int64] | None, start: int = 0
) -> NDArray[np.bool_]:
    """True where a series begins: at row 0, and wherever the outer code changes; a series must be in one piece."""
    first = np.zeros(size, dtype=np.bool_)
    first[:1] = True
    if codes is None:
        return np.asarray(freeze(first))
    first[1:] = codes[1:] != codes[:-1]
    rows = np.flatnonzero(first)
    begins, again = np.unique(codes[rows], return_index=True)
    if begins.size < rows.size:
        odd = np.setdiff1d(np.arange(rows.size), again)
        raise split_series(plate, str(outer), start + int(rows[odd[0]]))
    return np.asarray(freeze(first))


def split_series(plate: str, outer: str, row: int) -> DataError:
    """The error for a series whose rows are not in one piece."""
    return DataError(
        f"plate `{plate}` is ordered, but the rows of one `{outer}` are not together",
        where=f"column `{outer}`, row {row}, where a `{outer}` that ended before begins again",
        expected=f"all rows of one `{outer}` one after the other, in order",
        hint=f"sort the rows by `{outer}` (a stable sort keeps the order within each)",
    )
