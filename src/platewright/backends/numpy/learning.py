"""The function `learn` of an emitted program, with the options of a run as its defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np

from platewright.algebra.expression import Expression, Index
from platewright.backends.carried import definitions
from platewright.backends.hints import without_hints
from platewright.family import Array

Visited = Mapping[str, tuple[Index, tuple[Expression, ...]]]
"""By plate its index, and the codes in whose order its elements are visited."""


@dataclass(frozen=True, eq=False)
class Options:
    """What a run was told: numbers by the names of options, and values of parameters to start from."""

    numbers: Mapping[str, float] = field(default_factory=dict)
    initial: Mapping[str, Array] = field(default_factory=dict)
    visited: Visited = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    """How many elements plates had: what depends on that alone is written out."""


DEFAULTS = Options()
"""Those of a program that has not run."""


def nested(value: Array) -> str:
    """Numbers of an array as nested lists, as they are written."""
    return repr(np.asarray(value).tolist())


def learn_text(module: ModuleType, options: Options) -> str:
    """The text of `learn` as the library has it, its defaults replaced by what a run was told."""
    text = without_hints(definitions(module)["learn"])
    head, colon, body = text.partition("):\n")
    for name, value in options.numbers.items():
        head, count = re.subn(rf"\b{name}=[^,)]+", f"{name}={value!r}", head)
        assert count == 1, f"`learn` has no option {name}"
    return head + colon + body
