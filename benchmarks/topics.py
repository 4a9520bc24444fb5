"""Topics by collapsed Gibbs sampling beside tomotopy: sweeps over 2000 documents of 100 words, one thread.

Both start from random topics with the same priors, which stay as they are. Ours keeps counts as integers and weighs in
float64; tomotopy's weights are float32. Its threads are its own, so the processor time is that of the whole process.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from side_by_side import Line

import platewright as pw
from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.graph.graph import read_graph
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.run.samplers.collapsed_fit import start_sampler
from platewright.run.samplers.native_collapsed import NativeCollapsed
from platewright.schemas.collapsed import CollapsedPlan, plan_collapsed

ALPHA, ETA = 0.1, 0.01
SWEEPS = 20
MANY = 1_000_000
"""Sweeps of a run that a compiler is worth."""


def topic_model(topics: int, terms: int) -> pw.Model:
    """Latent Dirichlet allocation, as it is written down."""
    m = pw.Model("topics")
    doc = m.plate("doc")
    word = m.plate("word", within=doc)
    topic, term = m.plate("topic", topics), m.plate("term", terms)
    m.theta = pw.Dirichlet(ALPHA, over=topic, plates=doc)
    m.phi = pw.Dirichlet(ETA, over=term, plates=topic)
    m.z = pw.Categorical(m.theta, plates=word)
    m.w = pw.Categorical(m.phi[m.z], plates=word)
    return m


def documents(count: int, length: int, terms: int, topics: int, seed: int = 0) -> np.ndarray:
    """Words drawn from the model itself, document by document."""
    generator = np.random.default_rng(seed)
    running = np.cumsum(generator.dirichlet(np.full(terms, 0.05), topics), axis=1)
    theta = np.cumsum(generator.dirichlet(np.full(topics, ALPHA), count), axis=1)
    z = (generator.random((count, length, 1)) > theta[:, None, :]).sum(axis=-1).clip(0, topics - 1)
    u = generator.random((count, length))
    return np.array([[np.searchsorted(running[k], x) for k, x in zip(*row)] for row in zip(z, u)]).clip(0, terms - 1)


def ours(words: np.ndarray, topics: int, terms: int) -> NativeCollapsed:
    """The derived sampler in C."""
    plan = plan_collapsed(read_graph(topic_model(topics, terms), ("w",)), "posterior")
    assert isinstance(plan, CollapsedPlan), plan
    count, length = words.shape
    columns = {"doc@word": np.repeat(np.arange(count), length), "w": words.ravel()}
    data = CollapsedData(plan, columns, {"doc": count, "word": words.size, "topic": topics, "term": terms})
    start = {"z": np.random.default_rng(0).integers(0, topics, words.size)}
    sampler = start_sampler(data, start, Xoshiro.seeded(np.random.SeedSequence(0)), "c", MANY)
    assert isinstance(sampler, NativeCollapsed)
    return sampler


def theirs(words: np.ndarray, topics: int) -> Callable[[int], object]:
    """tomotopy with the same priors."""
    import tomotopy

    model = tomotopy.LDAModel(k=topics, alpha=ALPHA, eta=ETA, seed=1)
    for row in words:
        model.add_doc([str(word) for word in row])
    model.optim_interval = model.burn_in = 0

    def sweep(count: int) -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.train(count, workers=1)

    sweep(0)
    return sweep


def lda(quick: bool, repeats: int) -> list[Line]:
    """Processor time of a sweep, the two in turn, best of several."""
    count, length, terms, topics = (200 if quick else 2000), 100, 5000, 50
    words = documents(count, length, terms, topics)
    runs = (ours(words, topics, terms).sweep, theirs(words, topics))
    best = [[np.inf, np.inf], [np.inf, np.inf]]
    for turn in range(4 * repeats):
        for number, run in enumerate(runs):
            clock, processor = time.perf_counter(), time.process_time()
            run(SWEEPS)
            took = [time.process_time() - processor, time.perf_counter() - clock]
            if turn:
                best[number] = [min(pair) for pair in zip(best[number], took)]
    (own, own_clock), (other, other_clock) = ([1e3 * seconds / SWEEPS for seconds in pair] for pair in best)
    note = f"ours {own:.2f} ms, tomotopy {other:.2f} ms a sweep (by the clock {other_clock / own_clock:.2f}x)"
    what = f"topics, {count} x {length} words, V={terms}, K={topics}"
    return [Line(what, other / own, 1.0, "x", at_least=True, note=note)]
