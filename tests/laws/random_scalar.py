"""Random models of counts, times, angles and shares: one or two unknowns, conjugate or not, with links and groups."""

from __future__ import annotations

from laws.random_models import Sketch

PROBABILITY = ("Bernoulli({})", "Binomial(5, {})", "Geometric({})", "NegativeBinomial(2.5, {})", "Bernoulli(1 - {})")
POSITIVE = (
    "Poisson({})",
    "Exponential(rate={})",
    "Exponential(scale={})",
    "Gamma(2.5, rate={})",
    "Gamma(2.5, scale={})",
    "Weibull(1.6, rate={})",
    "Pareto({}, 1.2)",
    "InverseGaussian(1.3, {})",
    "Normal(0.4, precision={})",
    "Normal(0.4, variance={})",
    "Normal(0.4, sd={})",
    "LogNormal(0.2, precision={})",
    "HalfNormal(precision={})",
    "HalfNormal(sd={})",
    "Laplace(0.3, scale={})",
    "InverseGamma(2.5, scale={})",
    "Uniform(0.0, {})",
    "Gamma({}, rate=1.0)",
    "Weibull({}, rate=1.0)",
    "StudentT({}, 0.0, scale=1.0)",
)
REAL = (
    "Normal({}, sd=1.2)",
    "LogNormal({}, sd=0.8)",
    "Poisson(pw.exp({}))",
    "Bernoulli(logit={})",
    "Laplace({}, scale=1.0)",
    "StudentT(4.0, {}, scale=1.0)",
    "Exponential(rate=pw.exp({}))",
    "VonMises({}, 1.5)",
    "Normal(pw.exp({}), sd=1.0)",
    "Normal({} ** 2, sd=1.0)",
)
PRIORS = {
    "probability": ("Beta({a}, {b})", "Beta({a}, {b})", "Uniform(0.0, 1.0)", "LogisticNormal(0.2, sd={a})"),
    "positive": (
        "Gamma({a}, rate={b})",
        "Gamma({a}, rate={b})",
        "InverseGamma({a}, scale={b})",
        "Exponential(rate={a})",
        "ChiSquare({a})",
        "LogNormal(0.1, sd={a})",
        "HalfNormal(sd={a})",
        "HalfCauchy({a})",
        "Pareto({a}, {b})",
        "Weibull({a}, rate={b})",
    ),
    "real": ("Normal({a}, sd={b})", "Normal({a}, sd={b})", "Laplace({a}, scale={b})", "StudentT(3.0, {a}, scale={b})"),
}
SHELF = {"probability": PROBABILITY, "positive": POSITIVE, "real": REAL}


def write_scalar(s: Sketch) -> None:
    """One unknown (or one for each group), then one or two families of observations."""
    kind = s.pick("probability", "positive", "positive", "real", "angle", "two positive")
    s.plate("n", s.choose.randint(1, 6))
    if kind == "angle":
        _angle(s)
        return
    if kind == "two positive":
        _two(s)
        return
    grouped = s.chance(0.3)
    plates = "()"
    reference = "m.t"
    if grouped:
        s.plate("g", s.choose.randint(1, 3), fixed=True)
        reference = f"m.t[{s.coded('z', 'n', 'g')}]"
        plates = "g"
    prior = s.choose.choice(PRIORS[kind]).format(a=s.number(1, 4), b=s.number())
    if "Uniform" in prior and plates != "()":
        prior = "Beta(1.0, 1.0)"
    s.write(f"m.t = pw.{prior[:-1]}, plates={plates})" if plates != "()" else f"m.t = pw.{prior}")
    for number in range(2 if s.chance(0.25) else 1):
        at = _linked(s, reference, kind)
        observed = s.choose.choice(SHELF[kind])
        name = "y" if number == 0 else "y2"
        s.write(f"m.{name} = pw.{observed.format(at)[:-1]}, plates=n)")
        s.observed.append(name)


def _linked(s: Sketch, reference: str, kind: str) -> str:
    """The unknown as it enters: itself, a multiple, with an exposure, a power, a choice."""
    if kind == "probability":
        return reference if s.chance(0.85) else s.pick(f"(1 - {reference})", f"(0.5 * {reference})")
    if s.chance(0.55):
        return reference
    if "e" not in s.inputs:
        s.real("e", "n", positive=True)
    if kind == "real":
        return s.pick(f"(m.e * {reference})", f"({reference} + m.e)", f"(2.0 * {reference} - 1.0)", f"(-{reference})")
    return s.pick(
        f"(m.e * {reference})",
        f"({s.number()} * {reference})",
        f"({reference} / m.e)",
        f"({reference} ** -1)",
        f"pw.sqrt({reference})",
        f"({reference} ** 2)",
        f"({reference} + m.e)",
        f"pw.where(pw.less(m.e, 1.0), {reference}, 1.5)",
    )


def _angle(s: Sketch) -> None:
    s.write(f"m.t = pw.VonMises({s.number(-2, 2)}, {s.number()})")
    s.write(f"m.y = pw.VonMises(m.t, {s.number()}, plates=n)")
    s.observed.append("y")


def _two(s: Sketch) -> None:
    """Two positive unknowns: a product, a hierarchy, or side by side."""
    one = s.choose.choice(PRIORS["positive"]).format(a=s.number(1, 4), b=s.number())
    s.write(f"m.t = pw.{one}")
    if s.chance(0.5):
        s.write(f"m.u = pw.Gamma({s.number(1, 3)}, rate={s.pick('m.t', '2.0 * m.t', '1.5')})")
    else:
        s.write(f"m.u = pw.{s.choose.choice(PRIORS['positive']).format(a=s.number(1, 4), b=s.number())}")
    at = s.pick("m.t * m.u", "m.u", "m.u", "m.t + m.u", "m.u / m.t")
    observed = s.choose.choice(POSITIVE[:16]).format(at)
    s.write(f"m.y = pw.{observed[:-1]}, plates=n)")
    s.observed.append("y")
    if s.chance(0.3):
        s.write("m.y2 = pw.Exponential(rate=m.t, plates=n)")
        s.observed.append("y2")
