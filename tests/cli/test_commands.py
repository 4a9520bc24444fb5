"""The command line, command by command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from platewright.cli import main
from platewright.run.results.saving import load

COIN = """
import platewright as pw

m = pw.Model("coin")
toss = m.plate("toss")
m.theta = pw.Beta(1.5, 1.5)
m.heads = pw.Bernoulli(m.theta, plates=toss)
"""
TWO = COIN + "\nother = pw.Model('second coin')\nother.p = pw.Beta(1, 1)\nother.x = pw.Bernoulli(other.p)\n"
SOURCE = Path(__file__).parent.parent.parent / "src"


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "coin.py"
    path.write_text(COIN)
    return str(path)


@pytest.fixture
def data(tmp_path: Path) -> str:
    path = tmp_path / "tosses.csv"
    path.write_text("heads\n1\n0\n1\n1\n")
    return str(path)


def test_learn_prints_a_table(model: str, data: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", model, data]) == 0
    shown = capsys.readouterr().out
    assert "theta  Beta    0.643" in shown and "exact: closed form" in shown


def test_learn_prints_json_and_saves(model: str, data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "coin.fit"
    assert main(["learn", model, data, "--json", "--save", str(kept)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"][0]["mean"] == pytest.approx(4.5 / 7)
    assert found["log_evidence"] == pytest.approx(load(kept).log_evidence)


TWO_COINS = """
import platewright as pw

