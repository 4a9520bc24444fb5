"""Classical estimates through flat-prior fits, and how many digits of them are right.

p(coefficients, tau) ~ 1 / tau:    posterior mean = least squares,  rate / shape = residual mean square
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import platewright as pw


def digits(found: object, wanted: object) -> float:
    """Correct digits of the worst of some numbers: the log relative error, at most 15; what is no number has none."""
    worst = 15.0
    for one, other in zip(np.ravel(np.asarray(found)), np.ravel(np.asarray(wanted)), strict=True):
        error = abs(float(one) - float(other)) / (abs(float(other)) or 1.0)
        if not math.isfinite(error):
            return 0.0
        worst = min(worst, 15.0 if error == 0 else -math.log10(error))
    return worst


def scaled_model(title: str) -> pw.Model:
    """A model with rows and a precision whose prior is 1 / tau."""
    m = pw.Model(title)
    m.plate("row")
    m.tau = pw.Flat(lower=0)
    m.potential("scale", -pw.log(m.tau))
    return m


def residual_sd(fit: Any) -> float:
    """The classical residual standard deviation, from the posterior of the precision."""
    return math.sqrt(float(fit.computed["tau.rate"]) / float(fit.computed["tau.shape"]))


def mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation of numbers."""
    m = scaled_model("univariate")
    m.mu = pw.Flat()
    m.y = pw.Normal(m.mu, precision=m.tau, plates=m.plates["row"])
    fit = m.learn({"y": np.asarray(values, dtype=float)})
    return float(fit["mu"].mean), residual_sd(fit)


def one_way(groups: Sequence[int], values: Sequence[float]) -> dict[str, float]:
    """The table of a one-way analysis of variance, from a fit with a mean for each group and one with a single mean."""
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    y = np.asarray(values, dtype=float)
    count = int(codes.max()) + 1
    m = scaled_model("analysis of variance")
    row, group = m.plates["row"], m.plate("group", count)
    m.z = pw.Input(plates=row, levels=group)
    m.mu = pw.Flat(plates=group)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau, plates=row)
    within = residual_sd(m.learn({"y": y, "z": codes})) ** 2 * (len(y) - count)
    total = mean_and_sd(values)[1] ** 2 * (len(y) - 1)
    f = (total - within) / (count - 1) / (within / (len(y) - count))
    return {
        "F": f,
        "R2": 1 - within / total,
        "residual_sd": math.sqrt(within / (len(y) - count)),
        "within": within,
        "between": total - within,
    }


def regression(x: np.ndarray, y: np.ndarray, intercept: bool = True, scale: bool = True) -> Mapping[str, Any]:
    """Coefficients (intercept first), their standard errors and the residual standard deviation."""
    m = scaled_model("regression") if scale else pw.Model("regression of unit scale")
    row = m.plates["row"] if scale else m.plate("row")
    column = m.plate("column")
    m.x = pw.Input(plates=(row, column))
    m.w = pw.Flat(plates=column)
    mean = pw.dot(m.x, m.w, over=column)
    if intercept:
        m.a = pw.Flat()
        mean = m.a + mean
    m.y = pw.Normal(mean, precision=m.tau if scale else 1.0, plates=row)
    fit = m.learn({"x": x, "y": y})
    names = ("a", "w") if intercept else ("w",)
    estimate = np.concatenate([np.atleast_1d(fit[name].mean) for name in names])
    free = len(y) - len(estimate)
    if not scale:
        residual = math.sqrt(float(fit.computed["block1.residual"]) / free)
        return {"estimate": estimate, "error": np.zeros_like(estimate), "residual_sd": residual}
    spread = np.concatenate([np.atleast_1d(fit[name].sd) for name in names]) * math.sqrt((free - 2) / free)
    return {"estimate": estimate, "error": spread, "residual_sd": residual_sd(fit)}


def written(column: Sequence[float]) -> list[Fraction]:
    """The numbers that floats stand for: decimals where all have at most 15 digits, else the floats themselves."""
    values = [float(value) for value in column]
    decimals = [Decimal(repr(value)).normalize() for value in values]
    is_long = any(len(one.as_tuple().digits) > 15 and not value.is_integer() for one, value in zip(decimals, values))
    return [Fraction(value) if is_long or value.is_integer() else Fraction(d) for d, value in zip(decimals, values)]


def exact_regression(x: np.ndarray, y: np.ndarray, intercept: bool = True) -> tuple[list[Fraction], Fraction]:
    """Least squares by rational arithmetic: coefficients and residual sum of squares, of the numbers as written."""
    columns = [*([[Fraction(1)] * len(y)] if intercept else []), *map(written, x.T)]
    rows = [list(line) for line in zip(*columns, strict=True)]
    right = written(y)
    width = len(rows[0])
    normal = [[sum(r[i] * r[j] for r in rows) for j in range(width)] for i in range(width)]
    moment = [sum(r[i] * t for r, t in zip(rows, right, strict=True)) for i in range(width)]
    table = [[*line, value] for line, value in zip(normal, moment, strict=True)]
    for i in range(width):
        pivot = next(k for k in range(i, width) if table[k][i] != 0)
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [value / table[i][i] for value in table[i]]
        for k in range(width):
            if k != i and table[k][i] != 0:
                factor = table[k][i]
                table[k] = [a - factor * b for a, b in zip(table[k], table[i], strict=True)]
    solution = [line[-1] for line in table]
    square = sum(
        ((t - sum(a * b for a, b in zip(r, solution, strict=True))) ** 2 for r, t in zip(rows, right, strict=True)),
        Fraction(0),
    )
    return solution, square


def exact_one_way(groups: Sequence[int], values: Sequence[float]) -> dict[str, float]:
    """The analysis of variance by rational arithmetic, of the numbers as written."""
    found: dict[int, list[Fraction]] = {}
    for group, value in zip(groups, written(values), strict=True):
        found.setdefault(group, []).append(value)
    every = [value for part in found.values() for value in part]
    within = sum((_square(part) for part in found.values()), Fraction(0))
    total = _square(every)
    free = len(every) - len(found)
    f = (total - within) / (len(found) - 1) / (within / free)
    return {"F": float(f), "R2": float(1 - within / total), "residual_sd": math.sqrt(within / free)}


def exact_mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation by rational arithmetic, of the numbers as written."""
    every = written(values)
    return float(sum(every) / len(every)), math.sqrt(_square(every) / (len(every) - 1))


def _square(values: Sequence[Fraction]) -> Fraction:
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0))
