"""The source of EM holds the text that the library runs, and gives its numbers alone on a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from backends.running import flowers, run_file
from platewright.backends.numpy.em import numpy_em_source
from platewright.run.hidden.printed import printed_em
from platewright.schemas.em import EMPlan, plan_em
from schemas import chains_that_meet, flat_mixtures, hierarchies, mixtures, nested_classes, sequences
from schemas.gaussian_latents import LATENTS
from schemas.small_instance import Case


def is_planned(case: Case) -> bool:
    """Whether EM takes the case at all."""
    return isinstance(plan_em(case.graph, "map"), EMPlan)


EVERY = (
    *mixtures.MIXTURES,
    *sequences.CHAINS,
    *sequences.WALKS,
    *hierarchies.HIERARCHIES,
    *LATENTS,
    *chains_that_meet.MEETING,
    *nested_classes.NESTED,
)
CASES = [case for case in EVERY if is_planned(case)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_the_library_runs_is_in_the_file(case: Case) -> None:
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    source = numpy_em_source(plan, gathered=False)
    assert all(part in source for part in parted(printed_em(plan).text))


def parted(text: str) -> list[str]:
    """The functions of a text."""
    return [f"def {part}".rstrip() for part in text.removeprefix("def ").split("\ndef ")]


def test_the_file_runs_alone_on_a_table(tmp_path: Path) -> None:
    m, data = flowers()
    fit = m.learn(data, goal="map", backend="numpy")
    assert "import platewright" not in fit.source()
    found = run_file(fit.source(), data, tmp_path)
    assert found["log_joint"] == fit.log_joint
    assert found["mu"] == fit["mu"].value.tolist()
    assert found["expect_2"] == fit["expect"].value.tolist()


def test_a_chain_runs_alone_on_a_table(tmp_path: Path) -> None:
    m = sequences.counts()
    data = {"y": [0, 1, 9, 8, 0, 0, 7, 9, 0, 1, 0, 8, 9, 7, 0]}
    fit = m.learn(data, goal="map")
    found = run_file(fit.source(), data, tmp_path)
    assert found["rate"] == fit["rate"].value.tolist()
    assert found["move"] == fit["move"].value.tolist()


def test_a_precision_is_kept_off_the_edge_and_unbounded_starts_give_way(tmp_path: Path) -> None:
    m = flat_mixtures.one_column()
    data = {"y": [0.0, 0.1, 0.2, 5.0, 5.1, 5.3, 0.15, 5.2]}
    found = run_file(m.derive(["y"], goal="map").source(), data, tmp_path)
    assert np.isfinite(found["log_joint"])
