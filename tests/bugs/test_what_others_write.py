"""What texts of books have and readers stumble over: shapes from all left sides, zeros, starts, true causes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bugs.evaluated import log_joint
from platewright.errors import BugsError
from platewright.language.bugs.reader import read_bugs

MULTISTATE = """
model {
  phi ~ dunif(0, 1)
  p ~ dunif(0, 1)
  for (i in 1:n) {
    for (t in f[i]:(T - 1)) {
      ps[1, i, t, 1] <- phi
      ps[1, i, t, 2] <- 1 - phi
      ps[2, i, t, 1] <- 0
      ps[2, i, t, 2] <- 1
      po[1, i, t, 1] <- p
      po[1, i, t, 2] <- 1 - p
      po[2, i, t, 1] <- 0
      po[2, i, t, 2] <- 1
    }
    z[i, f[i]] <- y[i, f[i]]
    for (t in (f[i] + 1):T) {
      z[i, t] ~ dcat(ps[z[i, t - 1], i, t - 1, ])
      y[i, t] ~ dcat(po[z[i, t], i, t - 1, ])
    }
  }
}
"""


def test_the_shape_of_an_array_comes_from_all_its_left_sides() -> None:
    """No capture begins at the last occasion, so that the assignments alone reach column 3 of 4 only."""
    y = [[1, 1, 2, 2], [np.nan, 1, 1, 2], [np.nan, np.nan, 1, 1]]
    read = read_bugs(MULTISTATE, {"n": 3, "T": 4, "f": [1, 2, 3], "y": y})
    assert read.draft.shapes["z"] == (3, 4)
    z = np.array([[1, 1, 2, 2], [np.nan, 1, 1, 1], [np.nan, np.nan, 1, 1.0]])
    phi, p = 0.7, 0.4
    seen = [phi * p, (1 - phi), 1.0, phi * p, phi * (1 - p), phi * p]
    assert log_joint(read, {"phi": phi, "p": p, "z": z}) == pytest.approx(np.log(seen).sum())


def test_a_dirichlet_with_zeros_lives_on_the_other_categories() -> None:
    text = "model { for (j in 1:2) { p[j, 1:3] ~ ddirch(a[j, ]) } z ~ dcat(p[1, ]) }"
    read = read_bugs(text, {"a": [[2, 0, 3], [0, 0, 1]], "z": 3})
    p = np.array([0.3, 0.0, 0.7])
    at = {"p": np.array([p, [0, 0, 1]]), "p.positive2": p[[0, 2]], "p.positive1": p[[0, 2]]}
    found = log_joint(read, {name: values for name, values in at.items() if name in read.draft.blocks})
    assert found == pytest.approx(stats.beta(2, 3).logpdf(0.3) + np.log(0.7))


def test_a_dirichlet_without_zeros_stays_whole() -> None:
    read = read_bugs("model { p[1:3] ~ ddirch(a[]) z ~ dcat(p[]) }", {"a": [2, 1, 3], "z": 3})
    assert set(read.draft.blocks) == {"p", "z"}


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0, 2.0, 3.0, 4.0], 1.0, [[1.0, 2.0, 3.0]]])
def test_starting_values_of_a_wrong_length_are_told(values: object) -> None:
    read = read_bugs("model { for (k in 1:3) { b[k] ~ dnorm(0, 1) } }", {})
    with pytest.raises(BugsError, match="starting values of `b`") as caught:
        read.initial({"b": values})
    assert "3 values" in caught.value.expected


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        ("model {\n x ~ dnorm(0, 1)\n D(C[1], t) <- -k * C[1] }", "differential equations", 3),
        (
            "model {\n y <- ode.solution(a[], b[1:2], D(C[1:2], t), o, tol) \n x ~ dnorm(y, 1) }",
            "differential equations",
            2,
        ),
        ("model {\n y <- ode(a[1], b) \n x ~ dnorm(y, 1) }", "differential equations", 2),
        ("model {\n if (x > 1) { y ~ dnorm(0, 1) } }", "`if` is not supported", 2),
        ("model {\n # D(x, t)\n y ~ dnorm(0, , 1) }", "unexpected `,`", 3),
        ("model {\n g ~ dcat(p[])\n p[1:2] ~ ddirch(a[])\n y[g] ~ dnorm(0, 1) }", "`g` is unknown", 4),
    ],
)
def test_a_refusal_names_the_first_true_cause(text: str, word: str, line: int) -> None:
    with pytest.raises(BugsError, match=word) as caught:
        read_bugs(text, {"a": [1, 1]})
    assert caught.value.line == line
