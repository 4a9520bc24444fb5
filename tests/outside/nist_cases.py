"""NIST StRD: correct digits of flat-prior fits, at least eight for linear models.

Nonlinear least squares is the mode under flat priors.
"""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np

import platewright as pw
from outside import nist
from outside.corpus import read_case
from outside.nist_curves import CURVES
from outside.outcome import Outcome
from outside.running import refusal
from platewright.errors import PlatewrightError

KIND = "nist"
QUICK = ("linear_Longley", "linear_Wampler5", "anova_AtmWtAgt", "univariate_NumAcc4", "nonlinear_BoxBOD")
LINEAR, CURVE = 8, 5


def run(name: str, seconds: float) -> Outcome:
    """One case by its sort."""
    sort = name.split("_")[0]
    if sort == "nonlinear":
        return curve(name)
    start = perf_counter()
    line = {"univariate": nist.univariate, "anova": nist.anova, "linear": nist.linear}[sort](name)
    took = perf_counter() - start
    found = min(line.certified.values())
    error = 10.0 ** (LINEAR - found)
    words = ", ".join(f"{key} {value:.1f} digits" for key, value in line.certified.items())
    return Outcome(KIND, name, "pass" if error <= 1 else "fail", "exact", "", took, took, error, words)


def curve(name: str) -> Outcome:
    """A nonlinear curve: the mode of its parameters under flat priors."""
    start = perf_counter()
    rows, case = read_case("nist", name)
    table = np.asarray(rows, dtype=float)
    quantities = [item["name"] for item in case["quantities"]]
    m = pw.Model(name)
    row = m.plate("row")
    data = {"y": np.log(table[:, 0]) if name == "nonlinear_Nelson" else table[:, 0]}
    inputs = []
    for number in range(1, table.shape[1]):
        setattr(m, f"x{number}", pw.Input(plates=row))
        inputs.append(getattr(m, f"x{number}"))
        data[f"x{number}"] = table[:, number]
    for parameter in quantities:
        setattr(m, parameter, pw.Flat())
    m.tau = pw.Flat(lower=0)
    function = CURVES[name.split("_")[1]]
    m.y = pw.Normal(function([getattr(m, b) for b in quantities], *inputs), precision=m.tau, plates=row)
    try:
        starts = {item["name"]: item["start2"] for item in case["quantities"]}
        fit = m.learn(data, goal="map", initial={**starts, "tau": 1.0})
    except PlatewrightError as error:
        return Outcome(KIND, name, "not in class", why=refusal(error), total=perf_counter() - start)
    took = perf_counter() - start
    found = [float(np.asarray(fit[b].value)) for b in quantities]
    digits = min(
        -math.log10(max(abs(value / item["estimate"] - 1), 1e-15))
        for value, item in zip(found, case["quantities"], strict=True)
    )
    error = 10.0 ** (CURVE - digits)
    return Outcome(KIND, name, "pass" if error <= 1 else "fail", fit.how, "", took, took, error, f"{digits:.1f} digits")
