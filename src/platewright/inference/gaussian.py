"""Linear Gaussian variables, perhaps with discrete parents: rows, solved for each combination of discrete levels.

    y | x, z  ~  Normal(a[z] + b[z] x, precision[z])      is the row      sqrt(precision[z]) (y - b[z] x - a[z])

Given the levels, the rows of connected real variables are one least squares problem: its triangular factor gives
means, covariances and the evidence, without squaring condition numbers. A stack of such problems, one for each
combination of levels, is solved at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, pi, prod

import numpy as np

from platewright.algebra.build import add, multiply
from platewright.algebra.expression import ONE, Expression, Reference, names
from platewright.errors import NotSolvable, ParameterError, SizeError
from platewright.families.normal import NORMAL
from platewright.family import Array
from platewright.inference.factor import Tabulator
from platewright.inference.junction_tree import ENTRY, shown_bytes
from platewright.recognition.linear import NotLinear, linear


@dataclass(frozen=True)
class Row:
    """`precision / 2 (sum of coefficient * real - offset)^2`, with expressions in discrete variables."""

    owner: str
    coefficients: Mapping[str, Expression]
    offset: Expression
    precision: Expression


@dataclass(frozen=True, eq=False)
class Solved:
    """Connected real variables given each combination of `levels`: the leading axes of every array."""

    levels: tuple[str, ...]
    reals: tuple[str, ...]
    log_evidence: Array
    log_peak: Array
    means: Array
    roots: Array
    """Inverses of the triangular factor: covariance = root root'."""

    @property
    def covariances(self) -> Array:
        """Covariance matrices of the real variables."""
        return np.asarray(self.roots @ np.swapaxes(self.roots, -1, -2))

    def draws(self, positions: Mapping[str, Array], count: int, generator: np.random.Generator) -> Array:
        """One row a draw: given the levels drawn, Gaussian; draws at the same levels are made together."""
        noise = generator.standard_normal((count, len(self.reals)))
        shape = self.log_peak.shape
        at = np.ravel_multi_index([positions[n] for n in self.levels], shape) if shape else np.zeros(count, dtype=int)
        means = self.means.reshape(-1, len(self.reals))
        roots = self.roots.reshape(-1, len(self.reals), len(self.reals))
        result = np.empty_like(noise)
        for level in np.unique(at):
            rows = at == level
            result[rows] = means[level] + noise[rows] @ roots[level].T
        return result


def read_row(tabulator: Tabulator, name: str, unknown: frozenset[str]) -> Row:
    """The row of a real node, or an error that says why its conditional is not linear Gaussian."""
    node = tabulator.graph.nodes[name]
    if node.family is not NORMAL:
        why = "its values cannot be listed" if name in unknown else "it depends on unknown real variables"
        raise NotSolvable(
            f"`{name}` is {node.label}, and {why}",
            expected="Normal, with a mean linear in them: exact inference without plates knows tables and Gaussians",
            hint="m.learn, or sample (by='gibbs')",
        )
    parameters = {key: tabulator.written_out(value) for key, value in node.parameters}
    if inside := names(parameters["precision"]) & unknown:
        raise NotSolvable(
            f"the precision of `{name}` depends on the unknown `{min(inside)}`", expected="a linear Gaussian network"
        )
    try:
        form = linear(parameters["mean"], unknown)
    except NotLinear as error:
        raise NotSolvable(
            f"the mean of `{name}` is not linear in its unknown real parents: {error.part}",
            expected="a linear Gaussian network",
            hint="m.learn, or sample (by='gibbs')",
        ) from error
    coefficients: dict[str, Expression] = {}
    for part in form.parts:
        coefficients[part.variable] = add(coefficients.get(part.variable, 0.0), multiply(-1.0, part.coefficient))
    offset = form.rest
    if name in unknown:
        coefficients[name] = ONE
    else:
        offset = offset - Reference(name)
    return Row(name, coefficients, offset, parameters["precision"])


