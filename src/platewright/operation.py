"""One graph operation applied, or the reason why it was not."""

from __future__ import annotations

from dataclasses import dataclass, field

from platewright.graph.graph import Graph


@dataclass(frozen=True)
class Step:
    """A graph before and after an exact operation, and why it was allowed."""

    operation: str
    before: Graph
    after: Graph
    because: str
    reference: str = ""
    """The place in the paper."""
    formulas: tuple[str, ...] = field(default=())
    """What was derived, one line each."""

    def __str__(self) -> str:
        place = f"   ({self.reference})" if self.reference else ""
        lines = [f"{self.operation}: {self.because}{place}"]
        lines += [f"    {formula}" for formula in self.formulas]
        return "\n".join(lines)


@dataclass(frozen=True)
class Declined:
    """A refusal: which operation or schema, and the condition that failed."""

    operation: str
    reason: str

    def __str__(self) -> str:
        return f"{self.operation} declined: {self.reason}"
