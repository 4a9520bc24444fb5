"""Bayes factors and model averaging by exact evidence; what has no closed form is declined with the condition."""

from __future__ import annotations

import math
from itertools import chain, combinations
from time import perf_counter
from typing import Any

import numpy as np

import platewright as pw
from outside import evidence
from outside.corpus import read_case
from outside.outcome import Outcome
from platewright.run.evidence.evidence_fit import EvidenceFit

KIND = "evidence"
QUICK = ("stackloss", "contingency_jeffreys_raceDolls")
PATIENCE = 5.0
BAYES_FACTOR, INCLUSION, RELATIVE = 1e-3, 1e-4, 1e-3
MOST_SUBSETS = 2000


def run(name: str, seconds: float) -> Outcome:
    """One case by its sort."""
    sorts = {
        "bridgesampling_hier_normal": hierarchy,
        "jzs_ttest_sleep": effect_size,
        "proportion_mendel": proportion,
        "contingency_jeffreys_raceDolls": table,
    }
    return sorts.get(name, averaging)(name)


def _evidence(model: pw.Model, data: dict[str, Any]) -> tuple[float, float, str]:
    """The log evidence by whatever the planner chooses, its own standard error, and how it was found."""
    fit = model.learn(data, goal="evidence", seed=1)
    error = fit.found.error if isinstance(fit, EvidenceFit) else 0.0
    return float(fit.log_evidence), float(error or 0.0), fit.how


def hierarchy(name: str) -> Outcome:
    """Normal means with an unknown spread."""
    start = perf_counter()
    data, case = read_case(KIND, name)
    y = np.asarray(data["y"], dtype=float)
    worst, words = 0.0, []
    for with_mean, wanted in ((False, case["logml_H0"]), (True, case["logml_H1"])):
        found, error, how = _evidence(evidence.hierarchical_normal(with_mean), {"y": y})
        # the case allows estimators by Monte Carlo ten times as much
        worst = max(worst, abs(found - wanted) / (0.01 if error < 1e-6 else 0.1))
        words.append(f"off by {found - wanted:.3f} at an error of {error:.3f}")
    return _outcome(name, worst, start, f"both hypotheses: {', '.join(words)}", how=how)


def effect_size(name: str) -> Outcome:
    """A t test with a Cauchy prior of the effect size."""
    start = perf_counter()
    data, case = read_case(KIND, name)
    y = np.asarray(data["diff"], dtype=float)
    null = _evidence(_no_effect(), {"y": y})[0]
    worst, words = 0.0, []
    for key, scale in (("r_medium_0.7071", math.sqrt(0.5)), ("r_wide_1", 1.0)):
        found, error, how = _evidence(evidence.cauchy_effect(scale), {"y": y})
        gap = found - null - math.log(case["BF10"][key])
        worst = max(worst, abs(gap) / RELATIVE)
        words.append(f"off by {gap:.4f} at an error of {error:.4f}")
    return _outcome(name, worst, start, f"two scales, log Bayes factors: {', '.join(words)}", how=how)


def _no_effect() -> pw.Model:
    m = pw.Model("no effect")
    row = m.plate("row")
    m.tau = pw.Flat(lower=0)
    m.potential("scale", -pw.log(m.tau))
    m.y = pw.Normal(0, precision=m.tau, plates=row)
    return m


def proportion(name: str) -> Outcome:
    """A proportion with a logistic prior of its logit."""
    start = perf_counter()
    data, case = read_case(KIND, name)
    model = evidence.logistic_proportion(data["N"], data["p0"], 0.5)
    other, error, how = _evidence(model, {"y": data["y"]})
    count, y, p = data["N"], data["y"], data["p0"]
    null = math.lgamma(count + 1) - math.lgamma(y + 1) - math.lgamma(count - y + 1)
    null += y * math.log(p) + (count - y) * math.log1p(-p)
    gap = other - null - math.log(case["BF10"])
    return _outcome(name, abs(gap) / RELATIVE, start, f"off by {gap:.4f} at an error of {error:.4f}", how=how)


def table(name: str) -> Outcome:
    """A contingency table under three sampling plans."""
    start = perf_counter()
    data, case = read_case(KIND, name)
    wanted, a = case["BF10"], case["priorConcentration"]
    counts = np.asarray(data["table"])
    shape = counts.shape
    row, column = evidence.table_rows(counts)
    independent = evidence.independent_table(row, column, shape, a)
    joint = evidence.joint_table(row, column, shape, a) - independent
    by_column = evidence.rows_by_column(row, column, shape, a) - evidence.rows_alone(row, shape, a)
    orders = math.lgamma(counts.sum() + 1) - sum(math.lgamma(count + 1) for count in counts.ravel())
    poisson = evidence.poisson_cells(counts, a) - evidence.poisson_total(counts, a) - independent - orders
    pairs = ((joint, "jointMulti"), (by_column, "indepMulti_cols"), (poisson, "poisson"))
    worst = max(abs(math.exp(found) / wanted[key] - 1) / RELATIVE for found, key in pairs)
    return _outcome(name, worst, start, "three sampling plans")


def averaging(name: str) -> Outcome:
    """Regressions on subsets of the columns under the g-prior; their average where the subsets are not too many."""
    start = perf_counter()
    data, case = read_case(KIND, name)
    design = np.asarray(data["design"], dtype=float)
    x, y, columns = design[:, 1:], np.asarray(data["response"], dtype=float), data["design_columns"][1:]
    result = case["results"]["gprior_unit"]
    g = result["args"]["alpha"]
    null = evidence.g_prior(x[:, :0], y, g)
    first = perf_counter() - start
    worst = 0.0
    for best in result["top"]:
        chosen = [columns.index(variable) for variable in best["vars"][1:]]
        worst = max(worst, abs(evidence.g_prior(x[:, chosen], y, g) - null - best["logBF_vs_null"]) / BAYES_FACTOR)
    worst = max(worst, abs(evidence.g_prior(x, y, g) - null - result["full_model_logBF_vs_null"]) / BAYES_FACTOR)
    subsets = list(chain.from_iterable(combinations(range(len(columns)), n) for n in range(len(columns) + 1)))
    if len(subsets) > MOST_SUBSETS:
        remark = f"the best subsets and the full one; {len(subsets)} subsets were not averaged one by one"
        return _outcome(name, worst, start, remark, first)
    found = np.array([evidence.g_prior(x[:, list(subset)], y, g) for subset in subsets])
    weight = np.exp(found - found.max())
    weight /= weight.sum()
    for number, column in enumerate(columns):
        included = sum(w for w, subset in zip(weight, subsets, strict=True) if number in subset)
        worst = max(worst, abs(included - result["inclusion"][column]) / INCLUSION)
    return _outcome(name, worst, start, f"all {len(subsets)} subsets averaged", first)


def _outcome(
    name: str, worst: float, start: float, remark: str, first: float | None = None, how: str = "exact evidence"
) -> Outcome:
    took = perf_counter() - start
    verdict = "pass" if worst <= 1 else "fail"
    return Outcome(KIND, name, verdict, how, "", took if first is None else first, took, worst, remark)
