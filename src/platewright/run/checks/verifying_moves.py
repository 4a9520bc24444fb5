"""Laws of the blocks of a sweep that no closed form draws, at two places of a block with the rest held.

log density(a) - log density(b)  =  log p(a, rest) - log p(b, rest)            what slices and paths look at
gradient                         =  differences of log p(a, rest) + volume     what pulls a path

The densities are those that the moves evaluate; the joint is taken from all factors by the interpreter of expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.kernels.density import Density
from platewright.backends.kernels.hidden_chain import ChainWeights
from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.language.plate import beginning
from platewright.run.checks.verifying import TOLERANCE, Law
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import arguments, finish, loaded
from platewright.run.hidden.chain import chain_weights
from platewright.run.samplers.gibbs import Sampler
from platewright.schemas.blocks import (
    Block,
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

Values = Mapping[str, Array]
Sizes = Mapping[str, int]
GRADIENT = 1e-5
"""How far a gradient may be from differences, relative to the size of both and of the log joint."""
STEP = 1e-5
TRIES = 20
WIDTHS = tuple(np.geomspace(0.02, 1.0, TRIES).tolist())
"""How far from the first place the others are."""


def verify_moves(plan: GibbsPlan, values: Values, sizes: Sizes, seed: int) -> tuple[Law, ...]:
    """The laws of all blocks but exact ones, whose draws are checked as such."""
    graph, joint = plan.graph, _Joint(plan.factors, values, sizes)
    generator = np.random.default_rng(seed)
    sampler = sampler_at(plan, values, sizes)
    laws: list[Law] = []
    for number, block in enumerate(plan.blocks):
        moved = Moved(sampler, number)
        if isinstance(block, WeighedBlock):
            laws += joint.weighed(graph, block, moved, generator)
        if isinstance(block, ExactBlock) or getattr(block, "without", None):
            continue
        match block:
            case SiteBlock():
                laws += joint.sites(graph, block, generator)
            case ChainBlock():
                laws += joint.chain(graph, block, generator)
            case SliceBlock() | BoundedBlock():
                laws += joint.slice(graph, block, moved, generator)
            case HamiltonianBlock() | CoordinateBlock() | ScaleBlock() | OrbitBlock():
                laws += joint.path(block, moved, generator)
            case JumpBlock():
                laws += joint.ratio(block, moved.log_factors, moved.jumps(generator))
    return tuple(laws)


def sampler_at(plan: GibbsPlan, values: Values, sizes: Sizes) -> Sampler:
    """A sampler that stands at given values of all unknowns."""
    drawn = {name for block in plan.blocks for name in block.variables}
    columns = {name: value for name, value in values.items() if name not in drawn}
    here = {name: value for name, value in values.items() if name in drawn}
    return Sampler(plan, columns, sizes, np.random.default_rng(0), here)


class Moved:
    """A block as its mover knows it: the printed functions at values of the plan."""

    def __init__(self, sampler: Sampler, number: int) -> None:
        self.sampler = sampler
        self.mover: Any = sampler.movers.get(number)

    def everything(self, point: Values) -> dict[str, Any]:
        """All values, some of them others, as the mover knows them."""
        return {**self.sampler.everything, **self.sampler.printed.named(point)}

    def log_elements(self, point: Values) -> float:
        """The log density of all elements of a slice, whose elements do not meet."""
        return float(np.sum(self.mover.log_factors(self.everything(point))))

    def log_factors(self, point: Values) -> float:
        """What decides about a jump."""
        return float(self.mover.log_factors(self.everything(point)))

    def jumps(self, generator: np.random.Generator) -> list[Values]:
        """Where a jump starts, and where jumps lead."""
        here = self.sampler.everything
        there = [self.mover.made(here, jump) for jump in self.mover.jumps(here, generator)]
        start = {name: here[name] for name in (there[0] if there else {})}
        return [self.sampler.printed.back(point) for point in (start, *there)]

    def log_weight(self, point: Values) -> float:
        """What weighs values with others integrated out."""
        return float(self.mover.log_weight(self.everything(point)))

    @property
    def density(self) -> Density:
        """The density of a block on coordinates, with the rest held."""
        density: Density = self.mover.density
        density.given(self.sampler.everything)
        return density


class _Joint:
    """The log joint with some values put in."""

    def __init__(self, factors: tuple[Factor, ...], values: Values, sizes: Sizes) -> None:
        self.factors, self.values, self.sizes = factors, values, sizes

    def at(self, point: Values) -> float:
        environment = Environment({**self.values, **point}, self.sizes)
        with np.errstate(all="ignore"):
            return sum(float(np.sum(evaluate(f.expression, environment, f.axes))) for f in self.factors)

    def ratio(self, block: Block, density: Callable[[Values], float], points: Sequence[Values]) -> list[Law]:
        """The law that a density is the joint but for a constant; nothing where no two places are possible."""
        possible = [(self.at(point), point) for point in points]
        possible = [(log_joint, point) for log_joint, point in possible if np.isfinite(log_joint)]
        if len(possible) < 2:
            return []
        first, a = possible[0]
        # Where the joint is level a lost factor does not show: of many places the one that differs most is taken.
        second, b = max(possible[1:], key=lambda found: abs(found[0] - first))
        with np.errstate(all="ignore"):
            error = abs((density(a) - density(b)) - (first - second)) / (1 + abs(first) + abs(second))
        return [Law(f"log density of {', '.join(block.variables)}", float(error), bool(error < TOLERANCE))]

    def slice(
        self, graph: Graph, block: SliceBlock | BoundedBlock, moved: Moved, generator: np.random.Generator
    ) -> list[Law]:
        """Elements do not meet: their conditionals add up to the change of the joint."""
        (name,) = block.variables
        node = graph.nodes[name]
        here = np.asarray(self.values[name], dtype=float)
        counts = node.domain.kind == "integer"
        points: list[Values] = [{name: here}]
        for width in WIDTHS:
            near = here * np.exp(width * generator.standard_normal(here.shape))
            there = here + generator.integers(-1, 2, here.shape) if counts else near
            inside = np.all((there >= node.domain.lower) & (there <= node.domain.upper))
            if inside and np.any(there != here):
                points.append({name: there})
        return self.ratio(block, moved.log_elements, points)

    def path(
        self,
        block: HamiltonianBlock | CoordinateBlock | ScaleBlock | OrbitBlock,
        moved: Moved,
        generator: np.random.Generator,
    ) -> list[Law]:
        """The density on coordinates without constraints, and its gradient where paths follow it."""
        density, printed = moved.density, moved.sampler.printed
        chart = density.coordinates
        start = chart.free(printed.named({name: np.asarray(self.values[name], float) for name in block.variables}))
        places = [start, *(start + width * generator.standard_normal(len(start)) for width in WIDTHS)]
        points = [printed.back(chart.values(place)[0]) for place in places]
        laws = self.ratio(block, lambda point: density.at_values(printed.named(point)), points)
        if laws and isinstance(block, HamiltonianBlock):
            place = next(u for u, point in zip(places, points, strict=True) if np.isfinite(self.at(point)))
            laws.append(self._gradient(block, density, printed.back, place))
        return laws

    def _gradient(self, block: Block, density: Density, back: Callable[[Values], Values], place: Array) -> Law:
        def height(u: Array) -> float:
            values, volume = density.coordinates.values(u)
            return self.at(back(values)) + volume

        steps = STEP * (1 + np.abs(place))
        shifts = np.diag(steps)
        differences = np.array([height(place + shift) - height(place - shift) for shift in shifts]) / (2 * steps)
        found = density.with_gradient(place)[1]
        scale = 1 + np.abs(found) + np.abs(differences) + abs(height(place))
        error = float(np.max(np.abs(found - differences) / scale, initial=0.0))
        return Law(f"gradient of {', '.join(block.variables)}", error, error < GRADIENT)

    def sites(self, graph: Graph, block: SiteBlock, generator: np.random.Generator) -> list[Law]:
        """Sites are weighed by the factors that touch them: these change as all factors do."""
        (name,) = block.variables
        own = _Joint(block.factors, self.values, self.sizes)
        return self.ratio(block, own.at, self._levels(graph, name, generator))

    def weighed(self, graph: Graph, block: WeighedBlock, moved: Moved, generator: np.random.Generator) -> list[Law]:
        """A value weighs the joint over the conditional of what is integrated out, wherever that is."""
        here = {name: self.values[name] for name in block.without}

        def density(point: Values) -> float:
            everything = {**self.values, **point}
            program = block.plan.program
            module = loaded(program)
            found = module.statistics(*arguments(program, module, everything, self.sizes))
            computed = finish(program, module, found, everything, self.sizes)
            return moved.log_weight(point) + Posterior(block.plan, computed, everything, self.sizes).log_density(here)

        every = [self._levels(graph, name, generator) for name in block.variables]
        return self.ratio(block, density, [{k: v for p in points for k, v in p.items()} for points in zip(*every)])

    def _levels(self, graph: Graph, name: str, generator: np.random.Generator) -> list[Values]:
        """The values of a discrete variable, and others at random."""
        here = np.asarray(self.values[name], dtype=np.int64)
        count = self.sizes[_level_plate(graph, name)]
        return [{name: here}, *({name: generator.integers(0, count, here.shape)} for _ in range(TRIES))]

    def chain(self, graph: Graph, block: ChainBlock, generator: np.random.Generator) -> list[Law]:
        """The weights that are filtered, along two chains."""
        (name,) = block.variables
        node = graph.nodes[name]
        first = self.values[beginning(node.axes[0].plate)]
        weights = chain_weights(
            name, block.factors, _level_plate(graph, name), first, Environment(self.values, self.sizes)
        )
        return self.ratio(block, lambda point: _along(weights, point[name]), self._levels(graph, name, generator))


def _level_plate(graph: Graph, name: str) -> str:
    """The plate of the levels of a discrete variable."""
    domain = graph.nodes[name].domain
    return str(domain.levels) if domain.kind == "levels" else f"{name}.levels"


def _along(weights: ChainWeights, chain: Array) -> float:
    """The log weight of one chain."""
    steps = np.arange(weights.length)
    later = steps[~weights.first]
    return float(weights.single[steps, chain].sum() + weights.pair[later, chain[later - 1], chain[later]].sum())