m = pw.Model("mixture")
row, kind = m.plate("row"), m.plate("kind", size=2)
m.share = pw.Dirichlet(2.0, over=kind)
m.rate = pw.Beta(1.0, 2.0, plates=kind)
m.which = pw.Categorical(m.share, plates=row)
m.heads = pw.Bernoulli(m.rate[m.which], plates=row)
"""


@pytest.mark.parametrize(
    ("words", "scores"),
    [
        (["--goal", "map"], {"log_joint"}),
        (["--by", "mean-field"], {"lower_bound"}),
        (["--goal", "evidence"], {"log_evidence", "method", "error"}),
        (["--by", "gibbs", "--draws", "20", "--warm-up", "10", "--chains", "2"], set()),
    ],
)
def test_json_has_the_score_that_the_goal_asks_for(
    words: list[str], scores: set[str], data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mixture.py").write_text(TWO_COINS)
    assert main(["learn", str(tmp_path / "mixture.py"), data, "--json", *words]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert set(found) == {"model", "how", "seconds", "title", "rows", "notes", *scores}


def test_json_of_a_mode_in_closed_form(model: str, data: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", model, data, "--json", "--goal", "map"]) == 0
    assert json.loads(capsys.readouterr().out)["log_joint"] < 0


@pytest.mark.parametrize("command", ["learn", "show", "draw", "emit", "report", "verify"])
def test_every_option_of_a_command_is_explained(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    options = capsys.readouterr().out.partition("options:")[2].splitlines()[1:]
    bare = [line for line, after in zip(options, [*options[1:], ""], strict=True)
            if line.startswith("  -") and "   " not in line.strip() and not after.startswith(" " * 20)]  # fmt: skip
    assert bare == []


def test_learn_explains(model: str, data: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", model, data, "--explain", "--seed", "3"]) == 0
    assert "statistics, in one pass" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("graph", "known   heads[toss] ~ Bernoulli(p = theta)"),
        ("steps", "1. eliminate theta"),
        ("plan", "schema: exact"),
        ("program", "pass sum_heads"),
        ("source", "def statistics(data, size):"),
    ],
)
def test_show_prints_every_stage(stage: str, words: str, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", stage, model, "--known", "heads"]) == 0
    text = capsys.readouterr().out
    assert words in text
    assert main(["show", stage, model, "--known", "heads", "--json"]) == 0
    json.loads(capsys.readouterr().out)


def test_known_variables_are_guessed_aloud(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "plan", model]) == 0
    shown = capsys.readouterr()
    assert "known:   heads" in shown.out and "known: heads (choose with --known)" in shown.err


def test_draw_writes_svg(model: str, tmp_path: Path) -> None:
    target = tmp_path / "coin.svg"
    assert main(["draw", model, "-o", str(target)]) == 0
    assert target.read_text().startswith("<svg")
    assert main(["draw", model, "--statistics", "-o", str(target)]) == 0
    assert "sum heads" in target.read_text()


def test_emitted_source_runs_alone(model: str, data: str, tmp_path: Path) -> None:
    target = tmp_path / "learned_coin.py"
    assert main(["emit", model, "--known", "heads", "--backend", "numpy", "-o", str(target)]) == 0
    done = subprocess.run([sys.executable, str(target), data], capture_output=True, text=True, check=True)
    assert "theta.a" in done.stdout


def test_report_writes_a_page_or_an_article(model: str, data: str, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    assert main(["report", model, data, "-o", str(target)]) == 0
    assert "What was learned" in target.read_text()
    assert main(["report", model, "-o", str(target)]) == 0
    assert "What was learned" not in target.read_text()
    assert main(["report", model, "--latex", "-o", str(target)]) == 0
    assert target.read_text().startswith("\\documentclass")


@pytest.mark.parametrize(
    "command, kind, start", [("draw", "svg", "<svg"), ("emit", "source", '"""coin'), ("report", "html", "<!DOCTYPE")]
)
def test_pictures_sources_and_pages_as_json(
    command: str, kind: str, start: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "text"
    assert main([command, model, "--known", "heads", "--json", "-o", str(path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["model"], found["kind"], found["file"]) == ("coin", kind, str(path))
    assert start in found["text"][:200] and path.read_text() == found["text"]


def test_verify_says_whether_the_laws_hold(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", model, "--known", "heads"]) == 0
    assert main(["verify", model, "--known", "heads", "--json"]) == 0
    assert '"passed": true' in capsys.readouterr().out


def test_one_of_several_models_is_picked_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.py"
    path.write_text(TWO)
    assert main(["show", "graph", str(path)]) == 2
    assert "2 models: m, other" in capsys.readouterr().err
    for name in ("other", "second coin"):
        assert main(["show", "graph", str(path), "--name", name]) == 0
        assert "graph second coin" in capsys.readouterr().out
    assert main(["show", "graph", str(path), "--name", "othre"]) == 2
    assert "did you mean `other`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "defines no model"),
        ("x = (\n", "SyntaxError"),
        ("import nothing_like_this\n", "ModuleNotFoundError"),
        ("raise SystemExit(3)\n", "SystemExit"),
        ("import platewright as pw\nm = pw.Model('m')\nm.x = pw.Normal(0)\n", "ParameterError: Normal lacks sd"),
    ],
)
def test_a_file_that_is_no_model_is_refused(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text)
    assert main(["show", "graph", str(path)]) == 2
    shown = capsys.readouterr().err
    assert message in shown and "Traceback" not in shown


def test_our_errors_are_text_and_exit_code_2(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("heads\n1\n7\n")
    for words in (
        ["learn", model, str(bad)],
        ["learn", model, str(tmp_path / "none.csv")],
        ["learn", str(tmp_path / "none.py"), str(bad)],
        ["show", "plan", model, "--known", "heds"],
        ["show", "plan", model, "--by", "magic"],
        ["emit", model, "--known", "heads", "--backend", "cobol"],
        ["draw", model, "-o", str(tmp_path / "no" / "such" / "folder.svg")],
    ):
        assert main(words) == 2, words
        shown = capsys.readouterr().err
        assert "Error" in shown or "UnknownName" in shown
        assert "Traceback" not in shown


def test_the_module_runs_as_a_program(model: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "platewright", "show", "graph", model],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("graph coin")


def test_the_demo_learns_and_keeps_its_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from platewright import demo

    demo.main(rows=2_000, folder=str(tmp_path / "out"))
    shown = capsys.readouterr().out
    assert "level[north]" in shown and "took" in shown
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "coin.svg",
        "house_prices.fit",
        "house_prices.html",
        "learned_coin.py",
        "learned_house_prices.py",
    ]


@pytest.mark.parametrize("goal", ["posterior", "map", "evidence"])
def test_plans_that_iterate_verify_themselves_too(
    goal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kinds.py"
    path.write_text(
        "import platewright as pw\n"
        "m = pw.Model('kinds')\n"
        "n, k = m.plate('n'), m.plate('k', 2)\n"
        "m.share = pw.Dirichlet(1, over=k)\n"
        "m.rate = pw.Gamma(2, rate=1, plates=k)\n"
        "m.z = pw.Categorical(m.share, plates=n)\n"
        "m.y = pw.Poisson(m.rate[m.z], plates=n)\n"
    )
    assert main(["verify", str(path), "--known", "y", "--goal", goal]) == 0
    assert "holds" in capsys.readouterr().out


MIXTURE = """
import platewright as pw

m = pw.Model("mixture")
n, k = m.plate("n"), m.plate("k", 2)
m.p = pw.Dirichlet(2, over=k)
m.z = pw.Categorical(m.p, plates=n)
m.mu = pw.Normal(0, sd=5, plates=k)
m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
"""


def test_steps_that_are_no_program_are_told_by_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mixture.py"
    path.write_text(MIXTURE)
    words = ["emit", str(path), "--known", "y"]
    assert main([*words, "--goal", "evidence", "--by", "chib"]) == 1
    assert "no program that runs alone" in capsys.readouterr().err
    assert main([*words, "--goal", "map", "--brief"]) == 0
    assert "def read(" not in capsys.readouterr().out
