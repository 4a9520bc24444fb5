"""Print the closed-form mode of a plan: the best value of each conditional, last eliminated first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from platewright.algebra.build import substitute
from platewright.algebra.domain import Domain
from platewright.algebra.expression import Expression, Index, Reference
from platewright.backends.naming import comment
from platewright.backends.numpy.family_text import family_name
from platewright.backends.numpy.program import Emitter
from platewright.elimination.state import FamilyConditional, GaussianConditional, TableConditional
from platewright.family import Family
from platewright.language.variable import Variable
from platewright.recognition.peak import parameters_at_peak
from platewright.recognition.transform import IDENTITY, Y
from platewright.schema import Plan

SMALLEST = 1e-300
"""How far from an edge at zero estimates are kept, so that no density holds `0 log 0`."""


def mode_lines(
    emitter: Emitter, plan: Plan, nodes: Mapping[str, Variable], families: list[tuple[Family, str]]
) -> list[str]:
    """Assignments of all parameters of an exact plan; `families` gets those whose own functions they call."""
    lines: list[str] = []
    for conditional in reversed(plan.conditionals):
        match conditional:
            case GaussianConditional():
                lines += gaussian_lines(emitter, conditional)
            case FamilyConditional():
                lines += family_lines(emitter, conditional, nodes[conditional.variable], families)
            case TableConditional(variable, level, log_weights):
                weights = emitter.printer.printed(log_weights, (*nodes[variable].plates, level), full=True)
                lines.append(f"{emitter.names(variable)} = np.argmax({weights}, axis=-1)")
        for name in conditional.variables:
            lines += inside_lines(emitter.names(name), nodes[name].domain)
    return lines


def family_lines(
    emitter: Emitter, found: FamilyConditional, node: Variable, families: list[tuple[Family, str]]
) -> list[str]:
    """The peak of a family, and the way back from a change of variable."""
    family, transform = found.recognised.family, found.recognised.transform
    name = emitter.names(node.name)
    arguments = {}
    at_peak = parameters_at_peak(family, transform, found.parameters)
    for parameter in family.parameters:
        axes = (*node.plates, *node.events[: parameter.rank])
        arguments[parameter.name] = emitter.printer.printed(at_peak[parameter.name], axes, full=True)
    families.append((family, "mode"))
    given = ", ".join(f'"{key}": {value}' for key, value in arguments.items())
    through = "" if transform is IDENTITY else f", as {transform.name} of it"
    lines = [
        f"# {comment(node.name)}: the peak of {family.name}{through}",
        f"{name} = {family_name(family, 'mode')}({{{given}}})",
    ]
    if transform is not IDENTITY:
        back = substitute(transform.backward, {Y: Reference(node.name, node.axes)})
        lines.append(f"{name} = {emitter.printer.printed(back, node.axes, full=True)}")
    return lines


def gaussian_lines(
    emitter: Emitter, found: GaussianConditional, noise: Sequence[str] = (), ending: str = ""
) -> list[str]:
    """The solution of a triangular system, with noise added where there is any, and the part that is each variable.

    With an ending, the arrays of variables are those whose names end so.
    """
    statement, printer = found.statement, emitter.printer
    right, best = emitter.names(f"{statement.name}.right"), emitter.names(f"{statement.name}.best")
    lines = []
    if statement.outer:
        cross, outer = [], []
        for number, column in enumerate(statement.outer):
            axes = (*statement.batch, *column.dense)
            value = printer.printed(Reference(column.variable + ending, column.at), axes, full=True)
            outer.append(f"np.reshape({value}, (*{right}.shape[:-2], -1, 1))")
            part = emitter.names(f"{statement.name}.cross_{number}")
            cross.append(f"np.reshape({part}, (*{right}.shape[:-1], -1))")
        joined = f"np.concatenate([{', '.join(cross)}], axis=-1) @ np.concatenate([{', '.join(outer)}], axis=-2)"
        lines.append(f"{right} = {right} - {joined}")
    lines += [f"{best} = {solution(emitter, found, right)}", *noise]
    return lines + split_lines(emitter, found, ending)


def solution(emitter: Emitter, found: GaussianConditional, right: str) -> str:
    """What solves the triangular system of a block for some right-hand sides."""
    statement = found.statement
    if statement.along is None:
        return f"np.linalg.solve({emitter.names(f'{statement.name}.root')}, {right})"
    emitter.printer.used.add("solved_along")
    return f"solved_along({emitter.names(statement.name)}, {right})"


def split_lines(emitter: Emitter, found: GaussianConditional, ending: str = "") -> list[str]:
    """The part of a solution that is each variable."""
    statement, printer = found.statement, emitter.printer
    name, best = emitter.names(statement.name), emitter.names(f"{statement.name}.best")
    lines = []
    last = "-1" if statement.along is None else f"{best}.shape[-1]"  # of a chain of no steps nothing can be inferred
    if statement.along is not None:
        sizes = "".join(f"{printer.size(index.plate)}, " for index in statement.batch)
        steps = printer.size(statement.along)
        width = f"{name}_columns[{statement.eliminated}]"
        lines.append(f"{best} = np.reshape({best}, ({sizes}{steps}, {width}, {last}))")
    for number, column in enumerate(statement.columns[: statement.eliminated]):
        inside = statement.inside(column)
        order: list[Expression] = [*statement.batch, *(axis for axis in column.dense if axis not in inside), *inside]
        if not inside:
            part = f"{best}[..., {name}_columns[{number}], :]"
        else:
            sizes = "".join(f"{printer.size(index.plate)}, " for index in order if isinstance(index, Index))
            span = f"{name}_columns[{number}] : {name}_columns[{number + 1}]"
            part = f"np.reshape({best}[..., {span}, :], ({sizes}{last}))"
        if statement.output is None:
            part += "[..., 0]"
        else:
            order.append(statement.output)
        places = [order.index(at) for at in column.at]
        if places != sorted(places):
            part = f"np.transpose({part}, ({', '.join(map(str, places))}))"
        lines.append(f"{emitter.names(column.variable + ending)} = {part}")
    return lines


def inside_lines(name: str, domain: Domain) -> list[str]:
    """Keep an estimate a hair off the edge of its domain."""
    lower, upper = edges(domain)
    lines = []
    if lower > -float("inf"):
        lines.append(f"{name} = np.maximum({name}, {lower!r})")
    if upper < float("inf"):
        lines.append(f"{name} = np.minimum({name}, {upper!r})")
    return lines


def edges(domain: Domain) -> tuple[float, float]:
    """The numbers that are a hair off the edges of a domain.

    A mode on the edge (a probability of exactly 0) makes terms such as `x log p` undefined at x = 0. Moving it by less
    than rounding changes no sum over rows, and every term stays a number.
    """
    if domain.kind == "simplex":
        return SMALLEST, float("inf")
    if domain.is_discrete or domain.kind != "real":
        return -float("inf"), float("inf")
    lower = domain.lower + _hair(domain.lower) if domain.lower > -float("inf") else domain.lower
    upper = domain.upper - _hair(domain.upper) if domain.upper < float("inf") else domain.upper
    return lower, upper


def _hair(edge: float) -> float:
    return abs(edge) * 2.220446049250313e-16 if edge else SMALLEST
