"""Ask a node once and keep the answer with it: expressions never change, and are asked far more often than made."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

Answer = TypeVar("Answer")
Given = ParamSpec("Given")


def kept(question: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
    """A question about a node whose answer stays with the node."""
    key = f"_{question.__name__}"

    @wraps(question)
    def asked(node: Any) -> Answer:
        own = node.__dict__
        if key in own:  # half of all questions are new: an exception would cost more than a second look
            return own[key]
        answer = own[key] = question(node)
        return answer

    return asked


def kept_for(question: Callable[Concatenate[Any, Given], Answer]) -> Callable[Concatenate[Any, Given], Answer]:
    """A question about a node and what else is given, which hashes: the answer to each stays with the node."""
    key = f"_{question.__name__}"

    @wraps(question)
    def asked(node: Any, /, *given: Given.args, **no_words: Given.kwargs) -> Answer:
        answers: dict[tuple[Any, ...], Answer] = node.__dict__.setdefault(key, {})
        try:
            return answers[given]
        except KeyError:
            answer = answers[given] = question(node, *given, **no_words)
            return answer

    return cast(Callable[Concatenate[Any, Given], Answer], asked)
