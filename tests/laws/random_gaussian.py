"""Random linear models with Gaussian noise: effects, weights, hierarchies, crossed plates, several kinds of scale."""

from __future__ import annotations

from dataclasses import dataclass

from laws.random_models import Sketch


@dataclass(frozen=True)
class Rows:
    """Where observations lie, and the group plates that can be referred to, each with its way of writing."""

    plates: str
    groups: dict[str, str]
    """Group plate -> how an effect on it is referred to from the rows, with {} for the effect."""
    parents: dict[str, str]
    """Group plate -> the coarser plate it lies within."""


def write_gaussian(s: Sketch) -> None:
    """A random linear model."""
    rows = _rows(s)
    scale = _scale(s)
    terms = _terms(s, rows, scale)
    mean = " + ".join(terms) or "0.0"
    if s.chance(0.3):
        s.write(f"m.eta = {mean}")
        mean = "m.eta"
    noise = _noise(s, rows, scale)
    family = "Normal"
    if s.chance(0.08):
        family = "LogNormal"
    s.write(f"m.y = pw.{family}({mean}, {noise}, plates={rows.plates})")
    s.observed.append("y")
    if s.chance(0.15):
        first = terms[0] if terms else "0.0"
        s.write(f"m.y2 = pw.Normal({s.number()} * ({first}), {_noise(s, rows, scale)}, plates={rows.plates})")
        s.observed.append("y2")


def _rows(s: Sketch) -> Rows:
    shape = s.pick("flat", "coded", "coded", "within", "nested", "crossed", "two codes")
    size = s.choose.randint(3, 7)
    if shape == "flat":
        return Rows(s.plate("n", size), {}, {})
    if shape == "coded":
        s.plate("n", size)
        s.plate("g", s.choose.randint(1, 3), fixed=True)
        z = s.coded("z", "n", "g")
        return Rows("n", {"g": f"{{}}[{z}]"}, {})
    if shape == "two codes":
        s.plate("n", size)
        s.plate("g", 2, fixed=True)
        s.plate("h", s.choose.randint(2, 3), fixed=True)
        z, w = s.coded("z", "n", "g"), s.coded("w", "n", "h")
        return Rows("n", {"g": f"{{}}[{z}]", "h": f"{{}}[{w}]", "(g, h)": f"{{}}[{z}, {w}]"}, {})
    if shape == "within":
        s.plate("g", s.choose.randint(2, 3))
        s.plate("n", size, within="g")
        return Rows("n", {"g": "{}"}, {})
    if shape == "nested":
        s.plate("h", 2)
        s.plate("g", 3, within="h")
        s.plate("n", size, within="g")
        return Rows("n", {"g": "{}", "h": "{}"}, {"g": "h"})
    s.plate("g", 2)
    s.plate("h", 3)
    return Rows("(g, h)", {"g": "{}", "h": "{}", "(g, h)": "{}"}, {})


def _scale(s: Sketch) -> str:
    """The shared scale: an expression of precision, or empty when all scales are known."""
    kind = s.pick("known", "gamma", "gamma", "gamma", "inverse gamma", "sd", "other", "none")
    if kind in ("known", "none"):
        return ""
    if kind == "gamma":
        s.write(f"m.tau = pw.Gamma({s.number(1, 4)}, rate={s.number()})")
        return "m.tau"
    if kind == "inverse gamma":
        s.write(f"m.v = pw.InverseGamma({s.number(1, 4)}, scale={s.number()})")
        return "m.v ** -1"
    if kind == "sd":
        s.write(f"m.v = pw.InverseGamma({s.number(1, 4)}, scale={s.number()})")
        s.write("m.sd = pw.sqrt(m.v)")
        return "m.sd ** -2"
    prior = s.pick("HalfCauchy({})", "HalfNormal(sd={})", "LogNormal(0.0, sd={})", "Exponential(rate={})")
    s.write(f"m.s = pw.{prior.format(s.number())}")
    return s.pick("m.s ** -2", "m.s")


def _noise(s: Sketch, rows: Rows, scale: str) -> str:
    """The scale of an observation or of an effect, in one of its spellings."""
    if not scale or s.chance(0.08):
        return s.pick(f"sd={s.number()}", f"variance={s.number()}", f"precision={s.number()}")
    if s.chance(0.12) and rows.plates == "n":
        if "wt" not in s.inputs:
            s.real("wt", "n", positive=True)
        return f"precision={scale} * m.wt"
    if s.chance(0.3):
        return f"variance={s.number()} / ({scale})"
    return f"precision={s.number()} * {scale}"


