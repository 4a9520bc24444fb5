"""Class probability trees through `pw.Tree`: exact evidence of the root, of every stump and of full two-way splits."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Sequence
from time import perf_counter

import numpy as np

import platewright as pw
from outside.corpus import CORPUS
from outside.outcome import Outcome

KIND = "trees"
QUICK = ("vote",)
PATIENCE = 5.0
TOLERANCE = 1e-6


def tree_evidence(
    codes: dict[str, np.ndarray], sizes: dict[str, int], child: str, splits: Sequence[str], prior: str
) -> float:
    """Log evidence of a column by the tree that splits fully on some attributes, in that order.

    `prior` is the pseudo-count of each class at each leaf, or `bdeu:S`: S shared evenly by the whole tree.
    """
    shared = prior.startswith("bdeu:")
    each = float(prior.removeprefix("bdeu:")) / (sizes[child] if shared else 1)
    m = pw.Model("tree")
    row, level = m.plate("row"), m.plate("level", sizes[child])
    data = {"child": codes[child]}
    for number, name in enumerate(name for name in codes if name != child):
        setattr(m, f"x{number}", pw.Input(plates=row, levels=sizes[name]))
        data[f"x{number}"] = codes[name]
    names = {name: f"x{number}" for number, name in enumerate(name for name in codes if name != child)}
    shape = None
    for name in reversed(splits):
        shape = pw.Split(names[name], every=shape)
    inputs = [getattr(m, name) for name in names.values()]
    m.child = pw.Tree(*inputs, prior=pw.Dirichlet(each, over=level), plates=row, shape=shape, shared=shared)
    return float(m.learn(data).log_evidence)


def read_table(path: object) -> tuple[list[str], list[list[str]]]:
    """The header and rows of a compressed CSV file."""
    with gzip.open(path, "rt") as stream:  # type: ignore[call-overload]
        rows = list(csv.reader(stream))
    return rows[0], rows[1:]


def coded(names: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Columns as numbers of their sorted levels."""
    codes, sizes = {}, {}
    for number, name in enumerate(names):
        levels, found = np.unique([row[number] for row in rows], return_inverse=True)
        codes[name], sizes[name] = found, len(levels)
    return codes, sizes


def run(name: str, seconds: float) -> Outcome:
    """Every tree of the reference."""
    start = perf_counter()
    reference = json.loads((CORPUS / KIND / name / "reference.json").read_text())
    names, rows = read_table(CORPUS / KIND / name / "data.csv.gz")
    names = [column.replace("-", ".") for column in names]
    codes, sizes = coded(names, rows)
    target = reference["class_column"]
    asked: list[tuple[tuple[str, ...], str, float]] = [((), "1", reference["log_evidence_root_alpha1"])]
    asked += [((key,), "1", value) for key, value in reference["log_evidence_stump_alpha1"].items()]
    asked += [((key,), "bdeu:1", value) for key, value in reference["log_evidence_stump_bdeu1"].items()]
    pairs = reference["log_evidence_full_two_way_split_alpha1"].items()
    asked += [(tuple(key.split(",")), "1", value) for key, value in pairs]
    worst, at, first = 0.0, "", None
    for parents, prior, wanted in asked:
        error = abs(tree_evidence(codes, sizes, target, parents, prior) - wanted) / TOLERANCE
        first = perf_counter() - start if first is None else first
        if error > worst:
            worst, at = error, f"{','.join(parents) or 'root'} {prior}"
    remark = f"{len(asked)} trees, worst {at}"
    verdict = "pass" if worst <= 1 else "fail"
    return Outcome(KIND, name, verdict, "exact evidence", "", first, perf_counter() - start, worst, remark)
