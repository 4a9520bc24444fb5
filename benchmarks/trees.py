"""Growth of trees beside scikit-learn's, and what averages over trees say of rows kept back, in one run.

    PYTHONPATH=src python benchmarks/trees.py [--peers PYTHON] [--rows 1000000] [--part PART] [--corpus FOLDER]

PART is growth or loss. Growth: discrete and real columns in equal parts, times are processor seconds of one thread from
the columns to the tree. Loss: mean log loss on a third of the rows, over several splits; a random forest has as many
trees as leaves that a row of ours may fall into. `--peers` is the interpreter that has scikit-learn.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np

import platewright as pw

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
COLUMNS = 30
WIDTH = 64
PSEUDOCOUNTS = (0.25, 0.5, 1.0, 2.0)

GROWTH = """
import json, sys
from time import process_time
import numpy as np
from sklearn.tree import DecisionTreeClassifier
found = np.load(sys.argv[1])
x, y, new, truth = found["x"], found["y"], found["new"], found["truth"]
leaves = int(sys.argv[2])
said = {}
for name, options in (("as it comes", {}), ("as many leaves as ours", {"max_leaf_nodes": leaves})):
    start = process_time()
    tree = DecisionTreeClassifier(random_state=0, **options).fit(x, y)
    spent = process_time() - start
    chance = np.clip(tree.predict_proba(new)[np.arange(len(new)), truth], 1e-15, 1)
    said[name] = [spent, int(tree.get_n_leaves()), float(-np.log(chance).mean())]
    print("FOUND " + json.dumps(said), flush=True)
"""

FOREST = """
import json, sys
import numpy as np
from sklearn.ensemble import RandomForestClassifier
found = np.load(sys.argv[1])
codes, y, orders, width = found["codes"], found["y"], found["orders"], int(found["width"])
hot = np.concatenate([np.eye(column.max() + 1)[column] for column in codes.T], axis=1)
count = len(y) * 2 // 3
said = {}
for name, inputs in (("a column for each level", hot), ("levels as numbers", codes)):
    losses = []
    for seed, order in enumerate(orders):
        learn, kept = order[:count], order[count:]
        forest = RandomForestClassifier(width, random_state=seed).fit(inputs[learn], y[learn])
        chances = np.zeros((len(kept), y.max() + 1))
        chances[:, forest.classes_] = forest.predict_proba(inputs[kept])
        losses.append(-np.log(np.clip(chances[np.arange(len(kept)), y[kept]], 1e-15, 1)).mean())
    said[name] = float(np.mean(losses))
