"""Networks through `pw.Structures`: scores of given ones, searches, sums over all of them, and samples.

    score = sum over nodes of log p(node's column | columns of its parents)

Likelihoods at the mode (loglik, BIC, AIC) are no evidences; they come from ordinary models, node by node.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

import platewright as pw
from outside.corpus import CORPUS
from outside.outcome import Outcome
from outside.structure_scores import gaussian_score, jeffreys_gap, log_likelihood
from outside.tree_cases import coded, read_table

KIND = "structure"
QUICK = ("scores_learning_test", "exact_posterior_lizards_bde10")
PATIENCE = 5.0
RELATIVE, ABSOLUTE = 1e-9, 1e-6
PRIORS: dict[str, dict[str, Any]] = {
    "k2": {"tables": "k2"},
    "bdj": {"tables": "jeffreys"},
    "bde_iss1": {"sample_size": 1.0},
    "bde_iss10": {"sample_size": 10.0},
}
DRAWN = 0.02
"""How far the share of an arc among the draws may be from its probability."""


def run(name: str, seconds: float) -> Outcome:
    """One case by its sort."""
    reference = json.loads((CORPUS / KIND / name / "reference.json").read_text())
    if name.startswith("exact_posterior_"):
        return all_networks(name, reference)
    if name.startswith("gobnilp_"):
        return optimum(name, reference)
    return scores(name, reference)


def scores(name: str, reference: Mapping[str, Any]) -> Outcome:
    """Scores of the true and of the empty network, and a search at least as good as the reference's."""
    start = perf_counter()
    names, rows = read_table(CORPUS / KIND / name / "data.csv.gz")
    networks = {"true": parents_of(reference["true_structure"]), "empty": {node: () for node in names}}
    continuous = "loglik_g" in reference["scores"]["true"]
    worst, at, first, count = 0.0, "", None, 0
    for network, parents in networks.items():
        found = _gaussian(names, rows, parents) if continuous else _discrete(names, rows, parents)
        for key, wanted in reference["scores"][network].items():
            error = abs(found[key] - wanted) / (RELATIVE * abs(wanted))
            first = perf_counter() - start if first is None else first
            count += 1
            if error > worst:
                worst, at = error, f"{key} of the {network} network"
    remark = f"{count} scores, worst {at}"
    if "hc_bde10" in reference["search"]:
        data = {node: [row[number] for row in rows] for number, node in enumerate(names)}
        gain = (
            pw.Structures(data, sample_size=10.0).search(data).log_evidence - reference["search"]["hc_bde10"]["score"]
        )
        remark += f"; search {gain:+.3f} beside the reference's"
        if gain < -1e-6:
            worst, at = np.inf, "search"
    verdict = "pass" if worst <= 1 else "fail"
    return Outcome(
        KIND,
        name,
        verdict,
        "search" if "search" in remark else "scores",
        "",
        first,
        perf_counter() - start,
        worst,
        remark,
    )


def parents_of(text: str) -> dict[str, tuple[str, ...]]:
    """`[A][B|A:C]` as parents by node."""
    found = {}
    for node, parents in re.findall(r"\[([^\]|]+)(?:\|([^\]]+))?\]", text):
        found[node] = tuple(parents.split(":")) if parents else ()
    return found


def _discrete(names: Sequence[str], rows: Sequence[Any], parents: Mapping[str, Sequence[str]]) -> dict[str, float]:
    codes, sizes = coded(names, rows)
    arcs = [(parent, node) for node, above in parents.items() for parent in above]
    found = {key: pw.Structures(codes, **prior).score(codes, arcs).log_evidence for key, prior in PRIORS.items()}
    found["bdj"] += sum(jeffreys_gap(len(rows), sizes[node]) for node, above in parents.items() if not above)
    likelihood = sum(log_likelihood(codes, sizes, node, above) for node, above in parents.items())
    free = sum(
        (sizes[node] - 1) * int(np.prod([sizes[a] for a in above], dtype=float)) for node, above in parents.items()
    )
    penalty = free * np.log(len(rows)) / 2
    return {**found, "loglik": likelihood, "bic": likelihood - penalty, "aic": likelihood - free}


