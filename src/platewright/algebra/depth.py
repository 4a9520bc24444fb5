"""Room for expressions that are nested as deeply as their series are long: sigma[t] by sigma[t - 1], and so on.

Python stops at a thousand calls inside one another; functions on expressions call themselves for each level. What needs
more than there is room for is refused by name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from platewright.errors import SizeError

MOST_CALLS = 8000
"""Hashing takes half a kilobyte of the stack a level: this many stay well within the usual eight megabytes."""

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def with_room(work: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """The same work with room for deeply nested expressions while it runs."""

    @wraps(work)
    def roomy(*arguments: Given.args, **words: Given.kwargs) -> Answer:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, MOST_CALLS))
        try:
            return work(*arguments, **words)
        except RecursionError:
            raise SizeError(
                "an expression is nested too deeply",
                expected=f"at most {MOST_CALLS} levels",
                hint="fewer steps of what is defined by the step before, or a random state (`~`) in place of `<-`",
            ) from None
        finally:
            sys.setrecursionlimit(before)

    return roomy
