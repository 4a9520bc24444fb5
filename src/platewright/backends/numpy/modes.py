"""Print the closed-form mode of a plan: the best value of each conditional, last eliminated first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from platewright.algebra.build import substitute
from platewright.algebra.domain import Domain
from platewright.algebra.expression import Expression, Index, Reference
from platewright.backends.naming import comment
from platewright.backends.numpy.em_support import MODES
from platewright.backends.numpy.family_text import family_name
from platewright.backends.numpy.program import Emitter
from platewright.elimination.state import FamilyConditional, GaussianConditional, TableConditional
from platewright.errors import PlatewrightError
from platewright.family import Family
from platewright.language.variable import Variable
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
    for parameter in family.parameters:
        axes = (*node.plates, *node.events[: parameter.rank])
        arguments[parameter.name] = emitter.printer.printed(found.parameters[parameter.name], axes, full=True)
    if family.name in ("Normal", "MultivariateNormal") and transform is IDENTITY:
        return [f"{name} = {arguments['mean']}"]
    if family.name not in MODES and transform is IDENTITY:
        families.append((family, "mode"))
        given = ", ".join(f'"{key}": {value}' for key, value in arguments.items())
        return [
            f"# {comment(node.name)}: the peak of {family.name}",
            f"{name} = {family_name(family, 'mode')}({{{given}}})",
        ]
    if family.name not in MODES or not (transform is IDENTITY or _is_power(family.name, transform.exponent)):
        raise PlatewrightError(
            f"the mode of {family.name} as {transform.name} of `{node.name}` has no standalone source"
        )
    lines = [f"# {comment(node.name)}: the peak of {family.name}"]
    if transform is not IDENTITY:
        assert transform.exponent is not None
        # the density of x = y^(1 / exponent) carries a Jacobian, which moves the shape
        arguments["shape"] = f"{arguments['shape']} + {1.0 - 1.0 / transform.exponent!r}"
        lines[0] += f", as {transform.name} of it"
    lines.append(f"{name} = {MODES[family.name].__name__}({', '.join(arguments.values())})")
    if transform is not IDENTITY:
        back = substitute(transform.backward, {Y: Reference(node.name, node.axes)})
        lines.append(f"{name} = {emitter.printer.printed(back, node.axes, full=True)}")
    return lines


def _is_power(family: str, exponent: float | None) -> bool:
    return family == "Gamma" and exponent is not None


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
    if statement.along is not None:
        sizes = "".join(f"{printer.size(index.plate)}, " for index in statement.batch)
        steps = printer.size(statement.along)
        lines.append(f"{best} = np.reshape({best}, ({sizes}{steps}, {name}_columns[{statement.eliminated}], -1))")
    for number, column in enumerate(statement.columns[: statement.eliminated]):
        inside = statement.inside(column)
        order: list[Expression] = [*statement.batch, *(axis for axis in column.dense if axis not in inside), *inside]
        if not inside:
            part = f"{best}[..., {name}_columns[{number}], :]"
        else:
            sizes = "".join(f"{printer.size(index.plate)}, " for index in order if isinstance(index, Index))
            span = f"{name}_columns[{number}] : {name}_columns[{number + 1}]"
            part = f"np.reshape({best}[..., {span}, :], ({sizes}-1))"
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
    if domain.is_discrete or domain.kind not in ("real", "simplex"):
        return []
    if domain.kind == "simplex":
        return [f"{name} = np.maximum({name}, {SMALLEST!r})"]
    lines = []
    if domain.lower > -float("inf"):
        lines.append(f"{name} = np.maximum({name}, {domain.lower + _hair(domain.lower)!r})")
    if domain.upper < float("inf"):
        lines.append(f"{name} = np.minimum({name}, {domain.upper - _hair(domain.upper)!r})")
    return lines


def _hair(edge: float) -> float:
    return abs(edge) * 2.220446049250313e-16 if edge else SMALLEST
