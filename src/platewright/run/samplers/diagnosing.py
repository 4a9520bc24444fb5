"""The diagnostics of Markov chains, from arviz-stats where it is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from platewright.errors import MissingExtra


def array_stats() -> Any:
    """Functions of plain arrays: R-hat, effective size, Monte Carlo error."""
    try:
        return import_module("arviz_stats.base").array_stats
    except ImportError as error:
        raise MissingExtra("diagnostics need arviz-stats", hint="pip install platewright[arviz]") from error
