"""Check how a definition uses the variables of its model: every name is known, and an index ranges over its axis.

    mu on plate k,  z a category over plate c        mu[z]: k and c are the same set, or the definition is refused

A plate without a size takes that of the set which it turns out to be.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass

from platewright.algebra.expression import Constant, Expression, Index, Lag, Literal, Reference, walk
from platewright.errors import ParameterError, PlateError, UnknownName
from platewright.language.past import is_pending
from platewright.language.plate import Plate, root_of
from platewright.language.ranges import range_of
from platewright.language.variable import Variable


def check_references(
    name: str, written: Expression, variables: Mapping[str, Variable], plates: dict[str, Plate]
) -> dict[str, Plate]:
    """The plates that turn out to be the same set as another, as they are from now on."""
    unified: dict[str, Plate] = {}
    definition = _Definition(name, variables, ChainMap(unified, plates))
    for node in walk(written):
        definition.check(node)
    return unified


@dataclass(frozen=True, eq=False)
class _Definition:
    """A definition by its name, among the variables and plates of its model."""

    name: str
    variables: Mapping[str, Variable]
    plates: ChainMap[str, Plate]

    @property
    def where(self) -> str:
        return f"definition of {self.name}"

    def check(self, node: Expression) -> None:
        """One part of the definition."""
        if isinstance(node, Reference):
            if any(map(is_pending, node.indices)):
                return  # its own past, or that of a variable which is defined later: the graph looks it up
            if node.name not in self.variables:
                visible = [known for known in self.variables if "@" not in known]
                raise UnknownName(node.name, visible, where=self.where)
            self.check_indices(node, tuple(axis.plate for axis in self.variables[node.name].axes))
        if isinstance(node, Literal):
            self.check_indices(node, node.plates)
        if isinstance(node, Constant) and not math.isfinite(node.value):
            raise ParameterError(f"{node.value:g} in an expression", where=self.where, expected="finite numbers")

    def check_indices(self, node: Reference | Literal, plates: tuple[str, ...]) -> None:
        """A category used as an index must range over the set that the axis ranges over."""
        shown = node.name if isinstance(node, Reference) else "a table"
        if len(plates) != len(node.indices):
            raise PlateError(f"`{shown}` belongs to another model", where=self.where)
        for plate, at in zip(plates, node.indices, strict=True):
            size = self.plates[plate].size if plate in self.plates else None
            if isinstance(at, Constant) and size is not None and at.value >= size:
                raise PlateError(f"`{shown}` at {at.value:g} on plate {plate}", expected=f"0 to {size - 1}")
            if isinstance(at, (Index, Lag, Constant)):
                continue
            if not isinstance(at, Reference):
                raise self.no_category(shown, str(at), "an expression")
            if at.name not in self.variables:
                continue
            if self.variables[at.name].kind == "deterministic":
                self.check_function(shown, at.name, plate, size)
                continue
            domain = self.variables[at.name].domain
            if domain.kind == "levels":
                self.unify(shown, plate, str(domain.levels), at.name)
            elif not domain.is_finite or domain.lower != 0:
                raise self.no_category(shown, at.name, str(domain))
            elif size not in (None, domain.upper + 1):
                raise self.unequal(shown, plate, size, at.name, int(domain.upper) + 1)

    def check_function(self, shown: str, at: str, plate: str, size: int | None) -> None:
        """A function of others may be an index where it can only be a position: a rule of 0 and 1, a sum of them."""
        definition = self.variables[at].definition
        assert definition is not None  # every deterministic node has one
        found = range_of(definition, self.variables, self.plates)
        if found is None:
            raise self.no_category(shown, at, "a real number")
        lower, upper = found
        if lower < 0 or (size is not None and upper >= size):
            raise PlateError(
                f"`{shown}` is indexed by `{at}`, which may be {lower if lower < 0 else upper}",
                where=self.where,
                expected=f"0 to {size - 1}" if size is not None else "positions, from 0",
                hint=f"the plate {plate} has an element for each value of `{at}`",
            )
        if size is None and plate in self.plates:
            raise PlateError(
                f"plate `{plate}` has no size, and `{at}` is a function with values {lower} to {upper}",
                where=self.where,
                expected=f'm.plate("{plate}", {upper + 1})',
            )

    def unify(self, shown: str, plate: str, levels: str, at: str) -> None:
        """Record that two plates are the same set, or say that they cannot be."""
        one, two = self.plates[root_of(self.plates, plate)], self.plates[root_of(self.plates, levels)]
        if one.name == two.name:
            return
        if one.size is not None and two.size is not None:
            if one.size == two.size:
                return
            raise self.unequal(shown, plate, one.size, at, two.size)
        loose, fixed = (one, two) if one.size is None else (two, one)
        self.plates[loose.name] = Plate(loose.name, fixed.size, fixed.labels, loose.within, fixed.name, loose.ordered)

    def no_category(self, shown: str, at: str, what: str) -> PlateError:
        """The refusal of an index that is no category."""
        hint = f"m.{at} = pw.Input(plates=..., levels=plate) holds positions on a plate"
        if what == "an expression":
            hint = "a table of positions is an input: m.group = pw.Input(plates=k, levels=g), then m.mu[m.group[m.z]]"
        return PlateError(
            f"`{shown}` is indexed by `{at}`, which is {what}",
            where=self.where,
            expected="a category: pw.Categorical, pw.Bernoulli or pw.Input(levels=...)",
            hint=hint,
        )

    def unequal(self, shown: str, plate: str, size: int | None, at: str, levels: int) -> PlateError:
        """The refusal of a category with more or fewer levels than the axis has elements."""
        return PlateError(
            f"`{shown}` has {size} elements along {plate} but `{at}` has {levels} levels",
            where=self.where,
            expected="equal numbers",
        )