def connected_rows(rows: Sequence[Row], start: Iterable[str]) -> list[Row]:
    """The rows that chains of shared real variables tie to some of them."""
    found = set(start)
    chosen: set[int] = set()
    changed = True
    while changed:
        changed = False
        for at, row in enumerate(rows):
            if at not in chosen and found & row.coefficients.keys():
                chosen.add(at)
                found |= row.coefficients.keys()
                changed = True
    return [rows[at] for at in sorted(chosen)]


def groups(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows split into sets that share no real variable."""
    result = []
    left = list(rows)
    while left:
        chosen = connected_rows(left, left[0].coefficients) or [left[0]]
        taken = {id(row) for row in chosen}
        left = [row for row in left if id(row) not in taken]
        result.append(chosen)
    return result


def solve(tabulator: Tabulator, rows: Sequence[Row]) -> Solved:
    """Least squares for each combination of the discrete variables in the rows."""
    reals = tuple(sorted({name for row in rows for name in row.coefficients}))
    parts = [(row, [*row.coefficients.values(), row.offset, row.precision]) for row in rows]
    levels = tuple(sorted({n for _, found in parts for part in found for n in tabulator.scope(part)}))
    shape = tuple(tabulator.levels[name].size for name in levels)
    needed = ENTRY * prod(shape) * (len(rows) + 2 * len(reals)) * (len(reals) + 1) * 2
    if needed > tabulator.most_bytes:
        raise SizeError(
            f"the real variables {', '.join(reals[:5])} depend on {len(levels)} discrete ones with {prod(shape):.3g} "
            f"combinations: {shown_bytes(needed)}",
            expected=f"at most {shown_bytes(tabulator.most_bytes)} (most_bytes=)",
            hint="sample instead (by='gibbs'), or give more evidence",
        )

    def at_levels(owner: str, expression: Expression) -> Array:
        scope, values = tabulator.table(owner, expression)
        own = dict(zip(scope, values.shape, strict=True))
        return values.reshape([own.get(name, 1) for name in levels])

    matrix = np.zeros((*shape, max(len(rows), len(reals) + 1), len(reals) + 1))
    log_precision = np.zeros(shape)
    column = {name: at for at, name in enumerate(reals)}
    for at, row in enumerate(rows):
        precision = at_levels(row.owner, row.precision)
        if not (precision > 0).all():
            raise ParameterError(f"the precision of `{row.owner}` is not positive", expected="a number above 0")
        log_precision += np.log(precision)
        for name, coefficient in row.coefficients.items():
            matrix[..., at, column[name]] = np.sqrt(precision) * at_levels(row.owner, coefficient)
        matrix[..., at, -1] = np.sqrt(precision) * at_levels(row.owner, row.offset)
    return _solved(levels, reals, matrix, log_precision, len(rows))


def _solved(levels: tuple[str, ...], reals: tuple[str, ...], matrix: Array, log_precision: Array, rows: int) -> Solved:
    """From the weighted rows `[A | b]`: `R mean = c`, with the residual in the corner of the triangle."""
    count = len(reals)
    triangle = np.asarray(np.linalg.qr(matrix, mode="r"))
    factor, right = triangle[..., :count, :count], triangle[..., :count, count:]
    log_peak = 0.5 * log_precision - 0.5 * rows * log(2 * pi) - 0.5 * triangle[..., count, count] ** 2
    diagonal = np.abs(np.diagonal(factor, axis1=-2, axis2=-1))
    log_evidence = log_peak + 0.5 * count * log(2 * pi) - np.log(diagonal).sum(axis=-1)
    means = np.linalg.solve(factor, right)[..., 0] if count else np.zeros((*log_peak.shape, 0))
    roots = np.linalg.inv(factor) if count else np.zeros((*log_peak.shape, 0, 0))
    return Solved(levels, reals, log_evidence, log_peak, means, roots)
