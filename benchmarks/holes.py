"""Parameters of a network from rows with missing cells, beside pyAgrum: the cost of an iteration of EM.

The networks have random tables and the arcs of `asia` (8 variables) and of `alarm` (37; where the outside cases are not
at hand, of a random network of that size); a tenth of the cells is missing. Both do the same iterations from their
own starts; the time of an iteration is the slope between two numbers of them.
"""

from __future__ import annotations

import csv
import gzip
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from side_by_side import Line

import platewright as pw
from platewright.data.bind import bind
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import read_graph, topological
from platewright.run.execute import columns_of
from platewright.run.hidden.em import Runner
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.schemas.em import EMPlan

Network = Mapping[str, tuple[str, ...]]
"""The parents of each variable, parents first."""

ASIA: Network = {
    "asia": (),
    "smoke": (),
    "tub": ("asia",),
    "lung": ("smoke",),
    "bronc": ("smoke",),
    "either": ("lung", "tub"),
    "xray": ("either",),
    "dysp": ("bronc", "either"),
}


def large(count: int = 37, seed: int = 4) -> tuple[Network, dict[str, int]]:
    """A sparse network like those of monitoring: parents are near, levels are two to four."""
    generator = np.random.default_rng(seed)
    parents: dict[str, tuple[str, ...]] = {}
    for k in range(count):
        near = [f"v{j}" for j in range(max(0, k - 6), k)]
        wanted = min(len(near), int(generator.choice([0, 1, 1, 2, 2, 3])))
        parents[f"v{k}"] = tuple(sorted(generator.choice(near, wanted, replace=False))) if wanted else ()
    return parents, {name: int(generator.integers(2, 5)) for name in parents}


def drawn(network: Network, levels: Mapping[str, int], rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Rows from random tables, a tenth of their cells taken away (-1)."""
    generator = np.random.default_rng(seed)
    values: dict[str, np.ndarray] = {}
    for name, parents in network.items():
        shape = [levels[p] for p in parents]
        table = np.cumsum(generator.dirichlet(np.full(levels[name], 0.5), shape), axis=-1)
        chosen = table[tuple(values[p] for p in parents)] if parents else np.broadcast_to(table, (rows, levels[name]))
        values[name] = (generator.random((rows, 1)) > chosen).sum(axis=1).clip(0, levels[name] - 1)
    return {name: np.where(generator.random(rows) < 0.1, -1, column) for name, column in values.items()}


def ours(network: Network, levels: Mapping[str, int], data: Mapping[str, np.ndarray]) -> tuple[Runner, dict]:
    """The derived iteration in C, and where it starts."""
    m = pw.Model("network")
    n = m.plate("n")
    plates = {name: m.plate(f"of_{name}", levels[name]) for name in network}
    for name, parents in network.items():
        setattr(m, f"t_{name}", pw.Dirichlet(2.0, over=plates[name], plates=tuple(plates[p] for p in parents)))
        table = getattr(m, f"t_{name}")
        at = tuple(getattr(m, parent) for parent in parents)
        setattr(m, name, pw.Categorical(table[at] if at else table, plates=n))
    holed = {name: [None if value < 0 else int(value) for value in column] for name, column in data.items()}
    dataset = bind(m._signature(), holed, partly=True)
    plan = m.derive(dataset.known, goal="map", partly=dataset.missing).plan
    assert isinstance(plan, EMPlan)
    columns, sizes = columns_of(plan.graph, dataset), {**fixed_sizes(plan.graph), **dataset.sizes}
    native = NativeCliques(plan, columns, sizes)
    assert native.native, native.left
    runner = Runner(plan, columns, sizes, native)
    return runner, runner.begun(runner.guessed(np.random.default_rng(0)))


def seconds_of_ours(runner: Runner, start: dict, iterations: int) -> float:
    begun = time.thread_time()
    values = start
    for _ in range(iterations):
        values = runner.next_values(runner.look(values), values)
    return time.thread_time() - begun


def seconds_of_theirs(network: Network, levels: Mapping[str, int], path: Path, iterations: int) -> float:
    """pyAgrum's learning of parameters, stopped after so many iterations."""
    import pyagrum

    net = pyagrum.BayesNet()
    for name in network:
        net.add(pyagrum.LabelizedVariable(name, name, [str(k) for k in range(levels[name])]))
    for name, parents in network.items():
        for parent in parents:
            net.addArc(parent, name)
    learner = pyagrum.BNLearner(str(path), net, ["?"])
    learner.useSmoothingPrior(1.0)
    learner.useEM(1e-12)
    learner.EMsetMaxIter(iterations)
    begun = time.process_time()
    learner.learnParameters(net.dag())
    return time.process_time() - begun


def written(folder: Path, network: Sequence[str], data: Mapping[str, np.ndarray]) -> Path:
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(network)
        writer.writerows([["?" if v < 0 else v for v in row] for row in zip(*(data[name] for name in network))])
    return path


def stored(name: str) -> tuple[Network, dict[str, int]] | None:
    """The arcs and levels of a network of the outside cases, where these are at hand."""
    path = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "bn" / name / "network.bif.gz"
    if not path.exists():
        return None
    graph = read_graph(pw.read_bif(gzip.decompress(path.read_bytes()).decode()))
    sizes = {name: plate.size for name, plate in graph.plates.items()}
    order = [name for name in topological(graph) if graph.nodes[name].kind == "random"]
    parents = {name: tuple(p for p in order if p in graph.parents[name]) for name in order}
    return parents, {name: int(sizes[str(graph.nodes[name].domain.levels)]) for name in order}


def holes(quick: bool, repeats: int) -> list[Line]:
    """How many of our iterations fit into one of theirs."""
    small = (ASIA, dict.fromkeys(ASIA, 2))
    alarm = stored("alarm") or large()
    sizes = (1_000, 200) if quick else (10_000, 1_000)
    return [_line(*small, sizes[0], repeats), _line(*alarm, sizes[1], repeats)]


def _line(network: Network, levels: Mapping[str, int], rows: int, repeats: int) -> Line:
    data = drawn(network, levels, rows)
    runner, start = ours(network, levels, data)
    best_ours = best_theirs = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), list(network), data)
        for _ in range(max(1, repeats // 2)):
            for _ in range(5):
                slope = (seconds_of_ours(runner, start, 30) - seconds_of_ours(runner, start, 10)) / 20
                best_ours = min(best_ours, slope)
            few, many = (seconds_of_theirs(network, levels, path, k) for k in (2, 4))
            best_theirs = min(best_theirs, (many - few) / 2)
    note = f"ours {1e3 * best_ours:.2f} ms, pyAgrum {1e3 * best_theirs:.0f} ms an iteration"
    what = f"EM, 10 % of cells missing, {len(network)} variables, N={rows}"
    return Line(what, best_theirs / best_ours, 300, "x", at_least=True, note=note)
