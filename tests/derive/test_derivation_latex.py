"""Derivations as LaTeX: balanced, complete, and safe against what users write."""

from __future__ import annotations

import re

import pytest

import platewright as pw
from platewright.derive.latex import article_latex, explain_latex
from shown_models import MAKERS, NAMES, coin, known_in, made

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
    shown = article_latex(model.derive(known_in(model, data)).plan)
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
