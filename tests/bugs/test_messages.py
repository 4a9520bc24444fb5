"""Each message names what was found, the line with a caret, what was expected, and the nearest known name."""

# ruff: noqa: E501
from __future__ import annotations

import pytest

from platewright.errors import BugsError
from platewright.language.bugs.data import parse_data
from platewright.language.bugs.parse import parse
from platewright.language.bugs.reader import read_bugs


def test_a_syntax_error_points_at_its_column() -> None:
    with pytest.raises(BugsError) as caught:
        parse("model {\n  y ~ dnorm(mu, )\n}")
    assert str(caught.value) == (
        "unexpected `)`\n"
        "  where:    line 2, column 17:     y ~ dnorm(mu, )\n"
        "                                                 ^\n"
        "  expected: `(`, a name, a number"
    )
    assert (caught.value.line, caught.value.column) == (2, 17)


@pytest.mark.parametrize(
    ("text", "data", "found", "hint"),
    [
        ("model { y ~ dnorm(a, 1) a ~ dnorm(0, 1) z <- integral(F(u), 0, 1, 1.0E-4) F(u) <- u * a }", {"y": 1},
         "`integral` is not supported: integrals over functions are not solved here", "closed form"),
        ("model { f[1:3] <- jump.lin.pred(X[1:3, 1:2], k, 1) k ~ dbin(0.5, 2) y ~ dnorm(f[1], 1) }", {"y": 1},
         "`jump.lin.pred` is not supported: the number of terms of a sum is not chosen by jumps between models", "dbern"),
        ("model { b[1:3] ~ spatial.exp(m[], x[], y[], tau, phi, 1) }", {},
         "`spatial.exp` is declined: kernels of distances are not on the shelf", "dmnorm.vcov"),
        ("model { y ~ dnrm(0, 1) }", {}, "the distribution `dnrm` is not known here", "did you mean `dnorm`?"),
        ("model { y ~ dnorm(lgo(2), 1) }", {}, "there is no function `lgo` here", "did you mean `log`?"),
        ("model { y ~ dnorm(alhpa, 1) alpha ~ dflat() }", {}, "`alhpa` is not defined and not in the data",
         "did you mean `alpha`?"),
        ("model { y ~ dnorm(0) }", {}, "`dnorm` has 1 arguments", ""),
        ("model { y ~ dnorm(cut(x), 1) x ~ dflat() }", {}, "`cut` is declined: cutting feedback is no probability model", ""),
        ("model { y ~ dcat(p[]) T(1,) p[1:2] ~ ddirch(a[]) }", {"a": [1, 1]},
         "`T(,)` on `dcat` is declined: its cumulative distribution is not in our algebra", ""),
        ("model { y ~ dhyper(3, 4, 5, a) a ~ dexp(1) }", {},
         "`dhyper` is declined: JAGS reads its arguments as (n1, n2, m1, psi) and OpenBUGS as (n, m, N, psi)", "dcat"),
        ("model { y ~ dnchisqr(3, a) a ~ dexp(1) }", {}, "`dnchisqr` is declined: its density is an infinite series", "dpois"),
        ("model { b[1:3] ~ car.normal(adj[], w[], num[], tau) tau ~ dexp(1) y ~ dnorm(b[1], 1) }",
         {"adj": [2, 1, 3, 2], "w": [1, 1, 1, 1], "num": [1, 2, 1], "y": 1},
         "`car.normal` is declined: it is improper, the same however all its nodes are shifted together", "neighbours"),
        ("model { P[1:2, 1:2] <- mexp(A[, ]) A[1, 1] ~ dexp(1) A[1, 2] <- 1 A[2, 1] <- 2 A[2, 2] <- 3 y ~ dcat(P[1, ]) }", {"y": 1},
         "`mexp` of something unknown is not in our algebra", ""),
        ("model { for (i in 1:3) { x ~ dnorm(0, 1) } }", {}, "`x` is defined twice in some cell",
         "every loop variable should stand on the left"),
        ("model { for (i in 1:N) { x[i] ~ dnorm(0, 1) } }", {"M": 1},
         "the loop over `i` has no known length: `N` has no value", ""),
        ("model { y ~ dnorm(x[3], 1) for (i in 1:2) { x[i] ~ dflat() } }", {"M": 1}, "`x[3]` is used but not defined", ""),
        ("model { y ~ dnorm(x[2], 1) }", {"x": [1, None]}, "`x` is NA where it is used", ""),
        ("model { foo(y) <- 2 * x x ~ dflat() z ~ dnorm(y, 1) }", {}, "`foo` is no link function", ""),
        ("model { a <- b + 1 b <- a - 1 y ~ dnorm(a, 1) }", {}, "`a` is defined by itself", ""),
        ("model { y ~ dnorm(x[], 1) for (i in 1:2) { x[i] ~ dflat() } }", {},
         "`dnorm` needs a number here, found a vector", ""),
        ("model { for (k in 1:3) { a[k] ~ dflat() } m <- ranked(a[], 12) y ~ dnorm(m, 1) }", {}, "element 12 of a vector of 3", ""),
        ("model { for (k in 1:3) { a[k] ~ dflat() } y ~ dnorm(a[5 / 2], 1) }", {"y": 1}, "`a` is indexed by 2.5", ""),
        ("model { y ~ dnorm(pnorm(x, 0), 1) x ~ dflat() }", {}, "`pnorm` has 2 arguments", ""),
        ("data { x ~ dnorm(0, 1) } model { y ~ dnorm(0, 1) }", {}, "a draw in the data block", ""),
    ],
)  # fmt: skip
def test_a_wrong_model_is_refused_with_its_reason(text: str, data: dict[str, object], found: str, hint: str) -> None:
    with pytest.raises(BugsError) as caught:
        read_bugs(text, data)
    assert caught.value.found == found
    assert hint in caught.value.hint
    assert caught.value.line == 1


