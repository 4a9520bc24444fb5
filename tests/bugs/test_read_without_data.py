"""A text that was read without data takes data of any size; what does not fit is refused, and no row is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.errors import BugsError

BUGS = (
    "model { for (i in 1:N) { y[i] ~ dnorm(mu + b * x[i], tau) }"
    " mu ~ dnorm(0, 0.01) b ~ dnorm(0, 0.1) tau ~ dgamma(1, 1) }"
)
STAN = """data { int N; vector[N] x; vector[N] y; }
parameters { real mu; real b; real<lower=0> s; }
model { mu ~ normal(0, 10); b ~ normal(0, 3); s ~ gamma(1, 1); y ~ normal(mu + b * x, s); }"""
WAYS: list[tuple[Callable[..., pw.Model], str]] = [(pw.read_bugs, BUGS), (pw.read_stan, STAN)]


def rows(count: int) -> dict[str, Any]:
    return {"N": count, "x": np.arange(count) / 7, "y": np.sin(np.arange(count))}


@pytest.mark.parametrize(("read", "text"), WAYS, ids=["bugs", "stan"])
@pytest.mark.parametrize("count", [3, 7, 8, 100])
def test_all_rows_arrive_whatever_their_number(read: Callable[..., pw.Model], text: str, count: int) -> None:
    late, early = read(text), read(text, rows(count))
    given = late.read_from.data(rows(count))
    assert {name: values.shape for name, values in given.items() if values.ndim} == {"x": (count,), "y": (count,)}
    wanted = early.read_from.data()
    assert all(np.array_equal(given[name], wanted[name]) for name in wanted)
    first, second = (model.learn(given, goal="map") for model in (late, early))
    assert abs(first["b"].value - second["b"].value) < 1e-9


@pytest.mark.parametrize(("read", "text"), WAYS, ids=["bugs", "stan"])
def test_data_of_another_size_than_the_model_are_refused(read: Callable[..., pw.Model], text: str) -> None:
    model = read(text, rows(4))
    with pytest.raises(BugsError, match=r"the data of `[xy]` have 100 values"):
        model.read_from.data({name: values for name, values in rows(100).items() if name != "N"})


def test_data_that_change_the_structure_are_refused() -> None:
    text = "model { for (i in 1:N) { y[i] ~ dnorm(m[i], 1) } for (k in 1:K) { m[k] ~ dnorm(0, 1) } #\n"
    text += "for (j in (K+1):N) { m[j] ~ dnorm(1, 1) } }"
    model = pw.read_bugs(text)
    with pytest.raises(BugsError, match="another structure"):
        model.read_from.data({"N": 4, "K": 2, "y": np.arange(4.0)})
