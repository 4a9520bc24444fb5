"""Print a whole Gibbs plan as one standalone C file.

    int sweeps(count, thin, only, array, size, random, report, out)

Each block is a function that brings its statistics up to date and one that draws; `sweeps` calls them in the order of
the plan. A plan with a part that has no C raises `Unprintable` with the reason, and NumPy runs it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from platewright.algebra.expression import Index, names
from platewright.backends.c.expression import Unprintable
from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.apart import PREAMBLE, declared_text
from platewright.backends.c_gibbs.chain import ChainWriter
from platewright.backends.c_gibbs.chain_rows import ChainRowsWriter
from platewright.backends.c_gibbs.coordinate_slices import CoordinateWriter
from platewright.backends.c_gibbs.draws import DrawWriter
from platewright.backends.c_gibbs.entries import Doors, entry_functions
from platewright.backends.c_gibbs.expression import Extent
from platewright.backends.c_gibbs.function import Arrays, Function, Slot
from platewright.backends.c_gibbs.gaussian import GaussianWriter
from platewright.backends.c_gibbs.hamiltonian import HamiltonianWriter
from platewright.backends.c_gibbs.jump import JumpWriter
from platewright.backends.c_gibbs.left_rows import add_left_rows, taken_whole
from platewright.backends.c_gibbs.orbit import OrbitWriter
from platewright.backends.c_gibbs.rows import RowsWriter
from platewright.backends.c_gibbs.scale import ScaleWriter
from platewright.backends.c_gibbs.sites import SiteWriter
from platewright.backends.c_gibbs.slice import SliceWriter
from platewright.backends.c_gibbs.split import Split, split_passes
from platewright.backends.c_gibbs.statistics import StatisticsWriter, pool_slots
from platewright.backends.c_gibbs.support import shared_text
from platewright.backends.c_gibbs.weighed import draw_weighed
from platewright.elimination.state import FamilyConditional, GaussianConditional, TableConditional
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.program.program import expressions_of
from platewright.program.statements import Assign, Pool, Statistic, Triangularise
from platewright.schemas.blocks import (
    BoundedBlock,
    ChainBlock,
    CoordinateBlock,
    ExactBlock,
    HamiltonianBlock,
    JumpBlock,
    OrbitBlock,
    ScaleBlock,
    SiteBlock,
    SliceBlock,
    WeighedBlock,
)
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.rough import meets_itself

Closed = ExactBlock | WeighedBlock
"""Blocks with a program of their own."""
NO_LENGTHS: Mapping[str, int] = {}
SMALL = 64
"""Plates that the model gives at most so many elements have their size written into the file."""


@dataclass(frozen=True)
class GibbsSource:
    """The file, its arrays in order, the plates whose sizes it reads, and what is computed once for each block."""

    header: str
    body: str
    """The functions of this plan alone."""
    slots: tuple[Slot, ...]
    sizes: tuple[str, ...]
    unknown: tuple[str, ...]
    splits: Mapping[int, Split]
    sliced: Mapping[str, str]
    """For each variable drawn by slices, the key of its widths."""
    doors: Doors

    @cached_property
    def text(self) -> str:
        """The file, with all that it uses."""
        return "\n\n".join([self.header, *shared_text(self.body), self.body]) + "\n"

    @cached_property
    def own(self) -> str:
        """The file with the shared functions declared only: they are compiled once, for all models."""
        return "\n\n".join([self.header, *declared_text(self.body), self.body]) + "\n"


def gibbs_source(
    plan: GibbsPlan, integers: Collection[str], moving: Collection[str] = (), lengths: Mapping[str, int] = NO_LENGTHS
) -> GibbsSource:
    """The plan as C; `integers` names the columns that hold int64, `moving` unknowns that others move.

    `lengths` tells about how many elements plates have; without it no rows are worked on in blocks.
    """
    return _Writer(plan, frozenset(integers), tuple(moving), lengths).source()


class _Writer:
    """Writes block after block."""

    def __init__(
        self, plan: GibbsPlan, integers: frozenset[str], moving: tuple[str, ...], lengths: Mapping[str, int]
    ) -> None:
        self.plan = plan
        nodes = plan.graph.nodes
        own = (name for block in plan.blocks for name in block.variables)
        self.unknown = tuple(dict.fromkeys((*own, *moving)))
        axes = {name: node.axes for name, node in nodes.items()}
        for program in plan.programs:
            axes |= {name: tuple(found) for name, found in program.columns.items() if name not in axes}
        discrete = {name for name in self.unknown if nodes[name].domain.is_discrete}
        constants = {plate: size for plate, size in fixed_sizes(plan.graph).items() if size <= SMALL}
        whole = (integers - set(self.unknown)) | discrete
        self.arrays = Arrays(axes, frozenset(self.unknown), whole, constants, lengths)
        self.splits: dict[int, Split] = {}
        self.sliced: dict[str, str] = {}
        self.functions: list[str] = []
        self.prepared: list[int] = []
        self.tables: list[int] = []
        self.densities: list[int] = []
        self.paths: list[int] = []
        self.scales: list[int] = []
        self.coordinates: list[int] = []

    def source(self) -> GibbsSource:
        for number, block in enumerate(self.plan.blocks):
            match block:
                case ExactBlock() | WeighedBlock():
                    self.exact(number, block)
                case SliceBlock() | BoundedBlock():
                    self.slice(number, block)
                case ChainBlock():
                    self.functions += ChainWriter(self.arrays, number, block, self.plan.graph).functions()
                    self.prepared.append(number)
                case HamiltonianBlock():
                    self.functions += HamiltonianWriter(self.arrays, number, block, self.plan.graph).functions()
                    self.paths.append(number)
                case ScaleBlock():
                    self.functions += ScaleWriter(self.arrays, number, block, self.plan.graph).functions()
                    self.scales.append(number)
                case OrbitBlock():
                    self.functions += OrbitWriter(self.arrays, number, block, self.plan.graph).functions()
                    self.scales.append(number)
                case JumpBlock():
                    jump = block.jump
                    about = (number, block.factors, jump.parts, jump.plates, jump.size)
                    self.functions += JumpWriter(self.arrays, self.plan.graph, *about).functions()
                case SiteBlock():
                    self.functions += SiteWriter(self.arrays, number, block, self.plan.graph).functions()
                    self.tables.append(number)
                case CoordinateBlock():
                    self.functions += CoordinateWriter(self.arrays, number, block, self.plan.graph).functions()
                    self.coordinates.append(number)
        for name in self.unknown:
            self.arrays.number(self.arrays.variable(name))
        every = self.prepared, self.tables, self.densities, self.paths, self.scales, self.coordinates
        doors = Doors(*map(tuple, every))
        entries = entry_functions(self.plan, self.arrays, self.unknown, doors)
        body = "\n\n".join([*self.functions, *entries])
        slots = tuple(self.arrays.slots.values())
        sizes = tuple(self.arrays.sizes)
        return GibbsSource(self.header(), body, slots, sizes, self.unknown, self.splits, self.sliced, doors)

    def slice(self, number: int, block: SliceBlock | BoundedBlock) -> None:
        """Element by element; an unknown within bounds too, which NumPy draws by inversion."""
        (name,) = block.variables
        if isinstance(block, BoundedBlock) and block.log_beyond is not None:
            function = Function(self.arrays, number, {}, {})
            DrawWriter(function).beyond(block, self.arrays.axes[name])
            head = f"static int draw_{number}(struct chain *chain)"
            self.functions.append(function.text(head, f"block {number}: {name} beyond its end"))
            return
        if (owner := meets_itself(self.plan.graph, block.factors, name)) is not None:
            raise Unprintable(f"different elements of `{name}` meet in {owner}")
        writer = SliceWriter(self.arrays, number, name, block.factors, self.plan.graph.nodes[name])
        self.functions += writer.functions()
        self.sliced[name] = writer.widths.key
        self.densities.append(number)

    def header(self) -> str:
        lines = [
            f"/* {c_comment(self.plan.graph.title)}: Gibbs sampling, derived and written by Platewright.",
            " *",
            f" * {c_comment(self.plan.summary)}",
            " */",
            PREAMBLE,
        ]
        return "\n".join(lines)

    # -- exact blocks --------------------------------------------------------------------------------------------------

    def exact(self, number: int, block: Closed) -> None:
        program = block.plan.program
        split = self.splits[number] = split_passes(program, frozenset(self.unknown))
        local: dict[str, Slot] = {}
        axes: dict[str, tuple[Index, ...]] = {}
        for statement in split.fixed:
            if isinstance(statement, Pool):
                local |= pool_slots(statement, number, True)
            else:
                extents = tuple(((index.plate,),) for index in statement.indices)
                local[statement.name] = Slot(
                    f"{number}:{statement.name}", statement.name, "fixed", extents, False, number
                )
        lengths: dict[str, Extent] = {}
        for few in split.few:
            axes |= few.arrays
            lengths[few.row.plate] = (*few.width, ())
            for name, held in few.arrays.items():
                local[name] = Slot(f"{number}:{name}", name, "fixed", few.extents(held), False, number)
        for step in (*program.passes, *program.body):
            if isinstance(step, (Statistic, Assign)):
                axes[step.name] = step.indices
            elif isinstance(step, Triangularise):
                axes |= _left_axes(step)
        about = f"block {number}: {', '.join(block.variables)}"
        function = Function(self.arrays, number, local, axes)
        function.lengths |= lengths
        self.body(function, block, split)
        if function.printer.lines:
            self.functions.append(
                function.text(f"static int prepare_{number}(struct chain *chain)", f"{about}; its statistics")
            )
            self.prepared.append(number)
        drawing = Function(self.arrays, number, local, axes)
        drawing.lengths = function.lengths
        head = f"static int draw_{number}(struct chain *chain)"
        if isinstance(block, WeighedBlock):
            self.prepared.remove(number)  # it is called for each value
        if isinstance(block, WeighedBlock) or self.is_shown(block):
            head = f"static int draw_{number}(struct chain *chain, double *found)"
            self.tables.append(number)
        self.draws(drawing, block, number in self.tables)
        self.functions.append(drawing.text(head, f"{about}; its draw"))

    def body(self, function: Function, block: Closed, split: Split) -> None:
        writer = StatisticsWriter(function)
        for few in split.few:
            function.printer.line(f"/* {c_comment(str(few))} */")
        writer.passes(split.moving)
        program = block.plan.program
        pools = {step.name: step.features for step in (*program.passes, *program.body) if isinstance(step, Pool)}
        wanted = self.wanted(block)
        whole = taken_whole(split.body)
        for step in split.body:
            match step:
                case Assign():
                    writer.assign(step)
                case Pool() if step.name in whole:
                    add_left_rows(writer, step, whole[step.name])
                case Pool():
                    writer.passes((step,))
                case Triangularise():
                    kind = RowsWriter if step.along is None else ChainRowsWriter
                    kind(function, step, split.outside, step in whole.values()).triangularise(pools, wanted)

    def wanted(self, block: Closed) -> frozenset[str]:
        """What later statements and the conditionals read."""
        found: set[str] = set()
        for step in block.plan.program.body:
            for expression in expressions_of(step):
                found |= names(expression)
        for conditional in block.plan.conditionals:
            match conditional:
                case FamilyConditional():
                    for value in conditional.parameters.values():
                        found |= names(value)
                case TableConditional():
                    found |= names(conditional.log_weights)
                case GaussianConditional():
                    found |= names(conditional.scale)
        return frozenset(found)

    def is_shown(self, block: Closed) -> bool:
        """Whether the log weights of a block can be given back: one table, or several on plates."""
        tables = [c.variable for c in block.plan.conditionals if isinstance(c, TableConditional)]
        every = 0 < len(tables) == len(block.plan.conditionals)
        return every and (len(tables) == 1 or all(self.arrays.axes[name] for name in tables))

    def draws(self, function: Function, block: Closed, shown: bool) -> None:
        """Last eliminated first: each given those before it; or what they are integrated out of."""
        if isinstance(block, WeighedBlock):
            return draw_weighed(function, self.plan.graph, block.variables)
        writer = DrawWriter(function)
        for conditional in reversed(block.plan.conditionals):
            match conditional:
                case FamilyConditional():
                    writer.family(conditional, self.arrays.axes[conditional.variable])
                case TableConditional():
                    writer.table(conditional, self.arrays.axes[conditional.variable], shown)
                    if shown and conditional is not block.plan.conditionals[0]:
                        writer.next_table(conditional, self.arrays.axes[conditional.variable])
                case GaussianConditional():
                    GaussianWriter(function, conditional).draw()


def _left_axes(step: Triangularise) -> dict[str, tuple[Index, ...]]:
    """Axes of the arrays that an elimination leaves for later statements."""
    rows = Index(f"{step.name}.rows", f"{step.name}.rows")
    found: dict[str, tuple[Index, ...]] = {
        f"{step.name}.log_root": step.batch,
        f"{step.name}.left": (*step.batch, rows),
    }
    for number, column in enumerate(step.outer):
        found[f"{step.name}.left_{number}"] = (*step.batch, rows, *column.dense)
    output = step.output
    found[f"{step.name}.residual"] = step.batch if output is None else (*step.batch, output, output)
    return found
