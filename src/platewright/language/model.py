"""The Python surface: a model is written by giving names.

m = Model("coin")
toss = m.plate("toss")
m.theta = Beta(1.5, 1.5)
m.heads = Bernoulli(m.theta, plates=toss)
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

from platewright.algebra.build import expression, where
from platewright.algebra.domain import BINARY, REAL, Domain
from platewright.algebra.expression import (
    Expression,
    Index,
    Literal,
    Reference,
    free_indices,
    names,
)
from platewright.algebra.indexing import at_home
from platewright.errors import CycleError, ModelError, NameTaken, PlateError, UnknownName, nearest
from platewright.language.decision import Action, Utility
from platewright.language.distribution import Distribution, Input, Recursion, Undirected, check_plate
from platewright.language.naming import align, named, no_start
from platewright.language.past import (
    PENDING,
    beginning_of,
    deepest_look,
    looked_back_at,
    looks_back,
    ordered,
    step_told,
    steps_before,
    written_out,
)
from platewright.language.picking import Picking
from platewright.language.plate import Plate, beginning, check_labels, check_size, membership
from platewright.language.references import check_references
from platewright.language.tree import Tree, write_tree
from platewright.language.variable import Potential, Variable

ELSEWHERE = {
    **dict.fromkeys(("fit", "train", "sample", "run", "mcmc", "optimize"), "m.learn(data)"),
    **dict.fromkeys(("predict", "posterior", "summary", "sample_posterior_predictive"), "fit = m.learn(data) has it"),
    **dict.fromkeys(("draw", "plot", "show", "render", "to_graphviz", "picture"), "m.svg() is the plate diagram"),
    **dict.fromkeys(("compile", "source", "explain", "report", "verify", "plan"), "plan = m.derive(known) has it"),
    **dict.fromkeys(("factor", "add_potential"), 'm.potential("name", log_factor)'),
}
"""What other libraries call our methods, and where to ask for what a model alone does not have."""


YIELDING = frozenset({"graph", "structures", "grow", "decide"})
"""Methods younger than models that people have: a variable of that name wins."""


class Model:
    """A graphical model with plates, written by assignment. Everything else works on frozen copies of it."""

    _name: str
    _plates: dict[str, Plate]
    _variables: dict[str, Variable]
    _potentials: dict[str, Potential]
    _trees: dict[str, Tree]
    _around: set[str]
    _picking: Picking

    def __init__(self, name: str = "model") -> None:
        if not isinstance(name, str):
            raise ModelError(f"{name!r} is not a name for a model", expected="text")
        self._set("_name", name)
        self._set("_plates", {})
        self._set("_variables", {})
        self._set("_potentials", {})
        self._set("_trees", {})
        self._set("_around", set())
        self._set("_picking", Picking(self._variables, self._plates))

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
        """Declare a plate, over which variables are repeated; without a size or labels the data give its size.

        `labels` names its elements. A plate `within` another has rows that each belong to one element of that one, by
        a column of its name. `like` makes a second index over the same elements. An `ordered` plate is a sequence:
        `m.lag` is a variable at the previous element. Raises `NameTaken` and `PlateError`.
        """
        self._check_name(name)
        if name in self._plates:
            raise NameTaken(f"there is a plate `{name}` already", hint="use the plate that m.plate returned")
        for word, other in (("within=", within), ("like=", like)):
            if other is not None:
                self._check_plate(check_plate(other, f"plate {name}, {word}"))
        if within is not None and within.name in self._variables:
            raise NameTaken(f"`{within.name}` is a variable: in data its column would be that of the groups too")
        if labels is not None:
            labels = check_labels(name, labels)
            if size is not None and size != len(labels):
                raise PlateError(f"plate `{name}` has {len(labels)} labels but size {size}", expected="equal numbers")
            size = len(labels)
        if size is not None:
            size = check_size(f"plate `{name}`", size)
        if like is not None:
            if size is not None:
                raise PlateError(f"plate `{name}` has a size and is like `{like.name}`", expected="one of them")
            size, labels = like.size, like.labels
        plate = Plate(name, size, labels, within.name if within else None, like.name if like else None, ordered)
        self._plates[name] = plate
        if within is not None:
            self._around.add(within.name)
            column = membership(name, within.name)
            domain = Domain("levels", levels=within.name)
            self._variables[column] = Variable(column, "input", (plate.index,), domain)
        if ordered:
            column = beginning(name)
            self._variables[column] = Variable(column, "input", (plate.index,), BINARY)
        return plate

    def lag(self, name: str | Expression, back: int = 1) -> Expression:
        """A variable at the previous element of its ordered plate, or `back` elements before.

        The variable may be the one being defined, or by its name one that is defined later.
        """
        name = looked_back_at(name, back)
        if name not in self._variables:
            return at_home(Reference(name, (steps_before(PENDING, back),)), self._picking)
        variable = self._variables[name]
        steps = [axis for axis in variable.axes if self._plates.get(axis.plate, Plate("")).ordered]
        if not steps:
            raise ModelError(f"`{name}` is on no ordered plate", expected="m.plate(..., ordered=True)")
        indices = tuple(steps_before(axis, back) if axis == steps[-1] else axis for axis in variable.axes)
        return at_home(Reference(name, indices), self._picking)

    def potential(
        self, name: str, value: object, of: Expression | Sequence[Expression] = (), optional: bool = False
    ) -> None:
        """Add a log factor to the joint density, repeated over the plates it depends on.

        In a chain graph `of` lists the undirected variables whose component the factor shapes; the other undirected
        variables in it are their parents. Without it all undirected variables in the factor belong together.
        An `optional` one may be left out (`m.structures()`).
        """
        self._check_name(name)
        with self._unchanged_on_error(name):
            self._potentials[name] = replace(self._read_potential(name, value, of), optional=bool(optional))

    def _read_potential(self, name: str, value: object, of: Expression | Sequence[Expression]) -> Potential:
        written = expression(value)
        self._check_parts(name, written)
        axes = self._ordered_axes(free_indices(written))
        written = align(name, written, axes, (), self._plates)
        members = []
        for item in (of,) if isinstance(of, Expression) else of:
            if not isinstance(item, Reference) or item.name not in names(written):
                raise ModelError(f"`{item}` is not a variable of potential `{name}`", expected="of=[m.x, m.y]")
            if self._variables[item.name].kind != "undirected":
                raise ModelError(f"`{item.name}` is not undirected", where=f"potential {name}, of=")
            members.append(item.name)
        return Potential(name, axes, written, tuple(members))

    def __setattr__(self, name: str, value: object) -> None:
        self._check_name(name)
        with self._unchanged_on_error(name):
            if isinstance(value, Tree):
                write_tree(self, name, value, value.shape if value.is_fixed else "grown")
                self._trees[name] = value
            else:
                self._variables[name] = self._read_variable(name, value)
        if name in YIELDING:
            self._set(name, self._variables[name].symbol)

    def __delattr__(self, name: str) -> None:
        raise ModelError(f"`{name}` cannot be taken back", hint="write the model again without it")

    @contextmanager
    def _unchanged_on_error(self, name: str) -> Iterator[None]:
        """What a failed definition has written, and learned about plates, is forgotten again."""
        plates, variables = dict(self._plates), dict(self._variables)
        try:
            yield
        except BaseException as error:
            self._plates.clear()
            self._plates.update(plates)
            self._variables.clear()
            self._variables.update(variables)
            if isinstance(error, RecursionError):
                raise ModelError(
                    f"the expression for `{name}` is nested too deeply", hint="give names to parts of it: m.part = ..."
                ) from None
            raise

    def _read_variable(self, name: str, value: object) -> Variable:
        match value:
            case Distribution():
                return self._read_distribution(name, value)
            case Recursion():
                return self._read_recursion(name, value)
            case Input(plates, levels):
                self._check_plates(name, plates)
                return Variable(name, "input", tuple(p.index for p in plates), self._levels(name, levels))
            case Action(levels, plates, knows):
                self._check_plates(name, plates)
                for known in knows:
                    if known not in self._variables:
                        raise UnknownName(known, self._variables, where=f"action {name}, knows=")
                axes, domain = tuple(p.index for p in plates), self._levels(name, levels)
                return Variable(name, "input", axes, domain, role="action", knows=knows)
            case Utility(value):
                return replace(self._read_variable(name, value), role="utility")
            case Undirected(levels, plates):
                self._check_plates(name, plates)
                return Variable(name, "undirected", tuple(p.index for p in plates), self._levels(name, levels))
            case Expression() | int() | float():
                written = expression(value)
                self._check_parts(name, written)
                if name in names(written):
                    raise CycleError(
                        f"`{name}` is a function of its own previous element",
                        where=f"definition of {name}",
                        expected="pw.Recursion(value, start=..., plates=...), whose first element is `start`",
                    )
                axes = self._axes_of(written)
                definition = align(name, written, axes, (), self._plates)
                return Variable(name, "deterministic", axes, REAL, definition=definition)
            case _:
                raise ModelError(
                    f"`{name}` was given {value!r}",
                    expected="a distribution (pw.Normal(...)), pw.Input(...), pw.Undirected(...) or an expression",
                    hint="give arrays their axes by name: pw.array(values, over=plate)",
                )

    def _read_recursion(self, name: str, value: Recursion) -> Variable:
        """A function of earlier elements, with its first ones."""
        self._check_plates(name, value.plates)
        after, start = expression(value.value), expression(value.start)
        for written in (after, start):
            self._check_parts(name, written)
        own = tuple(plate.index for plate in value.plates)
        step = ordered(name, value.plates)
        after, start = (align(name, written, own, (), self._plates) for written in (after, start))
        definition = where(beginning_of(step, max(deepest_look(after, step.index, self._variables), 1)), start, after)
        return Variable(name, "deterministic", own, REAL, definition=definition)

    def _read_distribution(self, name: str, value: Distribution) -> Variable:
        start = value.start.given.values() if isinstance(value.start, Distribution) else (value.start,)
        for part in (*value.given.values(), *start):
            if isinstance(part, Expression):
                self._check_parts(name, part)
        self._check_plates(name, value.plates if value.over is None else (*value.plates, value.over))
        steps = next((plate for plate in value.plates if plate.ordered), None)
        parts = [part for part in value.given.values() if isinstance(part, Expression)]
        looks = [0 if steps is None else deepest_look(part, steps.index, self._variables) for part in parts]
        variable = named(name, value, self._plates, max([1, *looks]))
        if value.start is None and any(looks_back(part) for part in written_out(variable.log_density, self._variables)):
            raise no_start(name)
        return variable

    def __getattr__(self, name: str) -> Reference:
        if name.startswith("__") or "_variables" not in self.__dict__:
            raise AttributeError(name)
        if name not in self._variables:
            visible = [known for known in self._variables if "@" not in known]
            raise UnknownName(name, visible, where=f"model {self._name}", hint=self._meant(name))
        return at_home(self._variables[name].symbol, self._picking)

    def __dir__(self) -> list[str]:
        """Methods, and the variables that were written."""
        return sorted({*super().__dir__(), *(name for name in self._variables if "@" not in name)})

    def _meant(self, name: str) -> str | None:
        """What a misspelt method, or a word of another library, stands for; None where a variable may be meant."""
        methods = [word for word in dir(type(self)) if not word.startswith("_")]
        if nearest(name, self._variables):
            return None
        near = nearest(name, methods)
        return ELSEWHERE.get(name) or (f"did you mean m.{near}?" if near else None)

    # -- checks ---

    def _check_name(self, name: object) -> None:
        if isinstance(name, str) and keyword.iskeyword(name):
            raise NameTaken(f"`{name}` cannot be a name: it is a word of Python", hint=f"`{name}_` would do")
        if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
            raise NameTaken(
                f"`{name}` cannot be a name", expected="letters, digits and _, not starting with _ or a digit"
            )
        if name in self._variables or name in self._potentials:
            raise NameTaken(f"`{name}` is defined already", hint="variables are defined once")
        if name in self._around:
            raise NameTaken(f"`{name}` is a plate around another: in data it is the column of groups")
        if name == "log_evidence":
            raise NameTaken("`log_evidence` is what a learned model calls its evidence", hint="choose another name")
        if hasattr(type(self), name) and name not in YIELDING:
            raise NameTaken(f"`{name}` is a method of the model", hint="choose another name")

    def _check_plates(self, name: str, plates: Sequence[Plate]) -> None:
        """Plates of this model, and none of them around another one."""
        for plate in plates:
            self._check_plate(plate)
        for plate in plates:
            for outer in self._outer(plate):
                if outer in {other.name for other in plates}:
                    raise PlateError(
                        f"`{name}` is on `{plate.name}` and on `{outer}`, which `{plate.name}` lies within",
                        where=f"variable {name}",
                        expected=f"plates={plate.name}: each of its elements belongs to one {outer}",
                    )

    def _check_plate(self, plate: Plate) -> None:
        # The size may have become known since m.plate returned the plate, through a category that indexes it.
        mine = self._plates.get(plate.name)
        same = mine is not None and (mine.within, mine.ordered) == (plate.within, plate.ordered)
        if not same or (plate.size is not None and mine is not None and mine.size != plate.size):
            raise PlateError(f"plate `{plate.name}` belongs to another model", hint="use a plate of this model")

    def _check_parts(self, name: str, written: Expression) -> None:
        """Refuse what has no meaning in a definition, and take over what it says about plates."""
        self._plates.update(check_references(name, written, self._variables, self._plates))

    def _levels(self, name: str, levels: int | Plate | Sequence[object] | None) -> Domain:
        if levels is None:
            return REAL
        if isinstance(levels, Plate):
            self._check_plate(levels)
            return Domain("levels", levels=levels.name)
        hidden = f"{name}.levels"
        if isinstance(levels, (list, tuple)):
            self._plates[hidden] = Plate(hidden, len(levels), check_labels(name, levels))
            return Domain("levels", levels=hidden)
        self._plates[hidden] = Plate(hidden, check_size(f"`{name}`", levels, "levels"))
        return Domain("levels", levels=hidden)

    def _axes_of(self, written: Expression) -> tuple[Index, ...]:
        """The axes of an expression: a table of numbers keeps the order of its `over=`."""
        axes = self._ordered_axes(free_indices(step_told(written, self._plates)))
        if isinstance(written, Literal) and all(isinstance(index, Index) for index in written.indices):
            return tuple(index for index in written.indices if isinstance(index, Index) and index in axes)
        return axes

    def _ordered_axes(self, indices: frozenset[Index]) -> tuple[Index, ...]:
        """Plates in the order of declaration; an outer plate that an inner one implies is left to membership."""
        if not indices:
            return ()  # the usual case in a large network: do not look through all its plates each time
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
