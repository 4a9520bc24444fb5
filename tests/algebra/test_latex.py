"""Expressions as LaTeX: golden strings, and braces that always balance."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from platewright.algebra.build import add, call, equal, multiply, power, total
from platewright.algebra.expression import (
    AtMost,
    Constant,
    Expression,
    Index,
    Inverse,
    Lag,
    Literal,
    LogDeterminant,
    LogSumExp,
    Maximum,
    Multiply,
    Power,
    Quadratic,
    Reference,
    Root,
    Size,
    Where,
)
from platewright.algebra.latex import escaped, latex, symbol
from platewright.families import FAMILIES

N, K, D, E = Index("n", "n"), Index("k", "k"), Index("dim", "dim"), Index("dim'", "dim")
X, MU, Z = Reference("x", (N,)), Reference("mu", (K,)), Reference("z", (N,))
S = Reference("S", (D, E))

GOLDEN: list[tuple[Expression, str]] = [
    (Constant(3.0), "3"),
    (Constant(-0.5), r"-\tfrac{1}{2}"),
    (Constant(1.5e-30), r"1.5 \cdot 10^{-30}"),
    (Constant(float("-inf")), r"-\infty"),
    (D, r"\mathrm{dim}"),
    (E, r"\mathrm{dim}'"),
    (Reference("x", (Lag(N),)), "x_{n-1}"),
    (Size("row"), r"N_{\mathrm{row}}"),
    (Reference("theta12"), r"\theta_{12}"),
    (Reference("tau_rate", (K,)), r"\tau_{\mathrm{rate},k}"),
    (Reference("sum_x"), r"\mathit{sum\_x}"),
    (Reference("mu", (Z,)), r"\mu_{z_{n}}"),
    (Reference("doc@word", (N,)), r"\mathrm{doc}(n)"),
    (Literal((1.0, 2.0), (2,), ("k",), (K,)), r"\left(1, 2\right)_{k}"),
    (add(X, multiply(-2.0, MU)), r"x_{n} - 2 \mu_{k}"),
    (multiply(add(X, 1.0), MU), r"\left(x_{n} + 1\right) \mu_{k}"),
    (Multiply((Constant(-3.0), X, Power(MU, Constant(-2.0)))), r"-\frac{3 x_{n}}{{\mu_{k}}^{2}}"),
    (power(X, 2.0), "{x_{n}}^{2}"),
    (power(add(X, 1.0), 0.5), r"\sqrt{x_{n} + 1}"),
    (call("lgamma", X), r"\log\Gamma\left(x_{n}\right)"),
    (call("absolute", X), r"\left|x_{n}\right|"),
    (total(multiply(equal(Z, K), X), N), r"\sum_{n} \left[z_{n} = k\right] x_{n}"),
    (LogSumExp(K, MU), r"\log \sum_{k} \exp\left(\mu_{k}\right)"),
    (Maximum(N, X), r"\max_{n} x_{n}"),
    (AtMost(X, MU), r"\log\left[x_{n} \le \mu_{k}\right]"),
    (Where(Z, X, MU), r"\begin{cases} x_{n} & \text{if } z_{n} \\ \mu_{k} & \text{otherwise} \end{cases}"),
    (Quadratic(Reference("r", (D,)), S, D, E), r"r^{\top} S r"),
    (LogDeterminant(S, D, E), r"\log \det S"),
    (Inverse(S, D, E, D, E), r"\left(S^{-1}\right)_{\mathrm{dim},\mathrm{dim}'}"),
    (Root(S, D, E, Constant(0.0), E), r"\left(S^{1/2}\right)_{0,\mathrm{dim}'}"),
]


def braces_balance(text: str) -> bool:
    """Whether braces, \\left and \\right, \\begin and \\end all pair up."""
    depth = 0
    for brace in re.findall(r"\\[{}]|[{}]", text):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if depth < 0:
            return False
    return depth == 0 and all(
        len(re.findall(opening, text)) == len(re.findall(closing, text))
        for opening, closing in ((r"\\left[(\[|\\]", r"\\right[)\]|\\]"), (r"\\begin", r"\\end"))
    )


@pytest.mark.parametrize(("expression", "shown"), GOLDEN, ids=[shown for _, shown in GOLDEN])
def test_each_kind_of_node_prints(expression: Expression, shown: str) -> None:
    assert latex(expression) == shown
    assert braces_balance(shown)


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_every_density_of_the_shelf_prints_with_balanced_braces(family: object) -> None:
    assert braces_balance(latex(family.log_density))  # type: ignore[attr-defined]


@given(some.text(max_size=12))
def test_any_name_prints_with_balanced_braces(name: str) -> None:
    assert braces_balance(symbol(name, ("k",)))
    assert braces_balance(escaped(name))


LEAVES = some.sampled_from([X, MU, Z, Constant(2.0), Constant(-0.5), Size("n")])
TREES = some.recursive(
    LEAVES,
    lambda part: some.one_of(
        some.tuples(part, part).map(lambda pair: add(*pair)),
        some.tuples(part, part).map(lambda pair: multiply(*pair)),
        part.map(lambda inner: power(inner, -2.0)),
        part.map(lambda inner: total(inner, N)),
        part.map(lambda inner: call("digamma", inner)),
        some.tuples(part, part, part).map(lambda three: Where(*three)),
    ),
    max_leaves=12,
)


@given(TREES)
def test_any_expression_prints_with_balanced_braces_and_no_double_sign(tree: Expression) -> None:
    shown = latex(tree)
    assert braces_balance(shown)
    assert "--" not in shown and "+ -" not in shown and "- -" not in shown


def test_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="not an expression"):
        latex("x")  # type: ignore[arg-type]
