"""An emitted file on the command line: it tells what it is, and what is wrong with a table or an option."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import platewright as pw


def clients() -> pw.Model:
    """Labels, a positive number, a count and two columns side by side."""
    m = pw.Model("clients")
    row, kind, part = m.plate("row"), m.plate("kind", labels=["new", "old"]), m.plate("part", 2)
    m.share = pw.Dirichlet(1.0, over=kind)
    m.rate = pw.Gamma(1, rate=1)
    m.speed = pw.Gamma(1, rate=1)
    m.centre = pw.Normal(0, sd=2, plates=part)
    m.kind_of = pw.Categorical(m.share, plates=row)
    m.visits = pw.Poisson(m.rate, plates=row)
    m.waited = pw.Exponential(rate=m.speed, plates=row)
    m.x = pw.Normal(m.centre, sd=1, plates=(row, part))
    return m


HEADER = "kind_of,visits,waited,x[0],x[1]"
GOOD = f"{HEADER}\nnew,3,0.5,1,2\nold,0,2.5,-1,0.5\n"
KNOWN = ["kind_of", "visits", "waited", "x"]


def ran(folder: Path, source: str, table: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "learned.py").write_text(source)
    (folder / "data.csv").write_text(table)
    command = [sys.executable, "-I", "learned.py", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def exact() -> str:
    return clients().derive(known=KNOWN).source()


def test_a_good_table_gives_the_numbers_of_the_library(exact: str, tmp_path: Path) -> None:
    done = ran(tmp_path, exact, GOOD, "data.csv")
    assert done.returncode == 0, done.stderr
    found = {name: ast.literal_eval(value) for name, value in (x.split(" = ", 1) for x in done.stdout.splitlines())}
    fit = clients().learn(tmp_path / "data.csv")
    assert found["log_evidence"] == pytest.approx(fit.log_evidence, rel=1e-12)
    assert np.allclose(found["share.concentration"], fit["share"].parameters["concentration"])


def test_help_tells_the_model_and_the_columns(exact: str, tmp_path: Path) -> None:
    done = ran(tmp_path, exact, GOOD, "--help")
    assert done.returncode == 0
    for words in ("visits[row] ~ Poisson(rate=rate)", "one of new, old", "a real number above 0", "x[0], x[1]"):
        assert words in done.stdout
    assert ran(tmp_path, exact, GOOD).returncode != 0


BAD = {
    "no such file": (None, ["data.csv", "No such file"]),
    "empty": ("", ["the file is empty", "header"]),
    "a column is missing": ("kind_of,visits,x[0],x[1]\nnew,3,1,2\n", ["no column 'waited'", "kind_of, visits"]),
    "columns side by side are missing": ("kind_of,visits,waited,x[0]\nnew,3,1,2\n", ["2 columns x[0], x[1]"]),
    "a cell is missing": (f"{HEADER}\nnew,,0.5,1,2\n", ["'visits', row 0", "found nothing", "integer"]),
    "a cell is NaN": (f"{HEADER}\nnew,3,0.5,1,2\nnew,3,0.5,nan,2\n", ["'x[0]', row 1", "found nothing"]),
    "a cell is infinite": (f"{HEADER}\nnew,3,0.5,inf,2\n", ["'x[0]', row 0", "'inf'"]),
    "a cell is text": (f"{HEADER}\nnew,many,0.5,1,2\n", ["'visits', row 0", "'many'", "an integer >= 0"]),
    "a count is a fraction": (f"{HEADER}\nnew,1.5,0.5,1,2\n", ["'visits', row 0", "'1.5'"]),
    "a positive number is zero": (f"{HEADER}\nnew,1,0,1,2\n", ["'waited', row 0", "'0'"]),
    "a label is unknown": (f"{HEADER}\nnew,1,2,1,2\nodd,1,2,1,2\n", ["'kind_of', row 1", "'odd'", "one of new, old"]),
    "a row is short": (f"{HEADER}\nnew,1,2,1\n", ["row 0", "4 cells", "5"]),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_said_in_one_line(name: str, exact: str, tmp_path: Path) -> None:
    table, words = BAD[name]
    done = ran(tmp_path, exact, table or "", "data.csv" if table is not None else "absent/data.csv")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1
    assert all(word in done.stderr for word in words), done.stderr


def test_options_are_checked(tmp_path: Path) -> None:
    source = clients().derive(known=KNOWN, by="gibbs").source()
    good = ran(tmp_path, source, GOOD, "data.csv", "draws=5", "warm_up=2", "chains=1")
    assert good.returncode == 0 and "rate mean" in good.stdout
    for word in ("drows=5", "draws=many", "draws"):
        done = ran(tmp_path, source, GOOD, "data.csv", word)
        assert done.returncode == 1 and "seed=0 chains=4" in done.stderr and "Traceback" not in done.stderr


def test_columns_that_share_a_plate_share_its_labels(tmp_path: Path) -> None:
    m = pw.Model("pairs")
    row, town = m.plate("row"), m.plate("town")
    m.share = pw.Dirichlet(1.0, over=town)
    m.here = pw.Categorical(m.share, plates=row)
    m.there = pw.Categorical(m.share, plates=row)
    table = "here,there\nRome,Oslo\nOslo,Bonn\nRome,Rome\n"
    done = ran(tmp_path, m.derive(known=["here", "there"]).source(), table, "data.csv")
    assert done.returncode == 0, done.stderr
    found = {name: ast.literal_eval(value) for name, value in (x.split(" = ", 1) for x in done.stdout.splitlines())}
    assert found["share.concentration"] == [2.0, 3.0, 4.0]  # Bonn, Oslo, Rome
