"""The texts of the functions that emitted NumPy programs share, and which of them need which."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from functools import lru_cache

from platewright.algebra import scaled_lgamma
from platewright.backends.carried import definitions
from platewright.backends.hints import functions_of, without_hints
from platewright.backends.numpy import chained, decimals, least_rows, pooling, support, twofold

MODULES = (support, least_rows, chained, pooling, decimals, twofold, scaled_lgamma)


def shared(used: Iterable[str]) -> list[str]:
    """The texts of some support functions and of all that they call, constants first."""
    every = shared_calls()
    found: set[str] = set()
    waiting = list(used)
    while waiting:
        name = waiting.pop()
        if name in every and name not in found:
            found.add(name)
            waiting += every[name]
    texts = [shared_text(name) for name in every if name in found]
    whole = "".join(texts)
    return ["".join(text for name, text in shared_constants().items() if name in whole), *texts]


@lru_cache(maxsize=1)
def shared_constants() -> dict[str, str]:
    """The constants that the support functions use, each with its remark."""
    found = [(name, text) for module in MODULES for name, text in definitions(module).items()]
    return {name: text for name, text in found if name.isupper() and name != "SHARED"}


@lru_cache(maxsize=1)
def shared_calls() -> dict[str, tuple[str, ...]]:
    """For each support function the others that it calls."""
    texts = _written()
    return {name: tuple(set(re.findall(r"\b(\w+)\(", text)) & texts.keys()) for name, text in texts.items()}


@lru_cache(maxsize=64)
def shared_text(name: str) -> str:
    """A support function as emitted: few of them are needed, and to parse all would take longer than a derivation."""
    return without_hints(_written()[name])


@lru_cache(maxsize=1)
def _written() -> dict[str, str]:
    """The support functions as they are written, by name."""
    texts: dict[str, str] = {}
    for module in MODULES:
        texts |= functions_of(inspect.getsource(module))
    return {function.__name__: texts[function.__name__] for function in support.SHARED}
