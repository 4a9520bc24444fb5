"""Print an EM plan as a NumPy program: `start`, `expect`, `statistics`, `maximise`, `hill` and `learn`.

    statistics(data, size)        expected statistics: the exact plan's pass, with expectations in place of values
    maximise(found, data, size)   the closed-form mode of the parameters
    expect(data, size)            expectations of the hidden variables, and log p(data, parameters)
    hill(data, size)              both steps, for the climb to the best mode

Where parameters take turns there are several of the first two, one for each block; a block without a closed mode is
raised along its slopes. The library runs these functions; a file has them with the tools that they call, and gives the
same numbers with NumPy and SciPy only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

import numpy as np

from platewright.algebra.expression import all_indices
from platewright.backends.carried import names_of
from platewright.backends.kernels import (
    accelerated,
    ascent,
    bent,
    coordinates,
    density,
    few_rows,
    newton,
    ridges,
    search,
)
from platewright.backends.layout import laid_out
from platewright.backends.naming import comment
from platewright.backends.numpy import em_support
from platewright.backends.numpy.few_rows import RESERVED as GATHERING
from platewright.backends.numpy.few_rows import gather_function, gathering_first
from platewright.backends.numpy.hidden_steps import HiddenEmitter
from platewright.backends.numpy.learning import DEFAULTS, Options, learn_text, nested
from platewright.backends.numpy.modes import edges, mode_lines
from platewright.backends.numpy.movers import MoverText, joined_text
from platewright.backends.numpy.starting import started
from platewright.family import Array
from platewright.graph.graph import topological
from platewright.operation import Declined
from platewright.program.statements import Statistic
from platewright.schema import Plan
from platewright.schemas.ascent import Ascent
from platewright.schemas.em import EMPlan
from platewright.schemas.few_rows import FewRows, find_few_rows

SEARCH = (search, accelerated, coordinates)
"""What every program carries along for its climb."""
KERNELS = (ascent, density, bent, newton, ridges)
"""What programs carry along whose parameters are raised along slopes."""
ASCENDING = ("total", "found", "bent", "first", "second", "columns_of_rows", "size_of_rows")
RESERVED = (
    "maximise",
    "improved",
    "history",
    "objective",
    "steepest",
    "elsewhere",
    "hill",
    "starting_points",
    "initial",
)
"""Names that mean something in an EM program, beside those of all programs with hidden variables."""


def numpy_em_source(plan: EMPlan, options: Options = DEFAULTS, gathered: bool = True) -> str:
    """The whole program as text; on few rows where these can stand for all, unless it is said that they did not."""
    return laid_out(em_emitter(plan, gathered).module(options))


def em_emitter(plan: EMPlan, gathered: bool = True) -> EMEmitter:
    """What prints a plan."""
    few = find_few_rows(plan) if gathered else None
    return EMEmitter(plan) if few is None or isinstance(few, Declined) else EMEmitter(few.plan, few)


class EMEmitter(HiddenEmitter):
    """Prints all programs of a plan with one table of names."""

    title = "expectation maximisation"
    plan: EMPlan

    def __init__(self, plan: EMPlan, few: FewRows[EMPlan] | None = None) -> None:
        endings = [f"_{number}" for number in range(len(plan.latent.programs))]
        words = ("statistics", "maximise", *(("log_factors", "slopes", "density", "bent") if plan.ascents else ()))
        reserved = [*RESERVED, *(word + end for word in words for end in endings)]
        reserved += [*names_of(SEARCH), *(names_of(KERNELS) if plan.ascents else ())]
        reserved += ASCENDING if plan.ascents else ()
        reserved += [f"bent_{k}_{i}" for k in range(len(endings)) for a in plan.ascents for i in range(len(a.bent))]
        reserved += [] if few is None else [*GATHERING, *names_of((few_rows,))]
        super().__init__(plan, [*reserved, *names_of((em_support,))])
        self.turns, self.few = plan.takes_turns, few
        if few is not None:
            self.both = {name: few.weigher.axes(axes) for name, axes in self.both.items()}

    def module(self, options: Options = DEFAULTS) -> str:
        """A file: the algorithm, and all that it needs."""
        learn = learn_text(em_support, options)
        parts = [*self.algorithm(options.initial), learn if self.few is None else gathering_first(learn)]
        if self.few is not None:
            parts = [gather_function(self, self.few), *parts]
        return self.assembled(parts, self.modules)

    @property
    def modules(self) -> tuple[ModuleType, ...]:
        """Where the tools of the algorithm stand."""
        return (em_support, few_rows, *SEARCH, *(KERNELS if self.plan.ascents else ()))

    def algorithm(self, initial: Mapping[str, Array] | None = None) -> list[str]:
        """The functions that are derived from the model, in the order in which they are used."""
        parts = [self.start_function(), *self.beginning_functions(initial or {})]
        for number, block in enumerate(self.plan.blocks):
            self.program = self.plan.latent.programs[number]
            ending = f"_{number}" if self.turns else ""
            parts += [self.statistics_of(ending)] if self.program.passes or not self.turns else []
            parts.append(self.maximise_function(block, ending))
        for number, found in enumerate(self.plan.ascents, start=len(self.plan.blocks)):
            parts += self.ascent_functions(found, number)
        parts += [
            self.improved_function(),
            *self.hidden_functions(),
            *self.elsewhere_function(),
            self.expect_function(),
        ]
        return [*parts, self.hill_function()]

    # -- maximisation ---

    def plates(self) -> tuple[str, ...]:
        """Also those that only the slopes run over."""
        every = [factor.summed for found in self.plan.ascents for factor in found.factors]
        more = {index.plate: None for part in every for index in sorted(all_indices(part), key=lambda i: i.name)}
        more |= {axis.plate: None for name in self.plan.learned for axis in self.plan.graph.nodes[name].axes}
        return tuple(dict.fromkeys((*super().plates(), *(p for p in more if p not in self.plan.latent.points))))

    def maximise_function(self, block: Plan, ending: str) -> str:
        """The mode of a block of parameters."""
        body = self.found_lines() + self.finish_body()
        body += mode_lines(self, block, self.plan.graph.nodes, self.families)
        found = [name for conditional in block.conditionals for name in conditional.variables]
        shown = [self.names(name) for name in found]
        body.append(f"if not all(np.isfinite(value).all() for value in [{', '.join(shown)}]):")
        body.append("    raise Unlimited()")
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
        density = text.with_slopes(found.variables, found.factors, found.slopes, found.bent, dict(self.both))
        self.both = kept
        shown = [self.names(name) for name in found.variables]
        doc = f"The log density of {', '.join(shown)} given all else, on coordinates without constraints."
        made = self.making([], f"density_{number}(size)", doc, f"return {density}".splitlines())
        now = [f'"{name}": data["{name}"]' for name in shown]
        body = [f"density = density_{number}(size)", "density.given({**data, **found})"]
        one_top = ", one_top=True" if found.one_top else ""
        body.append(f"values = ascended(density, {{{', '.join(now)}}}{one_top})")
        for name in found.variables:
            ends = edges(self.plan.graph.nodes[name].domain)
            if ends != (-np.inf, np.inf):
                own = f'"{self.names(name)}", values["{self.names(name)}"]'
                body.append(f"kept_inside({own}, {', '.join(map(_number, ends))})")
        doc = f"Higher values of {', '.join(shown)} given statistics and all else."
        raising = self.making(found.variables, f"maximise_{number}(found, data, size)", doc, [*body, "return values"])
        return [*parts, *text.functions, made, raising]

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

    def elsewhere_function(self) -> list[str]:
        """The log factors without hidden variables."""
        if not self.plan.rest:
            return []
        body = ["total = 0.0"]
        for factor in self.plan.rest:
            value = f"np.sum({self.printer.printed(factor.expression, factor.axes, full=True)})"
            body += [f"# {comment(factor.owner)}", f"total = total + {value}"]
        doc = "The log factors without hidden variables: with theirs summed out they are log p(data, parameters)."
        return [self.making([], "elsewhere(data, size)", doc, [*body, "return float(total)"])]

    def expect_function(self) -> str:
        """Expectations, and the objective."""
        body, results = self.hidden_lines()
        for group in self.plan.latent.groups:
            named = self.quoted(group.levels)
            body += [f"check_possible({named}, {self.names(name)})" for name in group.log_norms]
        parts = [*self.log_norms(), *(["elsewhere(data, size)"] if self.plan.rest else [])]
        body.append("# log p(data, parameters): hidden variables summed out, then the factors without them")
        body.append(f"objective = {parts[0] if parts else '0.0'}")
        body += [f"objective = objective + {part}" for part in parts[1:]]
        tops = [f"np.max({part}, initial=-np.inf)" for part in self.row_densities()]
        steepest = f"max({', '.join(tops)})" if len(tops) > 1 else (tops or ["-np.inf"])[0]
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in results)
        body.append(f"return Seen({{{listed}}}, float(objective), float({steepest}))")
        doc = "Expectations of the hidden variables given parameters, log p(data, parameters), the steepest row."
        return self.making(
            self.made_by_hidden(), "expect(data, size)", doc, ['with np.errstate(all="ignore"):', *_indented(body)]
        )

    def row_densities(self) -> list[str]:
        """The log densities of rows."""
        found = [self.names(cloud.log_norm) for cloud in self.plan.latent.gaussian]
        found += [self.names(chain.group.single) for chain in self.plan.latent.chains]
        return found + [self.names(name) for group in self.plan.latent.groups for name in group.log_norms]

    def hill_function(self) -> str:
        """Both steps, with coordinates for longer ones, and how many real numbers a row has."""
        nodes = self.plan.graph.nodes
        learned = [nodes[name] for name in self.plan.learned]
        smooth = not any(node.domain.is_discrete or node.domain.kind == "circle" for node in learned)
        joined = joined_text(self, learned) if smooth else "None"
        lines = [
            "return Hill(",
            "    lambda values: expect({**data, **values}, size),",
            "    lambda seen, values: improved({**data, **values, **seen.expectations}, size),",
            *(f"    {line}" for line in f"{joined},".splitlines()),
            f"    {self.reals_in_a_row()},",
            ")",
        ]
        doc = "How to look at parameters, how to step on, and what bounds both: coordinates, real numbers in a row."
        return self.making([], "hill(data, size)", doc, lines)

    def reals_in_a_row(self) -> str:
        """How many real numbers are seen for each element of a hidden variable, as an expression of sizes."""
        plan = self.plan if self.few is None else self.few.whole
        nodes = plan.graph.nodes
        seen = [nodes[name] for name in self.data if nodes[name].kind == "random"]
        reals = [self.count_of(node.axes) for node in seen if not node.domain.is_discrete]
        rows = [self.count_of(axes) for axes in dict.fromkeys(plan.latent.elements)]
        if not reals:
            return "0.0"
        if not rows:
            return " + ".join(reals)
        fewest = f"max({', '.join(rows)}, 1)" if len(rows) == 1 else f"max(min({', '.join(rows)}), 1)"
        return f"({' + '.join(reals)}) / {fewest}"

    # -- the start ---

    def start_values(self) -> tuple[list[str], list[str]]:
        """Where blocks need each other's values, moderate ones to begin with."""
        if not self.turns:
            return [], []
        wanted = [name for name in topological(self.plan.graph) if name in self.plan.learned]
        nodes = self.plan.graph.nodes
        return [f"{self.names(name)} = {started(self, nodes[name])}" for name in wanted], wanted

    def beginning_functions(self, initial: Mapping[str, Array]) -> list[str]:
        """What makes parameters to begin with: the best given soft guesses, or values that were given."""
        doc = "What makes parameters to start from, given a generator: the best given soft guesses."
        given = [f'"{self.names(name)}": np.array({nested(value)}),' for name, value in initial.items()]
        listed = [f"initial = {{{' '.join(given)}}}"] if given else []
        if given and initial.keys() == set(self.plan.learned):
            lines = [*listed, "return lambda generator: initial"]
            return [
                self.making([], "starting_points(data, size, seed)", "The values to start from that were given.", lines)
            ]
        made = "improved({**data, **start(data, size, generator)}, size)"
        made = f"{{**{made}, **initial}}" if given else made
        parts = self.choosing_function()
        begin = ["data, size = starting_rows(data, size, seed)"] if parts else []
        lines = [*begin, *listed, f"return lambda generator: {made}"]
        return [*parts, self.making([], "starting_points(data, size, seed)", doc, lines)]


def _number(value: float) -> str:
    return repr(value) if np.isfinite(value) else f"{'-' if value < 0 else ''}np.inf"


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
