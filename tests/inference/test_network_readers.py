"""BIF and UAI texts: what is read, and where a bad text is at fault."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from platewright.errors import CycleError, FormatError, SourceError
from platewright.inference.infer import infer
from platewright.language.networks.bif import read_bif
from platewright.language.networks.uai import read_uai, read_uai_evidence

ALARM = """// two nodes
network "little alarm" { property version 1; }
variable burglary { type discrete [ 2 ] { yes, no }; }
variable plate-1 { type discrete [ 3 ] { "low", 5-12, >=12 }; property x = y; }
probability ( burglary ) { table 0.1, 0.9; }
probability ( plate-1 | burglary ) { (yes) 0.2, 0.3, 0.5; default 1.0 0.0 0.0; /* odd */ }
"""


def test_a_bif_text_keeps_labels_and_makes_names_legal() -> None:
    model = read_bif(ALARM)
    assert model.title == "little alarm"
    found = infer(model, {"plate_1": "5-12"})
    assert found["burglary"]["yes"] == 1.0
    assert np.isclose(found.log_evidence, np.log(0.03))


def test_a_table_runs_with_its_first_variable_slowest() -> None:
    text = ALARM.replace("(yes) 0.2, 0.3, 0.5; default 1.0 0.0 0.0;", "table 0.2, 1.0, 0.3, 0.0, 0.5, 0.0;")
    assert np.isclose(infer(read_bif(text), {"burglary": "yes"})["plate_1"][">=12"], 0.5)


def test_a_gzip_file_is_read_like_a_plain_one(tmp_path: Path) -> None:
    (tmp_path / "a.bif").write_text(ALARM)
    (tmp_path / "a.bif.gz").write_bytes(gzip.compress(ALARM.encode()))
    for name in ("a.bif", "a.bif.gz"):
        assert np.isclose(infer(read_bif(tmp_path / name))["plate_1"]["low"], 0.92)
    with pytest.raises(SourceError, match="cannot be read"):
        read_bif(tmp_path / "b.bif")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("table 0.1, 0.9;", "table 0.1, 0.2;", "sum to 0.3(.|\n)*line 5"),
        ("table 0.1, 0.9;", "table 0.1;", "1 numbers(.|\n)*line 5, column 37"),
        ("table 0.1, 0.9;", "table 0.1, -0.9;", "found `-0.9`(.|\n)*line 5, column 39"),
        ("table 0.1, 0.9;", "table 0.1, nan;", "found `nan`"),
        ("[ 2 ] { yes, no }", "[ 3 ] { yes, no }", "3 states declared, 2 listed(.|\n)*line 3"),
        ("{ yes, no }", "{ yes, yes }", "a state is listed twice"),
        ("(yes)", "(maybe)", "no state `maybe`(.|\n)*yes, no"),
        ("| burglary", "| burglar", "no variable `burglar`(.|\n)*line 6"),
        ("probability ( burglary ) { table 0.1, 0.9; }", "", "`burglary` has no probabilities"),
        ("default 1.0 0.0 0.0;", "", "no probabilities for some states"),
        ("variable burglary", "node burglary", "found `node`(.|\n)*line 3, column 1"),
        ("/* odd */ }", "", "ends too early"),
    ],
)
def test_a_bad_bif_text_is_refused_where_it_is_bad(old: str, new: str, message: str) -> None:
    assert old in ALARM
    with pytest.raises(FormatError, match=message):
        read_bif(ALARM.replace(old, new))


def test_a_circle_is_refused() -> None:
    text = "variable a { type discrete [ 1 ] { x }; }\nvariable b { type discrete [ 1 ] { x }; }\n"
    text += "probability ( a | b ) { (x) 1; }\nprobability ( b | a ) { (x) 1; }\n"
    with pytest.raises(CycleError, match="a <- b <- a"):
        read_bif(text)


BAYES = "BAYES\n2\n2 2\n2\n2 1 0\n1 1\n4\n0.1 0.9 0.6 0.4\n2\n0.3 0.7\n"


def test_the_last_variable_of_a_bayes_factor_is_the_child() -> None:
    found = infer(read_uai(BAYES))
    assert np.isclose(found["x0"][0], 0.3 * 0.1 + 0.7 * 0.6)
    assert np.isclose(found.log_evidence, 0.0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("BAYES", "BAYESIAN", "found `BAYESIAN`"),
        ("2 1 0", "2 1 2", "found `2`"),
        ("2 1 0", "2 1 1", "a variable twice"),
        ("4\n0.1", "3\n0.1", "factor 0 has 3 entries"),
        ("0.9", "x", "found `x`(.|\n)*line 8, column 5"),
        ("0.9", "-1", "found `-1`"),
        ("0.3 0.7\n", "0.3\n", "ends too early"),
        ("0.3 0.7\n", "0.3 0.7 1\n", "more after the last table"),
        ("0.3 0.7", "0.3 0.3", "do not sum to one"),
        ("1 1\n", "1 0\n", "child of two factors"),
    ],
)
def test_a_bad_uai_text_is_refused_where_it_is_bad(old: str, new: str, message: str) -> None:
    assert old in BAYES
    with pytest.raises(FormatError, match=message):
        read_uai(BAYES.replace(old, new))


def test_evidence_files_of_both_kinds_are_read() -> None:
    assert read_uai_evidence("2 10 0 3 1\n") == {"x10": 0, "x3": 1}
    assert read_uai_evidence("1\n2 10 0 3 1\n") == {"x10": 0, "x3": 1}
    assert read_uai_evidence("0\n") == {}
    assert read_uai_evidence("1 4 1\n") == {"x4": 1}
    with pytest.raises(FormatError):
        read_uai_evidence("2 10 0 3\n")


def test_the_weight_of_an_undirected_text_is_its_partition_function() -> None:
    text = "MARKOV\n2\n2 3\n2\n2 0 1\n0\n6\n1 2 3 4 5 6\n1\n2\n"
    found = infer(read_uai(text))
    assert np.isclose(found.log_partition, np.log(42))
    assert np.isclose(infer(read_uai(text), {"x0": 1}).log_evidence, np.log(15 / 21))


def test_a_thousand_nodes_are_read_and_answered_in_seconds() -> None:
    count = 1200
    lines = ["BAYES", str(count), " ".join(["2"] * count), str(count), "1 0"]
    lines += [f"2 {at - 1} {at}" for at in range(1, count)] + ["2 0.5 0.5"] + ["4 0.9 0.1 0.1 0.9"] * (count - 1)
    found = infer(read_uai("\n".join(lines)), {"x0": 1})
    assert found.width == 1
    assert np.isclose(found["x1"][1], 0.9)
    assert np.isclose(found.joint(["x1", "x3"])[1, 1], 0.9 * 0.82)


def test_a_thousand_children_of_one_node_are_ordered_in_seconds() -> None:
    count = 1200
    lines = ["BAYES", str(count), " ".join(["2"] * count), str(count), "1 0"]
    lines += [f"2 0 {at}" for at in range(1, count)] + ["2 0.3 0.7"] + ["4 0.2 0.8 0.6 0.4"] * (count - 1)
    observed = {f"x{at}": 1 for at in range(1, 1100)}
    found = infer(read_uai("\n".join(lines)), observed)
    wanted = np.logaddexp(np.log(0.3) + 1099 * np.log(0.8), np.log(0.7) + 1099 * np.log(0.4))
    assert np.isclose(found.log_evidence, wanted, rtol=1e-12)
    assert found.width == 1
