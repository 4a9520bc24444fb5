"""Declarations: the kind, sizes and bounds of a variable of a Stan text, and which constraints have a form here."""

from __future__ import annotations

from dataclasses import replace

from platewright.language.bugs.syntax import Place
from platewright.language.stan.reading.correlations import BUILT, build
from platewright.language.stan.reading.expressions import lower, number_of
from platewright.language.stan.reading.state import State, Variable
from platewright.language.stan.reading.syntax import Declaration, Type
from platewright.language.stan.reading.trouble import Trouble
from platewright.language.stan.reading.value import number

KINDS = {"vector": "vector", "row_vector": "row", "matrix": "matrix", "int": "array", "real": "array"}
CONSTRAINED = {"simplex", "ordered", "positive_ordered", "unit_vector", "sum_to_zero_vector"}
SQUARE = {"cov_matrix", "corr_matrix", "cholesky_factor_corr", "cholesky_factor_cov"}
UNBUILT = {"unit_vector", "sum_to_zero_vector", "cholesky_factor_cov"}
"""Constraints that ours has no form of: as a parameter such a variable is refused, never read as a free one."""


def declare(statement: Declaration, state: State, role: str) -> Variable:
    """Make a variable known, with its sizes and bounds."""
    name, written, place = statement.name, statement.type, statement.place
    if name in state.variables or name in state.loop_names:
        raise Trouble(place, f"`{name}` is declared twice", "another name")
    if written.kind not in {*KINDS, *CONSTRAINED, *SQUARE}:
        raise Trouble(place, f"the type `{written.kind}` is not supported", ", ".join(sorted({*KINDS, *CONSTRAINED})))
    if role == "parameter" and written.kind in UNBUILT:
        raise Trouble(
            place, f"a parameter of the type `{written.kind}` is not supported", "simplex, ordered, cov_matrix"
        )
    _check_type(written, place)
    sizes = tuple(number_of(size, state) for size in written.dimensions)
    bounds = {word: lower(value, state) for word, value in written.bounds}
    kind = "matrix" if written.kind in SQUARE else KINDS.get(written.kind, "vector")
    array = name if not state.loops and name not in state.taken else state.fresh(name)
    found = Variable(name, array, role, kind, sizes, written.kind, state.loop_names, state.loop_names,
                     written.kind == "int", lower=bounds.get("lower"), upper=bounds.get("upper"))  # fmt: skip
    if written.kind == "positive_ordered":
        found = replace(found, lower=number(0.0))
    state.variables[name] = found
    state.taken.add(name)
    if sizes and not state.loops:
        state.declared.append((array, sizes))
    if role == "parameter" and written.kind in BUILT:
        build(found, place, state)
    return found


def _check_type(written: Type, place: Place) -> None:
    wanted = {"int": (0,), "real": (0,), "matrix": (2,), "cholesky_factor_cov": (1, 2)}.get(written.kind, (1,))
    if len(written.sizes) not in wanted:
        raise Trouble(place, f"`{written.kind}` with {len(written.sizes)} sizes", f"{wanted[0]}")
