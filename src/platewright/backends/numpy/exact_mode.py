"""Print the exact mode of a plan for the goal `map`: the closed form, then the best value of each unknown.

statistics -> parameters of the conditionals -> modes, last eliminated first
"""

from __future__ import annotations

from platewright.backends.layout import laid_out
from platewright.backends.numpy.assembling import Frame
from platewright.backends.numpy.family_text import family_text
from platewright.backends.numpy.modes import mode_lines
from platewright.backends.numpy.program import Emitter
from platewright.family import Family
from platewright.schema import Plan


def numpy_mode_source(plan: Plan, frame: Frame) -> str:
    """The whole program as text: what it prints is the mode."""
    return laid_out(_ModeEmitter(plan, frame).module())


class _ModeEmitter(Emitter):
    """Prints the program of a plan, with the mode in place of the posterior."""

    def __init__(self, plan: Plan, frame: Frame) -> None:
        super().__init__(plan.program, frame=frame)
        self.plan = plan
        self.whole = frame
        self.families: list[tuple[Family, str]] = []

    def module(self) -> str:
        """The functions, those of families that they call, and all that these need."""
        parts = self.functions()
        own = dict.fromkeys(text for family, kind in self.families for text in family_text(family, kind))
        return self.whole.around([*parts, *own], self.support(), self.names)

    def finish_function(self) -> str:
        """The mode from the statistics."""
        body = self.found_lines() + self.finish_body()
        body += mode_lines(self, self.plan, self.plan.graph.nodes, self.families)
        found = [name for conditional in self.plan.conditionals for name in conditional.variables]
        wanted = [name for name in self.plan.graph.nodes if name in found]
        body += ["return {", *(f'    "{name}": {self.names(name)},' for name in wanted), "}"]
        return self._function("finish(found, data, size)", "The joint mode from the statistics.", body)
