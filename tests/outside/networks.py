"""The networks of the reference corpus: one result a case, with its error in units of the tolerance."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from outside.corpus import CORPUS, cases
from platewright.errors import SizeError
from platewright.inference.answers import GaussianMixture
from platewright.inference.infer import Inference, infer
from platewright.inference.junction_tree import shown_bytes
from platewright.language.constructors import Normal
from platewright.language.model import Model
from platewright.language.networks.bif import read_bif
from platewright.language.networks.uai import read_uai, read_uai_evidence

PROBABILITY = 1e-6
MARGINAL, LOG10_ABSOLUTE, LOG10_RELATIVE = 1e-5, 1e-3, 1e-5
RELATIVE = 1e-8

SLOW = ("CSP_11", "CSP_13", "DBN_13", "DBN_15", "Promedus_18", "linkage_22")


@dataclass(frozen=True)
class Line:
    """How one case went; `error` is in units of its tolerance, None where it was refused."""

    case: str
    width: int | None
    bytes: float | None
    seconds: float
    error: float | None
    remark: str = ""

    def __str__(self) -> str:
        width = "-" if self.width is None else str(self.width)
        size = "-" if self.bytes is None else shown_bytes(self.bytes)
        error = "refused" if self.error is None else f"{self.error:.2g}"
        return f"{self.case:24} {width:>6} {size:>10} {self.seconds:9.2f} {error:>9}  {self.remark}"


HEADER = f"{'case':24} {'width':>6} {'bytes':>10} {'seconds':>9} {'error':>9}  (1 = the tolerance of the case)"


def all_lines() -> Iterator[Line]:
    """Every case, the small kinds first."""
    for name in cases("bn"):
        yield gaussian(name) if name.startswith("gauss_") else discrete(name)
    for name in cases("uai"):
        yield undirected(name)


def _reference(kind: str, name: str) -> dict[str, Any]:
    return json.loads((CORPUS / kind / name / "reference.json").read_text())


def discrete(name: str) -> Line:
    """A BIF network: prior marginals and two evidence queries."""
    reference = _reference("bn", name)
    start = perf_counter()
    model = read_bif(CORPUS / "bn" / name / "network.bif.gz")
    queries = [({}, reference["prior_marginals"], 0.0)]
    queries += [(query["evidence"], query["posterior"], query["log_p_evidence"]) for query in reference["queries"]]
    worst = 0.0
    found: Inference | None = None
    for evidence, marginals, log_evidence in queries:
        found = infer(model, evidence)
        worst = max(worst, abs(found.log_evidence - log_evidence) / PROBABILITY)
        for variable, wanted in marginals.items():
            answer = found[variable]
            assert [str(label) for label in answer.labels] == reference["labels"][variable]
            worst = max(worst, float(np.abs(answer.probabilities - np.array(wanted)).max()) / PROBABILITY)
    assert found is not None
    return Line(name, found.width, found.bytes, perf_counter() - start, worst, "read and three queries")


def undirected(name: str) -> Line:
    """A UAI network: the partition function given the evidence, and all marginals."""
    reference = _reference("uai", name)
    folder = CORPUS / "uai" / name
    start = perf_counter()
    model = read_uai(folder / "model.uai.gz")
    try:
        found = infer(model, read_uai_evidence(folder / "evidence.evid"))
    except SizeError as error:
        return Line(name, None, None, perf_counter() - start, None, error.found)
    wanted = reference["reference"]["log10_partition_function"]
    gap = abs(found.log_partition / np.log(10) - wanted)
    worst = gap / max(LOG10_ABSOLUTE, LOG10_RELATIVE * abs(wanted))
    for at, marginal in enumerate(reference["marginals"]):
        gap = float(np.abs(found[f"x{at}"].probabilities - np.array(marginal)).max())
        worst = max(worst, gap / MARGINAL)
    return Line(name, found.width, found.bytes, perf_counter() - start, worst, found.plan.rule)


def gaussian_model(name: str) -> Model:
    """A linear Gaussian network as a model."""
    nodes = json.loads((CORPUS / "bn" / name / "network.json").read_text())["nodes"]
    waiting = {node["node"]: node for node in nodes}
    model = Model(name)
    while waiting:
        ready = [found for found in waiting.values() if not set(found["parents"]) & waiting.keys()]
        for node in ready:
            weights = dict(node["coefficients"])
            mean: object = float(weights.pop("(Intercept)"))
            for parent, weight in weights.items():
                mean = mean + float(weight) * getattr(model, _legal(parent))
            setattr(model, _legal(node["node"]), Normal(mean, sd=float(node["sd"])))
            del waiting[node["node"]]
    return model


def _legal(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def gaussian(name: str) -> Line:
    """A Gaussian network: prior moments and one query."""
    reference = _reference("bn", name)["reference"]
    start = perf_counter()
    model = gaussian_model(name)
    prior = infer(model)
    worst = _moments(prior, reference["mean"], reference["variance"])
    query = reference["query"]
    found = infer(model, {_legal(key): value for key, value in query["evidence"].items()})
    worst = max(worst, _moments(found, query["conditional_mean"], query["conditional_variance"]))
    gap = abs(found.log_evidence - query["log_density_evidence"]) / abs(query["log_density_evidence"])
    return Line(name, None, None, perf_counter() - start, max(worst, gap / RELATIVE), "least squares")


def _moments(found: Inference, means: Mapping[str, float], variances: Mapping[str, float]) -> float:
    """The worst relative error; a mean is compared on the scale of its standard deviation where that is larger."""
    worst = 0.0
    for name, mean in means.items():
        answer = found[_legal(name)]
        assert isinstance(answer, GaussianMixture)
        scale = max(abs(mean), variances[name] ** 0.5)
        worst = max(worst, abs(answer.mean - mean) / scale, abs(answer.variance / variances[name] - 1))
    return worst / RELATIVE