def test_data_errors_point_too() -> None:
    with pytest.raises(BugsError) as caught:
        parse_data("list(x = c(1, 2), y = sturcture(.Data = c(1)))")
    assert "did you mean `structure`?" in str(caught.value)
    assert caught.value.column == 23
    with pytest.raises(BugsError, match=r"3 numbers do not fill \.Dim = 2 x 2"):
        parse_data("list(x = structure(.Data = c(1, 2, 3), .Dim = c(2, 2)))")


def test_a_remark_may_be_a_row_of_dashes() -> None:
    import platewright as pw

    model = pw.read_bugs("model {\n  # " + "-" * 300 + " (((\n  x ~ dnorm(0, 1)\n}")
    assert "x" in model.variables


def test_lines_in_a_circle_that_no_joint_distribution_has_are_refused() -> None:
    text = "model { a ~ dnorm(b, 1)\n b ~ dnorm(0.3 * a, 1) }"
    with pytest.raises(BugsError, match="run in a circle, and no joint distribution has all of them") as caught:
        read_bugs(text, {})
    assert "line 1" in str(caught.value)
    read_bugs("model { a ~ dnorm(0.3 * b, 1)\n b ~ dnorm(0.3 * a, 1) }", {})


def test_lines_in_a_circle_that_grow_with_every_step_are_refused() -> None:
    text = (
        "model { mu[1] <- a; e[1] <- y[1] - mu[1]\n"
        "for (t in 2:26) { y[t] ~ dnorm(mu[tau], tau); mu[t] <- a + b * e[t-1]; e[t] <- y[t] - mu[t] }\n"
        "a ~ dnorm(0, 1); b ~ dunif(-1, 1); tau ~ dgamma(2, 1) }"
    )
    with pytest.raises(BugsError, match=r"in a circle, whose lines have .* parts when they are written out") as caught:
        read_bugs(text, {"y": [0.1] * 26})
    assert "line 1" in str(caught.value) or "line 2" in str(caught.value)


def test_a_circle_of_very_many_lines_is_refused_before_they_are_written() -> None:
    text = "model {" + "\n".join(f"a{k} ~ dnorm(a{(k + 1) % 700}, 1)" for k in range(700)) + "}"
    with pytest.raises(BugsError, match=r"lines have at least 2,100 parts .*\n.*line 1[^\0]*at most 2,000 parts"):
        read_bugs(text, {})
