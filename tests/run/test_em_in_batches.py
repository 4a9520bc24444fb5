"""EM and mean field over a file in batches take the steps that they take in memory, whatever the batches are."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import csv, parquet

import platewright as pw
from platewright import pipeline
from platewright.backends.c.compile import find_compiler
from platewright.errors import DataError, PlatewrightError, SourceError, UnknownName
from platewright.language.plate import beginning
from platewright.run.hidden import batchable, em_batches, row_file
from platewright.run.hidden.batchable import why_whole
from platewright.run.hidden.em_batches import BatchedRunner
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.row_file import RowFile, surveyed
from schemas import sequences

Table = dict[str, Any]
CLOSE = 1e-9


def common() -> pw.Model:
    """All parameters have one mode of closed form: C can make the steps."""
    m = pw.Model("mixture")
    row, k = m.plate("row"), m.plate("k", 3)
    m.share = pw.Dirichlet(1.5, over=k)
    m.precision = pw.Gamma(2, rate=2, plates=k)
    m.mu = pw.Normal(0, precision=0.1 * m.precision, plates=k)
    m.z = pw.Categorical(m.share, plates=row)
    m.y = pw.Normal(m.mu[m.z], precision=m.precision[m.z], plates=row)
    return m


def in_turn() -> pw.Model:
    """Parameters take turns, and one of them has statistics of other parameters, not of rows."""
    m = pw.Model("mixture with a scale of its means")
    row, k = m.plate("row"), m.plate("k", 3)
    m.share = pw.Dirichlet(1.5, over=k)
    m.spread = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(0, precision=m.spread, plates=k)
    m.v = pw.InverseGamma(3, scale=1, plates=k)
    m.z = pw.Categorical(m.share, plates=row)
    m.y = pw.Normal(m.mu[m.z], variance=m.v[m.z], plates=row)
    return m


def coded() -> pw.Model:
    """Codes and a response that no hidden variable has part in."""
    m = pw.Model("classes")
    row, k, colour = m.plate("row"), m.plate("k", 2), m.plate("colour")
    m.share = pw.Dirichlet(2, over=k)
    m.shown = pw.Dirichlet(1.5, over=colour, plates=k)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.overall = pw.Gamma(2, rate=1)
    m.z = pw.Categorical(m.share, plates=row)
    m.c = pw.Categorical(m.shown[m.z], plates=row)
    m.n = pw.Poisson(m.rate[m.z], plates=row)
    m.other = pw.Poisson(m.overall, plates=row)
    return m


def factors() -> pw.Model:
    """A hidden Gaussian in each row."""
    m = pw.Model("one factor")
    row, j = m.plate("row"), m.plate("j", 3)
    m.x = pw.Normal(0, sd=1, plates=row)
    m.load = pw.Normal(0, sd=2, plates=j)
    m.y = pw.Normal(m.load * m.x, sd=0.7, plates=(row, j))
    return m


def close_rows() -> Table:
    rng = np.random.default_rng(3)
    return {"y": np.sort(rng.normal(rng.choice([-2.0, 0.3, 2.5], 500), 0.7))}


def coded_rows() -> Table:
    rng = np.random.default_rng(5)
    z = rng.integers(0, 2, 400)
    colours = np.array(["red", "green", "blue"])[np.where(rng.random(400) < 0.8, z, 2)]
    return {"c": colours.tolist(), "n": rng.poisson(1 + 4 * z), "other": rng.poisson(2.0, 400)}


def series_rows() -> Table:
    rng = np.random.default_rng(7)
    lengths = rng.integers(3, 30, 25)
    return {
        "series": [f"s{number}" for number, length in enumerate(lengths) for _ in range(length)],
        "y": rng.normal(np.repeat(rng.normal(size=60), 10)[: lengths.sum()], 0.5),
    }


def count_rows() -> Table:
    table = series_rows()
    return {**table, "y": np.random.default_rng(8).poisson(np.exp(table["y"]))}


def factor_rows() -> Table:
    rng = np.random.default_rng(9)
    x = rng.normal(size=300)
    y = x[:, None] * np.array([1.0, -2.0, 0.5]) + 0.7 * rng.normal(size=(300, 3))
    return {f"y_{j}": y[:, j] for j in range(3)}


CASES: list[Any] = [
    pytest.param(common, close_rows, "numpy", id="common"),
    pytest.param(common, close_rows, "c", id="common in C"),
    pytest.param(in_turn, close_rows, "numpy", id="in turn"),
    pytest.param(coded, coded_rows, "numpy", id="coded"),
    pytest.param(coded, coded_rows, "c", id="coded in C"),
    pytest.param(lambda: sequences.gaussians(several=True), series_rows, "numpy", id="chains"),
    pytest.param(lambda: sequences.counts(several=True), count_rows, "c", id="chains in C"),
    pytest.param(factors, factor_rows, "numpy", id="Gaussian"),
]
OPTIONS: dict[str, Any] = {"goal": "map", "restarts": 1, "iterations": 25}


def written(path: Path, table: Table) -> Path:
    """The table as a file."""
    found = pyarrow.table(table)
    if path.suffix == ".csv":
        csv.write_csv(found, path)
    else:
        parquet.write_table(found, path, row_group_size=97)
    return path


def in_batches(patch: pytest.MonkeyPatch, rows: int, held: int = 0) -> None:
    """Small batches; what takes more bytes than `held` is read again in each pass."""
    patch.setattr(pipeline, "ROWS_IN_A_BATCH", rows)
    patch.setattr(row_file, "HELD_BYTES", held)
    patch.setattr(batchable, "BYTES_AT_ONCE", 0)


def assert_alike(fit: EstimatedFit, whole: EstimatedFit) -> None:
    """The same steps and the same end."""
    assert "in batches" in fit.how and "in batches" not in whole.how
    np.testing.assert_allclose(fit.estimate.objective, whole.estimate.objective, rtol=CLOSE)
    assert set(fit.estimate.values) == set(whole.estimate.values)
    for name, value in whole.estimate.values.items():
        np.testing.assert_allclose(fit[name].value, value, rtol=CLOSE, atol=CLOSE)
    assert fit.sizes == whole.sizes and fit.labels == whole.labels
    assert fit.log_likelihood == pytest.approx(whole.log_likelihood, rel=CLOSE)


@pytest.mark.parametrize("held", [0, 2**27], ids=["read again", "held"])
@pytest.mark.parametrize(("model", "rows", "backend"), CASES)
def test_the_steps_are_those_of_a_run_in_memory(
    model: Callable[[], pw.Model],
    rows: Callable[[], Table],
    backend: str,
    held: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = written(tmp_path / ("rows.csv" if held else "rows.parquet"), rows())
    whole = model().learn(path, backend=backend, **OPTIONS)
    in_batches(monkeypatch, 90, held)
    fit = model().learn(path, backend=backend, **OPTIONS)
    assert "in batches" in fit.how and f"({backend}" in fit.how  # and who compiled it
    assert_alike(fit, whole)
    for name in whole.plan.latent.names:
        np.testing.assert_allclose(fit.expected(name), whole.expected(name), atol=1e-8)


@pytest.mark.parametrize(
    ("model", "rows", "row"),
    [
        (common, close_rows, "row"),
        (coded, coded_rows, "row"),
        (lambda: sequences.counts(several=True), count_rows, "step"),
    ],
)
def test_batches_that_stay_in_memory_keep_their_c(
    model: Callable[[], pw.Model], rows: Callable[[], Table], row: str, tmp_path: Path
) -> None:
    if find_compiler() is None:
        pytest.skip("no C compiler")
    path = written(tmp_path / "rows.parquet", rows())
    m = model()
    plan = m.derive([name for name in rows() if name != "series"], goal="map").plan
    file = surveyed(RowFile(plan.graph, m._signature(), path, 90, row), 5_000, np.random.default_rng(0))
    runner = BatchedRunner(plan, file, "c")
    values = runner.text.back(runner.starts(0)(np.random.default_rng(0)).values)
    found = runner.look(values)
    assert len(runner.natives) == file.count > 2
    assert all(one.native and not one.by_numpy for one in runner.natives.values())
    plain = BatchedRunner(plan, file, "numpy").look(values)
    assert found.objective == pytest.approx(plain.objective, rel=1e-11)


@pytest.mark.parametrize(("model", "rows"), [(common, close_rows), (sequences.gaussians, series_rows)])
def test_any_length_of_batches_gives_the_same_estimate(
    model: Callable[..., pw.Model], rows: Callable[[], Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Fewer rows to start from than there are: they are drawn alike.
    monkeypatch.setattr(em_batches, "ROWS_TO_START", 60)
    given = {"several": True} if model is sequences.gaussians else {}
    path = written(tmp_path / "rows.parquet", rows())
    found = []
    for length in (31, 90, 200):
        in_batches(monkeypatch, length)
        found.append(model(**given).learn(path, **OPTIONS))
        assert "in batches" in found[-1].how
    for fit in found[1:]:
        np.testing.assert_allclose(fit.estimate.objective, found[0].estimate.objective, rtol=CLOSE)
        for name, value in found[0].estimate.values.items():
            np.testing.assert_allclose(fit[name].value, value, rtol=CLOSE, atol=CLOSE)


def test_rows_to_start_from_are_drawn_from_the_whole_file_and_series_from_their_beginning(tmp_path: Path) -> None:
    table = series_rows()
    path = written(tmp_path / "rows.parquet", table)
    model = sequences.gaussians(several=True)
    graph = model.derive("y", goal="map").plan.graph
    file = RowFile(graph, model._signature(), path, 40, "step")
    seen: set[int] = set()
    values = np.asarray(table["y"])
    order = np.argsort(values)
    for seed in range(40):
        sample = surveyed(file, 50, np.random.default_rng(seed)).sample
        assert sample.sizes["step"] == len(sample.columns["y"]) == 50
        places = order[np.searchsorted(values[order], sample.columns["y"])]
        assert (np.diff(places) > 0).all()  # in the order of the file
        first = np.asarray(sample.columns[beginning("step")]) != 0
        assert first[0] and (first[1:] | (np.diff(places) == 1)).all()
        seen |= set(places.tolist())
    assert max(seen) > 0.9 * len(values) and min(seen) < 0.1 * len(values)


def peaks(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """The most that Python and Arrow hold at once while EM runs over a file."""
    before, arrow = pyarrow.total_allocated_bytes(), [0]
    read = RowFile.read

    def watched(self: RowFile) -> Any:
        for found in read(self):
            arrow.append(pyarrow.total_allocated_bytes() - before)
            yield found

    with monkeypatch.context() as patch:
        patch.setattr(RowFile, "read", watched)
        tracemalloc.start()
        fit = common().learn(path, goal="map", restarts=1, iterations=3, backend="numpy")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert "in batches" in fit.how
    return peak, max(arrow)


def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_batches(monkeypatch, 20_000)
    found = []
    # The first run only loads what is loaded once; fewer batches than these would not fill what is read ahead.
    for number, count in enumerate((10, 10, 60)):
        values = np.random.default_rng(0).normal(size=count * 20_000)
        path = tmp_path / f"{number}.parquet"
        parquet.write_table(pyarrow.table({"y": values}), path, row_group_size=20_000)
        found.append(peaks(path, monkeypatch))
    assert found[2][0] < 1.3 * found[1][0]
    assert found[2][1] < 1.5 * found[1][1]


@pytest.mark.parametrize("held", [0, 2**27], ids=["read again", "held"])
@pytest.mark.parametrize(
    ("model", "rows"),
    [
        pytest.param(common, close_rows, id="common"),
        pytest.param(coded, coded_rows, id="coded"),
        pytest.param(lambda: sequences.counts(several=True), count_rows, id="chains"),
        pytest.param(factors, factor_rows, id="Gaussian"),
    ],
)
def test_mean_field_takes_the_same_steps_too(
    model: Callable[[], pw.Model],
    rows: Callable[[], Table],
    held: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = written(tmp_path / "rows.parquet", rows())
    options: dict[str, Any] = {"by": "mean-field", "restarts": 2, "iterations": 25}
    whole = model().learn(path, **options)
    in_batches(monkeypatch, 90, held)
    fit = model().learn(path, **options)
    assert "in batches" in fit.how and "in batches" not in whole.how
    np.testing.assert_allclose(fit.result.bounds, whole.result.bounds, rtol=CLOSE)
    for name in whole.posterior.unknown:
        np.testing.assert_allclose(fit[name].mean, whole[name].mean, rtol=1e-8, atol=1e-8)
    for name in whole.plan.latent.names:
        np.testing.assert_allclose(fit.expected(name), whole.expected(name), atol=1e-8)


# -- what must be there at once ---


def grouped() -> pw.Model:
    """The hidden class is of a group of rows."""
    m = pw.Model("grouped classes")
    k, group = m.plate("k", 2), m.plate("group")
    row = m.plate("row", within=group)
    m.share = pw.Dirichlet(2, over=k)
    m.mu = pw.Normal(0, sd=3, plates=k)
    m.z = pw.Categorical(m.share, plates=group)
    m.y = pw.Normal(m.mu[m.z[group]], sd=1, plates=row)
    return m


def test_hidden_variables_of_groups_are_learned_from_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    path = written(tmp_path / "rows.csv", {"group": np.repeat(range(20), 5), "y": rng.normal(size=100)})
    whole = grouped().learn(path, **OPTIONS)
    in_batches(monkeypatch, 10)
    fit = grouped().learn(path, **OPTIONS)
    assert "in batches" not in fit.how
    assert fit.estimate.objective == whole.estimate.objective


def numbered() -> pw.Model:
    """The model holds a number for each row."""
    m = pw.Model("numbered")
    row, k = m.plate("row", 4), m.plate("k", 2)
    m.share = pw.Dirichlet(2, over=k)
    m.mu = pw.Normal(0, sd=3, plates=k)
    m.z = pw.Categorical(m.share, plates=row)
    m.y = pw.Normal(m.mu[m.z], sd=pw.array([1.0, 2.0, 3.0, 4.0], over=row), plates=row)
    return m


def test_the_condition_that_fails_is_named() -> None:
    def reason(model: pw.Model, row: str) -> str:
        return why_whole(model.derive("y", goal="map").plan, row)

    assert reason(common(), "row") == "" and reason(in_turn(), "row") == ""
    assert reason(grouped(), "row") == "a hidden variable does not live on `row`"
    assert reason(numbered(), "row") == "the model holds a table over `row`"


def test_missing_cells_in_a_later_batch_are_learned_from_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = close_rows()
    rows["y"][[333, 401]] = np.nan
    in_batches(monkeypatch, 100)
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"y": pyarrow.array(rows["y"], from_pandas=True)}), path)
    fit = common().learn(path, **OPTIONS)
    assert "in batches" not in fit.how
    assert fit.expected("y").shape == (500,) and np.isfinite(fit.expected("y")).all()


def test_a_file_of_one_batch_is_learned_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "rows.parquet", close_rows())
    for rows in (500, 501):
        in_batches(monkeypatch, rows)
        assert "in batches" not in common().learn(path, **OPTIONS).how


# -- afterwards ---


def test_a_run_goes_on_from_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "rows.parquet", close_rows())
    in_batches(monkeypatch, 90)
    state = tmp_path / "state.npz"
    whole = common().learn(path, checkpoint=state, **OPTIONS)
    again = common().learn(path, checkpoint=state, **OPTIONS)
    assert again.estimate.objective == whole.estimate.objective
    written(path, {"y": close_rows()["y"] + 1e-9})
    with pytest.raises(SourceError, match="of another run"):
        common().learn(path, checkpoint=state, **OPTIONS)


def test_a_fit_of_a_file_is_saved_predicts_and_says_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "rows.parquet", close_rows())
    in_batches(monkeypatch, 90)
    fit = common().learn(path, **OPTIONS)
    assert fit.predict(3).draws["y"].shape == (1000, 3)
    fit.save(tmp_path / "fit.zip")
    back = pw.load(tmp_path / "fit.zip")
    np.testing.assert_array_equal(back.probabilities("z"), fit.probabilities("z"))
    with pytest.raises(DataError, match="not kept"):
        fit.evidence()


def test_a_file_that_changes_on_the_way_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "rows.parquet", close_rows())
    in_batches(monkeypatch, 90)
    fit = common().learn(path, **OPTIONS)
    written(path, {"y": close_rows()["y"][:-7]})
    with pytest.raises(SourceError, match="493 rows now, and had 500"):
        fit.probabilities("z")


def test_impossible_rows_are_named_from_where_their_batch_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "rows.parquet", {"c": ["red"] * 20 + ["green"] * 20})
    m = pw.Model("impossible")
    row, k, colour = m.plate("row"), m.plate("k", 2), m.plate("colour")
    m.share = pw.Dirichlet(2, over=k)
    m.shown = pw.Dirichlet(2, over=colour, plates=k)
    m.z = pw.Categorical(m.share, plates=row)
    m.c = pw.Categorical(m.shown[m.z], plates=row)
    file = RowFile(m.derive("c", goal="map").plan.graph, m._signature(), path, 15, "row")
    runner = BatchedRunner(m.derive("c", goal="map").plan, surveyed(file, 40, np.random.default_rng(0)))
    certain = {"share": np.array([0.5, 0.5]), "shown": np.array([[0.0, 1.0], [0.0, 1.0]])}
    with pytest.raises(PlatewrightError, match="element 5 of `z`, counted from row 15 of the file"):
        runner.look(certain)


@pytest.mark.parametrize("by", ["em", "mean-field"])
def test_an_option_is_refused_alike_for_few_rows_and_for_batches(by: str) -> None:
    m = pw.Model("mixture")
    row, kind = m.plate("row"), m.plate("kind", 2)
    m.p = pw.Dirichlet(2, over=kind)
    m.mu = pw.Normal(0, sd=10, plates=kind)
    m.z = pw.Categorical(m.p, plates=row)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=row)
    goal = "map" if by == "em" else "posterior"
    told = []
    for rows in (10, pipeline.ROWS_IN_A_BATCH + 1):
        with pytest.raises(UnknownName) as refused:
            m.learn({"y": np.zeros(rows)}, goal=goal, by=by, iteration=3)
        told.append(str(refused.value))
    assert told[0] == told[1] and "did you mean `iterations`?" in told[0]
