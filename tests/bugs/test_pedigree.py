"""Discrete nodes that lean on one another through tables: derived one by one, and drawn from the right posterior."""

from __future__ import annotations

import itertools
import time

import numpy as np
from scipy import special

import platewright as pw
from bugs.snippets import SNIPPETS

TEXT, DATA = SNIPPETS["pedigree"]


def enumerated() -> tuple[np.ndarray, np.ndarray]:
    """The mean and the variance of each genotype, by adding up all of them with the risks integrated out."""
    mum, dad, ill = (np.asarray(DATA[name], dtype=int) for name in ("mum", "dad", "d"))
    passed, founders = np.asarray(DATA["P"]), np.asarray(DATA["f"])
    kinds = np.array(list(itertools.product(range(2), repeat=len(mum))))
    logs = np.log(founders[kinds[:, 0]]) + np.log(founders[kinds[:, 1]])
    for i in range(2, len(mum)):
        logs += np.log(passed[kinds[:, mum[i] - 1], kinds[:, dad[i] - 1], kinds[:, i]])
    for kind, (a, b) in enumerate([(5, 20), (20, 5)]):
        sick, well = ((kinds == kind) @ part for part in (ill, 1 - ill))
        logs += special.betaln(a + sick, b + well)
    weights = np.exp(logs - special.logsumexp(logs))
    mean = weights @ (kinds + 1)
    return mean, weights @ (kinds + 1) ** 2 - mean**2


def test_the_genotypes_of_a_family_are_drawn_from_their_posterior() -> None:
    model = pw.read_bugs(TEXT, DATA)
    fit = model.learn(model.read_from.data(), chains=4, warm_up=300, draws=6000, seed=5)
    mean, variance = enumerated()
    for i in range(len(mean)):
        label, at = model.read_from.cell(f"g[{i + 1}]")
        draws = fit.chains[label][(..., *at)] + 1
        batches = draws.reshape(-1, 600).mean(axis=1)
        error = batches.std(ddof=1) / np.sqrt(batches.size)
        assert abs(draws.mean() - mean[i]) < 5 * error, (i, draws.mean(), mean[i])
        assert abs(draws.var() - variance[i]) < 0.1


def test_a_large_family_is_derived_in_time_that_grows_with_its_members() -> None:
    seconds = []
    random = np.random.default_rng(1)
    for size in (12, 24):
        parents = [[1, 2] if i < 2 else random.choice(i, 2, replace=False) + 1 for i in range(size)]
        mum, dad = np.transpose(parents).tolist()
        data = {**DATA, "N": size, "mum": mum, "dad": dad, "d": random.integers(0, 2, size).tolist()}
        model = pw.read_bugs(TEXT, data)
        start = time.process_time()
        plan = model.derive(known=list(model.read_from.data()))
        seconds.append(time.process_time() - start)
        assert len({name for block in plan.blocks for name in block.variables}) > size
    assert seconds[1] < 8 * seconds[0] + 0.2  # it was without end before
