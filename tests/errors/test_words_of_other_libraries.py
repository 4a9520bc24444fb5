"""Habits from other libraries: the message says how the same thing is written here, and nothing passes silently."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import platewright as pw
from platewright.errors import ParameterError, PlateError, ShapeError, UnknownName

Call = Callable[[], object]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: pw.Normal(0, sigma=1), "write `sd`"),
        (lambda: pw.Normal(0, scale=1), "write `sd`"),
        (lambda: pw.Normal(mu=0, sd=1), "write `mean`"),
        (lambda: pw.Normal(loc=0, sd=1), "write `mean`"),
        (lambda: pw.Normal(0, tau=1), "write `precision`"),
        (lambda: pw.Gamma(alpha=1, beta=1), "write `shape`"),
        (lambda: pw.Gamma(1, beta=1), "write `rate`"),
        (lambda: pw.StudentT(nu=3, mean=0, scale=1), "write `degrees`"),
        (lambda: pw.Bernoulli(probs=0.5), "write `p`"),
        (lambda: pw.Normal(0, sd=1, observed=[1.0]), "m.learn"),
        (lambda: pw.Normal(0, sd=1, dims="row"), "plates="),
        (lambda: pw.Normal(0, sd=1, shape=3), "plates="),
        (lambda: pw.Normal(0, sd=1, plate="row"), "did you mean `plates`"),
        (lambda: pw.Normal(0, precison=1), "did you mean `precision`"),
    ],
)
def test_a_foreign_parameter_is_named_with_ours(call: Call, says: str) -> None:
    with pytest.raises(ParameterError, match="has no parameter") as caught:
        call()
    assert says in caught.value.hint


def test_python_comparisons_do_not_pass_as_numbers() -> None:
    m = pw.Model("compared")
    m.a = pw.Bernoulli(0.5)
    m.b = pw.Normal(0, sd=1)
    for use in (lambda: m.b * (m.a == 1), lambda: setattr(m, "y", pw.Normal(m.a == 1, sd=1))):
        with pytest.raises(ParameterError, match="truth value") as caught:
            use()
        assert "pw.equal" in caught.value.hint
    with pytest.raises(TypeError, match=r"pw\.less"):
        _ = m.b > 0
    with pytest.raises(TypeError, match=r"pw\.dot"):
        _ = m.b @ m.b
    with pytest.raises(TypeError, match=r"pw\.exp"):
        float(m.b)  # what math.exp(m.b) asks for
    assert str(abs(m.b)) == str(pw.absolute(m.b))


def test_a_name_in_other_capitals_is_found() -> None:
    with pytest.raises(AttributeError, match=r"did you mean pw\.HalfNormal"):
        pw.Halfnormal  # noqa: B018
    m = pw.Model("coin")
    m.heads = pw.Bernoulli(0.5, plates=m.plate("toss"))
    with pytest.raises(UnknownName, match="did you mean `heads`"):
        m.learn({"Heads": [1, 0]})


def test_an_option_of_another_schema_says_which() -> None:
    m = pw.Model("coin")
    m.p = pw.Beta(1, 1)
    m.heads = pw.Bernoulli(m.p, plates=m.plate("toss"))
    with pytest.raises(UnknownName, match="exact takes no option `draws`") as caught:
        m.learn({"heads": [1, 0]}, draws=100)
    assert "by='gibbs'" in caught.value.hint
    with pytest.raises(UnknownName, match="did you mean `goal`"):
        m.learn({"heads": [1, 0]}, gaol="map")
    with pytest.raises(ParameterError, match="draws='many'"):
        m.learn({"heads": [1, 0]}, by="gibbs", draws="many")


def test_a_forgotten_plate_and_a_position_without_levels_say_what_to_write() -> None:
    m = pw.Model("forgotten")
    m.mu = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.mu, sd=1)
    with pytest.raises(ShapeError, match="put `y` on a plate"):
        m.learn({"y": [1.0, 2.0]})
    m = pw.Model("position")
    row, k = m.plate("row"), m.plate("k", 2)
    m.g = pw.Input(plates=row)
    m.mu = pw.Normal(0, sd=1, plates=k)
    with pytest.raises(PlateError, match=r"m\.g = pw\.Input\(plates=\.\.\., levels=plate\)"):
        m.y = pw.Normal(m.mu[m.g], sd=1, plates=row)
