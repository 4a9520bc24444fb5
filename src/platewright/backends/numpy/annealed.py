"""Print annealed importance sampling: draws of the prior, the likelihood, and the sweep of prior x likelihood^power.

prior(data, size, generator)      every unknown given its parents
log_likelihood(data, size)        the log factors of the data
sweep(...)                        of the tempered sampler, in which the power is one more known number
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.backends.carried import definitions, names_of
from platewright.backends.hints import without_hints
from platewright.backends.kernels import log_means
from platewright.backends.layout import laid_out
from platewright.backends.naming import comment
from platewright.backends.numpy import annealed_support
from platewright.backends.numpy.assembling import Frame
from platewright.backends.numpy.draws import drawn_text
from platewright.backends.numpy.family_text import family_text
from platewright.backends.numpy.gibbs import KERNELS, GibbsEmitter
from platewright.backends.numpy.learning import DEFAULTS, Options, learn_text
from platewright.errors import PlatewrightError
from platewright.graph.graph import topological
from platewright.language.plate import beginning
from platewright.language.variable import Variable
from platewright.schemas.evidence import POWER, EvidencePlan

TOOLS = (annealed_support, log_means, *KERNELS)
OWN = ("log_weight", "prior", "at_power", "log_likelihood")
STAND_INS = ("learn", "prepared", "sweep", "movers", *OWN)
MOVING = ("    moving = movers(size)\n", ", moving")
"""What goes where no block is moved."""


def numpy_annealed_source(plan: EvidencePlan, options: Options = DEFAULTS) -> str:
    """The whole program as text, with the options of a run as its defaults."""
    return laid_out(AnnealedEmitter(plan, options).module())


class AnnealedEmitter(GibbsEmitter):
    """Prints the tempered sampler and what weighs its states."""

    def __init__(self, plan: EvidencePlan, options: Options = DEFAULTS) -> None:
        assert plan.gibbs is not None
        self.whole = plan
        super().__init__(plan.gibbs, options, (POWER,), (*OWN, *names_of((log_means,)), "power", "ladder", "total"))
        self.tools = TOOLS
        for name in self.unknown:
            step = self.nodes[name].step_to_the_past
            if step is not None and beginning(step.plate) not in self.data:
                self.data.append(beginning(step.plate))

    def weighing(self) -> list[str]:
        """The functions of one particle."""
        sweeping = self.sweeping()
        text = without_hints(definitions(annealed_support)["log_weight"])
        for words in () if self.movers else MOVING:
            text = text.replace(words, "")
        doc, changed = "The values at another power of the likelihood.", f'{{**values, "{self.names(POWER)}": power}}'
        at_power = f'def at_power(values, power):\n    """{doc}"""\n    return {changed}'
        return [self.prior(), self.log_likelihood(), at_power, *sweeping, text]

    def module(self) -> str:
        """Everything, in the order in which it is used."""
        parts = [*self.weighing(), learn_text(annealed_support, self.options)]
        needed = {name: self.nodes[name].axes for name in self.data if name != POWER}
        frame = Frame(self.whole.graph, "the evidence by annealed importance sampling", self.whole.summary, needed)
        own = [text for family, kind in self.families for text in family_text(family, kind)]
        return frame.around([*parts, *dict.fromkeys(own)], self.support(), self.names, TOOLS, STAND_INS)

    def prior(self) -> str:
        """All unknowns drawn from the model, parents first."""
        wanted = [name for name in topological(self.plan.graph) if name in self.unknown]
        body = [line for name in wanted for line in self.drawn(self.nodes[name])]
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in wanted)
        doc = "All unknowns drawn from the model, parents first."
        return self._making(wanted, "prior(data, size, generator)", doc, [*body, f"return {{{listed}}}"])

    def drawn(self, node: Variable) -> Sequence[str]:
        """A draw of an unknown given its parents, step after step where it depends on its own past."""
        if node.family is None or node.family.draw is None:
            raise PlatewrightError(f"`{node.name}` cannot be drawn", expected="a proper distribution")
        name, step = self.names(node.name), node.step_to_the_past
        text = drawn_text(self, node.family, dict(node.parameters), node, node.inside, self.families)
        if step is None:
            return [f"# {comment(node.name)}: {node.family.name}", f"{name} = {text}"]
        kind = ", dtype=np.int64" if node.domain.is_discrete else ""
        shape = "".join(f"{self.printer.size(axis.plate)}, " for axis in node.axes).rstrip()
        first, places = self.names(beginning(step.plate)), self.names(f"{node.name}.places")
        along = ", ".join("-1" if axis == step else "1" for axis in node.axes)
        return [
            f"# {comment(node.name)}: {node.family.name}, given what it was at the step before",
            f"{places} = np.arange(len({first}))",
            f"{places} = {places} - np.maximum.accumulate(np.where({first}, {places}, 0))",
            f"{name} = np.zeros(({shape}){kind})",
            f"for step in range(int({places}.max(initial=-1)) + 1):",
            f"    turn = np.reshape({places} == step, [{along}])",
            f"    {name} = np.where(turn, {text}, {name})",
        ]

    def log_likelihood(self) -> str:
        """The log factors of the data at values of all unknowns."""
        lines = ["total = 0.0", 'with np.errstate(all="ignore"):']
        for factor in self.whole.factors:
            if self.whole.graph.is_known(factor.owner):
                shown = self.printer.printed(factor.expression, factor.axes, full=True)
                lines += [f"    # {comment(factor.owner)}", f"    total = total + np.sum({shown})"]
        doc = "The log factors of the data at values of all unknowns."
        return self._making((), "log_likelihood(data, size)", doc, [*lines, "return float(total)"])
