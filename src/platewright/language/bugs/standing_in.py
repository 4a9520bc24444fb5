"""Without data the sizes are not known: stand-in sizes let the structure be read, and the plates stay open.

for (i in 1:N) ...        N stands in as 7; the plate i has no size until the data give it
"""

from __future__ import annotations

import numpy as np

from platewright.language.bugs.syntax import Element, Loop, Statement, Text, elements, expressions

Array = np.ndarray
_FIRST = 7


def stand_in(text: Text) -> tuple[dict[str, Array], frozenset[str]]:
    """A different prime for each name that bounds a loop and is nowhere defined."""
    bounds: dict[str, None] = {}
    defined: set[str] = set()
    _collect((*text.data, *text.model), bounds, defined)
    for _, sizes in text.declared:
        for size in sizes:
            bounds.update((element.name, None) for element in elements(size) if element.indices is None)
    names = [name for name in bounds if name not in defined]
    return {name: np.array(float(prime)) for name, prime in zip(names, _primes(len(names)))}, frozenset(names)


def _collect(statements: tuple[Statement, ...], bounds: dict[str, None], defined: set[str]) -> None:
    for statement in statements:
        if isinstance(statement, Loop):
            for element in elements(statement.domain):
                if isinstance(element, Element) and element.indices is None:
                    bounds[element.name] = None
            defined.add(statement.variable)
            _collect(statement.body, bounds, defined)
        else:
            defined.add(statement.target.name)
            expressions(statement)


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = _FIRST
    while len(found) < count:
        if all(number % prime for prime in (2, 3, 5, *found)):
            found.append(number)
        number += 1
    return found
