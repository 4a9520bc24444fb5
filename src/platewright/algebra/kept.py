"""Ask a node once and keep the answer with it: expressions never change, and are asked far more often than made."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def kept(question: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
    """A question about a node whose answer stays with the node."""
    key = f"_{question.__name__}"

    @wraps(question)
    def asked(node: Any) -> Answer:
        try:
            return node.__dict__[key]
        except (AttributeError, KeyError):
            answer = question(node)
            node.__dict__[key] = answer
            return answer

    return asked
