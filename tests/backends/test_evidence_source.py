"""The source of a plan for the evidence runs alone and gives the number of the library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import platewright as pw
from backends.running import run_file, running
from platewright.backends.numpy.evidence import EvidenceEmitter, numpy_evidence_source
from platewright.errors import PlatewrightError
from platewright.operation import Declined
from platewright.run.evidence.evidence_enumeration import enumerated
from platewright.run.evidence.evidence_quadrature import quadrature
from platewright.schemas.evidence import plan_enumeration
from platewright.schemas.quadrature import plan_point_by_point
from schemas.field_models import EVERY
from schemas.small_instance import Case, instance

LISTED = [case for case in EVERY if not isinstance(plan_enumeration(case.graph, "evidence"), Declined)]
LAID = [case for case in EVERY if not isinstance(plan_point_by_point(case.graph, "evidence"), Declined)]
MOST = 300


def test_many_cases_are_here() -> None:
    assert len(LISTED) >= 10 and len(LAID) >= 5


def by_source(plan: object, case: Case, most: int) -> object:
    emitter = EvidenceEmitter(plan)  # type: ignore[arg-type]
    emitter.module()
    small, names = instance(case, 0), emitter.names
    data = {names(name): value for name, value in small.columns.items()}
    size = {names(plate): value for plate, value in small.sizes.items()}
    try:
        return running(numpy_evidence_source(plan))["learn"](data, size, most=most)  # type: ignore[arg-type]
    except (ArithmeticError, ValueError) as error:
        return str(error)


@pytest.mark.parametrize("case", LISTED, ids=lambda case: case.name)
def test_a_sum_over_all_values_is_the_library_s(case: Case) -> None:
    plan, small = plan_enumeration(case.graph, "evidence"), instance(case, 0)
    found = by_source(plan, case, MOST)
    try:
        wanted = enumerated(plan, small.columns, small.sizes, most=MOST)  # type: ignore[arg-type]
    except PlatewrightError:
        assert "would have to be listed" in str(found)
        return
    assert found["log_evidence"] == pytest.approx(wanted.value, rel=1e-12)  # type: ignore[index]


@pytest.mark.parametrize("case", LAID, ids=lambda case: case.name)
def test_an_integral_is_the_library_s(case: Case) -> None:
    plan, small = plan_point_by_point(case.graph, "evidence"), instance(case, 0)
    found = by_source(plan, case, MOST)
    try:
        wanted = quadrature(plan, small.columns, small.sizes, most=MOST)  # type: ignore[arg-type]
    except PlatewrightError as error:
        assert error.found == found
        return
    assert found["log_evidence"] == pytest.approx(wanted.value, rel=1e-12)  # type: ignore[index]


def test_the_file_runs_alone_on_a_table(tmp_path: Path) -> None:
    m = pw.Model("two kinds")
    row, kind = m.plate("row"), m.plate("kind", 2)
    m.share = pw.Beta(2, 2)
    m.mu = pw.Normal(0, sd=3, plates=kind)
    m.z = pw.Bernoulli(m.share, plates=row)
    m.y = pw.Normal(pw.where(m.z, m.mu[1], m.mu[0]), sd=1, plates=row)
    data = {"y": [-2.0, -1.5, 2.2, 1.9, 2.5]}
    fit = m.learn(data, goal="evidence", by="enumeration")
    found = run_file(fit.source(), data, tmp_path)
    assert found["log_evidence"] == pytest.approx(fit.log_evidence, rel=1e-12) and np.isfinite(fit.log_evidence)
