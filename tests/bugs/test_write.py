"""A model written as BUGS text reads back as the same density."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bugs.direct import Direct
from bugs.evaluated import log_joint
from bugs.snippets import SNIPPETS, STARTS
from outside.corpus import CORPUS, cases, needs_corpus
from platewright.errors import ModelError
from platewright.language.bugs.data import read_data
from platewright.language.bugs.reader import read_bugs
from platewright.language.bugs.write import write_bugs, written_names
from platewright.language.stan.write import write_stan

REFUSED = {
    "t_and_f_and_beta_binomial": "potential `f_density`",
    "leaning_on_two_before": "potential `b_part3_given_rest`",
    "entering_at_several_times": "`z_part2` is a series on plate i_t",
    "moving_after_a_first_state": "`s_part2` is a series on plate i_t",
    "intervals": "potential `k_holds`",
    "counted": "potential `y_holds`",
    "factors": "potential `zero_density`",
    "circle": "potential `c_given_rest`",
    "neighbours": "potential `b_3_given_rest`",
}
"""Series of different lengths, and lines that became log factors."""


def check(text: str, data: dict[str, np.ndarray], start: dict[str, np.ndarray]) -> None:
    """Read, written and read again, the log joint is that of an interpreter of the first text."""
    read = read_bugs(text, data)
    direct = Direct(read.text, data, 1, start)
    expected = direct.log_joint()
    values = read.values(direct.arrays())
    words = written_names(read.model)
    again = {}
    for label, variable in read.model.variables.items():
        if variable.kind != "deterministic" and not label.startswith("first@"):
            shift = 1.0 if variable.domain.kind == "levels" else 0.0
            again[words[label]] = np.asarray(values[label], dtype=float) + shift
    second = read_bugs(write_bugs(read.model), again)
    assert log_joint(second, {}) == pytest.approx(expected, rel=1e-11, abs=1e-8)


@pytest.mark.parametrize("name", [*SNIPPETS, "groups_plain", "regression_plain", "names_alike"])
def test_a_written_model_reads_back_with_the_same_log_joint(name: str) -> None:
    text, data = OWN.get(name) or SNIPPETS[name]
    if name in REFUSED:
        with pytest.raises(ModelError, match=REFUSED[name]):
            write_bugs(read_bugs(text, data).model)
        return
    check(text, read_data(data), read_data(STARTS.get(name, {})))


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_stan_program_is_written_or_refused_by_name(name: str) -> None:
    try:
        text = write_stan(read_bugs(*SNIPPETS[name]).model)
    except ModelError as refusal:
        assert "`" in refusal.found
    else:
        assert "model {" in text


WITHOUT_TEXT = {name for name in cases("bugs") if name in ("Ice", "jags_eyes_test1")}
WITHOUT_TEXT |= {name for name in cases("bugs") if name == "jags_kidney_notest1"}
TOO_LONG = {name for name in cases("bugs") if name in ("Pigweights", "Jama", "StVeit")}
"""Texts of more characters than are read, and those whose public data lack a table."""


@needs_corpus
@pytest.mark.parametrize("name", [name for name in cases("bugs") if name not in TOO_LONG])
def test_a_public_case_is_written_with_its_log_joint(name: str) -> None:
    folder = CORPUS / "bugs" / name
    text, data = next(folder.glob("model*.bug")).read_text(), read_data(folder / "data.json")
    if name in WITHOUT_TEXT:
        with pytest.raises(ModelError, match=r"potential|BUGS cannot say"):
            write_bugs(read_bugs(text, data).model)
        return
    start: dict[str, np.ndarray] = {}
    if (folder / "inits.json").exists():
        inits = json.loads((folder / "inits.json").read_text())
        first = (inits[0] if inits else {}) if isinstance(inits, list) else inits
        start = read_data({key: value for key, value in first.items() if not key.startswith(".")})
    check(text, data, start)


OWN = {
    "names_alike": (
        "model { for (i in 1:2) { a.b[i] ~ dnorm(a_b, 1); a_b.[i] ~ dnorm(a.b[i], 1); y[i] ~ dnorm(a_b.[i], helper.1) }"
        " a_b ~ dnorm(0, 1) helper.1 <- exp(a_b) + sum(a.b[1:2]) * 0 }",
        {"y": [1, 2]},
    ),
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
