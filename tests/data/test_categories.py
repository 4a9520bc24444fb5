"""Which levels a category has, by the order of authority."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import platewright as pw
from data.sources import columns, one_column, plates
from platewright.algebra.domain import Domain
from platewright.data import ColumnSpec, PlateSpec, Signature, batches, bind
from platewright.errors import MixedTypes, SizeError, UnseenLevel

LEVELS = Domain("levels", levels="k")
SIGNATURE = one_column(LEVELS)
DECLARED = ["z", "b", "a", "unseen"]


def labelled(*labels: object) -> Signature:
    return Signature(
        plates(PlateSpec("row", None), PlateSpec("k", None, labels=labels)), columns(ColumnSpec("x", ("row",), LEVELS))
    )


def declared_sources(folder: Path) -> list[object]:
    frame = pandas.DataFrame({"x": pandas.Categorical(["a", "b", "a"], categories=DECLARED)})
    frame.to_parquet(folder / "rows.parquet")
    return [
        frame,
        {"x": frame["x"]},
        polars.DataFrame({"x": polars.Series(["a", "b", "a"], dtype=polars.Enum(DECLARED))}),
        pyarrow.Table.from_pandas(frame),
        folder / "rows.parquet",
    ]


def test_declared_levels_are_kept_though_unobserved(tmp_path: Path) -> None:
    for source in declared_sources(tmp_path):
        dataset = bind(SIGNATURE, source)
        assert dataset.labels["k"] == tuple(DECLARED)
        assert dataset.sizes["k"] == 4
        assert dataset.columns["x"].tolist() == [2, 1, 2]


def test_declared_levels_of_a_file_are_kept_in_each_batch(tmp_path: Path) -> None:
    source = declared_sources(tmp_path)[-1]
    for batch in batches(SIGNATURE, source, rows=2):
        assert batch.labels["k"] == tuple(DECLARED)


def test_levels_of_other_polars_frames_do_not_leak_in() -> None:
    other = polars.Series(["other", "levels"], dtype=polars.Categorical)
    frame = polars.DataFrame({"x": polars.Series(["b", "a"], dtype=polars.Categorical)})
    assert len(other) == 2
    assert bind(SIGNATURE, frame).labels["k"] == ("a", "b")


def test_labels_of_the_plate_rule_over_declared_levels() -> None:
    frame = pandas.DataFrame({"x": pandas.Categorical(["a", "b"], categories=["b", "a", "never"])})
    assert bind(labelled("a", "b"), frame).columns["x"].tolist() == [0, 1]


def test_text_without_labels_is_sorted() -> None:
    dataset = bind(SIGNATURE, {"x": np.array(["b", "a", "b"])})
    assert (dataset.labels["k"], dataset.columns["x"].tolist()) == (("a", "b"), [1, 0, 1])


def test_a_bool_has_two_levels_though_one_is_seen() -> None:
    dataset = bind(SIGNATURE, {"x": [True, True]})
    assert (dataset.labels["k"], dataset.columns["x"].tolist()) == ((False, True), [1, 1])


def test_integers_of_unknown_size_are_codes_to_the_largest() -> None:
    dataset = bind(SIGNATURE, {"x": [3, 0]})
    assert (dataset.sizes["k"], dataset.columns["x"].tolist()) == (4, [3, 0])
    with pytest.raises(UnseenLevel):
        bind(SIGNATURE, {"x": [4]}, labels=dataset.labels)


def test_integers_of_which_some_are_negative_are_names() -> None:
    dataset = bind(SIGNATURE, {"x": [5, -1, 5]})
    assert (dataset.labels["k"], dataset.columns["x"].tolist()) == ((-1, 5), [1, 0, 1])


@pytest.mark.parametrize("ids", [(10, 20, 30), (1, 2, 3), (2001, 2007), (-3, 0, 4)])
def test_integers_that_do_not_begin_at_0_are_names_in_order(tmp_path: Path, ids: tuple[int, ...]) -> None:
    shown = [ids[-1], ids[0], *ids]
    codes = [ids.index(one) for one in shown]
    (tmp_path / "rows.csv").write_text("x\n" + "\n".join(map(str, shown)))
    for data in ({"x": shown}, {"x": np.array(shown, dtype=float)}, tmp_path / "rows.csv"):
        dataset = bind(SIGNATURE, data)
        assert (dataset.labels["k"], dataset.columns["x"].tolist()) == (ids, codes)
    pieces = [batch.columns["x"].tolist() for batch in batches(SIGNATURE, tmp_path / "rows.csv", rows=1)]
    assert pieces == [[code] for code in codes]


@given(size=st.integers(1, 12), seed=st.integers(0, 2**32 - 1), spacing=st.integers(1, 9), first=st.integers(1, 99))
def test_names_of_groups_say_as_much_as_their_codes(size: int, seed: int, spacing: int, first: int) -> None:
    generator = np.random.default_rng(seed)
    codes = generator.permutation(np.concatenate([np.arange(size), generator.integers(0, size, 10)]))
    value = generator.standard_normal(len(codes))
    m = pw.Model("groups")
    group = m.plate("group")
    row = m.plate("row", within=group)
    m.mu = pw.Normal(0, sd=2, plates=group)
    m.y = pw.Normal(m.mu, sd=1, plates=row)
    plain, named = (m.learn({"y": value, "group": ids}) for ids in (codes, first + spacing * codes))
    assert named.sizes["group"] == plain.sizes["group"] == size
    assert named.log_evidence == plain.log_evidence
    np.testing.assert_array_equal(named["mu"].mean, plain["mu"].mean)


def test_few_codes_from_0_with_wide_gaps_are_refused() -> None:
    with pytest.raises(SizeError, match=r"(?s)m\.plate\('k', 31\).*convert the column to text"):
        bind(SIGNATURE, {"x": [0, 10, 20, 30]})
    assert bind(one_column(LEVELS, size=31), {"x": [0, 10, 20, 30]}).sizes["k"] == 31
    assert bind(SIGNATURE, {"x": [0, 9]}).sizes["k"] == 10
    assert bind(SIGNATURE, {"x": list(range(0, 400, 4))}).sizes["k"] == 397


def test_integers_of_a_fixed_plate_are_codes() -> None:
    dataset = bind(one_column(LEVELS, size=5), {"x": [3.0, 0.0]})
    assert (dataset.sizes["k"], "k" in dataset.labels, dataset.columns["x"].tolist()) == (5, False, [3, 0])


def test_integers_match_integer_labels() -> None:
    assert bind(labelled(10, 5, 7), {"x": [5, 10]}).columns["x"].tolist() == [1, 0]
    with pytest.raises(UnseenLevel, match="row 0"):
        bind(labelled(10, 5, 7), {"x": [0]})


def test_integers_for_a_plate_of_names_are_codes() -> None:
    assert bind(labelled("spam", "ham"), {"x": [1, 0]}).columns["x"].tolist() == [1, 0]


def test_integers_are_not_codes_where_a_name_reads_as_a_number() -> None:
    with pytest.raises(UnseenLevel, match="convert the column to text"):
        bind(labelled("1", "2"), {"x": [1, 0]})


@pytest.mark.parametrize(
    ("text", "labels", "codes"),
    [
        ("2\n0", (0, 1, 2), [2, 0]),
        ("b\na", ("a", "b"), [1, 0]),
        ("true\ntrue", (False, True), [1, 1]),
        ("1\nb", ("1", "b"), [0, 1]),
    ],
)
def test_a_csv_column_is_read_as_what_all_of_it_is(tmp_path: Path, text: str, labels: object, codes: list[int]) -> None:
    (tmp_path / "rows.csv").write_text(f"x\n{text}\n")
    dataset = bind(SIGNATURE, tmp_path / "rows.csv")
    assert (dataset.labels["k"], dataset.columns["x"].tolist()) == (labels, codes)
    pieces = [batch.columns["x"].tolist() for batch in batches(SIGNATURE, tmp_path / "rows.csv", rows=1)]
    assert pieces == [[code] for code in codes]


def test_a_csv_column_is_read_as_the_labels_are(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x\n1\n2\n")
    assert bind(labelled("2", "1"), tmp_path / "rows.csv").columns["x"].tolist() == [1, 0]
    assert bind(labelled(2, 1), tmp_path / "rows.csv").columns["x"].tolist() == [1, 0]
    with pytest.raises(UnseenLevel, match="row 1"):
        bind(labelled("1"), tmp_path / "rows.csv")


def test_two_columns_of_one_plate_share_its_levels() -> None:
    signature = Signature(
        plates(PlateSpec("row", None), PlateSpec("k", None), PlateSpec("copy", None, like="k")),
        columns(
            ColumnSpec("x", ("row",), LEVELS),
            ColumnSpec("y", ("row",), Domain("levels", levels="copy")),
        ),
    )
    dataset = bind(signature, {"x": ["a", "b"], "y": ["c", "a"]})
    assert dataset.labels == {"k": ("a", "b", "c"), "copy": ("a", "b", "c")}
    assert dataset.columns["y"].tolist() == [2, 0]
    with pytest.raises(MixedTypes):
        bind(signature, {"x": ["a", "b"], "y": [0, 1]})


def test_a_plate_sized_by_another_array_takes_codes() -> None:
    signature = Signature(
        plates(PlateSpec("row", None), PlateSpec("k", None)),
        columns(ColumnSpec("x", ("row",), LEVELS), ColumnSpec("mu", ("k",), Domain("real"))),
    )
    assert bind(signature, {"x": [0, 1], "mu": [1.0, 2.0, 3.0]}).sizes == {"row": 2, "k": 3}


def test_numbers_may_come_as_declared_levels() -> None:
    frame = pandas.DataFrame({"x": pandas.Categorical([3, 5])})
    assert bind(one_column(Domain("integer", 0.0)), frame).columns["x"].tolist() == [3, 5]


def test_an_arrow_dictionary_may_repeat_a_value_and_hold_a_null(tmp_path: Path) -> None:
    dictionary = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0, 2], pyarrow.uint8()), pyarrow.array(["a", "b", "a"])
    )
    assert bind(SIGNATURE, pyarrow.table({"x": dictionary})).columns["x"].tolist() == [0, 0]
    parquet.write_table(pyarrow.table({"x": dictionary}), tmp_path / "repeated.parquet")
    assert bind(SIGNATURE, tmp_path / "repeated.parquet").columns["x"].tolist() == [0, 0]


@pytest.mark.parametrize("ids", [(10, 20, 9), (0, 2, 1), (-1, 3)])
def test_an_emitted_file_reads_integers_as_learning_does(tmp_path: Path, ids: tuple[int, ...]) -> None:
    m = pw.Model("shares")
    row, kind = m.plate("row"), m.plate("kind")
    m.share = pw.Dirichlet(1.5, over=kind)
    m.z = pw.Categorical(m.share, plates=row)
    shown = [*ids, ids[0], ids[0]]
    (tmp_path / "learned.py").write_text(m.derive(known=["z"]).source())
    (tmp_path / "rows.csv").write_text("z\n" + "\n".join(map(str, shown)) + "\n")
    command = [sys.executable, "-I", "learned.py", "rows.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    fit = m.learn({"z": shown})
    assert f"log_evidence = {fit.log_evidence!r}" in done.stdout
    assert f"share.concentration = {fit.computed['share.concentration'].tolist()}" in done.stdout


def test_hashes_of_64_bits_are_names_in_memory_and_in_files(tmp_path: Path) -> None:
    large = np.array([2**64 - 1, 3, 2**63 + 7, 3], dtype=np.uint64)
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"x": large}), path, row_group_size=1)
    for source in ({"x": large}, pandas.DataFrame({"x": large}), polars.DataFrame({"x": large}), path):
        found = bind(SIGNATURE, source)
        assert found.labels["k"] == (3, 2**63 + 7, 2**64 - 1)
        assert found.columns["x"].tolist() == [2, 0, 1, 0]
    with pytest.raises(UnseenLevel, match="18446744073709551614"):
        bind(labelled(3, 2**64 - 1), {"x": np.array([2**64 - 2], dtype=np.uint64)})
