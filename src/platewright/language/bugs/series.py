"""Write a series: the rule is read over the steps from the second on, then moved to the whole ordered plate.

steps 2..T, position s = 0..T-2        z[s], phi[s], x[s + 1]
the plate t = 0..T-1, s = t - 1        z[lag t], phi[lag t], x[t]         and the beginning where t is the first
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from platewright.algebra import build
from platewright.algebra.expression import Expression, Index, Lag, Literal, Reference, rebuild
from platewright.language.bugs.arrays import Piece
from platewright.language.bugs.densities import check_density, distribution
from platewright.language.bugs.draft import Draft, Source
from platewright.language.bugs.frame import Frame, GoingOn
from platewright.language.bugs.sequences import beginnings, step_axis
from platewright.language.bugs.syntax import Draw
from platewright.language.plate import Plate


def write_series(
    draft: Draft, piece: Piece, grid_plates: tuple[Plate, ...], cells: tuple[np.ndarray, ...], plates: tuple[Plate, ...]
) -> None:
    """Add the variable of a series, with its beginning as `start`."""
    if len(piece.inner) == 1:
        write_going_on(draft, piece, grid_plates, cells, plates)
        return
    first, rule = piece.inner
    label = draft.labels[piece.number]
    statement, beginning = rule.relation.statement, first.relation.statement
    assert isinstance(statement, Draw) and isinstance(beginning, Draw)
    assert piece.relation.series is not None
    along = piece.axis_of(piece.relation.series.step)
    assert along is not None
    axis = along[0]
    step = grid_plates[axis]
    steps = Index(f"{step.name}?", step.name)
    frame = Frame(draft, rule, grid_plates, {}, {axis: steps})
    name = check_density(statement.density, frame)
    draft.sources[label] = Source(piece.name, cells, 1.0 if name == "dcat" else 0.0)
    following = distribution(name, statement.density, frame, plates, ())
    start_frame = Frame(draft, first, draft.piece_plates(first))
    check_density(beginning.density, start_frame)
    start = distribution(name, beginning.density, start_frame, plates, ())
    given = {
        word: one_back(value, steps, step.index) if isinstance(value, Expression) else value
        for word, value in following.given.items()
    }
    draft.add_random(label, replace(following, given=given, start=start))
    draft.report.notes.append(f"{label} is a series along the ordered plate {step.name}")


def write_going_on(
    draft: Draft, piece: Piece, grid_plates: tuple[Plate, ...], cells: tuple[np.ndarray, ...], plates: tuple[Plate, ...]
) -> None:
    """Add the variable of a series that begins after cells of others: there its rule reads those."""
    label, statement, series = draft.labels[piece.number], piece.inner[0].relation.statement, piece.relation.series
    assert isinstance(statement, Draw) and series is not None
    axis = step_axis(piece, series.step)
    assert axis is not None
    rule = replace(piece, relation=series.rule)
    frame = Frame(draft, rule, grid_plates, going_on=GoingOn(piece, axis))
    name = check_density(statement.density, frame)
    draft.sources[label] = Source(piece.name, cells, 1.0 if name == "dcat" else 0.0)
    following = distribution(name, statement.density, frame, plates, ())
    first = Frame(draft, rule, grid_plates, going_on=GoingOn(piece, axis, beginnings(piece, axis)))
    draft.add_random(label, replace(following, start=distribution(name, statement.density, first, plates, ())))
    draft.report.notes.append(f"{label} is a series along the ordered plate {grid_plates[axis].name}")


def one_back(whole: Expression, steps: Index, index: Index) -> Expression:
    """An expression over the later steps, said over the whole plate: a position one back is a lag."""
    shifted = build.substitute(whole, {steps: build.add(index, -1.0)})
    back = build.add(index, -1.0)

    def lagged(part: Expression) -> Expression:
        if isinstance(part, (Reference, Literal)):
            return replace(part, indices=tuple(Lag(index) if at == back else lagged(at) for at in part.indices))
        return rebuild(part, lagged)

    return lagged(shifted)
