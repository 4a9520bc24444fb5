"""Gaussian mixtures, latent classes and a hidden Markov model: EM reaches the published likelihoods.

A higher likelihood with parameters that are not degenerate passes too, as these cases say themselves.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from outside import mixtures
from outside.corpus import CORPUS, read_case
from outside.outcome import Outcome

QUICK = ("geyser_waiting_1d", "earthquakes_poisson_hmm", "carcinoma")
LOWEST = 0.05
LATENT, CHAIN = 0.01, 0.005


def run(name: str, seconds: float) -> Outcome:
    """Every fit of a case."""
    if (CORPUS / "latent_class" / name).is_dir():
        return _finished("latent_class", name, seconds, _latent)
    return _finished("mixture_hmm", name, seconds, _chain if name.endswith("_hmm") else _gaussian)


def _finished(kind: str, name: str, seconds: float, fit_one: Any) -> Outcome:
    start = perf_counter()
    data, reference = read_case(kind, name)
    first: float | None = None
    worst, at, how, done, bad = 0.0, "", "", 0, []
    for wanted in reference["fits"]:
        if perf_counter() - start > seconds:
            bad.append(f"time was up after {done} of {len(reference['fits'])} fits")
            break
        words, error, trouble, how = fit_one(data, wanted)
        first = perf_counter() - start if first is None else first
        done += 1
        if trouble:
            bad.append(f"{words}: {trouble}")
        if error > worst:
            worst, at = error, words
    passed = worst <= 1 and not bad
    remark = "; ".join([f"{done} fits", *([f"worst {at}"] if at else []), *bad[:3]])
    total = perf_counter() - start
    return Outcome(kind, name, "pass" if passed else "fail", how, "", first, total, worst, remark)


def _gaussian(data: Any, wanted: Any) -> tuple[str, float, str, str]:
    rows = np.array(data["rows"], dtype=float)
    kind, count = wanted["model"], wanted["G"]
    m = mixtures.gaussian_mixture(kind, count, rows.shape[1])
    y = rows[:, 0] if rows.shape[1] == 1 else rows
    fit = m.learn({"y": y}, goal="map", restarts=1 if count == 1 else 40 if count > 3 else 10)
    if kind in ("EEE", "VVV"):
        spread = 1 / np.linalg.eigvalsh(fit["S"].value).max(axis=-1)
    else:
        spread = 1 / np.asarray(fit["tau"].value)
    smallest = np.linalg.eigvalsh(np.atleast_2d(np.cov(rows.T))).min()
    degenerate = spread.min() < 1e-5 * smallest or fit["p"].value.min() < 1.5 / len(rows)
    error = max(0.0, (wanted["loglik"] - fit.log_likelihood) / LOWEST)
    return f"{kind} {count}", error, "degenerate" if degenerate else "", fit.how


def _latent(data: Any, wanted: Any) -> tuple[str, float, str, str]:
    x = np.array(data["rows"]) - 1
    classes = wanted["classes"]
    m = mixtures.latent_class(classes, x.shape[1], int(x.max()) + 1)
    fit = m.learn({"x": x}, goal="map", restarts=1 if classes == 1 else 20)
    error = max(0.0, (wanted["loglik"] - fit.log_likelihood) / LATENT)
    return f"{classes} classes", error, "", fit.how


def _chain(data: Any, wanted: Any) -> tuple[str, float, str, str]:
    states = wanted["states"]
    fit = mixtures.poisson_chain(states).learn({"y": data["counts"]}, goal="map", restarts=1 if states == 1 else 5)
    error = abs(fit.log_likelihood + wanted["free_initial_EM"]["mllk"]) / CHAIN
    return f"{states} states", error, "", fit.how
