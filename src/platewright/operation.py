"""One graph operation applied, or the reason why it was not."""

from __future__ import annotations

from dataclasses import dataclass, field

from platewright.algebra.latex import escaped
from platewright.drawing.from_graph import picture_of
from platewright.drawing.svg import picture_svg, side_by_side
from platewright.errors import NotSolvable
from platewright.graph.equation import joint_latex
from platewright.graph.graph import Graph


@dataclass(frozen=True)
class Step:
    """A graph before and after an exact operation, and why it was allowed.

    The density of `after` is that of `before` rewritten, or with the unknowns that are `gone` integrated out, summed
    over, or at their best values: a law holds every step of every plan to it.
    """

    operation: str
    before: Graph
    after: Graph
    because: str
    reference: str = ""
    """The place in the paper."""
    formulas: tuple[str, ...] = field(default=())
    """What was derived, one line each."""
    gone: tuple[str, ...] = ()
    """The unknowns that were integrated out, summed over or put at their best value."""

    def __str__(self) -> str:
        place = f"   ({self.reference})" if self.reference else ""
        lines = [f"{self.operation}: {self.because}{place}"]
        lines += [f"    {formula}" for formula in self.formulas]
        return "\n".join(lines)

    def svg(self) -> str:
        """The graph before and after, side by side, as SVG text."""
        return side_by_side(picture_svg(picture_of(self.before)), picture_svg(picture_of(self.after)), self.operation)

    def _repr_svg_(self) -> str:
        return self.svg()

    def latex(self) -> str:
        """What was done and why, then the joint density before and after, for `amsmath`."""
        before, after = joint_latex(self.before) or "1", joint_latex(self.after) or "1"
        return f"{self.sentence_latex}\n\\begin{{align*}}\n& {before} \\\\\n\\to\\; & {after}\n\\end{{align*}}\n"

    @property
    def sentence_latex(self) -> str:
        """What was done and why."""
        place = f" \\emph{{({escaped(self.reference)})}}" if self.reference else ""
        shown = [f"\\textbf{{{escaped(self.operation)}}}: {escaped(self.because)}{place}"]
        shown += [f"\n  \\texttt{{{escaped(formula)}}}" for formula in self.formulas]
        return "\n".join(shown)


@dataclass(frozen=True)
class Declined:
    """A refusal: which operation or schema, and the condition that failed."""

    operation: str
    reason: str

    def __str__(self) -> str:
        return f"{self.operation} declined: {self.reason}"


def refused(refusal: Declined) -> NotSolvable:
    """The error that a refused call raises; it carries the refusal."""
    error = NotSolvable(str(refusal))
    error.declined = refusal
    return error
