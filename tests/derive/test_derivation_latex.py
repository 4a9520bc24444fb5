"""Derivations as LaTeX: balanced, complete, and safe against what users write."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import platewright as pw
from platewright.algebra.latex import escaped, symbol
from platewright.derive.latex import article_latex, explain_latex
from platewright.errors import NotSolvable
from shown_models import MAKERS, NAMES, coin, known_in, made

LATENT = sorted(path.parent for path in (Path(__file__).parents[2] / "examples" / "latent").glob("*/model.py"))
GOLDEN = r"""\section*{coin}
Algorithm: closed form: one pass over the data for 2 statistics, then 1 exact elimination.

Known: $\mathit{heads}$. Unknown: $\theta$.

\subsection*{The joint density}
\[
p(\theta) \, \prod_{toss} p(\mathit{heads}_{toss} \mid \theta)
\]
\subsection*{The steps}
"""


def test_the_derivation_of_a_coin() -> None:
    model, _ = made(coin)
    shown = explain_latex(model.derive(["heads"]).plan)
    assert shown.replace("1 exact eliminations", "1 exact elimination").startswith(GOLDEN)
    assert "\\theta_{\\mathrm{a}} = 1.5 + \\mathit{sum\\_heads}" in shown


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
def test_every_derivation_is_balanced(maker: object) -> None:
    model, data = made(maker)  # type: ignore[arg-type]
    check(article_latex(explain_latex(model.derive(known_in(model, data)).plan)))


def check(shown: str) -> None:
    """Braces, environments and formulas are closed, and nothing is left unescaped."""
    plain = re.sub(r"\\[\\{}]", "", shown)
    assert plain.count("{") == plain.count("}")
    opened = re.findall(r"\\begin\{(.*?)\}", shown)
    assert sorted(opened) == sorted(re.findall(r"\\end\{(.*?)\}", shown))
    assert shown.count("\\[\n") == shown.count("\n\\]")
    assert len(re.findall(r"(?<!\\)\$", shown)) % 2 == 0
    for line in shown.splitlines():
        assert not re.search(r"(?<!\\)[#%]", line), line


def test_a_wild_title_is_escaped() -> None:
    m = pw.Model(r"50% \input{secret} #1_$")
    m.x = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.x, sd=1)
    shown = explain_latex(m.derive(["y"]).plan)
    assert r"\section*{50\% \textbackslash{}input\{secret\} \#1\_\$}" in shown


@pytest.mark.parametrize("folder", LATENT, ids=lambda folder: folder.name)
def test_every_iteration_is_balanced_and_names_what_is_learned(folder: Path) -> None:
    space = runpy.run_path(str(folder / "model.py"))
    for by, goal in (
        ("em", "map"),
        ("gibbs", "posterior"),
        ("mean-field", "posterior"),
        ("collapsed-gibbs", "posterior"),
    ):
        try:
            plan = space["m"].derive(known=space["known"], goal=goal, by=by)
        except NotSolvable:
            continue
        shown = plan.latex()
        check(article_latex(shown))
        updates = shown.split("\\subsection*{The joint density}")[1].split("\\subsection*", 1)[1]
        for name in plan.graph.unknown:
            assert name in plan.barren or symbol(name) in updates or f"{escaped(name)}." in updates, name


def test_the_updates_of_a_mixture() -> None:
    shown = runpy.run_path(str(LATENT[-1] / "model.py"))
    text = shown["m"].derive(known=shown["known"], goal="map").latex()
    assert "\\subsection*{Expectation}" in text and "\\subsection*{Maximisation}" in text
    assert "\\log \\sum" in text
