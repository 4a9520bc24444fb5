"""Parts of SciPy, loaded at first use: importing them takes longer than importing all of Platewright."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


special = LazyModule("scipy.special")
linalg = LazyModule("scipy.linalg")
