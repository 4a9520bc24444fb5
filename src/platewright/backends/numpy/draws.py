"""Print one draw from a conditional, last eliminated first, in NumPy."""

from __future__ import annotations

import re
from collections.abc import Mapping

from platewright.algebra.build import substitute
from platewright.algebra.expression import Constant, Expression, Index, Reference
from platewright.backends.naming import comment
from platewright.backends.numpy.family_text import drawn_inline, family_name
from platewright.backends.numpy.modes import gaussian_lines, solution
from platewright.backends.numpy.program import Emitter
from platewright.elimination.state import Conditional, FamilyConditional, GaussianConditional, TableConditional
from platewright.family import Family
from platewright.language.variable import Variable
from platewright.recognition.transform import IDENTITY, Y


def draw_lines(
    emitter: Emitter, conditional: Conditional, nodes: dict[str, Variable], families: list[tuple[Family, str]]
) -> list[str]:
    """Statements that draw the variables of a conditional; `families` gets those whose own functions they call."""
    match conditional:
        case GaussianConditional():
            return _gaussian(emitter, conditional)
        case TableConditional(variable, level, log_weights):
            emitter.printer.used.add("draw_levels")
            axes = (*nodes[variable].plates, level)
            weights = emitter.names(f"{variable}.log_weight")
            return [
                f"# {comment(variable)}: a log weight for each of its values",
                f"{weights} = {emitter.printer.printed(log_weights, axes, full=True)}",
                f"{emitter.names(variable)} = draw_levels(generator, {weights})",
            ]
    return _family(emitter, conditional, nodes[conditional.variable], families)


def single_passes(emitter: Emitter) -> list[str]:
    """The statistics of a program in plain precision: those of draws are made anew in every sweep."""
    return [re.sub(r'"\w+" in exact\)$', "False)", line) for line in emitter.passes_body()]


def _family(
    emitter: Emitter, found: FamilyConditional, node: Variable, families: list[tuple[Family, str]]
) -> list[str]:
    family, transform = found.recognised.family, found.recognised.transform
    text = drawn_text(emitter, family, found.parameters, node, node.events, families)
    name = emitter.names(node.name)
    lines = [f"# {comment(node.name)}: {family.name}", f"{name} = {text}"]
    if transform is not IDENTITY:
        back = substitute(transform.backward, {Y: Reference(node.name, node.axes)})
        lines.append(f"{name} = {emitter.printer.printed(back, node.axes, full=True)}")
    return lines


def drawn_text(
    emitter: Emitter,
    family: Family,
    given: Mapping[str, Expression],
    node: Variable,
    inside: tuple[Index, ...],
    families: list[tuple[Family, str]],
) -> str:
    """A draw of an unknown from a family, as an expression; parameters may have axes inside one value."""
    parameters = {}
    for key, value in given.items():
        axes = (*node.plates, *inside[: family.parameter(key).rank])
        code = emitter.printer.printed(value, axes, full=True)
        bare = f"np.float64({code})" if code.replace(".", "").isdigit() else f"({code})"
        parameters[key] = code if code.isidentifier() else bare
    shape = "".join(f"{emitter.printer.size(axis.plate)}, " for axis in node.axes)
    text = drawn_inline(family, parameters, f"({shape.rstrip()})")
    if text is None:
        families.append((family, "draw"))
        listed = ", ".join(f'"{key}": {value}' for key, value in parameters.items())
        text = f"{family_name(family, 'draw')}(generator, {{{listed}}}, ({shape.rstrip()}))"
    return text


def _gaussian(emitter: Emitter, found: GaussianConditional) -> list[str]:
    """The mean of a block, and noise that its triangle shapes."""
    statement = found.statement
    best, root = emitter.names(f"{statement.name}.best"), emitter.names(f"{statement.name}.root")
    shake = emitter.names(f"{statement.name}.noise")
    lines = [f"{shake} = generator.standard_normal({best}.shape)"]
    if found.scale != Constant(1.0):
        scale = emitter.printer.printed(found.scale, statement.batch, full=True)
        lines.append(f"{shake} = {shake} / np.sqrt({scale})" + ("[..., None, None]" if statement.batch else ""))
    if found.matrix is not None and statement.output is not None:
        emitter.printer.used.add("coloured")
        output = statement.output
        axes = (*statement.batch, output, Index(output.name + "'", output.plate))
        lines.append(f"{shake} = coloured({shake}, {emitter.printer.printed(found.matrix, axes, full=True)})")
    shaken = f"np.linalg.inv({root}) @ {shake}" if statement.along is None else solution(emitter, found, shake)
    lines.append(f"{best} = {best} + {shaken}")
    return gaussian_lines(emitter, found, lines)
