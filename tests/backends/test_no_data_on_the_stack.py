"""Emitted C keeps every array whose size comes from data with the arrays of the chain: the stack has no room for it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.points_models import crossed

import platewright as pw
from platewright.backends.c_em.look_up import LOOK_UPS
from platewright.backends.c_gibbs.charts import CHARTS
from platewright.backends.c_gibbs.support import ALGEBRA

LOCAL = re.compile(r"^\s*(?:const )?(?:double|int64_t|int32_t) (?:\*const )?\w+\[([^\]]*)\]", re.MULTILINE)
FIXED = re.compile(r"\d*|BLOCK|[A-Z_0-9]+")


def sized_by_data(text: str) -> list[str]:
    """The lengths of local arrays that are no constants."""
    return [length for length in LOCAL.findall(text) if not FIXED.fullmatch(length.strip())]


def test_a_sampler_of_crossed_effects_has_no_such_array() -> None:
    m, data = crossed(np.random.default_rng(0))
    assert sized_by_data(m.derive(set(data), by="gibbs").source("c")) == []


def test_hidden_classes_and_chains_have_none() -> None:
    for ordered in (False, True):
        m = pw.Model("classes")
        row, k = m.plate("row", ordered=ordered), m.plate("k")
        m.p = pw.Dirichlet(1, over=k)
        m.mu = pw.Normal(0, sd=3, plates=k)
        m.z = pw.Categorical(m.p, plates=row)
        m.y = pw.Normal(m.mu[m.z], sd=1.0, plates=row)
        assert sized_by_data(m.derive({"y"}, by="gibbs").source("c")) == []


@pytest.mark.parametrize("texts", [ALGEBRA, CHARTS, {"look up": LOOK_UPS}], ids=["algebra", "charts", "look up"])
def test_carried_functions_have_none(texts: dict[str, str]) -> None:
    assert [length for text in texts.values() for length in sized_by_data(text)] == []


def test_the_pattern_notices_one() -> None:
    assert sized_by_data("    double pool[(wide + 1) * wide];\n    double top[64];\n") == ["(wide + 1) * wide"]
