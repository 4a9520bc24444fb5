"""BUGS and JAGS texts on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from platewright.cli import main

LINE = """
model {
  for (i in 1:N) { Y[i] ~ dnorm(mu[i], tau); mu[i] <- a.c + b[1] * x[i] + b[2] * x[i] * x[i] }
  a.c ~ dnorm(0, 0.01)
  for (k in 1:2) { b[k] ~ dnorm(0, 0.01) }
  tau ~ dgamma(1, 1)
  sigma <- 1 / sqrt(tau)
}
"""
COINS = "model { for (i in 1:N) { r[i] ~ dbin(p[i], n[i]); p[i] ~ dbeta(1, 1) } }"
CHOICE = "model { z ~ dcat(q[]); y ~ dbern(t[z]) }"
LISTS = "list(N = 5, x = c(0, 1, 2, 3, 4), Y = c(1, 3, 5, 7, 9.5))"
DUMP = '"N" <- 5\nx <- c(0, 1, 2, 3, 4)\nY <- c(1, 3, 5, 7, 9.5)\n'
JSON = '{"N": 5, "x": [0, 1, 2, 3, 4], "Y": [1, 3, 5, 7, 9.5]}'
SHORT = ["--draws", "100", "--chains", "2", "--warm-up", "50", "--backend", "numpy"]


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("name", "text"), [("d.json", JSON), ("d.R.txt", DUMP), ("d.bugs.txt", LISTS)], ids=["json", "R dump", "S list"]
)
def test_a_text_learns_from_data_in_any_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    model, data = written(tmp_path, "line.bug", LINE), written(tmp_path, name, text)
    assert main(["learn", model, data, *SHORT, "--by", "gibbs", "--json", "--monitor", "sigma,b[2]"]) == 0
    found = json.loads(capsys.readouterr().out)
    names = [row["name"] for row in found["rows"]]
    assert names[:4] == ["a.c", "b[1]", "b[2]", "tau"] and names[4:] == ["sigma", "b[2]"]
    assert found["rows"][2]["mean"] == pytest.approx(found["rows"][5]["mean"])
    assert found["how"].startswith("gibbs")


def test_data_may_lie_in_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = written(tmp_path, "coins.bug", COINS)
    one, other = written(tmp_path, "a.txt", "list(N = 2)"), written(tmp_path, "b.json", '{"n": [10, 20], "r": [3, 12]}')
    assert main(["learn", model, one, other]) == 0
    shown = capsys.readouterr().out
    assert "p[1]  Beta" in shown and "p[2]  Beta" in shown and "exact: closed form" in shown


def test_categories_are_counted_from_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = written(tmp_path, "choice.bug", CHOICE)
    data = written(tmp_path, "d.json", '{"q": [0.5, 0.25, 0.25], "t": [0.1, 0.5, 0.9], "y": 1}')
    assert main(["learn", model, data, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in rows] == ["z = 1", "z = 2", "z = 3"]
    assert [row["mean"] for row in rows] == pytest.approx([0.125, 0.3125, 0.5625])


def test_a_sampler_starts_where_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = written(tmp_path, "line.bug", LINE), written(tmp_path, "d.json", JSON)
    start = written(tmp_path, "start.json", '{"a.c": 1, "b": [2, 0], "tau": 4}')
    assert main(["learn", model, data, *SHORT, "--initial", start]) == 0
    wrong = written(tmp_path, "wrong.json", '{"tau": -4}')
    assert main(["learn", model, data, *SHORT, "--initial", wrong]) == 2
    assert "initial value of `tau`" in capsys.readouterr().err


def test_the_other_commands_read_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = written(tmp_path, "coins.bug", COINS), written(tmp_path, "d.json", '{"N":2,"n":[10,20],"r":[3,12]}')
    assert main(["show", "graph", model]) == 0
    assert "p[i] ~ Beta" in capsys.readouterr().out
    assert main(["show", "plan", model, "--data", data]) == 0
    assert "eliminate p" in capsys.readouterr().out
    assert main(["draw", model, "-o", str(tmp_path / "coins.svg")]) == 0
    assert (tmp_path / "coins.svg").read_text().startswith("<svg")
    assert main(["emit", model, "--known", "r"]) == 0
    assert "def learn" in capsys.readouterr().out
    assert main(["verify", model, "--data", data]) == 0
    assert main(["report", model, data, "-o", str(tmp_path / "coins.html")]) == 0
    assert "<html" in (tmp_path / "coins.html").read_text()


@pytest.mark.parametrize(
    ("text", "data", "words"),
    [
        ("model { y ~ dnrom(0, 1) }", '{"y": 1}', "dnrom"),
        ("model { y ~ dnorm(0, ) }", '{"y": 1}', "line 1"),
        (COINS, '{"N": 2, "n": [10, ', "JSON"),
        (COINS, "list(N = 2", "end too early"),
    ],
    ids=["unknown word", "syntax", "broken JSON", "broken list"],
)
def test_mistakes_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, data: str, words: str
) -> None:
    assert main(["learn", written(tmp_path, "m.bug", text), written(tmp_path, "d.txt", data)]) == 2
    assert words in capsys.readouterr().err


def test_a_text_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "graph", str(tmp_path / "none.bug")]) == 2
    assert "no such file" in capsys.readouterr().err
