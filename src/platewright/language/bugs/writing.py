"""Write one piece into the model: a distribution, a deterministic node, or a condition on known values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from platewright.algebra import build
from platewright.algebra.expression import ZERO, Expression, Reference, free_indices, names, rebuild
from platewright.errors import BugsError, PlatewrightError
from platewright.language.bugs.arrays import Piece
from platewright.language.bugs.bounds import absorbed, factor
from platewright.language.bugs.circles import check_lines, check_parts
from platewright.language.bugs.complaint import complain
from platewright.language.bugs.densities import (
    CONDITIONS,
    DENSITIES,
    FACTOR,
    check_density,
    condition,
    distribution,
)
from platewright.language.bugs.draft import Draft, Source
from platewright.language.bugs.expressions import LINKS, scalar, translate
from platewright.language.bugs.frame import Frame
from platewright.language.bugs.printing import printed
from platewright.language.bugs.resolve import variable_axes
from platewright.language.bugs.series import write_series
from platewright.language.bugs.syntax import Assignment, Density, Draw
from platewright.language.constructors import Flat
from platewright.language.distribution import Distribution, Input, Undirected
from platewright.language.naming import named
from platewright.language.plate import Plate
from platewright.language.variable import DENSITY


def write_piece(draft: Draft, piece: Piece, is_needed: bool, in_circle: bool) -> None:
    """Add the piece's variable; a derived quantity that cannot be written is left out, and the report says why."""
    frame = Frame(draft, piece, draft.piece_plates(piece))
    statement = piece.relation.statement
    try:
        if isinstance(statement, Assignment):
            _write_assignment(draft, frame, statement)
        elif piece.inner:
            write_series(draft, piece, frame.plates, _ordered_cells(draft, piece), _axes(frame))
        else:
            _write_draw(draft, frame, statement, in_circle)
    except BugsError as trouble:
        if is_needed:
            raise
        reason = str(trouble.found)
        draft.dropped[piece.number] = f"`{piece.name}` was left out: {reason}"
        draft.report.dropped[draft.labels[piece.number]] = f"{reason} (line {piece.relation.place.line})"
    except (ArithmeticError, ValueError) as trouble:
        raise frame.complain(piece.relation.place, f"the numbers do not work out: {trouble}") from None
    except PlatewrightError as trouble:
        if is_needed:
            raise frame.complain(piece.relation.place, trouble.found, trouble.expected, trouble.hint) from None
        draft.dropped[piece.number] = f"`{piece.name}` was left out: {trouble.found}"
        draft.report.dropped[draft.labels[piece.number]] = trouble.found


def _axes(frame: Frame) -> tuple[Plate, ...]:
    """The plates of the piece's variable in the order of its axes."""
    draft, piece = frame.draft, frame.piece
    return tuple(
        frame.plates[number] if kind == "axis" else draft.event_plate(piece, number)
        for kind, number in variable_axes(draft, piece)
    )


def _write_assignment(draft: Draft, frame: Frame, statement: Assignment) -> None:
    piece = frame.piece
    label = draft.labels[piece.number]
    if statement.link is not None and statement.link not in LINKS:
        raise frame.complain(statement.place, f"`{statement.link}` is no link function", ", ".join(LINKS))
    value = translate(statement.value, frame)
    finish = LINKS[statement.link] if statement.link else lambda body: body
    events = [draft.event_plate(piece, dimension) for dimension in piece.events]
    second = [plate for number, plate in enumerate(events) if plate in events[:number]]
    indices = [plate.index for plate in events]
    if second:
        token = next(root for (root, _), known in draft.plates.items() if known == second[0])
        indices[-1] = draft.plate(token, 1).index
    if value.axes and len(value.axes) != len(events):
        raise frame.complain(statement.place, f"a value with {len(value.axes)} axes where {len(events)} are wanted")
    if value.axes and any(axis.size != spot.size for axis, spot in zip(value.axes, _spans(piece))):
        raise frame.complain(statement.place, "the two sides have different lengths")
    body = value.at(*indices) if value.axes else value.body
    plates = [frame.plates[number].index for kind, number in variable_axes(draft, piece) if kind == "axis"]
    draft.add_deterministic(label, (*plates, *indices), finish(body))


def _spans(piece: Piece) -> list[Any]:
    return [piece.spots[dimension] for dimension in piece.events]


