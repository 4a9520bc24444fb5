"""What other libraries and objects raise while we read from them, in our words, with the place.

pyarrow: page header is corrupt   ->   SourceError: ... where: rows.parquet, row group 3, column `x`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from platewright.errors import PlatewrightError, SourceError

MOST_TOLD = 200
"""Characters of the words of others that are passed on."""


@contextmanager
def in_our_words(what: str, where: Callable[[], str], hint: str = "") -> Iterator[None]:
    """Around calls of code that is not ours: whatever it raises says what was read, and where."""
    try:
        yield
    except (PlatewrightError, MemoryError):
        raise
    except Exception as problem:  # it may be of any class: an `__array__`, a decoder, a decompressor
        told = " ".join(str(problem).split())[:MOST_TOLD]
        kind = type(problem).__name__
        raise SourceError(f"{what} cannot be read: {kind}: {told}", where=where(), hint=hint) from problem
