"""The texts of the functions that emitted NumPy programs share, and which of them need which."""

from __future__ import annotations

import inspect
import re
from functools import lru_cache

from platewright.algebra import scaled_lgamma
from platewright.backends.hints import functions_of, without_hints
from platewright.backends.numpy import decimals, pooling, support, twofold


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
    for module in (support, pooling, decimals, twofold, scaled_lgamma):
        texts |= functions_of(inspect.getsource(module))
    return {function.__name__: texts[function.__name__] for function in support.SHARED}
