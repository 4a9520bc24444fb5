"""Print an EM plan as a standalone NumPy program: `start`, `expect`, `statistics`, `maximise` and `learn`.

    statistics(data, size)        expected statistics: the exact plan's pass, with expectations in place of values
    maximise(found, data, size)   the closed-form mode of the parameters
    expect(data, size)            expectations of the hidden variables, and log p(data, parameters)

Where parameters take turns there are several of the first two, one for each block; a block without a closed mode is
raised along its slopes, for which the file carries an ascent. The file needs NumPy and SciPy
only. Given the same seed it starts where the library starts, and takes the same steps; the library takes longer ones
as well where EM is slow.
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.expression import all_indices
from platewright.backends.carried import definitions, names_of
from platewright.backends.hints import without_hints
from platewright.backends.kernels import ascent, coordinates, density, few_rows
from platewright.backends.layout import laid_out
from platewright.backends.naming import comment
from platewright.backends.numpy import em_support
from platewright.backends.numpy.few_rows import RESERVED as GATHERING
from platewright.backends.numpy.few_rows import gather_function, gathering_first
from platewright.backends.numpy.hidden_steps import HiddenEmitter
from platewright.backends.numpy.modes import inside_lines, mode_lines
from platewright.backends.numpy.movers import MoverText
from platewright.backends.numpy.starting import started
from platewright.graph.graph import topological
from platewright.operation import Declined
from platewright.program.statements import Statistic
from platewright.schema import Plan
from platewright.schemas.ascent import Ascent
from platewright.schemas.em import EMPlan
from platewright.schemas.few_rows import FewRows, find_few_rows

KERNELS = (ascent, density, coordinates)
"""What programs carry along whose parameters are raised along slopes."""
ASCENDING = ("total", "found")
RESERVED = ("maximise", "improved", "climbed", "history", "objective")
"""Names that mean something in an EM program, beside those of all programs with hidden variables."""


def numpy_em_source(plan: EMPlan) -> str:
    """The whole program as text."""
    return laid_out(em_emitter(plan).module())


def em_emitter(plan: EMPlan) -> _EMEmitter:
    """What prints a plan: on the few rows that stand for all, where moments of rows are enough."""
    few = find_few_rows(plan)
    return _EMEmitter(plan) if isinstance(few, Declined) else _EMEmitter(few.plan, few)


class _EMEmitter(HiddenEmitter):
    """Prints all programs of a plan with one table of names."""

    title = "expectation maximisation"
    plan: EMPlan

    def __init__(self, plan: EMPlan, few: FewRows[EMPlan] | None = None) -> None:
        endings = [f"_{number}" for number in range(len(plan.latent.programs))]
        words = ("statistics", "maximise", *(("log_factors", "slopes") if plan.ascents else ()))
        reserved = [*RESERVED, *(word + end for word in words for end in endings)]
        reserved += [*names_of(KERNELS), *ASCENDING] if plan.ascents else []
        reserved += [] if few is None else [*GATHERING, *names_of((few_rows,))]
        super().__init__(plan, [*reserved, *definitions(em_support)])
        self.turns, self.few = plan.takes_turns, few
        if few is not None:
            self.both = {name: few.weigher.axes(axes) for name, axes in self.both.items()}

    def module(self) -> str:
        """Everything, in the order in which it is used."""
        parts = [] if self.few is None else [gather_function(self, self.few)]
        parts.append(self.start_function())
        for number, block in enumerate(self.plan.blocks):
            self.program = self.plan.latent.programs[number]
            ending = f"_{number}" if self.turns else ""
            parts += [self.statistics_of(ending)] if self.program.passes or not self.turns else []
            parts.append(self.maximise_function(block, ending))
        for number, found in enumerate(self.plan.ascents, start=len(self.plan.blocks)):
            parts += self.ascent_functions(found, number)
        parts += [self.improved_function(), *self.hidden_functions(), self.expect_function()]
        texts = definitions(em_support)
        parts += [without_hints(texts["climbed"]), self.learn_function()]
        return self.assembled(parts, [em_support, few_rows, *(KERNELS if self.plan.ascents else ())])

    def learn_function(self) -> str:
        """The search; where few rows stand for all, they are gathered first."""
        text = without_hints(definitions(em_support)["learn"])
        return text if self.few is None else gathering_first(text)

    # -- maximisation ---

    def plates(self) -> tuple[str, ...]:
        """Also those that only the slopes run over."""
        every = [factor.summed for found in self.plan.ascents for factor in found.factors]
        more = {index.plate: None for part in every for index in sorted(all_indices(part), key=lambda i: i.name)}
        return tuple(dict.fromkeys((*super().plates(), *(p for p in more if p not in self.plan.latent.points))))

    def maximise_function(self, block: Plan, ending: str) -> str:
        """The mode of a block of parameters."""
        body = self.found_lines() + self.finish_body()
        body += mode_lines(self, block, self.plan.graph.nodes, self.families)
        found = [name for conditional in block.conditionals for name in conditional.variables]
        shown = [self.names(name) for name in found]
        body.append(f"if not all(np.isfinite(value).all() for value in [{', '.join(shown)}]):")
        body.append('    raise ArithmeticError("the objective has no upper bound from here")')
        body.append(f"return {{{', '.join(f'{chr(34)}{name}{chr(34)}: {name}' for name in shown)}}}")
        doc = "The mode of the parameters given statistics."
        if self.turns:
            doc = f"The mode of {', '.join(shown)} given statistics and the other parameters."
        return self.making(found, f"maximise{ending}(found, data, size)", doc, body)

    def ascent_functions(self, found: Ascent, number: int) -> list[str]:
        """Statistics, log factors and slopes of parameters without a closed mode, and the way up."""
        self.program = self.plan.latent.programs[number]
        parts = [self.statistics_of(f"_{number}")] if self.program.passes else []
        kept = self.both
        self.both = {**kept, **{s.name: s.indices for s in self.program.passes if isinstance(s, Statistic)}}
        text = MoverText(self, dict(self.plan.graph.nodes), number, self.making)
        density = text.with_slopes(found.variables, found.factors, found.slopes)
        self.both = kept
        shown = [self.names(name) for name in found.variables]
        now = [f'"{name}": data["{name}"]' for name in shown]
        body = f"density = {density}".splitlines()
        body += ["density.given({**data, **found})", f"values = ascended(density, {{{', '.join(now)}}})"]
        for name in found.variables:
            value = f'values["{self.names(name)}"]'
            body += inside_lines(value, self.plan.graph.nodes[name].domain)
        doc = f"Higher values of {', '.join(shown)} given statistics and all else."
        made = self.making(found.variables, f"maximise_{number}(found, data, size)", doc, [*body, "return values"])
        return [*parts, *text.functions, made]

    def improved_function(self) -> str:
        """All blocks in turn."""
        doc = "The best parameters given expectations of the hidden variables."
        if not self.turns:
            lines = ["return maximise(statistics(data, size), data, size)"]
        else:
            doc = "Block by block the best parameters given expectations and the newest values of the others."
            lines = ["values = {}"]
            for number, program in enumerate(self.plan.latent.programs):
                found = f"statistics_{number}(everything, size)" if program.passes else "{}"
                lines.append("everything = {**data, **values}")
                lines.append(f"values |= maximise_{number}({found}, everything, size)")
            lines.append("return values")
        return "\n".join(["def improved(data, size):", f'    """{doc}"""', *(f"    {line}" for line in lines)])

    # -- expectation ---

    def expect_function(self) -> str:
        """Expectations, and the objective."""
        body, results = self.hidden_lines()
        parts = self.log_norms()
        body.append("# log p(data, parameters): hidden variables summed out, then the factors without them")
        body.append(f"objective = {parts[0] if parts else '0.0'}")
        body += [f"objective = objective + {part}" for part in parts[1:]]
        for factor in self.plan.rest:
            value = f"np.sum({self.printer.printed(factor.expression, factor.axes, full=True)})"
            body += [f"# {comment(factor.owner)}", f"objective = objective + {value}"]
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in results)
        body.append(f"return {{{listed}}}, float(objective)")
        doc = "Expectations of the hidden variables given parameters, and log p(data, parameters)."
        return self.making(
            self.made_by_hidden(), "expect(data, size)", doc, ['with np.errstate(all="ignore"):', *_indented(body)]
        )

    # -- the start ---

    def start_values(self) -> tuple[list[str], list[str]]:
        """Where blocks need each other's values, moderate ones to begin with."""
        if not self.turns:
            return [], []
        wanted = [name for name in topological(self.plan.graph) if name in self.plan.learned]
        nodes = self.plan.graph.nodes
        return [f"{self.names(name)} = {started(self, nodes[name])}" for name in wanted], wanted


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
