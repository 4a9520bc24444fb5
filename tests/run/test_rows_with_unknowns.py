"""Models whose rows hold unknowns of their own: rows still come and go exactly, and new rows have new unknowns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import platewright as pw
from language import unlisted_gaussian, unlisted_others
from platewright import pipeline
from platewright.errors import DataError
from run.row_examples import chosen, example

Problem = tuple[pw.Model, dict[str, object]]
MAKERS: dict[str, Callable[[], Problem]] = {
    "factor": unlisted_gaussian.one_factor_with_known_loadings,
    "latent rows": unlisted_gaussian.latent_rows_under_a_regression,
    "student": unlisted_others.student_by_its_mixture,
    "patients": unlisted_others.diagnosis_for_many_patients,
    "known mixture": unlisted_others.mixture_with_known_components,
    "crossed": lambda: example("crossed"),
}


def problem(name: str) -> tuple[pw.Model, dict[str, np.ndarray], int]:
    model, data = MAKERS[name]()
    arrays = {key: np.asarray(values) for key, values in data.items()}
    return model, arrays, len(next(iter(arrays.values())))


@pytest.mark.parametrize("name", MAKERS)
def test_update_forget_and_scores_are_exact(name: str) -> None:
    model, data, rows = problem(name)
    fit = model.learn(data)
    longer = model.learn(chosen(data, slice(0, rows - 2))).update(chosen(data, slice(rows - 2, None)))
    assert longer.log_evidence == pytest.approx(fit.log_evidence, rel=1e-10)
    rest = model.learn(chosen(data, np.delete(np.arange(rows), 1)))
    assert fit.forget([1]).log_evidence == pytest.approx(rest.log_evidence, rel=1e-10)
    assert fit.leave_one_out()[1] == pytest.approx(fit.log_evidence - rest.log_evidence, rel=1e-9)
    assert fit.prequential().sum() == pytest.approx(fit.log_evidence, rel=1e-10)


def test_new_rows_have_new_unknowns() -> None:
    m = pw.Model("student by its mixture")
    n = m.plate("n")
    m.w = pw.Gamma(3, rate=3, plates=n)
    m.y = pw.Normal(1.0, precision=m.w, plates=n)
    fit = m.learn({"y": [1.0, 1.0, 1.0, 50.0]})
    drawn = fit.predict(2, count=40_000).draws["y"]
    spread = np.sqrt(3 / 2)  # Student t with 6 degrees
    assert abs(drawn.mean() - 1.0) < 0.05
    np.testing.assert_allclose(drawn.std(axis=0), spread, rtol=0.1)


def test_new_users_are_drawn_from_all_users() -> None:
    m = pw.Model("users")
    u, i = m.plate("u"), m.plate("i")
    m.a = pw.Normal(0, sd=2, plates=u)
    m.b = pw.Normal(0, sd=1, plates=i)
    m.y = pw.Normal(m.a + m.b, sd=0.1, plates=(u, i))
    fit = m.learn({"y": np.array([[5.0, 6.0], [5.1, 6.2], [4.9, 6.0]])})
    drawn = fit.predict(1, count=40_000).draws["y"][:, 0]
    np.testing.assert_allclose(drawn.mean(axis=0), fit["b"].mean, atol=0.1)
    assert (drawn.std(axis=0) > 1.9).all()


@pytest.mark.parametrize("name", ["latent rows", "student", "known mixture"])
def test_a_file_is_read_whole_and_gives_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "ROWS_IN_A_BATCH", 2)
    model, data, _ = problem(name)
    path = tmp_path / "rows.csv"
    pd.DataFrame(data).to_csv(path, index=False)
    assert model.learn(path).log_evidence == pytest.approx(model.learn(data).log_evidence, rel=1e-10)


@pytest.mark.parametrize("act", ["leave_one_out", "prequential"])
def test_rows_that_a_table_counts_stay_as_many(act: str) -> None:
    model, data = unlisted_gaussian.spline_basis_as_a_table()
    with pytest.raises(DataError, match="a table over plate `n`"):
        getattr(model.learn(data), act)()
