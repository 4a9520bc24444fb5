"""Print what moves the blocks of a sampler that have no exact conditional: their log factors, slopes and bounds.

The algorithms themselves are kernels, which a file carries along; here stand the functions of the model that they ask
for, one after another, and a function `movers` that puts both together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from platewright.algebra.build import multiply, substitute, totals
from platewright.algebra.expression import Constant, Expression, Index, Reference, names, walk
from platewright.backends.kernels.coordinates import coordinates_kind
from platewright.backends.layout import CALL, called, indented
from platewright.backends.naming import comment
from platewright.backends.numpy.bending import BendingText
from platewright.backends.numpy.expression import float_text
from platewright.backends.numpy.family_text import family_name
from platewright.backends.numpy.modes import gaussian_lines, split_lines
from platewright.backends.numpy.program import Emitter
from platewright.elimination.state import FamilyConditional, GaussianConditional
from platewright.errors import PlatewrightError
from platewright.families import FAMILY_BY_NAME
from platewright.families.bounded import is_symmetric
from platewright.family import Family, X
from platewright.graph.graph import Factor
from platewright.language.variable import Variable
from platewright.program.derivatives import Bent, Scaled, Slope
from platewright.program.program import EVIDENCE, Program
from platewright.schemas.blocks import (
    Block,
    BoundedBlock,
    CoordinateBlock,
    HamiltonianBlock,
    JumpBlock,
    OrbitBlock,
    ScaleBlock,
    SiteBlock,
    SliceBlock,
    WeighedBlock,
)
from platewright.schemas.orbits import elements_of
from platewright.schemas.ties import inner_indices, sites_of, ties_move, ties_of

Function = Callable[[Sequence[str], str, str, list[str]], str]
"""Prints a function: what it makes itself, its signature, its remark, its body."""


class MoverText:
    """The functions of one block, and the expression that makes its mover."""

    def __init__(
        self,
        emitter: Emitter,
        nodes: dict[str, Variable],
        number: int,
        function: Function,
        computed: Callable[[Program], list[str]] = lambda program: [],
    ) -> None:
        self.emitter, self.nodes, self.number, self.function = emitter, nodes, number, function
        self.computed = computed
        self.printer, self.names = emitter.printer, emitter.names
        self.functions: list[str] = []
        self.families: list[tuple[Family, str]] = []

    def made(self, block: Block, known: Sequence[str]) -> str:
        """The mover, as an expression of `size`; its functions are left in `functions`."""
        name = block.variables[0]
        match block:
            case SliceBlock():
                counts = ["counts=True"] if self.nodes[name].domain.kind == "integer" else []
                return called("SliceMover", self._unknown(name), self._elementwise(name, block.factors), *counts)
            case BoundedBlock():
                return self._bounded(block)
            case HamiltonianBlock():
                words = ["slopes", *(["precisions"] if block.scaled else [])]
                density = self._density(block.variables, block.factors, [self._call(word) for word in words])
                self._slopes(block.variables, block.slopes)
                if block.scaled:
                    shown = {f.name: self._full(f.precision, self.nodes[f.name].axes) for f in block.scaled}
                    self._returned("precisions", "The precision that the rest alone gives each of these.", shown)
                named = {word: self._named(getattr(block, word)) for word in ("leaves", "held")}
                return called("HamiltonianMover", density, *(f"{w}=({n},)" for w, n in named.items() if n))
            case CoordinateBlock():
                return called("CoordinateMover", self._density(block.variables, block.factors))
            case ScaleBlock():
                density = self._density(block.variables, block.factors)
                listed = ", ".join(f'"{self.names(form.name)}": {self._placing(form)}' for form in block.scaled)
                return called("ScaleMover", density, f"{{{listed}}}")
            case OrbitBlock():
                return self._orbit(block)
            case JumpBlock():
                height = self._height(block.variables, block.factors)
                parts = ", ".join(f'"{self.names(name)}": {part}' for name, part in block.jump.parts.items())
                size = [str(block.jump.size)] if block.jump.size else []
                return called("RelabelMover" if size else "MirrorMover", height, *size, f"{{{parts}}}")
            case SiteBlock():
                return self._sites(block, known)
            case WeighedBlock():
                return self._weighed(block)
        raise PlatewrightError(f"`{name}` has no standalone source")

    # -- parts ---

    def _add(self, word: str, doc: str, body: list[str], extra: str = "", made: Sequence[str] = ()) -> None:
        self.functions.append(self.function(made, f"{word}_{self.number}(data, size{extra})", doc, body))

    def _call(self, word: str) -> str:
        return f"lambda values: {word}_{self.number}(values, size)"

    def _full(self, expression: Expression, axes: tuple[Index, ...]) -> str:
        return self.printer.printed(expression, axes, full=True)

    def _shape(self, axes: tuple[Index, ...]) -> str:
        return "(" + "".join(f"{self.printer.size(axis.plate)}, " for axis in axes).rstrip() + ")"

    def _unknown(self, name: str) -> str:
        """Name and ends of the domain."""
        domain = self.nodes[name].domain
        return f'"{self.names(name)}", {float_text(domain.lower)}, {float_text(domain.upper)}'

    def _named(self, variables: Sequence[str]) -> str:
        return ", ".join(f'"{self.names(name)}"' for name in variables)

    def _returned(self, word: str, doc: str, shown: dict[str, str], lines: Sequence[str] = ()) -> None:
        listed = ", ".join(f'"{self.names(name)}": {value}' for name, value in shown.items())
        self._add(word, doc, [*lines, f"return {{{listed}}}"])

    def _elementwise(self, name: str, factors: Sequence[Factor]) -> str:
        """The log density of each element, added up from the rows of each factor."""
        node = self.nodes[name]
        lines = [f"total = np.zeros({self._shape(node.axes)})"]
        for factor in factors:
            lines.append(f"# {comment(factor.owner)}")
            lines += self._gathered("total", node, _place(factor, name), factor.axes, factor.expression)
        shown = comment(name)
        self._add(
            "log_factors", f"The log density of each element of {shown}, given all else.", [*lines, "return total"]
        )
        return self._call("log_factors")

    def _gathered(
        self, target: str, node: Variable, at: tuple[Expression, ...], over: tuple[Index, ...], expression: Expression
    ) -> list[str]:
        """Rows added up at the places where a variable is looked up."""
        direct = [place for place in at if isinstance(place, Index)]
        if len(direct) == len(at) == len(set(direct)):
            summed = totals(expression, [index for index in over if index not in direct])
            return [f"{target} = {target} + {self._full(summed, tuple(direct))}"]
        if all(isinstance(place, Constant) for place in at):
            places = ", ".join(str(int(place.value)) for place in at if isinstance(place, Constant))
            return [f"{target}[{places}] += {self.printer.printed(totals(expression, over), ())}"]
        codes = ", ".join(self.printer.placed(place, over) for place in at)
        return [f"np.add.at({target}, ({codes},), {self._full(expression, over)})"]

    # -- densities ---

    def with_slopes(
        self,
        variables: Sequence[str],
        factors: Sequence[Factor],
        slopes: Sequence[Slope],
        bent: Sequence[Bent],
        columns: dict[str, tuple[Index, ...]],
    ) -> str:
        """A log density that knows its slopes, and its curvature where it has one."""
        more = [f"bent={self._call('bent')}"] if bent else []
        density = self._density(variables, factors, [self._call("slopes"), *more])
        self._slopes(variables, slopes)
        if bent:
            text = BendingText(self.printer, self.nodes, columns, self.function)
            self.functions += text.functions(self.number, variables, bent)
        return density

    def _density(self, variables: Sequence[str], factors: Sequence[Factor], more: Sequence[str] = ()) -> str:
        joined = joined_text(self.emitter, [self.nodes[name] for name in variables])
        return called("Density", joined, self._height(variables, factors), *more)

    def _height(self, variables: Sequence[str], factors: Sequence[Factor]) -> str:
        """The log factors of some unknowns added up, as a function of all values."""
        lines = ["total = 0.0"]
        for factor in factors:
            lines.append(f"# {comment(factor.owner)}")
            with self.printer.keeping(lines):
                lines.append(f"total = total + np.sum({self._full(factor.expression, factor.axes)})")
        doc = f"The log density of {comment(', '.join(variables))} given all else, up to a constant."
        self._add("log_factors", doc, [*lines, "return float(total)"])
        return self._call("log_factors")

    def _slopes(self, variables: Sequence[str], slopes: Sequence[Slope]) -> None:
        lines: list[str] = []
        shown = {name: self.names(f"{name}.slope") for name in variables}
        lines += [f"{shown[name]} = np.zeros({self._shape(self.nodes[name].axes)})" for name in variables]
        with self.printer.keeping(lines):
            for slope in slopes:
                node = self.nodes[slope.variable]
                lines += self._gathered(shown[node.name], node, slope.at, slope.over, slope.expression)
        self._returned("slopes", f"The slopes of these log factors in {comment(', '.join(variables))}.", shown, lines)

    def _placing(self, form: Scaled) -> str:
        """The mean and the precision of an unknown that a scale scales."""
        axes = self.nodes[form.name].axes
        word = f"placing_{self.names(form.name)}"
        doc = f"The mean and the precision of {comment(form.name)}."
        self._add(word, doc, [f"return {self._full(form.mean, axes)}, {self._full(form.precision, axes)}"])
        return self._call(word)

    def _orbit(self, block: OrbitBlock) -> str:
        """Unknowns that multiply each other."""
        slope, intercept = block.orbit.slope, block.orbit.intercept
        domain = self.nodes[slope.name].domain
        arguments = [
            self._density(block.variables, block.factors),
            f'"{self.names(block.orbit.stretched)}"',
            self._elements(slope),
            f"({float_text(domain.lower)}, {float_text(domain.upper)})",
            f"stretches={block.along == 'stretch'}",
        ]
        if intercept is not None:
            axes = tuple(at for at in intercept.indices if isinstance(at, Index))
            doc = f"What moves {comment(intercept.name)} when {comment(block.orbit.stretched)} is shifted by one."
            lifted = multiply(Constant(float(block.orbit.ratio)), slope)
            self._add("lifted", doc, [f"return {self._full(lifted, axes)}"])
            arguments += [f"intercept={self._elements(intercept)}", f"lifted={self._call('lifted')}"]
        return called("OrbitMover", *arguments)

    def _elements(self, place: Reference) -> str:
        """An unknown, and those of its elements that move."""
        shown = ["slice(None)" if isinstance(at, slice) else str(at) for at in elements_of(place)]
        return f'("{self.names(place.name)}", ({"".join(f"{part}, " for part in shown).rstrip()}))'

    # -- bounds ---

    def _bounded(self, block: BoundedBlock) -> str:
        node = self.nodes[block.variables[0]]
        shape = self._shape(node.axes)
        ends = map(float_text, (node.domain.lower, node.domain.upper))
        lines = [f"lower, upper = {', '.join(f'np.full({shape}, {end})' for end in ends)}"]
        lines += [f"lower = np.maximum(lower, {self._full(bound, node.axes)})" for bound in block.lower]
        lines += [f"upper = np.minimum(upper, {self._full(bound, node.axes)})" for bound in block.upper]
        self._add(
            "bounds", f"The tightest bounds of each element of {comment(node.name)}.", [*lines, "return lower, upper"]
        )
        arguments = [self._unknown(node.name), self._elementwise(node.name, block.factors), self._call("bounds")]
        if block.family is not None or block.plan is not None:
            self._inverted(block, node)
            arguments.append(
                f"lambda values, lower, upper, share: inverted_{self.number}(values, size, lower, upper, share)"
            )
        return called("BoundedMover", *arguments)

    def _inverted(self, block: BoundedBlock, node: Variable) -> None:
        """The point that leaves a share of the conditional between the bounds below it."""
        family, lines = self._conditional(block, node)
        if block.log_beyond is not None:
            return self._beyond(block, node, family, lines)
        assert family.cumulative is not None
        self.families.append((family, "quantile"))
        changes: dict[Expression, Expression] = {X: Reference(f"{node.name}.at", node.axes)}
        for parameter in family.parameters:
            changes[parameter.symbol] = Reference(f"{node.name}.{parameter.name}", node.axes)
        at = self.names(f"{node.name}.at")
        cumulative = self.printer.printed(substitute(family.cumulative, changes), node.axes)
        mass = f"lambda {at}: {cumulative}"
        if family.domain.lower > -float("inf") or family.domain.upper < float("inf"):
            ends = f"{float_text(family.domain.lower)}, {float_text(family.domain.upper)}"
            mass = f"lambda x: within_ends({mass}, x, {ends})"
        given = ", ".join(f'"{p.name}": {self.names(f"{node.name}.{p.name}")}' for p in family.parameters)
        lines.append(f"p = {{{given}}}")
        point = f"lambda q: {family_name(family, 'quantile')}(q, p)"
        centre = ('p["mean"]',) if is_symmetric(family) else ()
        lines += f"return {called('between', mass, point, 'lower, upper, share', *centre)}".splitlines()
        doc = f"Points of the {family.name} distribution of {comment(node.name)} that leave shares below them."
        self._add("inverted", doc, lines, ", lower, upper, share", block.variables)

    def _beyond(self, block: BoundedBlock, node: Variable, family: Family, lines: list[str]) -> None:
        """The same beyond the only bound, in the tail."""
        assert block.log_beyond is not None
        self.families.append((family, "tail"))
        given = ", ".join(f'"{p.name}": {self.names(f"{node.name}.{p.name}")}' for p in family.parameters)
        share = f"{self._full(block.log_beyond, node.axes)} + np.log1p(-share)"
        lines += [f"p = {{{given}}}", f"point = {family_name(family, 'tail')}({share}, p)"]
        lines.append("return np.maximum(lower, point), np.full(share.shape, True)")
        doc = f"Points of {comment(node.name)} beyond its bound, with shares of what lies there below them."
        self._add("inverted", doc, lines, ", lower, upper, share", block.variables)

    def _conditional(self, block: BoundedBlock, node: Variable) -> tuple[Family, list[str]]:
        """The family of the conditional without its bounds, and assignments of its parameters."""
        if block.family is not None:
            return block.family, self._assigned(node, dict(block.parameters))
        assert block.plan is not None
        lines = self.computed(block.plan.program)
        conditional = next(c for c in block.plan.conditionals if node.name in c.variables)
        match conditional:
            case FamilyConditional():
                return conditional.recognised.family, lines + self._assigned(node, dict(conditional.parameters))
            case GaussianConditional():
                return FAMILY_BY_NAME["Normal"], lines + self._gaussian(conditional, node)
        raise PlatewrightError(f"`{node.name}` within bounds has no standalone source")

    def _assigned(self, node: Variable, parameters: dict[str, Expression]) -> list[str]:
        made = {self.names(f"{node.name}.{key}"): self._full(value, node.axes) for key, value in parameters.items()}
        return [f"{name} = {value}" for name, value in made.items() if name != value]

    def _gaussian(self, found: GaussianConditional, node: Variable) -> list[str]:
        """Mean and precision of an unknown whose elements are independent given the rest."""
        best, root = self.names(f"{found.statement.name}.best"), self.names(f"{found.statement.name}.root")
        mean, precision = self.names(f"{node.name}.mean"), self.names(f"{node.name}.precision")
        name = self.names(node.name)
        lines = [*gaussian_lines(self.emitter, found), f"{mean} = {name}"]
        lines.append(f"{best} = 1.0 / np.sum(np.linalg.inv({root}) ** 2, axis=-1)[..., None]")
        lines += [*split_lines(self.emitter, found), f"{precision} = {name}"]
        if found.scale != Constant(1.0):
            lines.append(f"{precision} = {precision} * {self._full(found.scale, node.axes)}")
        return lines

    # -- sites ---

    def _sites(self, block: SiteBlock, known: Sequence[str]) -> str:
        node = self.nodes[block.variables[0]]
        ties = ties_of(block)
        shown = comment(node.name)
        self._listed(
            "together", f"Terms of the factors that tie elements of {shown}.", [*map(self._terms, ties.together)]
        )
        touched = [self._touched(factor, node) for factor in ties.together]
        self._listed("touched", "The elements that each of their rows looks at.", touched)
        self._listed("alone", "Terms of the factors whose rows look at one element.", [*map(self._terms, ties.alone)])
        self._listed("owners", "These elements.", [self._touched(factor, node) for factor in ties.alone])
        calls = [self._call(word) for word in ("together", "touched", "alone", "owners")]
        arguments = [*self._range(node), *calls]
        if ties_move(block, known):
            arguments.append("moves=True")
        return called("SiteMover", *arguments)

    def _range(self, node: Variable) -> list[str]:
        """Name, shape, lowest value and number of values of a discrete unknown."""
        domain = node.domain
        levels, lowest = self.printer.size(str(domain.levels)), 0
        if domain.kind != "levels":
            lowest, levels = int(domain.lower), str(int(domain.upper - domain.lower) + 1)
        return [f'"{self.names(node.name)}"', self._shape(node.axes), str(lowest), levels]

    def _weighed(self, block: WeighedBlock) -> str:
        lines = [*self.computed(block.plan.program), f"return {self.names(EVIDENCE)}"]
        shown = comment(", ".join(block.without))
        self._add("log_weight", f"The log of all factors with {shown} integrated out.", lines, made=block.without)
        ranges = ", ".join(f"({', '.join(self._range(self.nodes[name]))})" for name in block.variables)
        return called("WeighedMover", f"[{ranges}]", self._call("log_weight"))

    def _listed(self, word: str, doc: str, parts: Sequence[str]) -> None:
        body = ["return [", *(f"    {part}," for part in parts), "]"] if parts else ["return []"]
        self._add(word, doc, body)

    def _terms(self, factor: Factor) -> str:
        return self._full(factor.expression, factor.axes)

    def _touched(self, factor: Factor, node: Variable) -> str:
        shape = self._shape(node.axes)
        rows = " * ".join(self.printer.size(axis.plate) for axis in factor.axes) or "1"
        parts = []
        for place in sites_of(factor, node.name):
            if any(node.name in names(at) for at in place.indices):
                parts.append(f"np.tile(np.arange(int(np.prod({shape}))), ({rows}, 1))")
                continue
            scope = (*factor.axes, *inner_indices(place, factor.axes))
            codes = ", ".join(self._full(at, scope) for at in place.indices)
            parts.append(f"site_numbers([{codes}], {shape}, {rows})")
        return parts[0] if len(parts) == 1 else f"np.concatenate([{', '.join(parts)}], axis=1)"


def joined_text(emitter: Emitter, nodes: Sequence[Variable]) -> str:
    """The coordinates of several unknowns, as an expression of sizes."""
    found = []
    for node in nodes:
        kind, ends = coordinates_kind(node.domain)
        shape = "(" + "".join(f"{emitter.printer.size(axis.plate)}, " for axis in node.axes).rstrip() + ")"
        found.append(f'{kind}("{emitter.names(node.name)}", {", ".join([shape, *map(float_text, ends)])})')
    flat = f"[{', '.join(found)}]"
    return called(
        "Joined", flat if len(flat) <= CALL else "\n".join(["[", *(indented(f"{part},") for part in found), "]"])
    )


def _place(factor: Factor, name: str) -> tuple[Expression, ...]:
    """Where a factor looks an unknown up."""
    return next(p.indices for p in walk(factor.expression) if isinstance(p, Reference) and p.name == name)
