"""A network of tables with the posterior means of its probabilities, as text in the Bayesian Interchange Format.

variable b { type discrete [ 2 ] { no, yes }; }
probability ( b | a ) { (no) 0.1, 0.9; (yes) 0.8, 0.2; }
"""

from __future__ import annotations

import re
from itertools import product

import numpy as np

from platewright.errors import ModelError, SizeError
from platewright.structure.columns import Rows
from platewright.structure.evidence_prior import EvidencePrior
from platewright.structure.network import Network

MOST_CELLS = 1 << 20
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]+")


def bif_text(network: Network, rows: Rows, prior: EvidencePrior) -> str:
    """Every node's table; refused where it would not fit, or a name cannot be written."""
    if not rows.tables:
        raise ModelError("BIF text holds tables only", expected="a network of categories")
    levels = [[_word(str(level)) for level in column.levels] for column in rows.columns]
    place = {name: number for number, name in enumerate(network.nodes)}
    lines = ["network learned {", "}"]
    for name, words in zip(network.nodes, levels, strict=True):
        lines.append(f"variable {_word(name)} {{")
        lines += [f"  type discrete [ {len(words)} ] {{ {', '.join(words)} }};", "}"]
    for name in network.nodes:
        above = sorted(network.parents(name), key=network.nodes.index)
        places, node = [place[parent] for parent in above], place[name]
        shape = [len(levels[parent]) for parent in places] + [len(levels[node])]
        if np.prod(shape, dtype=float) > MOST_CELLS:
            raise SizeError(
                f"the table of `{name}` has {np.prod(shape, dtype=float):.3g} cells", expected="a smaller one"
            )
        counts = prior.cells([*places, node], shape)
        np.add.at(counts, tuple(rows.codes[[*places, node]]), 1.0)
        means = counts / counts.sum(axis=-1, keepdims=True)
        given = f" | {', '.join(_word(parent) for parent in above)}" if above else ""
        lines.append(f"probability ( {_word(name)}{given} ) {{")
        for states in product(*(range(size) for size in shape[:-1])):
            shown = ", ".join(repr(float(share)) for share in means[states])
            head = f"({', '.join(levels[p][s] for p, s in zip(places, states, strict=True))})" if above else "table"
            lines.append(f"  {head} {shown};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _word(text: str) -> str:
    if not _PLAIN.fullmatch(text):
        raise ModelError(f"{text!r} cannot be written as a name in BIF", expected="letters, digits and _ . + -")
    return text
