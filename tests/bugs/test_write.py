"""A model written as BUGS text reads back as the same density."""

from __future__ import annotations

import numpy as np
import pytest

from bugs.direct import Direct
from bugs.evaluated import log_joint
from bugs.snippets import SNIPPETS
from platewright.errors import ModelError
from platewright.language.bugs.data import read_data
from platewright.language.bugs.reader import read_bugs
from platewright.language.bugs.write import write_bugs

WRITTEN = ["line", "groups_plain", "corner", "mixture", "regression_plain", "shifted", "censored"]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_written_model_reads_back_with_the_same_log_joint(name: str) -> None:
    text, data = OWN.get(name) or SNIPPETS[name]
    read = read_bugs(text, data)
    direct = Direct(read.text, read_data(data), 1, {})
    expected = direct.log_joint()
    arrays = direct.arrays()
    values = read.values(arrays)
    again = {}
    for label, variable in read.model.variables.items():
        if variable.kind != "deterministic":
            shift = 1.0 if variable.domain.kind == "levels" else 0.0
            again[label.replace("_", ".").rstrip(".")] = np.asarray(values[label], dtype=float) + shift
    second = read_bugs(write_bugs(read.model), again)
    assert log_joint(second, {}) == pytest.approx(expected, rel=1e-11, abs=1e-8)


OWN = {
    "groups_plain": (
        "model { for (i in 1:N) { y[i] ~ dpois(l[i]); log(l[i]) <- alpha[group[i]] }"
        " for (g in 1:G) { alpha[g] ~ dt(m, 2, 5) } m ~ ddexp(0, 1.5) }",
        {"N": 5, "G": 3, "y": [1, 0, 3, 2, 7], "group": [1, 3, 3, 2, 1]},
    ),
    "regression_plain": (
        "model { for (i in 1:N) { y[i] ~ dnorm(inprod(beta[], X[i,]), tau) } for (j in 1:P) { beta[j] ~ ddexp(0, 2) }"
        " tau ~ dpar(1.5, 0.2) }",
        {"N": 3, "P": 3, "y": [1, 2, 3], "X": [[1, 0, 2], [0, 1, 1], [2, 2, 0]]},
    ),
}


def test_what_bugs_cannot_say_is_declined_by_name() -> None:
    with pytest.raises(ModelError, match="potential"):
        write_bugs(read_bugs(*SNIPPETS["intervals"]).model)
    with pytest.raises(ModelError, match="BUGS cannot say"):
        write_bugs(read_bugs(*SNIPPETS["walk"]).model)
