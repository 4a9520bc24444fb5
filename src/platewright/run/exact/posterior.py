"""The joint posterior as a chain of conditionals, last eliminated first: marginals, draws, and its log density."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from platewright.algebra.build import substitute
from platewright.algebra.domain import BINARY
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import (
    Constant,
    Expression,
    Index,
    Inverse,
    Multiply,
    Reference,
    mentions,
    names,
    rebuild,
    walk,
)
from platewright.elimination.state import Conditional, FamilyConditional, GaussianConditional, TableConditional
from platewright.errors import PlatewrightError
from platewright.families import FAMILY_BY_NAME
from platewright.family import Array
from platewright.run.exact.gaussian import Block
from platewright.run.exact.gaussian_marginal import gaussian_marginal
from platewright.run.exact.marginal import Marginal, scalar
from platewright.run.exact.scale import Scale
from platewright.run.results.quantity import written
from platewright.schema import Plan

_DRAW = Index("draw@", "draw@")


@dataclass(frozen=True, eq=False)
class Posterior:
    """A plan with the numbers its program computed."""

    plan: Plan
    values: Mapping[str, Array]
    data: Mapping[str, Array]
    sizes: Mapping[str, int]

    def __getstate__(self) -> dict[str, object]:
        return written(self)

    @cached_property
    def environment(self) -> Environment:
        """Data and computed values, for evaluation."""
        return Environment({**self.data, **self.values}, self.sizes)

    @cached_property
    def unknown(self) -> frozenset[str]:
        """All unknowns that were eliminated."""
        return frozenset(name for conditional in self.plan.conditionals for name in conditional.variables)

    def conditional(self, name: str) -> Conditional:
        """The conditional in which an unknown was eliminated."""
        return self._by_variable[name]

    @cached_property
    def _by_variable(self) -> dict[str, Conditional]:
        return {name: conditional for conditional in self.plan.conditionals for name in conditional.variables}

    # -- marginals ---

    def marginal(self, name: str) -> Marginal | None:
        """The marginal in closed form, or None when only draws can show it."""
        node = self.plan.graph.nodes[name]
        match self.conditional(name):
            case FamilyConditional() as found:
                if any(mentions(value, self.unknown) for value in found.parameters.values()):
                    return None
                parameters = {}
                for key, value in found.parameters.items():
                    rank = found.recognised.family.parameter(key).rank
                    parameters[key] = self._value(value, (*node.plates, *node.events[:rank]))
                return Marginal(name, found.recognised.family, parameters, found.recognised.transform, node.axes)
            case TableConditional() as table:
                if mentions(table.log_weights, self.unknown):
                    return None
                return self._table(name, self._log_probabilities(table))
            case GaussianConditional() as gaussian:
                return gaussian_marginal(self, name, self.block(gaussian))

    def _value(self, expression: Expression, axes: tuple[Index, ...]) -> Array:
        """The value of an expression of data and computed values."""
        if isinstance(expression, Reference) and expression.indices == axes and expression.name in self.values:
            return self.values[expression.name]  # computed already, axis by axis
        return np.array(evaluate(expression, self.environment, axes))

    def probabilities(self, name: str) -> Array | None:
        """Those of each value of a discrete unknown, or None when only draws can show them."""
        found = self.conditional(name)
        if not isinstance(found, TableConditional) or mentions(found.log_weights, self.unknown):
            return None
        return np.exp(self._log_probabilities(found))

    def _log_probabilities(self, table: TableConditional) -> Array:
        node = self.plan.graph.nodes[table.variable]
        weights = np.array(evaluate(table.log_weights, self.environment, (*node.plates, table.level)))
        return weights - np.logaddexp.reduce(weights, axis=-1, keepdims=True)

    def _table(self, name: str, weights: Array) -> Marginal | None:
        """A category or a yes or no; no family has the table of a count, so draws show it."""
        node = self.plan.graph.nodes[name]
        if node.domain.kind == "levels":
            return Marginal(name, FAMILY_BY_NAME["Categorical"], {"log_probabilities": weights}, axes=node.axes)
        if node.domain == BINARY:
            return Marginal(name, FAMILY_BY_NAME["Bernoulli"], {"p": np.exp(weights[..., 1])}, axes=node.axes)
        return None

    def block(self, conditional: GaussianConditional) -> Block:
        """A Gaussian block with its numbers."""
        return Block(conditional, self.values, self.sizes)

    def scale(self, conditional: GaussianConditional) -> Scale | None:
        """What is known about a block's scale; None when it is neither a number, a Gamma nor a Wishart."""
        batch = conditional.statement.batch
        if conditional.matrix is not None:
            return self._matrix_scale(conditional, batch)
        used = names(conditional.scale) & self.unknown
        if not used:
            return Scale("number", value=np.array(evaluate(conditional.scale, self.environment, batch)))
        if len(used) > 1:
            return None
        name = next(iter(used))
        found = self.conditional(name)
        if not isinstance(found, FamilyConditional) or found.recognised.family.name != "Gamma":
            return None
        if any(mentions(value, self.unknown) for value in found.parameters.values()):
            return None
        multiple = _multiple_at(conditional.scale, name, found.recognised.transform.backward)
        if multiple is None:
            return None
        place, factor = multiple
        node = self.plan.graph.nodes[name]
        at: dict[Expression, Expression] = dict(zip(node.plates, place.indices, strict=True))
        forms = (found.parameters[key] for key in ("shape", "rate"))
        shape, rate = (self._value(substitute(form, at) if at else form, batch) for form in forms)
        return Scale("gamma", shape=shape, rate=rate / factor)

    def _matrix_scale(self, conditional: GaussianConditional, batch: tuple[Index, ...]) -> Scale | None:
        matrix = conditional.matrix
        inner = matrix.matrix if isinstance(matrix, Inverse) else matrix
        if not isinstance(inner, Reference) or conditional.scale != Constant(1.0):
            return None
        found = self.conditional(inner.name)
        wanted = "InverseWishart" if isinstance(matrix, Inverse) else "Wishart"
        if not isinstance(found, FamilyConditional) or found.recognised.family.name != wanted:
            return None
        if any(mentions(value, self.unknown) for value in found.parameters.values()):
            return None
        node = self.plan.graph.nodes[inner.name]
        at: dict[Expression, Expression] = dict(zip(node.plates, inner.indices[: len(node.plates)], strict=True))
        row, column = node.events
        key = "scale" if wanted == "InverseWishart" else "inverse_scale"
        degrees = self._value(substitute(found.parameters["degrees"], at), batch)
        table = self._value(substitute(found.parameters[key], at), (*batch, row, column))
        return Scale("wishart", degrees=degrees, inverse_scale=table)

    # -- modes ---

    @cached_property
    def modes(self) -> Mapping[str, Array]:
        """The joint mode, last eliminated first (for plans derived with goal `map`)."""
        found: dict[str, Array] = {}
        for conditional in reversed(self.plan.conditionals):
            match conditional:
                case GaussianConditional():
                    block = self.block(conditional)
                    best = block.solved(block.outer_values(found, {**self.data, **self.values}))
                    for name in conditional.variables:
                        found[name] = block.variable_array(name, best, self.plan.graph.nodes[name].axes)
                case TableConditional():
                    found[conditional.variable] = np.argmax(self._log_probabilities(conditional), axis=-1)
                case FamilyConditional():
                    marginal = self.marginal(conditional.variable)
                    assert marginal is not None  # a plan for `map` settles every other conditional
                    found[conditional.variable] = np.asarray(marginal.mode)
        return found

    # -- draws ---

    def draws(self, count: int, generator: np.random.Generator) -> dict[str, Array]:
        """Independent draws from the joint posterior; the first axis numbers them."""
        drawn: dict[str, Array] = {}
        for conditional in reversed(self.plan.conditionals):
            match conditional:
                case FamilyConditional():
                    drawn[conditional.variable] = self._draw_family(conditional, count, generator, drawn)
                case TableConditional():
                    drawn[conditional.variable] = self._draw_table(conditional, count, generator, drawn)
                case GaussianConditional():
                    drawn |= self._draw_gaussian(conditional, count, generator, drawn)
        return {name: drawn[name] for name in self.plan.graph.nodes if name in drawn}

    def drawn(self, expression: Expression, axes: tuple[Index, ...], drawn: Mapping[str, Array], count: int) -> Array:
        """An expression of unknowns at each draw: the draw's number is the first axis."""
        if not names(expression) & drawn.keys():
            value = self._value(expression, axes)
            return np.array(np.broadcast_to(value, (count, *value.shape)))
        environment = Environment({**self.environment.values, **drawn}, {**self.sizes, _DRAW.plate: count})
        lifted = lift(expression, frozenset(drawn), _DRAW)
        return np.array(evaluate(lifted, environment, (_DRAW, *axes)))

    def _draw_family(
        self, found: FamilyConditional, count: int, generator: np.random.Generator, drawn: Mapping[str, Array]
    ) -> Array:
        node = self.plan.graph.nodes[found.variable]
        family = found.recognised.family
        parameters = {}
        for key, value in found.parameters.items():
            axes = (*node.plates, *node.events[: family.parameter(key).rank])
            parameters[key] = self.drawn(value, axes, drawn, count)
        shape = (count, *(self.sizes[axis.plate] for axis in node.axes))
        assert family.draw is not None
        sample = family.draw(generator, parameters, shape)
        transform = found.recognised.transform
        return sample if transform.name == "identity" else scalar(transform.backward, {"y": sample})

    def _draw_table(
        self, found: TableConditional, count: int, generator: np.random.Generator, drawn: Mapping[str, Array]
    ) -> Array:
        node = self.plan.graph.nodes[found.variable]
        weights = self.drawn(found.log_weights, (*node.plates, found.level), drawn, count)
        noise = generator.gumbel(size=weights.shape)
        return np.argmax(weights + noise, axis=-1)

    def _draw_gaussian(
        self, found: GaussianConditional, count: int, generator: np.random.Generator, drawn: Mapping[str, Array]
    ) -> dict[str, Array]:
        block = self.block(found)
        batch = found.statement.batch
        scales = self.drawn(found.scale, batch, drawn, count)
        matrices = None
        if found.matrix is not None and found.statement.output is not None:
            output = found.statement.output
            matrices = self.drawn(found.matrix, (*batch, output, Index(output.name + "'", output.plate)), drawn, count)
        tables = {**self.data, **self.values}
        shake = generator.standard_normal((count, *block.right.shape)) / np.sqrt(scales)[..., None, None]
        if matrices is not None:
            # columns of noise get covariance matrix^-1: z L^-1 with L L' = matrix
            root = np.swapaxes(np.linalg.cholesky(matrices), -1, -2)
            shake = np.swapaxes(np.linalg.solve(root, np.swapaxes(shake, -1, -2)), -1, -2)
        result = block.solved(None) + block.shaken(shake)
        gain = block.gain()
        if gain is not None:
            for k in range(count):
                outer = block.outer_values({n: a[k] for n, a in drawn.items()}, tables)
                assert outer is not None
                result[k] -= gain @ outer[..., None]
        nodes = self.plan.graph.nodes
        return {name: block.variable_array(name, result, nodes[name].axes) for name in found.variables}

    # -- density ---

    def log_density(self, point: Mapping[str, Array], gaussian: bool = True) -> float:
        """The log density of the joint posterior at one point (values of all unknowns), Gaussian blocks or not."""
        if missing := self.unknown - set(point):
            raise PlatewrightError(f"the point lacks `{min(missing)}`", expected="a value for every unknown")
        environment = self.environment.with_values(point)
        total = 0.0
        for conditional in self.plan.conditionals:
            match conditional:
                case FamilyConditional():
                    total += self._family_density(conditional, point, environment)
                case TableConditional():
                    node = self.plan.graph.nodes[conditional.variable]
                    weights = np.array(
                        evaluate(conditional.log_weights, environment, (*node.plates, conditional.level))
                    )
                    weights = weights - np.logaddexp.reduce(weights, axis=-1, keepdims=True)
                    at = np.asarray(point[conditional.variable], dtype=int)[..., None]
                    total += float(np.take_along_axis(weights, at, axis=-1).sum())
                case GaussianConditional() if gaussian:
                    total += self._gaussian_density(conditional, point, environment)
        return total

    def _family_density(self, found: FamilyConditional, point: Mapping[str, Array], environment: Environment) -> float:
        node = self.plan.graph.nodes[found.variable]
        family = found.recognised.family
        parameters = {}
        for key, value in found.parameters.items():
            axes = (*node.plates, *node.events[: family.parameter(key).rank])
            parameters[key] = np.array(evaluate(value, environment, axes))
        marginal = Marginal(found.variable, family, parameters, found.recognised.transform)
        return float(np.sum(marginal.log_density(point[found.variable])))

    def _gaussian_density(
        self, found: GaussianConditional, point: Mapping[str, Array], environment: Environment
    ) -> float:
        block = self.block(found)
        batch = found.statement.batch
        outer = block.outer_values(point, {**self.data, **self.values})
        right = block.right
        cross = block.cross()
        if cross is not None and outer is not None:
            right = right - cross @ outer[..., None]
        error = block.turned(block.stacked_array(point)) - right
        scale = np.array(evaluate(found.scale, environment, batch))
        columns, outputs = error.shape[-2:]
        log_root = np.asarray(self.values[f"{block.name}.log_root"])
        total = outputs * log_root + 0.5 * outputs * columns * (np.log(scale) - np.log(2 * np.pi))
        squares = np.swapaxes(error, -1, -2) @ error
        if found.matrix is None or found.statement.output is None:
            return float(np.sum(total - 0.5 * scale * squares[..., 0, 0]))
        output = found.statement.output
        axes = (*batch, output, Index(output.name + "'", output.plate))
        matrix = np.array(evaluate(found.matrix, environment, axes))
        total = total + 0.5 * columns * np.linalg.slogdet(matrix)[1]
        return float(np.sum(total - 0.5 * scale * np.sum(matrix * squares, axis=(-2, -1))))


def lift(expression: Expression, unknown: frozenset[str], index: Index) -> Expression:
    """Every reference to an unknown gets one more leading index."""
    if not mentions(expression, unknown):
        return expression
    if isinstance(expression, Reference) and expression.name in unknown:
        inner = tuple(lift(part, unknown, index) for part in expression.indices)
        return Reference(expression.name, (index, *inner))
    return rebuild(expression, lambda part: lift(part, unknown, index))


@lru_cache(maxsize=256)
def _multiple_at(scale: Expression, name: str, backward: Expression) -> tuple[Reference, float] | None:
    """The one place where a scale mentions a variable, and its factor there; None where it is more than a multiple."""
    places = {node for node in walk(scale) if isinstance(node, Reference) and node.name == name}
    if len(places) > 1:
        return None
    place = places.pop()
    factor = _multiple_of_y(substitute(scale, {place: backward}))
    return None if factor is None else (place, factor)


def _multiple_of_y(form: Expression) -> float | None:
    match form:
        case Reference("y", ()):
            return 1.0
        case Multiply((Constant(number), Reference("y", ()))):
            return number
    return None
