"""One bad line for every message about a model: the class, what the message names, and that nothing was changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.errors import (
    CycleError,
    ModelError,
    NameTaken,
    ParameterError,
    PlateError,
    PlatewrightError,
    UnknownName,
)


def small() -> pw.Model:
    """A model with something of every kind."""
    m = pw.Model("small")
    row, k = m.plate("row"), m.plate("k", 3)
    step = m.plate("step", ordered=True)
    m.plate("inner", within=row)
    m.x = pw.Input(plates=row)
    m.z = pw.Input(plates=row, levels=k)
    m.mu = pw.Normal(0, sd=1, plates=k)
    m.b = pw.Bernoulli(0.5, plates=row)
    m.u = pw.Undirected(levels=2)
    m.s = pw.Input(plates=step)
    m.fn = 2 * m.lag("s")
    return m


def state(m: pw.Model) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    return dict(m.plates), dict(m.variables), dict(m.potentials)


def other() -> pw.Model:
    m = pw.Model("other")
    p = m.plate("elsewhere", 2)
    m.plate("k", 4)
    m.far = pw.Normal(0, sd=1, plates=p)
    m.mu = pw.Normal(0, sd=1)
    return m


def put(name: str, make: Callable[[pw.Model], object]) -> Callable[[pw.Model], None]:
    """The assignment `m.name = make(m)`."""
    return lambda m: setattr(m, name, make(m))


Bad = tuple[Callable[[pw.Model], object], type[PlatewrightError], tuple[str, ...]]

NAMES: dict[str, Bad] = {
    "unknown variable": (lambda m: m.muu, UnknownName, ("`muu`", "did you mean `mu`?")),
    "nothing like it": (lambda m: m.qqq, UnknownName, ("`qqq`", "one of: ")),
    "defined twice": (put("mu", lambda m: pw.Normal(0, sd=1)), NameTaken, ("`mu`", "defined already")),
    "a method": (put("learn", lambda m: 1.0), NameTaken, ("`learn`", "method")),
    "a private name": (put("_x", lambda m: 1.0), NameTaken, ("`_x`",)),
    "a keyword": (put("lambda", lambda m: 1.0), NameTaken, ("`lambda`", "word of Python")),
    "a name with a blank": (put("a b", lambda m: 1.0), NameTaken, ("`a b`",)),
    "a plate twice": (lambda m: m.plate("k", 3), NameTaken, ("plate `k`",)),
    "a plate named by a number": (lambda m: m.plate(3), NameTaken, ("`3`",)),
    "a potential twice": (lambda m: m.potential("mu", m.u), NameTaken, ("`mu`",)),
    "a variable named like a plate of groups": (put("row", lambda m: pw.Normal(0, sd=1)), NameTaken, ("`row`",)),
    "a plate of groups named like a variable": (
        lambda m: m.plate("deep", within=m.plate("mu2")) if setattr(m, "mu2", 1.0) is None else None,
        NameTaken,
        ("`mu2`",),
    ),
    "deleting": (lambda m: delattr(m, "mu"), ModelError, ("`mu`", "cannot be taken back")),
    "a model without a name": (lambda m: pw.Model(3), ModelError, ("3",)),
    "a variable of another model": (put("y", lambda m: pw.Normal(other().far[0], sd=1)), UnknownName, ("`far`", "y")),
    "a namesake in another model": (put("y", lambda m: pw.Normal(other().mu, sd=1)), PlateError, ("`mu`", "y")),
}

PLATES: dict[str, Bad] = {
    "not on the plate": (
        put("y", lambda m: pw.Normal(m.mu, sd=1, plates=m.plates["row"])),
        PlateError,
        ("`y` uses `mu`", "plate `k`", "m.mu[...]", "over=k"),
    ),
    "a table not on the plate": (
        put("y", lambda m: pw.Normal(pw.array([1.0, 2.0, 3.0], over=m.plates["k"]), sd=1)),
        PlateError,
        ("`y` uses a table", "plate `k`"),
    ),
    "size of zero": (lambda m: m.plate("p", 0), PlateError, ("plate `p`", "0")),
    "size of a half": (lambda m: m.plate("p", 1.5), PlateError, ("plate `p`", "1.5")),
    "size by text": (lambda m: m.plate("p", "3"), PlateError, ("plate `p`", "'3'")),
    "size and labels": (lambda m: m.plate("p", 3, labels=["a"]), PlateError, ("plate `p`", "1 labels but size 3")),
    "labels twice": (lambda m: m.plate("p", labels=["a", "a"]), PlateError, ("plate `p`", "twice")),
    "labels in one text": (lambda m: m.plate("p", labels="abc"), PlateError, ("plate `p`", "'abc'")),
    "labels by number": (lambda m: m.plate("p", labels=3), PlateError, ("plate `p`", "labels 3")),
    "labels that are lists": (lambda m: m.plate("p", labels=[[1], [2]]), PlateError, ("plate `p`", "lists")),
    "no labels": (lambda m: m.plate("p", labels=[]), PlateError, ("plate `p`", "size 0")),
    "like and size": (lambda m: m.plate("p", 3, like=m.plates["k"]), PlateError, ("plate `p`", "like `k`")),
    "like by name": (lambda m: m.plate("p", like="k"), ParameterError, ("'k' is not a plate", "like=")),
    "within by name": (lambda m: m.plate("p", within="row"), ParameterError, ("'row' is not a plate", "within=")),
    "within another model": (
        lambda m: m.plate("p", within=other().plates["elsewhere"]),
        PlateError,
        ("plate `elsewhere`", "another model"),
    ),
    "like another model": (lambda m: m.plate("p", like=other().plates["k"]), PlateError, ("plate `k`",)),
    "plates by name": (put("y", lambda m: pw.Normal(0, sd=1, plates="row")), ParameterError, ("'row' is not a plate",)),
    "plates by number": (put("y", lambda m: pw.Normal(0, sd=1, plates=3)), ParameterError, ("3 is not a plate",)),
    "plates of nothing": (put("y", lambda m: pw.Normal(0, sd=1, plates=None)), ParameterError, ("None is not",)),
    "plates of another model": (
        put("y", lambda m: pw.Normal(0, sd=1, plates=other().plates["elsewhere"])),
        PlateError,
        ("plate `elsewhere`",),
    ),
    "a namesake plate of another size": (
        put("y", lambda m: pw.Normal(0, sd=1, plates=other().plates["k"])),
        PlateError,
        ("plate `k`",),
    ),
    "an input elsewhere": (
        put("y", lambda m: pw.Input(plates=other().plates["elsewhere"])),
        PlateError,
        ("elsewhere",),
    ),
    "levels elsewhere": (put("y", lambda m: pw.Input(levels=other().plates["elsewhere"])), PlateError, ("elsewhere",)),
    "undirected elsewhere": (
        put("y", lambda m: pw.Undirected(levels=2, plates=other().plates["elsewhere"])),
        PlateError,
        ("elsewhere",),
    ),
    "over elsewhere": (
        put("y", lambda m: pw.Dirichlet(1, over=other().plates["elsewhere"])),
        PlateError,
        ("elsewhere",),
    ),
    "levels by text": (put("y", lambda m: pw.Input(levels="two")), PlateError, ("`y`", "'two'")),
    "no levels": (put("y", lambda m: pw.Input(levels=0)), PlateError, ("`y`", "levels 0")),
    "a plate twice": (
        put("y", lambda m: pw.Normal(0, sd=1, plates=(m.plates["row"], m.plates["row"]))),
        ParameterError,
        ("twice", "like="),
    ),
    "a plate and the one around it": (
        put("y", lambda m: pw.Normal(0, sd=1, plates=(m.plates["row"], m.plates["inner"]))),
        PlateError,
        ("`y`", "`inner`", "`row`"),
    ),
    "repeated and inside": (
        put("y", lambda m: pw.Dirichlet(1, over=m.plates["k"], plates=m.plates["k"])),
        PlateError,
        ("`y`", "k"),
    ),
    "which axis is inside": (put("y", lambda m: pw.Categorical(0.5)), PlateError, ("`y`", "over=plate")),
    "over by name": (put("y", lambda m: pw.Dirichlet(1, over="k")), ParameterError, ("'k' is not a plate", "over=")),
    "over without an inside": (
        put("y", lambda m: pw.Normal(0, sd=1, over=m.plates["k"])),
        ParameterError,
        ("Normal", "y"),
    ),
    "a sum over nothing": (lambda m: pw.sum(m.x, over=m.plates["k"]), PlateError, ("x", "`k`")),
    "a sum over no plate": (lambda m: pw.sum(m.x, over=None), PlateError, ("over=None",)),
    "a dot over no plate": (lambda m: pw.dot(m.x, m.x, over="row"), PlateError, ("over='row'",)),
    "identity of a name": (lambda m: pw.identity("k"), ParameterError, ("'k' is not a plate",)),
}

INDICES: dict[str, Bad] = {
    "beyond the end": (put("y", lambda m: pw.Normal(m.mu[3], sd=1)), PlateError, ("`mu` at 3", "plate k", "0 to 2")),
    "from the end": (put("y", lambda m: pw.Normal(m.mu[-1], sd=1)), ModelError, ("`mu`", "-1")),
    "between two": (put("y", lambda m: pw.Normal(m.mu[0.5], sd=1)), ModelError, ("`mu`", "0.5")),
    "too many": (put("y", lambda m: pw.Normal(m.mu[0, 0], sd=1)), ModelError, ("`mu`", "1 axes", "2")),
    "a number without plates": (lambda m: m.u[0], ModelError, ("u",)),
    "by a real number": (
        put("y", lambda m: pw.Normal(m.mu[m.x], sd=1, plates=m.plates["row"])),
        PlateError,
        ("`mu`", "`x`", "category"),
    ),
    "by an expression": (
        put("y", lambda m: pw.Normal(m.mu[m.z + 1], sd=1, plates=m.plates["row"])),
        PlateError,
        ("`mu`", "expression", "category"),
    ),
    "by a count": (
        lambda m: _index_by_count(),
        PlateError,
        ("`mu`", "`count`", "category"),
    ),
    "by too few levels": (
        put("y", lambda m: pw.Normal(m.mu[m.b], sd=1, plates=m.plates["row"])),
        PlateError,
        ("`mu` has 3 elements", "`b` has 2 levels"),
    ),
    "by too many levels": (lambda m: _index_by_four(), PlateError, ("`mu` has 3 elements", "`four` has 4 levels")),
}


def _index_by_count() -> None:
    twin = small()
    twin.count = pw.Poisson(1.0, plates=twin.plates["row"])
    twin.y = pw.Normal(twin.mu[twin.count], sd=1, plates=twin.plates["row"])


def _index_by_four() -> None:
    twin = small()
    twin.four = pw.Input(plates=twin.plates["row"], levels=4)
    twin.y = pw.Normal(twin.mu[twin.four], sd=1, plates=twin.plates["row"])


def _k(m: pw.Model) -> Any:
    return m.plates["k"]


PARAMETERS: dict[str, Bad] = {
    "too many unnamed": (lambda m: pw.Normal(0, 1), ParameterError, ("Normal", "2 unnamed", "sd=")),
    "twice": (lambda m: pw.Normal(0, mean=1, sd=1), ParameterError, ("Normal", "`mean` twice")),
    "two spellings": (lambda m: pw.Normal(0, sd=1, variance=1), ParameterError, ("sd and variance",)),
    "missing": (lambda m: pw.Normal(0), ParameterError, ("Normal lacks sd or variance or precision",)),
    "a stranger": (lambda m: pw.Normal(0, sd=1, skew=2), ParameterError, ("`skew`", "Normal(mean")),
    "text": (put("y", lambda m: pw.Normal("a", sd=1)), ParameterError, ("'a'",)),
    "nothing": (put("y", lambda m: pw.Normal(None, sd=1)), ParameterError, ("None",)),
    "a distribution": (
        put("y", lambda m: pw.Normal(pw.Normal(0, sd=1), sd=1)),
        ParameterError,
        ("mean of `y`", "name it first"),
    ),
    "not a number": (put("y", lambda m: pw.Normal(float("nan"), sd=1)), ParameterError, ("mean of Normal is nan", "y")),
    "not a number inside": (put("y", lambda m: pw.Normal(m.mu[0] + np.nan, sd=1)), ParameterError, ("nan in", "y")),
    "infinity inside": (put("y", lambda m: pw.Normal(m.mu[0] * np.inf, sd=1)), ParameterError, ("inf in", "of y")),
    "infinity in a function": (put("y", lambda m: m.mu[0] ** np.inf), ParameterError, ("inf in", "of y")),
    "a function of itself": (
        put("y", lambda m: m.s + m.lag("y")),
        CycleError,
        ("`y`", "previous element", "Recursion"),
    ),
    "infinity in a potential": (lambda m: m.potential("f", np.inf * m.u), ParameterError, ("inf in", "of f")),
    "an exponential too large": (lambda m: pw.exp(1000.0), ParameterError, ("exp(1000)", "finite")),
    "the cosine of infinity": (lambda m: pw.cos(np.inf), ParameterError, ("cos(inf)", "finite")),
    "infinite": (put("y", lambda m: pw.Gamma(float("inf"), rate=1)), ParameterError, ("shape of Gamma is inf", "y")),
    "negative sd": (put("y", lambda m: pw.Normal(0, sd=-1)), ParameterError, ("sd of Normal is -1", "y", "above 0")),
    "zero rate": (put("y", lambda m: pw.Gamma(1, rate=0)), ParameterError, ("rate of Gamma is 0", "y")),
    "probability over one": (put("y", lambda m: pw.Bernoulli(1.5)), ParameterError, ("p of Bernoulli is 1.5", "y")),
    "a negative table": (
        put("y", lambda m: pw.Dirichlet([1, -2, 3], over=_k(m))),
        ParameterError,
        ("concentration of Dirichlet is -2", "y"),
    ),
    "a negative sd in a table": (
        put("y", lambda m: pw.Normal(0, sd=pw.array([1.0, -1.0, 2.0], over=_k(m)), plates=_k(m))),
        ParameterError,
        ("sd of Normal is -1", "y"),
    ),
    "probabilities that do not add up": (
        put("y", lambda m: pw.Categorical([0.1, 0.2, 0.3], over=_k(m))),
        ParameterError,
        ("add up to 0.6", "y"),
    ),
    "a negative probability": (
        put("y", lambda m: pw.Categorical([-0.1, 0.8, 0.3], over=_k(m))),
        ParameterError,
        ("probabilities of Categorical is -0.1", "y"),
    ),
    "not symmetric": (
        put("y", lambda m: pw.MultivariateNormal(0, covariance=[[1, 2, 0], [0, 1, 0], [0, 0, 1]], over=_k(m))),
        ParameterError,
        ("covariance of MultivariateNormal is not symmetric", "y"),
    ),
    "not positive definite": (
        put("y", lambda m: pw.MultivariateNormal(0, covariance=[[1, 2, 0], [2, 1, 0], [0, 0, 1]], over=_k(m))),
        ParameterError,
        ("not positive definite", "-1", "y"),
    ),
    "too few degrees": (
        put("y", lambda m: pw.Wishart(2, scale=pw.identity(_k(m)), over=_k(m))),
        ParameterError,
        ("degrees of Wishart are 2", "size 3", "above 2"),
    ),
    "half a trial": (put("y", lambda m: pw.Binomial(2.5, p=0.5)), ParameterError, ("count of Binomial is 2.5", "y")),
    "bounds the wrong way round": (put("y", lambda m: pw.Uniform(2, 1)), ParameterError, ("lower 2 and upper 1", "y")),
    "an empty interval": (put("y", lambda m: pw.Flat(lower=1, upper=1)), ParameterError, ("lower 1 and upper 1",)),
    "an infinite bound": (
        put("y", lambda m: pw.Uniform(0, float("inf"))),
        ParameterError,
        ("upper of Uniform is inf",),
    ),
    "a table of text": (lambda m: pw.array(["a", "b"], over=_k(m)), ParameterError, ("not a number",)),
    "a ragged table": (lambda m: pw.array([[1.0], [1.0, 2.0]], over=_k(m)), ParameterError, ("not a number",)),
    "a table with a hole": (lambda m: pw.array([1.0, np.nan, 2.0], over=_k(m)), ParameterError, ("NaN",)),
    "a table of another size": (lambda m: pw.array([1.0, 2.0], over=_k(m)), ParameterError, ("2 elements", "k", "3")),
    "a table with too many axes": (lambda m: pw.array([[1.0]], over=_k(m)), ParameterError, ("2 axes", "k")),
    "a list for a number": (put("y", lambda m: pw.Normal([1, 2], sd=1)), ParameterError, ("1 axes", "pw.array")),
    "a list as a variable": (put("y", lambda m: [1, 2]), ModelError, ("`y`", "[1, 2]", "pw.array")),
    "nothing as a variable": (put("y", lambda m: None), ModelError, ("`y`", "None")),
    "logarithm below zero": (lambda m: pw.log(-1), ParameterError, ("-1",)),
    "division by zero": (put("y", lambda m: m.x / 0), ModelError, ("division by zero",)),
    "a root of a negative number": (lambda m: pw.sqrt(-2), ModelError, ("-2",)),
    "a truth value": (lambda m: pw.where(m.z == 1, 1, 2), ParameterError, ("False", "pw.equal")),
}

OTHERS: dict[str, Bad] = {
    "no ordered plate": (lambda m: m.lag("x"), ModelError, ("`x`", "ordered=True")),
    "lag of a lag": (lambda m: m.lag(m.lag("s")), ModelError, ("s[step-1]", "a step back already")),
    "lag of a number": (lambda m: m.lag(3), ModelError, ("3",)),
    "lag outside an ordered plate": (
        put("y", lambda m: pw.Normal(m.lag("y"), sd=1, start=0.0, plates=m.plates["row"])),
        ModelError,
        ("`y`", "ordered"),
    ),
    "lag without a start": (
        put("y", lambda m: pw.Normal(m.lag("y"), sd=1, plates=m.plates["step"])),
        ModelError,
        ("`y`", "start="),
    ),
    "a lagged function without a start": (
        put("y", lambda m: pw.Normal(m.fn, sd=1, plates=m.plates["step"])),
        ModelError,
        ("`y`", "start="),
    ),
    "a start without order": (
        put("y", lambda m: pw.Normal(0, sd=1, start=0.0, plates=m.plates["row"])),
        ModelError,
        ("`y`", "ordered=True"),
    ),
    "a start of another family": (
        put("y", lambda m: pw.Normal(m.lag("y"), sd=1, start=pw.Gamma(1, rate=1), plates=m.plates["step"])),
        ModelError,
        ("`y`", "Gamma", "Normal"),
    ),
    "optional by name": (
        put("y", lambda m: pw.Normal(m.x, sd=1, plates=m.plates["row"], optional=["x"])),
        ModelError,
        ("`y`", "optional=[m.a"),
    ),
    "optional stranger": (
        put("y", lambda m: pw.Normal(m.x, sd=1, plates=m.plates["row"], optional=[m.z])),
        UnknownName,
        ("`z`", "optional arcs of y"),
    ),
    "a potential of a stranger": (
        lambda m: m.potential("p", m.u, of=[m.x]),
        ModelError,
        ("x", "potential `p`"),
    ),
    "a potential of a directed variable": (lambda m: m.potential("p", m.mu[0], of=[m.mu[0]]), ModelError, ("`mu`",)),
    "a potential by text": (lambda m: m.potential("p", "u"), ParameterError, ("'u'",)),
    "too deep": (put("y", lambda m: _deep(m.x)), ModelError, ("`y`", "too deeply")),
}


def _deep(expression: Any) -> Any:
    for _ in range(20_000):
        expression = pw.sin(expression)
    return expression


ALL = {
    f"{group}: {name}": bad
    for group, table in (
        ("names", NAMES),
        ("plates", PLATES),
        ("indices", INDICES),
        ("parameters", PARAMETERS),
        ("others", OTHERS),
    )
    for name, bad in table.items()
}


@pytest.mark.parametrize("case", ALL)
def test_a_bad_line_is_refused_and_changes_nothing(case: str) -> None:
    act, kind, words = ALL[case]
    model = small()
    before = state(model)
    if case == "names: a plate of groups named like a variable":
        before = None  # type: ignore[assignment]
    with pytest.raises(kind) as caught:
        act(model)
    shown = str(caught.value)
    for word in words:
        assert word in shown, shown
    assert len(shown) < 700
    if before is not None:
        assert state(model) == before


def test_a_failed_line_does_not_settle_the_size_of_a_plate() -> None:
    m = pw.Model("sizes")
    n, k = m.plate("n"), m.plate("k")
    m.z = pw.Input(plates=n, levels=4)
    m.mu = pw.Normal(0, sd=1, plates=k)
    with pytest.raises(PlateError):
        m.y = pw.Normal(m.mu[m.z], sd=1)
    assert m.plates["k"].size is None
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    assert m.plates["k"].size == 4
    m.more = pw.Normal(0, sd=1, plates=k)  # the plate from before its size was known is still a plate of this model


def test_arcs_in_a_circle() -> None:
    m = pw.Model("circle")
    m.a = pw.Undirected(levels=2)
    m.b = pw.Bernoulli(pw.where(m.a, 0.2, 0.3))
    m.potential("p", m.a * m.b)
    with pytest.raises(CycleError, match=r"a <- b|b <- a"):
        m.derive(["b"])


def test_numpy_integers_are_sizes_and_single_variables_are_lists() -> None:
    m = pw.Model("kind")
    n, k = m.plate("n"), m.plate("k", np.int64(3))
    assert k.size == 3
    m.a = pw.Input(plates=n)
    m.y = pw.Normal(m.a, sd=1, plates=n, optional=m.a)
    m.u = pw.Undirected(levels=np.int32(2))
    m.potential("p", m.u, of=m.u)
    assert m.variables["y"].optional == ("a",)
    assert m.potentials["p"].of == ("u",)


@pytest.mark.parametrize("act", [bool, list, lambda e: 1 if e else 2], ids=["truth", "loop", "if"])
def test_python_questions_to_expressions_are_answered_with_advice(act: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"pw\."):
        act(small().x)


def test_the_past_of_nobody_is_refused_when_the_model_is_read() -> None:
    m = pw.Model("past")
    m.y = pw.Normal(m.lag("nobody"), sd=1, start=0.0, plates=m.plate("step", ordered=True))  # it might come later
    with pytest.raises(UnknownName, match="`nobody`") as caught:
        m.derive(known=["y"])
    assert "m.lag in y" in str(caught.value)
