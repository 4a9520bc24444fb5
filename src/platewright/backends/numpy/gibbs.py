"""Print a Gibbs plan as a standalone NumPy program: a function for each block, `sweep`, and `learn`.

Every block is drawn from its exact conditional given the newest values of the others; statistics that no unknown enters
are computed once, before the first sweep. The file needs NumPy and SciPy only; the library itself runs what draws exact
blocks and hidden chains.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from types import ModuleType

from platewright.algebra.expression import Index
from platewright.backends.carried import definitions, names_of
from platewright.backends.hints import without_hints
from platewright.backends.kernels import (
    bounded_draws,
    climb,
    coordinate_slices,
    coordinates,
    curvature,
    density,
    hamiltonian,
    hamiltonian_mover,
    hidden_chain,
    impossible,
    jumps,
    metric,
    orbit_moves,
    path_energy,
    possible_state,
    scale_moves,
    sites,
    slices,
    trials,
    weighed,
)
from platewright.backends.layout import indented, laid_out
from platewright.backends.naming import comment
from platewright.backends.numpy import gibbs_moving, gibbs_plain, gibbs_support
from platewright.backends.numpy.assembling import Frame
from platewright.backends.numpy.chain import ChainText
from platewright.backends.numpy.draws import draw_lines, single_passes
from platewright.backends.numpy.family_text import family_text
from platewright.backends.numpy.learning import DEFAULTS, Options, learn_text, nested
from platewright.backends.numpy.main import OPTIONS_OF
from platewright.backends.numpy.movers import MoverText
from platewright.backends.numpy.possible_start import PossibleStart
from platewright.backends.numpy.program import Emitter
from platewright.backends.numpy.pruning import pruned
from platewright.backends.numpy.starting import started
from platewright.families import inverting
from platewright.family import Family
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import topological
from platewright.language.plate import beginning
from platewright.program.program import Program
from platewright.program.split_program import split_program
from platewright.schema import Plan
from platewright.schemas.blocks import BoundedBlock, WeighedBlock
from platewright.schemas.gibbs import Block, ChainBlock, ExactBlock, GibbsPlan
from platewright.schemas.one_mode import has_one_mode

KERNELS = (
    gibbs_support,
    possible_state,
    trials,
    slices,
    coordinates,
    density,
    coordinate_slices,
    metric,
    curvature,
    climb,
    hamiltonian,
    path_energy,
    hamiltonian_mover,
    scale_moves,
    jumps,
    orbit_moves,
    inverting,
    bounded_draws,
    sites,
    weighed,
    impossible,
    hidden_chain,
)
"""What samplers carry along."""
RESERVED = (
    *names_of(KERNELS),
    *(
        "generator",
        "values",
        "value",
        "kept",
        "chains",
        "draws",
        "movers",
        "share",
        "lower",
        "upper",
        "total",
        "p",
        "wrong",
        "named",
        "movable",
        "impossible",
    ),
)
"""Names that mean something in a sampler."""
LEARNED = f"summary(learn(data, size, {OPTIONS_OF}))"
PREPARED = "    data = prepared(data, size)\n"
"""The line of `learn` that goes where nothing is computed once."""
STAND_INS = ("learn", "prepared", "chain_starts", "chain_draws", "start", "height_of", "sweep")


def numpy_gibbs_source(plan: GibbsPlan, options: Options = DEFAULTS) -> str:
    """The whole program as text, with the options of a run as its defaults."""
    return laid_out(GibbsEmitter(plan, options).module())


class GibbsEmitter(Emitter):
    """Prints the programs of all blocks with one table of names."""

    tools: tuple[ModuleType, ...] = KERNELS
    """Where the tools stand that samplers share."""

    def __init__(
        self,
        plan: GibbsPlan,
        options: Options = DEFAULTS,
        held: Iterable[str] = (),
        reserved: Iterable[str] = (),
    ) -> None:
        """Known numbers that are `held` may change from sweep to sweep."""
        self.plan, self.options = plan, options
        self.nodes = dict(plan.graph.nodes)
        self.unknown = list(dict.fromkeys(name for block in plan.blocks for name in block.variables))
        used = {name for factor in plan.factors for name in factor.names} - set(self.unknown)
        used |= {beginning(self.nodes[b.variables[0]].axes[0].plate) for b in plan.blocks if isinstance(b, ChainBlock)}
        for program in plan.programs:
            used |= {name for name in program.columns if name not in self.unknown}
        self.data = [name for name in self.nodes if name in used]
        labels = {name: plate.labels for name, plate in plan.graph.plates.items() if plate.labels is not None}
        columns = {name: self.nodes[name].axes for name in self.data}
        codes = {n: str(self.nodes[n].domain.levels) for n in self.data if self.nodes[n].domain.kind == "levels"}
        self.plain = Program(plan.graph.title, columns, (), (), (), codes, fixed_sizes(plan.graph), labels)
        super().__init__(
            self.plain,
            [
                *RESERVED,
                *reserved,
                *(f"{word}_{number}" for word in ("draw", "faults", "fixed") for number in range(len(self.nodes))),
            ],
        )
        self.changing = frozenset((*self.unknown, *held))
        self.movers: dict[int, str] = {}
        self.families: list[tuple[Family, str]] = []

    def module(self) -> str:
        """Blocks, the sweep over them, and the loop around it."""
        wanted = [name for name in topological(self.plan.graph) if name in self.unknown]
        possible = PossibleStart(self, self.plan.graph, self.plan.factors, wanted, self._making)
        parts = [self.start_function(wanted, possible), *possible.functions()]
        parts += [*self.fixed_functions(), self.prepared_function()] if self.fixed else []
        parts += [self.block(n, b) for n, b in enumerate(self.plan.blocks)]
        parts += [self.movers_function(), self.sweep(), *self.learning()]
        needed = {name: self.nodes[name].axes for name in self.data}
        frame = Frame(self.plan.graph, "Gibbs sampling", self.plan.summary, needed, LEARNED)
        own = [text for family, kind in self.families for text in family_text(family, kind)]
        return frame.around([*parts, *dict.fromkeys(own)], self.support(), self.names, KERNELS, STAND_INS)

    def sweeping(self) -> list[str]:
        """The functions of a sweep, and what these need once."""
        blocks = [self.block(number, block) for number, block in enumerate(self.plan.blocks)]
        return [*self.fixed_functions(), self.prepared_function(), *blocks, self.movers_function(), self.sweep()]

    def learning(self) -> list[str]:
        """The chains, and the loop over the sweeps of one; with movers they learn during warm-up."""
        is_plain = has_one_mode(self.plan) or bool(self.options.initial)
        chosen = {
            "chain_starts": gibbs_plain if is_plain else gibbs_support,
            "chain_draws": gibbs_moving if self.movers else gibbs_support,
        }
        own = [without_hints(definitions(module)[name]) for name, module in chosen.items()]
        learn = learn_text(gibbs_support, self.options)
        learn = learn if self.fixed else learn.replace(PREPARED, "")
        return [*([] if is_plain else [self.height_of()]), learn, *own]

    def movers_function(self) -> str:
        """A function that makes the movers of all blocks that need one."""
        if not self.movers:
            return ""
        made = [indented(f"{number}: {text},") for number, text in self.movers.items()]
        lines = "\n".join(["return {", *made, "}"]).splitlines()
        return self._making(
            (), "movers(size)", "What moves the blocks without an exact conditional, by their number.", lines
        )

    def plates(self) -> tuple[str, ...]:
        """All plates of the model, and the values of finite integers."""
        return tuple(dict.fromkeys((*self.plan.graph.plates, *fixed_sizes(self.plan.graph))))

    # -- what no unknown enters ---

    @cached_property
    def fixed(self) -> dict[int, Program]:
        """By the number of a block the part of its program that is computed once."""
        found = {}
        for number, block in enumerate(self.plan.blocks):
            match block:
                case (
                    ExactBlock(plan=Plan() as plan)
                    | BoundedBlock(plan=Plan() as plan)
                    | WeighedBlock(plan=Plan() as plan)
                ):
                    found[number] = split_program(plan.program, self.changing)[0]
        return {n: program for n, program in found.items() if program.passes}

    def fixed_functions(self) -> list[str]:
        """The statistics of each block that no unknown enters, by names that no two blocks share."""
        found = []
        for number, program in self.fixed.items():
            listed = [f'"{self.fixed_name(number, s.name)}": {self.names(s.name)}' for s in program.passes]
            self.program = program
            body = [*single_passes(self), f"return {{{', '.join(listed)}}}"]
            shown = comment(", ".join(self.plan.blocks[number].variables))
            doc = f"Statistics for {shown} that no unknown enters (Theorem 4.1)."
            found.append(self._making((), f"fixed_{number}(data, size)", doc, body))
        return found

    def fixed_name(self, number: int, statistic: str) -> str:
        """The name of a statistic among the data."""
        return self.names(f"{statistic} of block {number}")

    def prepared_function(self) -> str:
        """All of them beside the data."""
        listed = ", ".join(("**data", *(f"**fixed_{number}(data, size)" for number in self.fixed)))
        doc = '"""The data, with all that no unknown enters."""'
        return f"def prepared(data, size):\n    {doc}\n    return {{{listed}}}"

    # -- blocks ---

    def block(self, number: int, block: Block) -> str:
        """A function that draws one block given all else."""
        match block:
            case ExactBlock():
                body = self.computed(number, block.plan.program)
                for conditional in reversed(block.plan.conditionals):
                    body += draw_lines(self, conditional, self.nodes, self.families)
            case ChainBlock():
                body = self.chain(block)
            case _:
                return self.moved(number, block)
        shown = [self.names(name) for name in block.variables]
        body.append(f"return {{{', '.join(f'{chr(34)}{name}{chr(34)}: {name}' for name in shown)}}}")
        doc = f"Draw {comment(', '.join(block.variables))} given all else."
        return self._making(block.variables, f"draw_{number}(data, size, generator)", doc, body)

    def computed(self, number: int, program: Program) -> list[str]:
        """The statements of the program of a block, what no unknown enters found among the data."""
        kept, fixed = self.program, self.fixed.get(number)
        named = [(self.names(s.name), self.fixed_name(number, s.name)) for s in (fixed.passes if fixed else ())]
        self.program = split_program(program, self.changing)[1]
        lines = [*(f'{name} = data["{key}"]' for name, key in named), *single_passes(self), *self.finish_body()]
        self.program = kept
        return lines

    def moved(self, number: int, block: Block) -> str:
        """The functions that the mover of a block asks for."""
        text = MoverText(self, self.nodes, number, self._making, lambda program: self.computed(number, program))
        self.movers[number] = text.made(block, self.data)
        self.families += text.families
        return "\n\n\n".join(text.functions)

    def chain(self, block: ChainBlock) -> list[str]:
        """A hidden chain, drawn as a whole."""
        node = self.nodes[block.variables[0]]
        plate = str(node.domain.levels) if node.domain.kind == "levels" else f"{node.name}.levels"
        now = Index(f"{node.name}.level", plate)
        weights = ChainText(self, node.name, node.axes[0], now, Index(f"{node.name}.level'", plate))
        lines = weights.lines(block.factors)
        shown = comment(node.name).replace('"', "'")
        return [*lines, f'{self.names(node.name)} = drawn_path(generator, "{shown}", {weights.arguments})']

    def sweep(self) -> str:
        more = ", movers" if self.movers else ""
        lines = [f"def sweep(values, data, size, generator{more}):"]
        lines.append('    """Draw every block once, in order, each given the newest values of the others."""')
        lines += ["    values = dict(values)", '    with np.errstate(all="ignore"):']
        for number, _ in enumerate(self.plan.blocks):
            made = f"draw_{number}({{**data, **values}}, size, generator)"
            if number in self.movers:
                made = f"movers[{number}].move({{**data, **values}}, generator)"
            lines.append(f"        values |= {made}")
        return "\n".join([*lines, "    return values"])

    # -- the start ---

    def height_of(self) -> str:
        """A function that tells how high a state is, by which trials are weighed."""
        lines = ["total = 0.0", 'with np.errstate(all="ignore"):']
        for factor in self.plan.factors:
            if factor.names & set(self.unknown):
                shown = self.printer.printed(factor.expression, factor.axes, full=True)
                lines += [f"    # {comment(factor.owner)}", f"    total = total + np.sum({shown})"]
        doc = "The log density of the unknowns and the data, up to what no unknown enters."
        return self._making((), "height_of(data, size)", doc, [*lines, "return float(total)"])

    def start_function(self, wanted: Sequence[str], possible: PossibleStart) -> str:
        given = {name: f"np.array({nested(value)})" for name, value in self.options.initial.items()}
        body = [f"{self.names(name)} = {given.get(name) or started(self, self.nodes[name])}" for name in wanted]
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in wanted)
        moved = []
        for number, block in enumerate(self.plan.blocks):
            if isinstance(block, BoundedBlock):
                at = f'values["{self.names(block.variables[0])}"]'
                moved.append(f"{at} = put_within({at}, *bounds_{number}({{**data, **values}}, size))")
        moved += possible.lines()
        body += [f"values = {{{listed}}}", *moved, "return values"] if moved else [f"return {{{listed}}}"]
        return self._making(wanted, "start(data, size, generator)", "Values to start from, jittered.", body)

    def _making(self, made: Sequence[str], signature: str, doc: str, body: list[str]) -> str:
        """A function that may read all data and unknowns, but for what it makes itself."""
        kept = self.program
        columns = {name: node.axes for name, node in self.nodes.items() if name not in made}
        self.program = replace(kept, columns=columns)
        text = pruned(self._function(signature, doc, body))
        self.program = self.plain
        return text
