"""Scores of networks by exact evidence, node by node; the sum over all networks and the best where nodes are few.

    score = sum over nodes of log p(node's column | columns of its parents)

Where a case asks for a search over more nodes than can be gone over at once, it is listed as not in class.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np

from outside.corpus import CORPUS
from outside.outcome import Outcome
from outside.structure_scores import gaussian_score, jeffreys_gap, log_likelihood, vector_scores
from outside.tree_cases import coded, read_table, tabled
from platewright.structure.networks import MOST_NODES, Networks

KIND = "structure"
QUICK = ("scores_learning_test", "exact_posterior_lizards_bde10")
PATIENCE = 5.0
RELATIVE, ABSOLUTE = 1e-9, 1e-6
PRIORS = {"k2": "1", "bdj": "0.5", "bde_iss1": "bdeu:1", "bde_iss10": "bdeu:10"}

Score = Callable[[str, Sequence[str]], float]


def run(name: str, seconds: float) -> Outcome:
    """One case by its sort."""
    reference = json.loads((CORPUS / KIND / name / "reference.json").read_text())
    if name.startswith("exact_posterior_"):
        return all_networks(name, reference)
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


def all_networks(name: str, reference: Mapping[str, Any]) -> Outcome:
    """The sum over all networks, the best of them, and the probability of each arc."""
    start = perf_counter()
    names, rows = read_table(CORPUS / KIND / name / "data.csv.gz")
    codes, sizes = coded(names, rows[: reference["n"]])
    strength = re.search(r"iss=(\d+)", reference["score"])
    assert strength is not None
    prior = f"bdeu:{strength.group(1)}"
    networks = Networks(_every(names, lambda node, above: tabled(codes, sizes, node, above, prior)))
    first = perf_counter() - start
    gaps = {
        "the sum": networks.log_sum - reference["log_sum_exp_scores"],
        "the best": networks.best[0] - reference["optimal_score"],
    }
    for node, above, wanted in reference["local_scores"]:
        gaps[f"{node} given {above}"] = networks.scores[node][frozenset(above)] - wanted
    for arc, wanted in reference["edge_posterior"].items():
        gaps[arc] = networks.probability(*arc.split("->")) - wanted
    at = max(gaps, key=lambda key: abs(gaps[key]))
    worst = abs(gaps[at]) / ABSOLUTE
    remark = f"sum, best, {len(reference['edge_posterior'])} arcs, {len(reference['local_scores'])} scores; worst {at}"
    return _outcome(name, worst, remark, first, start)


def _every(names: Sequence[str], score: Score, most: int | None = None) -> dict[str, dict[frozenset[str], float]]:
    """A score for each node and each set of at most so many parents."""
    found: dict[str, dict[frozenset[str], float]] = {}
    for node in names:
        others = [name for name in names if name != node]
        counts = range(len(others) + 1 if most is None else most + 1)
        sets = [above for count in counts for above in combinations(others, count)]
        found[node] = {frozenset(above): score(node, above) for above in sets}
    return found


def optimum(name: str, reference: Mapping[str, Any]) -> Outcome:
    """The best network, and local scores of the one that was found; where nodes are few enough to go over all."""
    start = perf_counter()
    with gzip.open(CORPUS / KIND / name / "data.dat.gz", "rt") as stream:
        lines = [line.split() for line in stream]
    continuous = name.endswith("_bge")
    names, rows = lines[0], lines[1 if continuous else 2 :]
    if len(names) > MOST_NODES:
        why = f"{len(names)} nodes: a search over networks is not derived yet, and at most {MOST_NODES} are gone over"
        return Outcome(KIND, name, "not in class", "", why, None, perf_counter() - start, None, "")
    if continuous:
        score = vector_scores({column: np.array([float(r[k]) for r in rows]) for k, column in enumerate(names)})
    else:
        codes, sizes = coded(names, rows)
        score = lambda node, above: tabled(codes, sizes, node, above, "bdeu:1")  # noqa: E731
    tolerance = float(reference["tolerance"].split()[-1])
    whole, worst, count = _every(names, score), 0.0, 0
    first = perf_counter() - start
    for result in reference["results"]:
        most = result["max_parents"]
        allowed = {
            node: {above: value for above, value in found.items() if most is None or len(above) <= most}
            for node, found in whole.items()
        }
        worst = max(worst, abs(Networks(allowed).best[0] - result["optimal_score"]) / tolerance)
        for key, wanted in result.get("local", {}).items():
            node, _, above = key.partition("|")
            worst = max(worst, abs(whole[node][frozenset(above.split(",") if above else ())] - wanted) / tolerance)
            count += 1
    return _outcome(name, worst, f"{len(reference['results'])} best networks, {count} local scores", first, start)


def _outcome(name: str, worst: float, remark: str, first: float, start: float) -> Outcome:
    verdict = "pass" if worst <= 1 else "fail"
    return Outcome(KIND, name, verdict, "exact evidence", "", first, perf_counter() - start, worst, remark)
