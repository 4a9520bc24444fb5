"""One bad text for every error about a text: the class, the line and column, and what the message says to do."""

from __future__ import annotations

from pathlib import Path

import pytest

import platewright as pw
from platewright.errors import BugsError, ModelError, StanError, TextError

BUGS = "model {\n  mu ~ dnorm(0, 1)\n  y ~ dnrom(mu, 1)\n}"
STAN = "parameters {\n  real mu;\n}\nmodel {\n  mu ~ nromal(0, 1);\n}"
BAD = {"BUGS": (pw.read_bugs, BUGS, BugsError, 3, "dnorm"), "Stan": (pw.read_stan, STAN, StanError, 5, "normal")}


@pytest.mark.parametrize("language", BAD)
def test_a_bad_line_of_a_text_is_named(language: str) -> None:
    read, text, kind, line, meant = BAD[language]
    with pytest.raises(TextError) as caught:
        read(text, {})
    assert type(caught.value) is kind and isinstance(caught.value, ModelError)
    assert caught.value.line == line and caught.value.column is not None
    assert f"line {line}, column {caught.value.column}" in str(caught.value) and meant in str(caught.value)


def test_a_stan_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(StanError, match=r"cannot read .*missing\.stan") as caught:
        pw.read_stan(tmp_path / "missing.stan", {})
    assert caught.value.line is None and "expected: a path, or Stan text" in str(caught.value)
