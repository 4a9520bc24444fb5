"""Scores of given networks by exact evidence, node by node.

    score = sum over nodes of log p(node's column | columns of its parents)

Where a case asks for a search over networks or a sum over all of them, the local scores are compared and the rest is
listed as not in class.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from outside.corpus import CORPUS
from outside.outcome import Outcome
from outside.structure_scores import gaussian_score, jeffreys_gap, log_likelihood
from outside.tree_cases import coded, read_table, tabled

KIND = "structure"
QUICK = ("scores_learning_test", "exact_posterior_lizards_bde10")
RELATIVE, ABSOLUTE = 1e-9, 1e-6
PRIORS = {"k2": "1", "bdj": "0.5", "bde_iss1": "bdeu:1", "bde_iss10": "bdeu:10"}

Score = Callable[[str, Sequence[str]], float]


def run(name: str, seconds: float) -> Outcome:
    """One case by its sort."""
    reference = json.loads((CORPUS / KIND / name / "reference.json").read_text())
    if name.startswith("exact_posterior_"):
        return local_scores(name, reference)
    if name.startswith("gobnilp_"):
        return optimum(name, reference)
    return scores(name, reference)


def scores(name: str, reference: Mapping[str, Any]) -> Outcome:
    """Scores of the true and of the empty network."""
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
    remark = f"{count} scores, worst {at}" + ("; no search over networks yet" if reference["search"] else "")
    verdict = "pass" if worst <= 1 else "fail"
    return Outcome(KIND, name, verdict, "exact evidence", "", first, perf_counter() - start, worst, remark)


def parents_of(text: str) -> dict[str, tuple[str, ...]]:
    """`[A][B|A:C]` as parents by node."""
    found = {}
    for node, parents in re.findall(r"\[([^\]|]+)(?:\|([^\]]+))?\]", text):
        found[node] = tuple(parents.split(":")) if parents else ()
    return found


def _discrete(names: Sequence[str], rows: Sequence[Any], parents: Mapping[str, Sequence[str]]) -> dict[str, float]:
    codes, sizes = coded(names, rows)
    found = {
        key: sum(tabled(codes, sizes, node, above, prior) for node, above in parents.items())
        for key, prior in PRIORS.items()
    }
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
    bge = sum(gaussian_score(table, node, above, prior=True) for node, above in parents.items())
    penalty = free * np.log(len(rows)) / 2
    return {
        "loglik_g": likelihood,
        "bic_g": likelihood - penalty,
        "aic_g": likelihood - free,
        "bge_default": bge,
    }


def local_scores(name: str, reference: Mapping[str, Any]) -> Outcome:
    """Every local score that the sum over all networks is made of."""
    start = perf_counter()
    names, rows = read_table(CORPUS / KIND / name / "data.csv.gz")
    codes, sizes = coded(names, rows[: reference["n"]])
    strength = re.search(r"iss=(\d+)", reference["score"])
    assert strength is not None
    prior = f"bdeu:{strength.group(1)}"
    worst, first = 0.0, None
    for node, above, wanted in reference["local_scores"]:
        worst = max(worst, abs(tabled(codes, sizes, node, above, prior) - wanted) / ABSOLUTE)
        first = perf_counter() - start if first is None else first
    remark = f"{len(reference['local_scores'])} local scores agree" if worst <= 1 else "local scores differ"
    why = "the sum over all networks is not derived yet"
    return _partly(name, worst, why, remark, first, start)


def optimum(name: str, reference: Mapping[str, Any]) -> Outcome:
    """Local scores of the best network that was found; finding it is not ours yet."""
    start = perf_counter()
    with gzip.open(CORPUS / KIND / name / "data.dat.gz", "rt") as stream:
        lines = [line.split() for line in stream]
    continuous = name.endswith("_bge")
    names, rows = lines[0], lines[1 if continuous else 2 :]
    score: Score
    if continuous:
        table = {column: np.array([float(row[number]) for row in rows]) for number, column in enumerate(names)}
        score = lambda node, above: gaussian_score(table, node, above, prior=True)  # noqa: E731
    else:
        codes, sizes = coded(names, rows)
        score = lambda node, above: tabled(codes, sizes, node, above, "bdeu:1")  # noqa: E731
    worst, first, count = 0.0, None, 0
    for result in reference["results"]:
        for key, wanted in result.get("local", {}).items():
            node, _, above = key.partition("|")
            worst = max(worst, abs(score(node, above.split(",") if above else ()) - wanted) / ABSOLUTE)
            first = perf_counter() - start if first is None else first
            count += 1
    remark = f"{count} local scores {'agree' if worst <= 1 else 'differ'}" if count else ""
    return _partly(name, worst if count else None, "the search over networks is not derived yet", remark, first, start)


def _partly(name: str, worst: float | None, why: str, remark: str, first: float | None, start: float) -> Outcome:
    """A case of which only the local scores are in class: never a pass, but a wrong score is a failure."""
    verdict = "fail" if worst is not None and worst > 1 else "not in class"
    plan = "exact evidence" if worst is not None else ""
    return Outcome(KIND, name, verdict, plan, why, first, perf_counter() - start, worst, remark)
