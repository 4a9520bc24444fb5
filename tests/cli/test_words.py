"""What the command line says to a slip of the fingers: the word meant, the line of the model, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from platewright.cli import main

COIN = """\
import platewright as pw

m = pw.Model("coin")
toss = m.plate("toss")
m.theta = pw.Beta(1.5, 1.5)
m.heads = pw.Bernoulli(m.theta, plates=toss)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a model and data, in which the commands are given."""
    (tmp_path / "coin.py").write_text(COIN)
    (tmp_path / "tosses.csv").write_text("heads\n1\n0\n1\n1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "line, words",
    [
        ("lern coin.py tosses.csv", ("did you mean `learn`?", "platewright --help")),
        ("learn coin.py tosses.csv --gaol map", ("no option --gaol", "did you mean `--goal`?", "learn --help")),
        ("learn coin.py tosses.csv --gaol=map", ("no option --gaol", "did you mean `--goal`?")),
        ("learn coin.py tosses.csv --goal maap", ("'maap'", "did you mean `map`?")),
        ("show stepps coin.py", ("'stepps'", "did you mean `steps`?", "show --help")),
        ("show steps coin.py tosses.csv", ("`tosses.csv` is one word too many",)),
        ("learn coin.py", ("DATA", "learn --help")),
    ],
)
def test_a_misspelt_word_is_answered_with_the_word_meant(
    line: str, words: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(line.split())
    told = capsys.readouterr().err
    assert left.value.code == 2
    assert all(word in told for word in words), told
    assert len(told.splitlines()) <= 3


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "COMMAND" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change, words",
    [
        (("pw.Beta(", "pw.Betta("), ("AttributeError", "did you mean pw.Beta?", "coin.py, line 5")),
        (("plates=toss", "plates=tos"), ("NameError", "coin.py, line 6")),
        (("plates=toss)", "plates=toss"), ("SyntaxError", "coin.py, line 6")),
        (("1.5, 1.5", "1.5, -1.5"), ("b of Beta is -1.5", "coin.py, line 5: variable theta", "a number above 0")),
    ],
)
def test_an_error_in_a_model_names_the_line(
    change: tuple[str, str], words: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "coin.py").write_text(COIN.replace(*change))
    assert main(["learn", "coin.py", "tosses.csv"]) == 2
    told = capsys.readouterr().err
    assert all(word in told for word in words), told


@pytest.mark.parametrize(
    "line, words",
    [
        ("learn tosses.csv coin.py", ("holds data, no model", "MODEL DATA")),
        ("learn . tosses.csv", ("this is a folder",)),
        ("learn none.py tosses.csv", ("there is no such file", "none.py")),
        ("learn coin.py none.csv", ("there is no such file", "none.csv")),
        ("learn coin.py tosses.csv --by em", ("leave out by='em'",)),
    ],
)
def test_a_file_in_the_wrong_place_is_named(
    line: str, words: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    told = capsys.readouterr().err
    assert all(word in told for word in words), told


def test_a_column_that_is_almost_a_variable_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "tosses.csv").write_text("head\n1\n0\n")
    assert main(["learn", "coin.py", "tosses.csv"]) == 2
    assert "rename `head` to `heads`" in capsys.readouterr().err


def test_a_report_runs_a_sampler_as_long_as_it_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "report coin.py tosses.csv --by gibbs --chains 2 --draws 30 --seed 5 --backend numpy"
    assert main(words.split()) == 0
    page = capsys.readouterr().out
    assert "all numbers from 60 draws" in page and "(numpy)" in page


def test_em_starts_from_a_file_of_values(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "two.py").write_text(
        "import platewright as pw\n"
        "m = pw.Model('two')\n"
        "row, k = m.plate('row'), m.plate('k', 2)\n"
        "m.mu = pw.Normal(0, sd=10, plates=k)\n"
        "m.z = pw.Categorical([0.5, 0.5], over=k, plates=row)\n"
        "m.y = pw.Normal(m.mu[m.z], sd=1, plates=row)\n"
    )
    (folder / "y.csv").write_text("y\n0\n1\n9\n10\n")
    (folder / "start.json").write_text('{"mu": [9.0, 1.0]}')
    assert main(["learn", "two.py", "y.csv", "--goal", "map", "--initial", "start.json", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[0]["mean"] > rows[1]["mean"]  # the other labelling is as good, and not the one begun from
