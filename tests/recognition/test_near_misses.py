"""Near misses are declined, and the refusal names the unknown and the condition in the words of the model."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.errors import ImproperPosterior, NotSolvable
from recognition.near_misses import NEAR_MISSES, Miss

INTERNAL = re.compile(r"block\d|: normaliser|: rest\b|: summed|: volume|: residual|weight\d|~")


def written(lines: tuple[str, ...]) -> Any:
    """The model of a near miss: constructors get their `pw.`, names their `m.`."""
    m = pw.Model("near miss")
    space: dict[str, Any] = {name: getattr(pw, name) for name in pw.__all__} | {"m": m}
    space |= {"n": m.plate("n"), "g": m.plate("g", 2), "k": m.plate("k", 3), "d": m.plate("d", 2)}
    m.z = pw.Input(plates=space["n"], levels=space["g"])
    m.e = pw.Input(plates=space["n"])
    for line in lines:
        name, _, right = line.partition(" = ")
        setattr(m, name, eval(right, space))
    return m


def refusal(miss: Miss) -> str:
    m = written(miss.lines)
    known = [name for name in ("y", "v") if name in m.variables and name == miss.lines[-1].split()[0]]
    with pytest.raises(NotSolvable) as caught:
        m.derive(known=known, by="exact")
    return str(caught.value).split("declined:")[-1].split("\n  expected")[0].strip()


@pytest.mark.parametrize("miss", NEAR_MISSES, ids=lambda miss: f"{miss.rule}: {miss.lines[-1]}")
def test_a_near_miss_is_declined_in_the_words_of_the_model(miss: Miss) -> None:
    reason = refusal(miss)
    for words in miss.says:
        assert words in reason, reason
    assert not INTERNAL.search(reason), reason
    assert len(reason) < 700, reason


def test_every_rule_has_at_least_three_near_misses() -> None:
    counts = Counter(miss.rule for miss in NEAR_MISSES)
    assert min(counts.values()) >= 3, counts


IMPROPER = (
    (("mu = Flat()", "tau = Gamma(0.001, rate=0.001)", "y = Normal(m.mu, precision=m.tau, plates=n)"), []),
    (("mu = Flat()", "y = Normal(m.mu, sd=1, plates=n)"), []),
    (("a = Flat()", "b = Flat()", "y = Normal(m.a + m.b * m.e, sd=1, plates=n)"), [1.0]),
    (("mu = Flat(plates=g)", "y = Normal(m.mu[m.z], sd=1, plates=n)"), [1.0, 2.0]),
)


@pytest.mark.parametrize("lines, values", IMPROPER, ids=lambda case: str(case)[:40])
def test_improper_posteriors_are_refused_and_say_what_is_missing(lines: tuple[str, ...], values: list[float]) -> None:
    rows = len(values)
    data = {"y": np.array(values), "z": np.zeros(rows, dtype=int), "e": np.ones(rows)}
    with pytest.raises(ImproperPosterior) as caught:
        written(lines).learn(data)
    assert "needed" in str(caught.value) or "proper prior" in str(caught.value), caught.value