def _write_draw(draft: Draft, frame: Frame, statement: Draw, in_circle: bool) -> None:
    piece, density = frame.piece, statement.density
    label = draft.labels[piece.number]
    name = check_density(density, frame)
    if "(" in piece.name:
        raise frame.complain(statement.place, "a function of a node on the left of `~`", "the node itself")
    every = _axes(frame)
    plates, events = every[: len(every) - len(piece.events)], every[len(every) - len(piece.events) :]
    cells = _ordered_cells(draft, piece)
    if name == FACTOR:
        draft.add_potential(draft.fresh(label), _spread(scalar(density.arguments[0], frame), plates))
        return
    if name in CONDITIONS:
        _write_condition(draft, frame, name, density, plates, cells)
        return
    if name in DENSITIES:
        _write_density(draft, frame, name, density, plates, cells)
        return
    if events and max(len(value) for value in [events]) != _event_count(name):
        raise frame.complain(statement.place, f"`{density.name}` does not draw an array of this shape")
    if not events and _event_count(name):
        raise frame.complain(statement.place, f"`{density.name}` draws an array", "a slice on the left: x[1:K]")
    drawn = distribution(name, density, frame, plates, events)
    draft.sources[label] = Source(piece.name, cells, 1.0 if name == "dcat" else 0.0)
    extra: Expression | None = None
    if density.bounds is not None:
        whole = absorbed(name, density, frame, drawn)
        if whole is not None:
            drawn = whole
        else:
            extra = factor(name, density, frame, Reference(label, tuple(plate.index for plate in plates)))
        draft.report.bounds[label] = (
            density.bounds.kind,
            "" if density.bounds.lower is None else printed(density.bounds.lower),
            "" if density.bounds.upper is None else printed(density.bounds.upper),
        )
    if in_circle:
        _write_in_circle(draft, frame, label, drawn, extra)
        return
    draft.add_random(label, drawn)
    if extra is not None:
        draft.add_potential(draft.fresh(f"{label}_bounds"), extra)


def _event_count(name: str) -> int:
    return {"dmnorm": 1, "dmnorm.vcov": 1, "dinvwish": 2, "dmt": 1, "dmulti": 1, "ddirich": 1, "dwish": 2}.get(name, 0)


def _ordered_cells(draft: Draft, piece: Piece) -> tuple[np.ndarray, ...]:
    """The array's cells in the order of the variable's axes."""
    keys = variable_axes(draft, piece)
    depth = len(piece.grid.axes)
    order = [number if kind == "axis" else depth + piece.events.index(number) for kind, number in keys]
    return tuple(np.transpose(at, order) for at in piece.cells())


def _is_observed(draft: Draft, piece: Piece, cells: tuple[np.ndarray, ...]) -> bool:
    values = draft.folded.observed.get(piece.name)
    return values is not None and bool(np.isfinite(values[cells] if cells else values).all())


def _write_condition(
    draft: Draft, frame: Frame, name: str, density: Density, plates: tuple[Plate, ...], cells: tuple[np.ndarray, ...]
) -> None:
    """A known interval number or sum is an input, and a condition on what it is a function of."""
    label = draft.labels[frame.piece.number]
    if not _is_observed(draft, frame.piece, cells) and not draft.folded.assumed:
        raise frame.complain(
            density.place, f"`{density.name}` on something not wholly observed is declined", "values in the data"
        )
    setattr(draft.model, label, Input(plates=plates))
    draft.sources[label] = Source(frame.piece.name, cells)
    known = Reference(label, tuple(plate.index for plate in plates))
    held = condition(name, density, frame, known)
    if name == "dsum":
        for other in sorted(names(held) - {label}):
            if not draft.model.variables[other].domain.is_discrete:
                raise frame.complain(density.place, "`dsum` of continuous nodes is declined", "counts or categories")
    draft.add_potential(draft.fresh(f"{label}_holds"), held)
    draft.report.notes.append(f"{label} is known: `{density.name}` is a condition on its first argument")


def _write_density(
    draft: Draft, frame: Frame, name: str, density: Density, plates: tuple[Plate, ...], cells: tuple[np.ndarray, ...]
) -> None:
    """A density outside the shelf: a flat variable and a log factor."""
    label = draft.labels[frame.piece.number]
    count, kind, form = DENSITIES[name]
    arguments = [scalar(argument, frame) for argument in density.arguments[:count]]
    if kind == "count" and not _is_observed(draft, frame.piece, cells) and not draft.folded.assumed:
        raise frame.complain(
            density.place, f"`{density.name}` on something not wholly observed is declined", "values in the data"
        )
    draft.add_random(label, Flat(plates=plates, lower=0.0) if kind == "positive" else Flat(plates=plates))
    draft.sources[label] = Source(frame.piece.name, cells)
    x = Reference(label, tuple(plate.index for plate in plates))
    body = form(x, *arguments)
    if density.bounds is not None:
        body = build.add(body, factor(name, density, frame, x))
    draft.add_potential(draft.fresh(f"{label}{DENSITY}"), _spread(body, plates))
    draft.report.notes.append(f"{label}: `{density.name}` is not on the shelf; it is a log factor on a flat variable")


