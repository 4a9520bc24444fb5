"""Structure search and sums over all networks beside other programs, in one run.

    PYTHONPATH=src python benchmarks/structure.py [--peers PYTHON] [--rows 10000] [--part PART] [--corpus FOLDER]

PART is search, wide, exact, sample or missing. Rows are drawn from a network of 37 nodes among the public cases. Every
network that any program finds is scored here, by one score; times are processor seconds. A peer that is not installed,
or takes longer than its limit, is named as such. `--peers` is the interpreter that has them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import platewright as pw
from platewright.graph.graph import read_graph

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
STRENGTH = 10.0

PEERS = {
    "pyAgrum, greedy": """
import pyagrum as gum
learner = gum.BNLearner(frame)
learner.useScoreBDeu()
learner.useGreedyHillClimbing()
learner.setNumberOfThreads(1)
start = process_time()
net = learner.learnBN()
spent = process_time() - start
arcs = [(net.variable(a).name(), net.variable(b).name()) for a, b in net.arcs()]
""",
    "pyAgrum, tabu": """
import pyagrum as gum
learner = gum.BNLearner(frame)
learner.useScoreBDeu()
learner.useLocalSearchWithTabuList(100, 2)
learner.setNumberOfThreads(1)
start = process_time()
net = learner.learnBN()
spent = process_time() - start
arcs = [(net.variable(a).name(), net.variable(b).name()) for a, b in net.arcs()]
""",
    "pgmpy, greedy": """
import pgmpy.estimators
BDeu = getattr(pgmpy.estimators, "BDeu", None) or pgmpy.estimators.BDeuScore
start = process_time()
text = frame.astype(str)
score = BDeu(text, equivalent_sample_size=STRENGTH)
net = pgmpy.estimators.HillClimbSearch(text).estimate(scoring_method=score, show_progress=False)
spent = process_time() - start
arcs = [tuple(arc) for arc in net.edges()]
""",
    "causal-learn, GES": """
