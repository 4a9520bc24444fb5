"""Exact inference on Bayesian and Markov networks, each answer within the tolerance of its case."""

from __future__ import annotations

from outside.corpus import cases
from outside.networks import Line, discrete, gaussian, undirected
from outside.outcome import Outcome
from platewright.inference.junction_tree import shown_bytes

QUICK = ("asia", "cancer", "gauss_building", "Segmentation_11", "Pedigree_11")


def run(name: str, seconds: float) -> Outcome:
    """One network of either kind."""
    if name in cases("uai"):
        return _outcome("uai", undirected(name))
    return _outcome("bn", gaussian(name) if name.startswith("gauss_") else discrete(name))


def _outcome(kind: str, line: Line) -> Outcome:
    plan = "least squares" if line.width is None else f"junction tree of width {line.width}"
    if line.error is None:
        return Outcome(kind, line.case, "declined", "", line.remark, None, line.seconds)
    remark = line.remark if line.bytes is None else f"{line.remark}, {shown_bytes(line.bytes)}"
    verdict = "pass" if line.error <= 1 else "fail"
    return Outcome(kind, line.case, verdict, plan, "", line.seconds, line.seconds, line.error, remark)