def _spread(body: Expression, plates: Sequence[Plate]) -> Expression:
    """A factor repeats over the plates in it: one that lacks some (`dloglik` of a constant) is spread over them."""
    missing = [plate for plate in plates if plate.index not in free_indices(body)]
    keep = build.add(*(build.multiply(1e-300, plate.index) for plate in missing)) if missing else ZERO
    return build.add(body, keep)


def declare_forward(draft: Draft, circle: Sequence[Piece]) -> None:
    """Nodes whose cells lean on earlier ones are flat; their lines become factors, and these are the joint."""
    random = [piece for piece in circle if piece.relation.is_random]
    for piece in random:
        frame = Frame(draft, piece, draft.piece_plates(piece))
        draft.add_random(draft.labels[piece.number], Flat(plates=_axes(frame)))
    shown = ", ".join(draft.labels[piece.number] for piece in random)
    draft.report.notes.append(f"flat with a factor for each line, as cells lean on earlier ones: {shown}")


def declare_circle(draft: Draft, circle: Sequence[Piece]) -> None:
    """Nodes that depend on one another in a circle are undirected; what their lines say becomes factors."""
    if not any(piece.relation.is_random for piece in circle):
        raise complain(draft.text, circle[0].relation.place, f"`{circle[0].name}` is defined by itself",
                       "definitions without a circle")  # fmt: skip
    check_lines(draft, circle)
    for piece in circle:
        if not piece.relation.is_random:
            continue
        frame = Frame(draft, piece, draft.piece_plates(piece))
        statement = piece.relation.statement
        assert isinstance(statement, Draw)
        if statement.density.name in ("dcat", "dbern", "dbin", "dpois") or piece.events:
            raise frame.complain(
                piece.relation.place, f"`{piece.name}` depends on itself in a circle", "arcs without a circle"
            )
        setattr(draft.model, draft.labels[piece.number], Undirected(plates=_axes(frame)))
    shown = ", ".join(draft.labels[piece.number] for piece in circle if piece.relation.is_random)
    draft.report.notes.append(f"undirected, as their conditionals run in a circle: {shown}")


def open_circles(draft: Draft, circles: Sequence[Sequence[Piece]]) -> None:
    """Put the definitions of deterministic nodes of a circle into its factors, so that no arc runs round."""
    inside = {draft.labels[piece.number] for circle in circles for piece in circle if not piece.relation.is_random}
    inside |= {draft.wholes[piece.name] for circle in circles for piece in circle if piece.name in draft.wholes}

    def opened(whole: Expression, path: tuple[str, ...] = ()) -> Expression:
        if isinstance(whole, Reference) and whole.name in inside:
            if whole.name in path:
                raise BugsError(f"`{whole.name}` is defined by itself", expected="definitions without a circle")
            node = draft.model.variables[whole.name]
            assert node.definition is not None
            further = (*path, whole.name)
            changes: dict[Expression, Expression] = {
                axis: opened(at, further) for axis, at in zip(node.axes, whole.indices)
            }
            found = opened(build.substitute(node.definition, changes), further)
            check_parts(draft, circles[0][0], [found])  # definitions that hold each other grow with every one
            return found
        return rebuild(whole, lambda part: opened(part, path))

    for name, potential in list(draft.model.potentials.items()):
        if names(potential.expression) & inside:
            draft.add_potential(name, opened(potential.expression))


def _write_in_circle(draft: Draft, frame: Frame, label: str, drawn: Distribution, extra: Expression | None) -> None:
    variable = named(label, replace(drawn), draft.model.plates)
    density = variable.log_density if extra is None else build.add(variable.log_density, extra)
    own, domain = draft.model.variables[label], variable.domain
    if own.family is None:
        draft.model.__dict__["_variables"][label] = replace(own, domain=domain)
    elif math.isfinite(domain.lower) or math.isfinite(domain.upper):
        ends = {"lower": domain.lower, "upper": domain.upper}
        given: dict[str, Any] = {word: end for word, end in ends.items() if math.isfinite(end)}
        draft.add_random(label, Flat(plates=drawn.plates, **given))
    draft.conditionals[label] = draft.fresh(f"{label}_given_rest")
    draft.add_potential(draft.conditionals[label], density)
