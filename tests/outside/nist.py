"""NIST StRD univariate, analysis of variance and linear cases: correct digits of flat-prior fits.

PYTHONPATH=src:tests python -m outside.nist        prints the table
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outside import classical
from outside.corpus import cases, read_case

POLYNOMIALS = {"linear_Wampler1": 5, "linear_Wampler3": 5, "linear_Wampler5": 5}
WITHOUT_INTERCEPT = ("linear_NoInt1",)
PERFECT = ("linear_Wampler1",)
"""No residual at all: a precision with prior 1 / tau has no posterior, so these are fitted at unit scale."""


@dataclass(frozen=True)
class Line:
    """Correct digits of each quantity: of the certified value, and of the rational answer."""

    case: str
    certified: dict[str, float]
    rational: dict[str, float]


def univariate(name: str) -> Line:
    """Mean and standard deviation."""
    values, case = read_case("nist", name)
    found = classical.mean_and_sd(values)
    wanted = case["reference"]["mean"], case["reference"]["sd"]
    exact = classical.exact_mean_and_sd(values)
    names = "mean", "sd"
    certified = {key: classical.digits(a, b) for key, a, b in zip(names, found, wanted, strict=True)}
    return Line(name, certified, {key: classical.digits(a, b) for key, a, b in zip(names, found, exact, strict=True)})


def anova(name: str) -> Line:
    """F, R squared and residual standard deviation."""
    rows, case = read_case("nist", name)
    groups, values = [int(row[0]) for row in rows], [row[1] for row in rows]
    found, exact = classical.one_way(groups, values), classical.exact_one_way(groups, values)
    reference = case["reference"]
    wanted = {"F": reference["between"]["F"], "R2": reference["R2"], "residual_sd": reference["residual_sd"]}
    certified = {key: classical.digits(found[key], value) for key, value in wanted.items()}
    return Line(name, certified, {key: classical.digits(found[key], value) for key, value in exact.items()})


def linear(name: str) -> Line:
    """Coefficients, standard errors and residual standard deviation."""
    rows, case = read_case("nist", name)
    table = np.asarray(rows, dtype=float)
    x, y = table[:, 1:], table[:, 0]
    if name in POLYNOMIALS:
        x = x ** np.arange(1, POLYNOMIALS[name] + 1)
    intercept = name not in WITHOUT_INTERCEPT
    found = classical.regression(x, y, intercept, scale=name not in PERFECT)
    certified = {
        "estimate": classical.digits(found["estimate"], [q["estimate"] for q in case["quantities"]]),
        "error": classical.digits(found["error"], [q["sd"] for q in case["quantities"]]),
        "residual_sd": classical.digits(found["residual_sd"], case["reference"]["residual_sd"]),
    }
    solution, square = classical.exact_regression(x, y, intercept)
    spread = float(square / (len(y) - len(solution))) ** 0.5
    rational = {
        "estimate": classical.digits(found["estimate"], [float(value) for value in solution]),
        "residual_sd": classical.digits(found["residual_sd"], spread),
    }
    return Line(name, certified, rational)


def lines() -> list[Line]:
    """Every case of the three kinds."""
    return [
        *map(univariate, cases("nist", "univariate_")),
        *map(anova, cases("nist", "anova_")),
        *map(linear, cases("nist", "linear_")),
    ]


if __name__ == "__main__":
    print(f"{'case':<24} correct digits (15 is the most counted); in brackets: of the rational answer")
    for line in lines():
        shown = []
        for key, value in line.certified.items():
            rational = f" ({line.rational[key]:.1f})" if key in line.rational else ""
            shown.append(f"{key} {value:.1f}{rational}")
        print(f"{line.case:<24} {', '.join(shown)}")