from causallearn.search.ScoreBased.GES import ges
start = process_time()
how = {"sample_prior": STRENGTH, "structure_prior": 1}
names = list(frame)
found = ges(frame.to_numpy(), score_func="local_score_BDeu", parameters=how, node_names=names)
spent = process_time() - start
from causallearn.utils.PDAG2DAG import pdag2dag
matrix = pdag2dag(found["G"]).graph
places = range(len(names))
arcs = [(names[i], names[j]) for i in places for j in places if matrix[j, i] == 1 and matrix[i, j] == -1]
""",
}
FRAME = """
import json, sys
from time import process_time
import pandas
frame = pandas.read_csv(sys.argv[1])
STRENGTH = float(sys.argv[2])
{search}
print("FOUND", json.dumps([spent, arcs]))
"""


def drawn(rows: int, seed: int, corpus: Path = CORPUS) -> tuple[dict[str, np.ndarray], pw.Network]:
    """Rows of the network as codes, and its arcs."""
    with gzip.open(corpus / "bn" / "alarm" / "network.bif.gz", "rt") as stream:
        model = pw.read_bif(stream.read())
    table = {
        name: np.unique(column, return_inverse=True)[1] for name, column in model.infer().draws(rows, seed).items()
    }
    graph = read_graph(model)
    arcs = frozenset((parent, name) for name, node in graph.nodes.items() for parent in node.parents)
    table = {name: column for name, column in table.items() if len(np.unique(column)) > 1}
    return table, pw.Network(tuple(graph.nodes), arcs)


def by_peer(python: str, search: str, file: str, limit: float) -> tuple[float, list[tuple[str, str]]] | str:
    """Processor seconds and arcs, or why there are none."""
    command = [python, "-c", FRAME.format(search=search), file, str(STRENGTH)]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"not done after {limit:.0f} s"
    lines = [line for line in said.stdout.splitlines() if line.startswith("FOUND ")]
    if not lines:
        return (said.stderr.strip().splitlines() or ["nothing said"])[-1]
    seconds, arcs = json.loads(lines[-1].removeprefix("FOUND "))
    return seconds, [(parent, child) for parent, child in arcs]


def search(given: argparse.Namespace) -> None:
    """Our searches and those of the peers on the same rows; one of ours has the prior over arcs of the last peer."""
    rows, repeats = given.rows, given.repeats
    table, truth = drawn(rows, given.seed, given.corpus)
    family = pw.Structures(table, sample_size=STRENGTH)
    family.search(table, restarts=1)  # compiled once on a machine
    print(f"\n{rows} rows, {len(table)} columns; BDeu, sample size {STRENGTH:g}")
    print(f"{'':28} {'cpu s':>9} {'log evidence':>15} {'distance':>9} {'ratio':>8}")
    print(f"{'the true network':28} {'':>9} {family.score(table, truth).log_evidence:15.1f} {0:9d}")
    ours = 0.0
    sparse = pw.arcs(1.0 / (len(table) - 1))
    for by, restarts, prior in (
        ("auto", None, None),
        ("auto", None, sparse),
        ("orders", 10, None),
        ("classes", 1, None),
        ("classes", 1, sparse),
        ("tabu", 1, None),
        ("greedy", 1, None),
    ):
        seconds = []
        for _ in range(repeats):
            start = process_time()
            best = pw.Structures(table, sample_size=STRENGTH, prior=prior).search(table, by=by, restarts=restarts)
            seconds.append(process_time() - start)
        ours = ours or min(seconds)
        name = f"ours, {by}" + (f", p(arc) 1/{len(table) - 1}" if prior else "")
        line = f"{name:28} {min(seconds):9.3f} {best.log_evidence:15.1f} {best.graph.distance(truth):9d}"
        print(f"{line} {min(seconds) / ours:8.2f}")
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "rows.csv"))
        header = ",".join(table)
        np.savetxt(file, np.column_stack(list(table.values())), fmt="%d", delimiter=",", header=header, comments="")
        for name, text in PEERS.items():
            found = by_peer(given.peers, text, file, given.limit)
            if isinstance(found, str):
                print(f"{name:28} {found}")
                continue
            scored = family.score(table, found[1])
            line = f"{name:28} {found[0]:9.3f} {scored.log_evidence:15.1f} {scored.graph.distance(truth):9d}"
            print(f"{line} {found[0] / ours:8.1f}", flush=True)


def wide(_: argparse.Namespace) -> None:
    """Many rows of some thirty columns, from a random network of the same sort."""
    for rows, columns in ((137_000, 29), (25_000, 30)):
        rng = np.random.default_rng(0)
        table: dict[str, np.ndarray] = {}
        for number in range(columns):
            above = [table[f"x{p}"] for p in rng.choice(number, min(number, 2), replace=False)] if number else []
            levels = int(rng.integers(2, 5))
            mixed: Any = sum(above) if above else 0
            free = rng.integers(0, levels, rows)
            table[f"x{number}"] = np.where(rng.random(rows) < 0.6, (mixed + number) % levels, free)
        start, wall = process_time(), perf_counter()
        best = pw.Structures(table).search(table)
        spent = process_time() - start
        print(
            f"{rows} x {columns}: {spent:.1f} s processor, {perf_counter() - wall:.1f} s wall, {best.log_evidence:.1f}"
        )


def exact(given: argparse.Namespace) -> None:
    """Best network, evidence and every arc, by dynamic programming."""
    table, _ = drawn(1000, 1, given.corpus)
    for nodes in (12, 16, given.nodes):
        part = {name: table[name] for name in list(table)[:nodes]}
        start, wall = process_time(), perf_counter()
        found = pw.Structures(part).enumerate(part)
        best, total, arcs = found.best, found.log_evidence, found.arcs
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        spent = f"{process_time() - start:.1f} s processor, {perf_counter() - wall:.1f} s wall, {memory:.2f} GB"
        print(f"{nodes} nodes: {spent}; best {best.log_evidence:.2f}, evidence {total:.2f}, {arcs.sum():.2f} arcs")


def sample(given: argparse.Namespace) -> None:
    """Moves in a second, and how far the arcs are from their exact probabilities."""
    table, _ = drawn(200, 2, given.corpus)
    for nodes in range(5, 9):
        part = {name: table[name] for name in list(table)[-nodes:]}
        family = pw.Structures(part)
        exactly = family.enumerate(part)
        start = process_time()
        found = family.sample(part, draws=20_000, seed=0)
        moves = found.chains.draws.size * min(10 * nodes, 60) * 1.1
        worst = np.abs(found.arcs - exactly.arcs).max()
        speed = moves / (process_time() - start)
        agreed = f"R-hat {found.diagnostics['worst_rhat']:.3f}"
        print(f"{nodes} nodes: {speed:,.0f} moves a second; arcs within {worst:.4f}, {agreed}")


def missing(given: argparse.Namespace) -> None:
    """A fifth of the cells missing at random, beside the same rows complete."""
    table, truth = drawn(given.rows, given.seed, given.corpus)
    rng = np.random.default_rng(0)
    family = pw.Structures(table, sample_size=STRENGTH)
    whole = family.search(table).graph.distance(truth)
    gone = {name: np.where(rng.random(len(column)) < 0.2, np.nan, column) for name, column in table.items()}
    start = process_time()
    found = family.search(gone).graph.distance(truth)
    print(f"distance {whole} of complete rows, {found} with 20 % missing; {process_time() - start:.1f} s processor")


def main() -> None:
    """One table for each part."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", default=sys.executable)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--part", default="search", choices=("search", "wide", "exact", "sample", "missing"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    given = parser.parse_args()
    {"search": search, "wide": wide, "exact": exact, "sample": sample, "missing": missing}[given.part](given)


if __name__ == "__main__":
    main()