def _prior_scale(s: Sketch, scale: str) -> str:
    if not scale or s.chance(0.06):
        return f"sd={s.number()}"
    if s.chance(0.04):
        name = f"tau{len(s.lines)}"
        s.write(f"m.{name} = pw.Gamma({s.number(1, 4)}, rate={s.number()})")
        return f"precision=m.{name}"
    return s.pick(f"precision={s.number()} * {scale}", f"variance={s.number()} / ({scale})")


def _terms(s: Sketch, rows: Rows, scale: str) -> list[str]:
    terms: list[str] = []
    if s.chance(0.75):
        terms.append(_intercept(s, scale))
    for plates, written in rows.groups.items():
        if s.chance(0.6 if "," not in plates else 0.3):
            terms.append(_effect(s, plates, written, rows, scale))
    if s.chance(0.4) and rows.plates == "n":
        terms.append(_slope(s, rows, scale))
    if s.chance(0.06) and terms:
        terms.append(_bent(s, terms))
    if s.chance(0.3):
        terms.append(s.number())
    return terms


def _intercept(s: Sketch, scale: str) -> str:
    kind = s.pick("normal", "normal", "normal", "hierarchy", "odd")
    if kind == "odd" and s.chance(0.3):
        prior = s.pick("Laplace(0.0, scale=1.0)", "StudentT(3.0, 0.0, scale=1.0)", "HalfNormal(sd=1.0)")
        s.write(f"m.mu = pw.{prior}")
    elif kind == "hierarchy":
        s.write(f"m.mu0 = pw.Normal({s.number(-2, 2)}, {_prior_scale(s, scale)})")
        s.write(f"m.mu = pw.Normal({s.pick('m.mu0', '2 * m.mu0', 'm.mu0 - 0.5')}, {_prior_scale(s, scale)})")
    else:
        s.write(f"m.mu = pw.Normal({s.number(-2, 2)}, {_prior_scale(s, scale)})")
    return s.pick("m.mu", "m.mu", f"{s.number()} * m.mu", "(-m.mu)")


def _effect(s: Sketch, plates: str, written: str, rows: Rows, scale: str) -> str:
    name = "e_" + plates.strip("()").replace(", ", "")
    mean = s.number(-1, 1)
    parent = rows.parents.get(plates)
    have = s.model.variables
    if s.chance(0.4):
        if parent is not None and f"e_{parent}" in have:
            mean = f"m.e_{parent}"
        elif "mu" in have and s.chance(0.6):
            mean = s.pick("m.mu", "0.5 * m.mu")
        elif "top" not in have:
            s.write(f"m.top = pw.Normal({s.number(-1, 1)}, {_prior_scale(s, scale)})")
            mean = "m.top"
    s.write(f"m.{name} = pw.Normal({mean}, {_prior_scale(s, scale)}, plates={plates})")
    term = written.format(f"m.{name}")
    if s.chance(0.15) and rows.plates == "n":
        term = f"{_covariate(s)} * {term}"
    return term


def _covariate(s: Sketch) -> str:
    return "m.x" if "x" in s.inputs else s.real("x", "n")


def _slope(s: Sketch, rows: Rows, scale: str) -> str:
    kind = s.pick("slope", "weights", "weights", "where", "group weights", "quadratic")
    if kind == "slope":
        s.write(f"m.b = pw.Normal(0.0, {_prior_scale(s, scale)})")
        return f"m.b * {_covariate(s)}"
    if kind == "quadratic":
        s.write(f"m.b = pw.Normal(0.0, {_prior_scale(s, scale)})")
        return f"m.b * {_covariate(s)} ** 2"
    if kind == "where":
        s.plate("yes", 2, fixed=True)
        flag = s.coded("flag", "n", "yes")
        s.write(f"m.b = pw.Normal(0.0, {_prior_scale(s, scale)})")
        if s.chance(0.5):
            return f"pw.where(pw.equal({flag}, 1), m.b, 0.0)"
        s.write(f"m.b2 = pw.Normal(0.0, {_prior_scale(s, scale)})")
        return f"pw.where({flag}, m.b, m.b2)"
    s.plate("c", 2)
    s.real("X", "(n, c)")
    if kind == "group weights" and "g" in rows.groups:
        s.write(f"m.W = pw.Normal(0.0, {_prior_scale(s, scale)}, plates=(g, c))")
        return f"pw.dot(m.X, {rows.groups['g'].format('m.W')}, over=c)"
    s.write(f"m.W = pw.Normal({s.number(-1, 1)}, {_prior_scale(s, scale)}, plates=c)")
    return "pw.dot(m.X, m.W, over=c)"


def _bent(s: Sketch, terms: list[str]) -> str:
    """A term that no linear model can have."""
    one, two = s.choose.choice(terms), s.choose.choice(terms)
    return s.pick(f"pw.exp(0.1 * {one})", f"({one}) * ({two})", f"0.1 * ({one}) ** 2", f"pw.sin({one})")