print("FOUND " + json.dumps(said))
"""


def by_peer(python: str, text: str, limit: float, *words: str) -> dict[str, object] | str:
    """What a peer found, as far as it came in its time, or why there is nothing."""
    why = f"not done after {limit:.0f} s"
    try:
        said = subprocess.run([python, "-c", text, *words], capture_output=True, text=True, timeout=limit)
        out, why = said.stdout, (said.stderr.strip().splitlines() or ["nothing said"])[-1]
    except subprocess.TimeoutExpired as late:
        out = (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else late.stdout or ""
    lines = [line for line in out.splitlines() if line.startswith("FOUND ")]
    return json.loads(lines[-1].removeprefix("FOUND ")) if lines else why


def drawn(rows: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Fifteen real columns, fifteen of four levels, and a class that hangs on some of both."""
    rng = np.random.default_rng(seed)
    real = rng.normal(size=(rows, COLUMNS // 2))
    level = rng.integers(0, 4, size=(rows, COLUMNS // 2))
    height = (real[:, 0] > 0.3) + 1.2 * (real[:, 1] * level[:, 0] > 0.5) - (level[:, 1] == 2) * (real[:, 2] > -0.2)
    height = height + 0.7 * real[:, 3] + (level[:, 2] == level[:, 3])
    y = (rng.random(rows) < 1 / (1 + np.exp(-2 * (height - 0.8)))).astype(int)
    table = {f"real{k}": np.ascontiguousarray(real[:, k]) for k in range(COLUMNS // 2)}
    table |= {f"level{k}": np.ascontiguousarray(level[:, k]) for k in range(COLUMNS // 2)}
    return table, y


def growth(given: argparse.Namespace) -> None:
    """One tree on many rows."""
    table, y = drawn(given.rows, given.seed)
    new, truth = drawn(max(1000, given.rows // 10), given.seed + 1)
    few = {name: column[:200] for name, column in table.items()}
    pw.TreeClassifier(options=1).fit(few, y[:200])  # compiled once on a machine
    seconds = []
    for _ in range(given.repeats):
        start = process_time()
        found = pw.TreeClassifier(options=1, averaged=False).fit(table, y)
        seconds.append(process_time() - start)
    ours = min(seconds)
    leaves = len(repr(found.tree).split("leaf")) - 1
    print(f"\ngrowth on {given.rows} rows of {COLUMNS} columns")
    print(f"{'':42} {'cpu s':>9} {'leaves':>8} {'log loss':>9} {'ratio':>8}")
    loss = -found.log_predictive(new, truth).mean()
    print(f"{'ours, pruned by evidence':42} {ours:9.2f} {leaves:8d} {loss:9.4f} {1:8.2f}")
    smooth = -found.set_params(averaged=True).log_predictive(new, truth).mean()
    print(f"{'ours, all of its prunings':42} {'':9} {'':8} {smooth:9.4f}")
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "rows.npz"))
        np.savez(file, x=np.stack([*table.values()], 1), y=y, new=np.stack([*new.values()], 1), truth=truth)
        said = by_peer(given.peers, GROWTH, given.limit, file, str(leaves))
    if isinstance(said, str):
        print(f"{'DecisionTreeClassifier':42} {said}")
        return
    for name, (spent, many, lost) in said.items():
        shown = f"DecisionTreeClassifier, {name}"
        print(f"{shown:46} {spent:5.2f} {many:8d} {lost:9.4f} {spent / ours:8.2f}")
        print(f"{'pass' if spent >= ours else 'MISS'}  ours is no slower")


def read(folder: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The inputs and the classes of a public case."""
    target = json.loads((folder / "reference.json").read_text())["class_column"]
    with gzip.open(folder / "data.csv.gz", "rt") as stream:
        header, *rows = csv.reader(stream)
    table = {name: np.array(column) for name, column in zip(header, zip(*rows, strict=True), strict=True)}
    table = {name.replace("-", "."): column for name, column in table.items()}
    y = table.pop(target)
    return {name: column for name, column in table.items() if len(np.unique(column)) > 1}, y


def loss(given: argparse.Namespace) -> None:
    """Averages, the best pruned tree and a random forest on rows kept back."""
    print(f"\nmean log loss on a third of the rows, {given.splits} splits, {WIDTH} leaves or trees a row")
    print(f"{'':14} {'averaged':>9} {'smoothed':>9} {'pruned':>9} {'one tree':>9} {'forests':>18}")
    wins = 0
    for folder in sorted((given.corpus / "trees").iterdir()):
        table, classes = read(folder)
        y = np.unique(classes, return_inverse=True)[1]
        levels = {name: np.unique(column, return_inverse=True) for name, column in table.items()}
        orders = np.stack([np.random.default_rng(seed).permutation(len(y)) for seed in range(given.splits)])
        count = len(y) * 2 // 3
        losses = []
        for order in orders:
            losses.append(_losses(levels, y, order[:count], order[count:]))
        ours = np.mean(losses, axis=0)
        with tempfile.TemporaryDirectory() as place:
            file = str(Path(place, "rows.npz"))
            codes = np.stack([found for _, found in levels.values()], 1)
            np.savez(file, codes=codes, y=y, orders=orders, width=WIDTH)
            said = by_peer(given.peers, FOREST, given.limit, file)
        forests = list(said.values()) if isinstance(said, dict) else [np.nan]
        shown = " ".join(f"{value:9.4f}" for value in forests)
        better = bool(ours[0] < min(ours[2:]) and ours[0] < min(forests))
        wins += better
        print(f"{folder.name:14} {' '.join(f'{value:9.4f}' for value in ours)} {shown}  {'better' if better else ''}")
    print(f"{'pass' if wins >= 3 else 'MISS'}  averages are better than both on {wins} sets, target 3")


def _losses(
    levels: dict[str, tuple[np.ndarray, np.ndarray]], y: np.ndarray, learn: np.ndarray, kept: np.ndarray
) -> list[float]:
    """Of an option tree averaged, of one tree over all its prunings, of the best of each."""
    from platewright.language.split import Attribute
    from platewright.language.tree_prior import TreePrior
    from platewright.trees.leaves import ClassLeaf
    from platewright.trees.option_tree import grow_options
    from platewright.trees.rows import Rows, read_input
    from platewright.trees.search import Search

    many = int(y.max()) + 1
    inputs = tuple(read_input(Attribute(name, len(found)), codes[learn]) for name, (found, codes) in levels.items())
    table = np.stack([codes[kept] for _, codes in levels.values()], axis=1).astype(np.uint8)

    def grown(search: Search) -> list[float]:
        leaves = (ClassLeaf(np.full(many, count / many)) for count in PSEUDOCOUNTS)
        trees = [grow_options(Rows(inputs, y[learn], leaf), TreePrior(), search) for leaf in leaves]
        best = max(trees, key=lambda found: found.log_evidence)
        said = (best.say(table, weights) for weights in (best.averaged, best.chosen))
        return [float(-np.log(chances[np.arange(len(kept)), y[kept]]).mean()) for chances in said]

    averaged, pruned = grown(Search(options=3, width=WIDTH))
    smoothed, alone = grown(Search())
    return [averaged, smoothed, pruned, alone]


def main() -> None:
    """The parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=sys.executable)
    parser.add_argument("--part", choices=("growth", "loss"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--limit", type=float, default=900.0)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    given = parser.parse_args()
    if given.part in (None, "growth"):
        growth(given)
    if given.part in (None, "loss"):
        loss(given)


if __name__ == "__main__":
    main()
