"""Models as JSON and back: plates, variables and potentials in the order of writing.

    {"title": "coin", "plates": [...], "variables": [{"name": "theta", "kind": "random", "family": "Beta", ...}, ...]}

A variable is written with its density spelled out, so the file means the same for ever, whatever becomes of a family.
Reading checks every name, plate and family: what comes back is a legal model, or a `FormatError` says why not.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from platewright.algebra.domain import Domain
from platewright.algebra.domain import Kind as DomainKind
from platewright.algebra.expression import Expression, Index, Literal, Reference, Size, all_indices, walk
from platewright.algebra.serial import (
    expression_from_json,
    expression_json,
    index_from_json,
    list_from_json,
    number_from_json,
    number_json,
    size_from_json,
    text_from_json,
)
from platewright.errors import FormatError
from platewright.families import FAMILY_BY_NAME, family_named
from platewright.language.model import Model
from platewright.language.plate import Plate
from platewright.language.variable import Kind, Potential, Role, Variable

Written = dict[str, Any]
SomeModel = TypeVar("SomeModel", bound=Model)


def model_json(model: Model) -> Written:
    """A model as plain JSON data."""
    return parts_json(model.title, model.plates, model.variables, model.potentials)


def model_from_json(data: object, kind: type[SomeModel] = Model) -> SomeModel:  # type: ignore[assignment]
    """The model that `model_json` wrote, as a `Model` or a kind of it."""
    title, plates, variables, potentials = parts_from_json(data)
    model = kind(title)
    # names given by assignment would be checked and filled in anew; these are complete already
    for part, found in (("_plates", plates), ("_variables", variables), ("_potentials", potentials)):
        model._set(part, dict(found))
    return model


def parts_json(
    title: str, plates: Mapping[str, Plate], variables: Mapping[str, Variable], potentials: Mapping[str, Potential]
) -> Written:
    """The parts of a model or a graph."""
    return {
        "title": title,
        "plates": [plate_json(plate) for plate in plates.values()],
        "variables": [variable_json(variable) for variable in variables.values()],
        "potentials": [potential_json(potential) for potential in potentials.values()],
    }


def parts_from_json(data: object) -> tuple[str, dict[str, Plate], dict[str, Variable], dict[str, Potential]]:
    """Title, plates, variables and potentials, checked against each other."""
    written = table_from_json(data, "title", "plates", "variables", "potentials")
    plates = _by_name(plate_from_json(item) for item in list_from_json(written["plates"]))
    variables = _by_name(variable_from_json(item) for item in list_from_json(written["variables"]))
    potentials = _by_name(potential_from_json(item) for item in list_from_json(written["potentials"]))
    for plate in plates.values():
        _check_plates((plate.within, plate.like), plates)
    for variable in variables.values():
        _check_plates((variable.domain.levels, *(axis.plate for axis in variable.axes)), plates)
        parts = [variable.log_density, *(value for _, value in (*variable.parameters, *variable.given))]
        parts += [variable.definition] if variable.definition is not None else []
        for part in parts:
            _check_expression(part, variables, plates)
    for potential in potentials.values():
        _check_plates(tuple(axis.plate for axis in potential.axes), plates)
        _check_expression(potential.expression, variables, plates)
        if strangers := set(potential.of) - set(variables):
            raise FormatError(f"potential `{potential.name}` is of `{min(strangers)}`, which is not there"[:80])
    return text_from_json(written["title"]), plates, variables, potentials


def plate_json(plate: Plate) -> Written:
    """A plate."""
    labels = None if plate.labels is None else [label_json(label) for label in plate.labels]
    return {
        "name": plate.name,
        "size": plate.size,
        "labels": labels,
        "within": plate.within,
        "like": plate.like,
        "ordered": plate.ordered,
    }


def plate_from_json(data: object) -> Plate:
    """A plate that `plate_json` wrote."""
    written = table_from_json(data, "name", "size", "labels", "within", "like", "ordered")
    size = None if written["size"] is None else size_from_json(written["size"])
    labels = None
    if written["labels"] is not None:
        labels = tuple(label_from_json(label) for label in list_from_json(written["labels"]))
        if size != len(labels):
            raise FormatError(f"a plate of size {size} with {len(labels)} labels")
    within, like = (None if written[key] is None else text_from_json(written[key]) for key in ("within", "like"))
    return Plate(text_from_json(written["name"]), size, labels, within, like, bool(written["ordered"]))


def variable_json(variable: Variable) -> Written:
    """A variable with its density or definition."""
    domain = variable.domain
    definition = None if variable.definition is None else expression_json(variable.definition)
    return {
        "name": variable.name,
        "kind": variable.kind,
        "axes": _axes_json(variable.axes),
        "rank": variable.rank,
        "domain": [domain.kind, number_json(domain.lower), number_json(domain.upper), domain.levels],
        "family": None if variable.family is None else variable.family.name,
        "parameters": [[name, expression_json(value)] for name, value in variable.parameters],
        "log_density": expression_json(variable.log_density),
        "definition": definition,
        "optional": list(variable.optional),
        "given": [[name, expression_json(value)] for name, value in variable.given],
        **({"role": variable.role, "knows": list(variable.knows)} if variable.role else {}),
    }


def variable_from_json(data: object) -> Variable:
    """A variable that `variable_json` wrote."""
    written = table_from_json(
        {"given": [], "role": "", "knows": [], **data} if isinstance(data, dict) else data,  # older files lack them
        *("name", "kind", "axes", "rank", "domain", "family", "parameters", "log_density", "definition", "optional"),
        *("given", "role", "knows"),
    )
    name = written["family"]
    family = None if name is None else family_named(name) if isinstance(name, str) else None
    if name is not None and family is None:
        raise FormatError(f"there is no family `{name!r}`"[:80], expected="one of: " + ", ".join(FAMILY_BY_NAME))
    kind = _one_of(written["kind"], get_args(Kind))
    axes = _axes_from_json(written["axes"])
    rank = size_from_json(written["rank"])
    if rank > len(axes):
        raise FormatError(f"a variable with {len(axes)} axes, {rank} of them inside it")
    definition = None if written["definition"] is None else expression_from_json(written["definition"])
    return Variable(
        name=text_from_json(written["name"]),
        kind=kind,
        axes=axes,
        domain=_domain_from_json(written["domain"]),
        rank=rank,
        log_density=expression_from_json(written["log_density"]),
        definition=definition,
        family=family,
        parameters=_parameters_from_json(written["parameters"]),
        optional=tuple(text_from_json(name) for name in list_from_json(written["optional"])),
        given=_parameters_from_json(written["given"]),
        role=_one_of(written["role"], get_args(Role)),
        knows=tuple(text_from_json(name) for name in list_from_json(written["knows"])),
    )


def _parameters_from_json(data: object) -> tuple[tuple[str, Expression], ...]:
    pairs = [list_from_json(pair) for pair in list_from_json(data)]
    if any(len(pair) != 2 for pair in pairs):
        raise FormatError("a parameter that is not a pair of name and value")
    return tuple((text_from_json(name), expression_from_json(value)) for name, value in pairs)


def potential_json(potential: Potential) -> Written:
    """A potential."""
    return {
        "name": potential.name,
        "axes": _axes_json(potential.axes),
        "expression": expression_json(potential.expression),
        "of": list(potential.of),
        **({"optional": True} if potential.optional else {}),
    }


def potential_from_json(data: object) -> Potential:
    """A potential that `potential_json` wrote."""
    whole = {"optional": False, **data} if isinstance(data, dict) else data
    written = table_from_json(whole, "name", "axes", "expression", "of", "optional")
    axes = _axes_from_json(written["axes"])
    of = tuple(text_from_json(name) for name in list_from_json(written["of"]))
    value = expression_from_json(written["expression"])
    return Potential(text_from_json(written["name"]), axes, value, of, written["optional"] is True)


def label_json(label: object) -> object:
    """The label of an element: text, a number, a truth value or a date."""
    plain = label.item() if hasattr(label, "item") else label
    if plain is None or isinstance(plain, (str, bool, int)):
        return plain
    if isinstance(plain, float):
        return {"number": number_json(plain)}
    if isinstance(plain, datetime.datetime):
        return {"time": plain.isoformat()}
    if isinstance(plain, datetime.date):
        return {"date": plain.isoformat()}
    raise FormatError(f"a label of type {type(label).__name__} cannot be written", expected="text, numbers or dates")


def label_from_json(data: object) -> object:
    """A label that `label_json` wrote."""
    if data is None or isinstance(data, (str, bool, int)):
        return data
    try:
        match data:
            case {"number": value}:
                return number_from_json(value)
            case {"time": str(moment)}:
                return datetime.datetime.fromisoformat(moment)
            case {"date": str(day)}:
                return datetime.date.fromisoformat(day)
    except ValueError as error:
        raise FormatError(f"{data!r} is no date"[:80]) from error
    raise FormatError(f"{data!r} is no label"[:80])


def table_from_json(data: object, *keys: str) -> Written:
    """A JSON object with exactly these keys."""
    if not isinstance(data, dict):
        raise FormatError(f"{data!r} is no object"[:80], expected="an object with " + ", ".join(keys))
    if set(data) != set(keys):
        odd = ", ".join(sorted(str(key)[:30] for key in set(data) ^ set(keys)))
        raise FormatError(f"keys that are missing or too many: {odd}", expected=", ".join(keys))
    return data


def _domain_from_json(data: object) -> Domain:
    parts = list_from_json(data)
    if len(parts) != 4:
        raise FormatError(f"a domain with {len(parts)} parts", expected="kind, lower, upper, levels")
    kind, lower, upper, levels = parts
    named = None if levels is None else text_from_json(levels)
    return Domain(_one_of(kind, get_args(DomainKind)), number_from_json(lower), number_from_json(upper), named)


def _axes_json(axes: tuple[Index, ...]) -> list[object]:
    return [expression_json(axis) for axis in axes]


def _axes_from_json(data: object) -> tuple[Index, ...]:
    return tuple(index_from_json(axis) for axis in list_from_json(data))


def _one_of(data: object, words: tuple[str, ...]) -> Any:
    if data not in words:
        raise FormatError(f"{data!r} is not known"[:80], expected="one of: " + ", ".join(words))
    return data


def _by_name(things: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for thing in things:
        if thing.name in found:
            raise FormatError(f"`{thing.name}` is there twice"[:80])
        found[thing.name] = thing
    return found


def _check_plates(wanted: tuple[str | None, ...], plates: Mapping[str, Plate]) -> None:
    for name in wanted:
        if name is not None and name not in plates:
            raise FormatError(f"there is no plate `{name}`"[:80], expected="one of: " + ", ".join(plates))


def _check_expression(expression: Expression, variables: Mapping[str, Variable], plates: Mapping[str, Plate]) -> None:
    """Every reference names a variable and has an index for each of its axes; every plate is there."""
    for node in walk(expression):
        match node:
            case Reference(name, indices):
                if name not in variables or len(variables[name].axes) != len(indices):
                    raise FormatError(f"`{node}` does not fit the variables"[:80])
            case Size(plate):
                _check_plates((plate,), plates)
            case Literal(_, _, over, _):
                _check_plates(over, plates)
    _check_plates(tuple(index.plate for index in all_indices(expression)), plates)
