"""Print Laplace's method: the log joint with discrete unknowns summed out, its slopes, and labels that are alike."""

from __future__ import annotations

from platewright.backends.carried import names_of
from platewright.backends.kernels import coordinates, density, laplace
from platewright.backends.layout import laid_out
from platewright.backends.numpy import gibbs_support, laplace_support
from platewright.backends.numpy.assembling import Frame
from platewright.backends.numpy.gibbs import GibbsEmitter
from platewright.backends.numpy.learning import DEFAULTS, Options, learn_text
from platewright.backends.numpy.movers import MoverText
from platewright.backends.numpy.possible_start import PossibleStart
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import topological
from platewright.recognition import exchangeable
from platewright.schemas.evidence import EvidencePlan

TOOLS = (laplace_support, laplace, density, coordinates, exchangeable, gibbs_support)
OWN = ("objective", "symmetries", "restarts", "starts", "modes")


def numpy_laplace_source(plan: EvidencePlan, options: Options = DEFAULTS) -> str:
    """The whole program as text, with the options of a run as its defaults."""
    return laid_out(LaplaceEmitter(plan, options).module())


class LaplaceEmitter(GibbsEmitter):
    """Prints the objective as the one block of a sampler is printed."""

    def __init__(self, plan: EvidencePlan, options: Options = DEFAULTS) -> None:
        assert plan.climbed is not None
        self.whole = plan
        super().__init__(plan.climbed, options, (), (*OWN, *names_of(TOOLS)))
        self.tools = TOOLS

    def climbing(self) -> list[str]:
        """The objective, where climbs start, and the labels that are alike."""
        text = MoverText(self, self.nodes, 0, self._making)
        made = text.with_slopes(self.unknown, self.plan.factors, self.whole.slopes, (), {})
        body = [f"found = {made}", "found.given(data)", "return found"]
        doc = "The log joint of data and unknowns on coordinates that fill the whole space."
        wanted = [name for name in topological(self.plan.graph) if name in self.unknown]
        start = self.start_function(wanted, PossibleStart(self, self.plan.graph, (), wanted, self._making))
        return [*text.functions, self._making((), "objective(data, size)", doc, body), start, self.symmetries()]

    def symmetries(self) -> str:
        """A function that lists them."""
        sizes = {**fixed_sizes(self.whole.graph), **self.options.sizes}
        lines = []
        for one in exchangeable.find_symmetries(self.whole.graph, self.whole.factors, sizes):
            levelled = tuple(self.names(name) for name in one.levelled)
            along = {self.names(name): axes for name, axes in one.along.items() if name in self.unknown}
            lines.append(f"    Symmetry({one.plates!r}, {one.classes!r}, {one.size}, {levelled!r}, {along!r}),")
        doc = '"""The labels that may be exchanged: every mode comes once for each relabelling."""'
        listed = ["return [", *lines, "]"] if lines else ["return []"]
        return "\n".join(["def symmetries():", f"    {doc}", *(f"    {line}" for line in listed)])

    def module(self) -> str:
        """Everything, in the order in which it is used."""
        parts = [*self.climbing(), learn_text(laplace_support, self.options)]
        needed = {name: self.nodes[name].axes for name in self.data}
        frame = Frame(self.whole.graph, "the evidence by Laplace's method", self.whole.summary, needed)
        return frame.around(parts, self.support(), self.names, TOOLS, ("learn", "start", "objective", "symmetries"))
