"""The Python surface: a model is written by giving names.

m = Model("coin")
toss = m.plate("toss")
m.theta = Beta(1.5, 1.5)
m.heads = Bernoulli(m.theta, plates=toss)
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from platewright.algebra.build import expression
from platewright.algebra.domain import BINARY, REAL, Domain
from platewright.algebra.expression import (
    Constant,
    Expression,
    Index,
    Lag,
    Literal,
    Reference,
    free_indices,
    names,
    walk,
)
from platewright.errors import ModelError, NameTaken, PlateError, UnknownName
from platewright.language.distribution import Distribution, Input, Undirected
from platewright.language.naming import PENDING, align, named
from platewright.language.plate import Plate, beginning, membership
from platewright.language.variable import Potential, Variable


class Model:
    """A graphical model with plates, written by assignment. Everything else works on frozen copies of it."""

    def __init__(self, name: str = "model") -> None:
        self._set("_name", name)
        self._set("_plates", {})
        self._set("_variables", {})
        self._set("_potentials", {})

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    # -- what was written ---

    @property
    def title(self) -> str:
        """The name of the model."""
        return self._name

    @property
    def plates(self) -> Mapping[str, Plate]:
        """All plates by name, in the order of writing."""
        return MappingProxyType(self._plates)

    @property
    def variables(self) -> Mapping[str, Variable]:
        """All variables by name, in the order of writing."""
        return MappingProxyType(self._variables)

    @property
    def potentials(self) -> Mapping[str, Potential]:
        """All potentials by name, in the order of writing."""
        return MappingProxyType(self._potentials)

    # -- writing ---

    def plate(
        self,
        name: str,
        size: int | None = None,
        *,
        labels: Sequence[object] | None = None,
        within: Plate | None = None,
        like: Plate | None = None,
        ordered: bool = False,
    ) -> Plate:
        """Declare a plate. Without a size it is taken from the data."""
        self._check_name(name)
        if name in self._plates:
            raise NameTaken(f"there is a plate `{name}` already", hint="use the plate that m.plate returned")
        if labels is not None:
            labels = tuple(labels)
            if len(set(labels)) < len(labels):
                raise PlateError(f"plate `{name}` has a label twice", expected="distinct labels")
            if size is not None and size != len(labels):
                raise PlateError(f"plate `{name}` has {len(labels)} labels but size {size}", expected="equal numbers")
            size = len(labels)
        if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
            raise PlateError(f"plate `{name}` has size {size!r}", expected="a whole number from 1")
        if like is not None:
            if size is not None:
                raise PlateError(f"plate `{name}` has a size and is like `{like.name}`", expected="one of them")
            size, labels = like.size, like.labels
        plate = Plate(name, size, labels, within.name if within else None, like.name if like else None, ordered)
        self._plates[name] = plate
        if within is not None:
            column = membership(name, within.name)
            domain = Domain("levels", levels=within.name)
            self._variables[column] = Variable(column, "input", (plate.index,), domain)
        if ordered:
            column = beginning(name)
            self._variables[column] = Variable(column, "input", (plate.index,), BINARY)
        return plate

    def lag(self, name: str | Expression) -> Expression:
        """A variable at the previous element of its ordered plate; the variable may be the one being defined."""
        if isinstance(name, Reference):
            name = name.name
        if name not in self._variables:
            return Reference(name, (Lag(PENDING),))
        variable = self._variables[name]
        steps = [axis for axis in variable.axes if self._plates.get(axis.plate, Plate("")).ordered]
        if not steps:
            raise ModelError(f"`{name}` is on no ordered plate", expected="m.plate(..., ordered=True)")
        return Reference(name, tuple(Lag(axis) if axis == steps[-1] else axis for axis in variable.axes))

    def potential(self, name: str, value: object, of: Sequence[Expression] = ()) -> None:
        """Add a log factor to the joint density, repeated over the plates it depends on.

        In a chain graph `of` lists the undirected variables whose component the factor shapes; the other undirected
        variables in it are their parents. Without it all undirected variables in the factor belong together.
        """
        self._check_name(name)
        written = expression(value)
        self._check_references(name, written)
        axes = self._ordered_axes(free_indices(written))
        written = align(name, written, axes, (), self._plates)
        members = []
        for item in of:
            if not isinstance(item, Reference) or item.name not in names(written):
                raise ModelError(f"`{item}` is not a variable of potential `{name}`", expected="of=[m.x, m.y]")
            if self._variables[item.name].kind != "undirected":
                raise ModelError(f"`{item.name}` is not undirected", where=f"potential {name}, of=")
            members.append(item.name)
        self._potentials[name] = Potential(name, axes, written, tuple(members))

    def __setattr__(self, name: str, value: object) -> None:
        self._check_name(name)
        match value:
            case Distribution():
                for part in value.given.values():
                    if isinstance(part, Expression):
                        self._check_references(name, part)
                for plate in value.plates:
                    self._check_plate(plate)
                variable = named(name, value, self._plates)
            case Input(plates, levels):
                variable = Variable(name, "input", tuple(p.index for p in plates), self._levels(name, levels))
            case Undirected(levels, plates):
                variable = Variable(name, "undirected", tuple(p.index for p in plates), self._levels(name, levels))
            case Expression() | int() | float():
                written = expression(value)
                self._check_references(name, written)
                axes = self._ordered_axes(free_indices(written))
                definition = align(name, written, axes, (), self._plates)
                variable = Variable(name, "deterministic", axes, REAL, definition=definition)
            case _:
                raise ModelError(
                    f"`{name}` was given {value!r}",
                    expected="a distribution (pw.Normal(...)), pw.Input(...), pw.Undirected(...) or an expression",
                    hint="give arrays their axes by name: pw.array(values, over=plate)",
                )
        self._variables[name] = variable

    def __getattr__(self, name: str) -> Reference:
        if name.startswith("__") or "_variables" not in self.__dict__:
            raise AttributeError(name)
        if name not in self._variables:
            visible = [known for known in self._variables if "@" not in known]
            raise UnknownName(name, visible, where=f"model {self._name}")
        return self._variables[name].symbol

    # -- checks ---

    def _check_name(self, name: str) -> None:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            raise NameTaken(
                f"`{name}` cannot be a name", expected="letters, digits and _, not starting with _ or a digit"
            )
        if name in self._variables or name in self._potentials:
            raise NameTaken(f"`{name}` is defined already", hint="variables are defined once")
        if hasattr(type(self), name):
            raise NameTaken(f"`{name}` is a method of the model", hint="choose another name")

    def _check_plate(self, plate: Plate) -> None:
        if self._plates.get(plate.name) != plate:
            raise PlateError(f"plate `{plate.name}` belongs to another model", hint="use a plate of this model")

    def _check_references(self, name: str, written: Expression) -> None:
        for node in walk(written):
            if isinstance(node, Reference):
                if Lag(PENDING) in node.indices:
                    continue
                if node.name not in self._variables:
                    raise UnknownName(node.name, self._variables, where=f"definition of {name}")
                self._check_indices(name, node, tuple(axis.plate for axis in self._variables[node.name].axes))
            if isinstance(node, Literal):
                self._check_indices(name, node, node.plates)

    def _check_indices(self, name: str, node: Reference | Literal, plates: tuple[str, ...]) -> None:
        """A category used as an index must range over the set that the axis ranges over."""
        shown = node.name if isinstance(node, Reference) else "a table"
        for plate, at in zip(plates, node.indices, strict=True):
            if isinstance(at, Constant):
                size = self._plates[plate].size if plate in self._plates else None
                if size is not None and at.value >= size:
                    raise PlateError(f"`{shown}` at {at.value:g} on plate {plate}", expected=f"0 to {size - 1}")
            if not isinstance(at, Reference):
                continue
            domain = BINARY if at.name not in self._variables else self._variables[at.name].domain
            if at.name not in self._variables:
                continue
            if domain.kind == "levels":
                self._unify(name, shown, plate, str(domain.levels), at.name)
            elif not domain.is_discrete:
                raise PlateError(
                    f"`{shown}` is indexed by `{at.name}`, which is {domain}",
                    where=f"definition of {name}",
                    expected="a category: pw.Categorical, pw.Bernoulli or pw.Input(levels=...)",
                )

    def _unify(self, name: str, shown: str, plate: str, levels: str, at: str) -> None:
        """Record that two plates are the same set, or say that they cannot be."""
        one, two = self._plates[self._root(plate)], self._plates[self._root(levels)]
        if one.name == two.name:
            return
        if one.size is not None and two.size is not None:
            if one.size == two.size:
                return
            raise PlateError(
                f"`{shown}` has {one.size} elements along {plate} but `{at}` has {two.size} levels",
                where=f"definition of {name}",
                expected="equal numbers",
            )
        loose, fixed = (one, two) if one.size is None else (two, one)
        self._plates[loose.name] = Plate(loose.name, fixed.size, fixed.labels, loose.within, fixed.name, loose.ordered)

    def _root(self, plate: str) -> str:
        while (like := self._plates[plate].like) is not None:
            plate = like
        return plate

    def _levels(self, name: str, levels: int | Plate | None) -> Domain:
        if levels is None:
            return REAL
        if isinstance(levels, Plate):
            return Domain("levels", levels=levels.name)
        hidden = f"{name}.levels"
        self._plates[hidden] = Plate(hidden, int(levels))
        return Domain("levels", levels=hidden)

    def _ordered_axes(self, indices: frozenset[Index]) -> tuple[Index, ...]:
        """Plates in the order of declaration; an outer plate that an inner one implies is left to membership."""
        plates = [plate for plate in self._plates.values() if plate.index in indices]
        stray = {index for index in indices if index.name not in self._plates and index != PENDING}
        if stray:
            raise PlateError(f"the index {min(i.name for i in stray)} is left open", hint="reduce it with over=")
        inner = {outer for plate in plates for outer in self._outer(plate)}
        return tuple(plate.index for plate in plates if plate.name not in inner)

    def _outer(self, plate: Plate) -> list[str]:
        found = []
        while plate.within is not None:
            found.append(plate.within)
            plate = self._plates[plate.within]
        return found

    def __repr__(self) -> str:
        return f"<Model {self._name}: {', '.join(name for name in self._variables if '@' not in name)}>"