def _gaussian(names: Sequence[str], rows: Sequence[Any], parents: Mapping[str, Sequence[str]]) -> dict[str, float]:
    table = {name: np.array([float(row[number]) for row in rows]) for number, name in enumerate(names)}
    likelihood = sum(gaussian_score(table, node, above) for node, above in parents.items())
    free = sum(len(above) + 2 for above in parents.values())
    arcs = [(parent, node) for node, above in parents.items() for parent in above]
    bge = pw.Structures(table).score(table, arcs).log_evidence
    penalty = free * np.log(len(rows)) / 2
    return {
        "loglik_g": likelihood,
        "bic_g": likelihood - penalty,
        "aic_g": likelihood - free,
        "bge_default": bge,
    }


def all_networks(name: str, reference: Mapping[str, Any]) -> Outcome:
    """The sum over all networks, the best, each arc, by enumeration; the arcs again by sampling."""
    start = perf_counter()
    names, rows = read_table(CORPUS / KIND / name / "data.csv.gz")
    codes, _ = coded(names, rows[: reference["n"]])
    strength = re.search(r"iss=(\d+)", reference["score"])
    assert strength is not None
    family = pw.Structures(codes, sample_size=float(strength.group(1)))
    exact = family.enumerate(codes)
    first = perf_counter() - start
    number = {3: 25, 4: 543, 5: 29281, 6: 3781503}[len(names)]
    gaps = {
        "the sum": exact.log_evidence + np.log(number) - reference["log_sum_exp_scores"],
        "the best": exact.best.log_evidence - reference["optimal_score"],
        "the search": family.search(codes).log_evidence - reference["optimal_score"],
    }
    for node, above, wanted in reference["local_scores"]:
        arcs = [(parent, node) for parent in above]
        gaps[f"{node} given {above}"] = family.score(codes, arcs).local_evidence[node] - wanted
    for arc, wanted in reference["edge_posterior"].items():
        gaps[arc] = exact.arc_probability(*arc.split("->")) - wanted
    at = max(gaps, key=lambda key: abs(gaps[key]))
    worst = abs(gaps[at]) / ABSOLUTE
    drawn = family.sample(codes, draws=40_000, seed=0)
    apart = max(abs(drawn.arc_probability(*arc.split("->")) - p) for arc, p in reference["edge_posterior"].items())
    remark = f"sum, best, {len(reference['edge_posterior'])} arcs, {len(reference['local_scores'])} scores; worst {at}"
    remark += f"; sampled arcs within {apart:.4f}"
    return _outcome(name, max(worst, apart / DRAWN), remark, first, start)


def optimum(name: str, reference: Mapping[str, Any]) -> Outcome:
    """The best network: proven where all can be gone over, and reached by search; local scores of the one given."""
    start = perf_counter()
    with gzip.open(CORPUS / KIND / name / "data.dat.gz", "rt") as stream:
        lines = [line.split() for line in stream]
    continuous = name.endswith("_bge")
    names, rows = lines[0], lines[1 if continuous else 2 :]
    data = {node: np.array([float(row[k]) if continuous else row[k] for row in rows]) for k, node in enumerate(names)}
    relative = not reference["tolerance"].startswith("abs")
    tolerance = 0.005 if relative else float(reference["tolerance"].split()[-1])
    worst, count, first, remarks = 0.0, 0, None, []
    for result in reference["results"]:
        most = result["max_parents"]
        family = pw.Structures(data, max_parents=most)
        best = family.search(data)
        first = perf_counter() - start if first is None else first
        gap = best.log_evidence - result["optimal_score"]
        remarks.append(f"{gap:+.6f}")
        worst = max(worst, abs(gap / result["optimal_score"] if relative else gap) / tolerance, gap / 1e-4)
        if not relative:
            proven = family.search(data, by="exact")
            worst = max(worst, abs(proven.log_evidence - result["optimal_score"]) / tolerance)
        for key, wanted in result.get("local", {}).items():
            node, _, above = key.partition("|")
            arcs = [(parent, node) for parent in above.split(",") if parent]
            worst = max(worst, abs(family.score(data, arcs).local_evidence[node] - wanted) / tolerance)
            count += 1
    remark = (
        f"{len(reference['results'])} best networks ({', '.join(remarks)} beside the optimum), {count} local scores"
    )
    return _outcome(name, worst, remark, first or 0.0, start)


def _outcome(name: str, worst: float, remark: str, first: float, start: float) -> Outcome:
    verdict = "pass" if worst <= 1 else "fail"
    return Outcome(
        KIND,
        name,
        verdict,
        "sum over networks" if name.startswith("exact") else "search",
        "",
        first,
        perf_counter() - start,
        worst,
        remark,
    )
