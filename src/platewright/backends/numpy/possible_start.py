"""Print what the search for a possible start asks of a model: which unknowns have no finite density, and where.

    impossible(data, size)         the names of unknowns in log factors that are not finite here
    faults_k(data, size)           for each element of the k-th unknown that may move, the impossible rows it enters

The search itself is a kernel. Models whose factors are finite at any start have none of it (`schemas/doubtful.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from platewright.algebra.expression import free_indices
from platewright.backends.naming import comment
from platewright.backends.numpy.expression import float_text
from platewright.backends.numpy.program import Emitter
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable
from platewright.schemas.doubtful import doubtful_factors, movable_unknowns, places_of

Function = Callable[[Sequence[str], str, str, list[str]], str]
"""Prints a function: what it makes itself, its signature, its remark, its body."""


class PossibleStart:
    """The functions of a model for the search, and the call of it; nothing where no search is needed."""

    def __init__(
        self, emitter: Emitter, graph: Graph, factors: Sequence[Factor], unknown: Sequence[str], function: Function
    ) -> None:
        self.emitter, self.graph, self.unknown, self.function = emitter, graph, list(unknown), function
        self.doubtful = doubtful_factors(graph, factors, self.unknown)
        self.movable = movable_unknowns(graph, self.doubtful, self.unknown)

    def functions(self) -> list[str]:
        """Those that the search asks."""
        if not self.movable:
            return []
        return [self._impossible(), *(self._faults(number, node) for number, node in enumerate(self.movable))]

    def lines(self) -> list[str]:
        """Statements that move `values` where the model does not allow them."""
        if not self.movable:
            return []
        listed = [f"    {self._movable(number, node)}," for number, node in enumerate(self.movable)]
        asked = "lambda values: impossible({**data, **values}, size)"
        return ["movable = [", *listed, "]", f"values = possible_state(values, movable, {asked}, generator)"]

    def _movable(self, number: int, node: Variable) -> str:
        domain = node.domain
        ends = (float_text(domain.lower), float_text(domain.upper))
        if domain.kind == "levels":
            ends = ("0", f"{self.emitter.printer.size(str(domain.levels))} - 1")
        asked = f"lambda values: faults_{number}({{**data, **values}}, size)"
        kind = "" if domain.kind == "real" else f', "{domain.kind}"'
        return f'Movable("{self.emitter.names(node.name)}", {", ".join(ends)}, {asked}{kind})'

    def _wrong(self, factor: Factor) -> str:
        return f"~np.isfinite({self.emitter.printer.printed(factor.expression, factor.axes, full=True)})"

    def _impossible(self) -> str:
        body = ["named = set()", 'with np.errstate(all="ignore"):']
        for factor in self.doubtful:
            inside = ", ".join(f'"{self.emitter.names(n)}"' for n in self.unknown if n in factor.names)
            body += [
                f"    # {comment(factor.owner)}",
                f"    wrong = {self._wrong(factor)}",
                f"    named |= {{{inside}}} if np.any(wrong) else set()",
            ]
        doc = "The unknowns that enter log factors which are not finite here."
        return self.function((), "impossible(data, size)", doc, [*body, "return named"])

    def _faults(self, number: int, node: Variable) -> str:
        printer = self.emitter.printer
        shape = "(" + "".join(f"{printer.size(axis.plate)}, " for axis in node.axes).rstrip() + ")"
        body = [f"total = np.zeros({shape})", 'with np.errstate(all="ignore"):']
        for factor in (factor for factor in self.doubtful if node.name in factor.names):
            body += [f"    # {comment(factor.owner)}", f"    wrong = {self._wrong(factor)}"]
            for place in places_of(node, factor):
                if not place or not all(free_indices(at) <= set(factor.axes) for at in place):
                    body.append("    total = total + np.sum(wrong)  # all elements enter each row")
                    continue
                codes = ", ".join(
                    f"np.asarray({printer.printed(at, factor.axes, full=True)}, dtype=int)" for at in place
                )
                body.append(f"    np.add.at(total, ({codes},), wrong)")
        doc = f"How many impossible rows each element of {comment(node.name)} enters."
        return self.function((), f"faults_{number}(data, size)", doc, [*body, "return total"])
