"""The parts that random mixed models are put together from: classes, columns that look at them, links, sequences."""

from __future__ import annotations

import numpy as np

from laws.random_mixed import Draft


def write_mixed(d: Draft) -> None:
    """A model of one of several plans, each with many ways to go."""
    d.pick(_classes, _classes, _classes, _one_switch, _numbers, _numbers, _sequence, _two_tables)(d)


def _rows(d: Draft) -> str:
    kind = d.pick("flat", "flat", "flat", "within")
    if kind == "within":
        d.features.add("groups")
        d.plate("g", 2)
        d.plate("n", d.choose.randint(2, 4), ", within=g")
        codes = d.values.integers(0, 2, d.sizes["n"])
        codes[:2] = (0, 1)
        d.groups["n"], d.within["n"] = codes, "g"
        return "n"
    return d.plate("n", d.choose.randint(1, 4))


def _class(d: Draft, plates: str) -> str:
    """A hidden class on some plates, or alone; returns how it is written. Its levels are the plate `k`."""
    levels = d.pick(2, 2, 2, 3)
    d.plate("k", levels, f", {levels}")
    if levels == 2 and d.chance(0.5):
        chance = d.parameter("p", "share") if d.chance(0.6) else d.number(0.1, 0.9)
        if d.chance(0.15):
            chance = f"1 - {chance}"
        return d.hidden("z", f"Bernoulli({chance})", 2, plates)
    if d.chance(0.6):
        return d.hidden("z", f"Categorical({d.parameter('p', 'shares', '', levels)})", levels, plates)
    weights = [round(x, 2) for x in (d.values.dirichlet([3.0] * levels)).tolist()]
    weights[-1] = round(1 - sum(weights[:-1]), 2)
    return d.hidden("z", f"Categorical(pw.array({weights}, over=k))", levels, plates)


def _looked_up(d: Draft, name: str, kind: str, z: str) -> str:
    """A value for each class: an unknown table, a table given, or one unknown value beside a number."""
    form = d.pick("table", "table", "given", "where")
    if form == "where" and d.sizes["k"] == 2:
        one = d.parameter(name, kind)
        other = d.number(-1.5, 1.5) if kind == "real" else d.number(0.2, 0.8) if kind == "share" else d.number()
        d.features.add("where")
        return f"pw.where({z}, {one}, {other})" if d.chance(0.5) else f"pw.where(pw.equal({z}, 0), {one}, {other})"
    if form == "given":
        values = d.told(kind, (d.sizes["k"],)).tolist()
        d.lines.append(f"m.{name} = pw.array({values}, over=k)")
        d.features.add("given table")
        return f"m.{name}[{z}]"
    return f"{d.parameter(name, kind, 'k')}[{z}]"


def _column(d: Draft, name: str, z: str, plates: str) -> None:
    """A column that looks at a class."""
    kind = d.pick("gauss", "gauss", "gauss", "count", "answer", "wait", "level")
    d.features.add(f"{kind} of a class")
    if kind == "gauss":
        _gaussian(d, name, _looked_up(d, f"mu_{name}", "real", z), plates, z)
    elif kind == "count":
        rate = _looked_up(d, f"rate_{name}", "positive", z)
        exposure = f"{d.input('e', plates, 0.5, 2.0)} * " if d.chance(0.2) else ""
        d.seen(name, f"Poisson({exposure}{rate})", plates)
    elif kind == "answer":
        share = _looked_up(d, f"q_{name}", "share", z)
        d.seen(name, d.pick(f"Bernoulli({share})", f"Binomial(4, {share})", f"Geometric({share})"), plates)
    elif kind == "wait":
        rate = _looked_up(d, f"rate_{name}", "positive", z)
        d.seen(name, d.pick(f"Exponential(rate={rate})", f"Gamma(2.5, rate={rate})"), plates)
    else:
        d.plate("v", 2, ", 2")
        d.write(f"t_{name}", f"Dirichlet({d.number(0.8, 3.0)}, over=v)", "k")
        d.data[f"t_{name}"] = d.values.dirichlet([2.0, 2.0], d.sizes["k"])
        d.seen(name, f"Categorical(m.t_{name}[{z}])", plates)


def _gaussian(d: Draft, name: str, mean: str, plates: str, z: str = "") -> None:
    """A Gaussian column around a mean, which may be a node of its own; its spread is known, or shared, or by class."""
    if d.chance(0.25):
        shift = d.input("x", plates)
        mean = f"{mean} + {d.pick(shift, f'0.5 * {shift}', '0.7')}"
    if d.chance(0.25):
        d.lines.append(f"m.eta_{name} = {mean}")
        d.features.add("function as a node")
        mean = f"m.eta_{name}"
    scale = d.pick("sd", "sd", "variance", "shared", "shared", "by class")
    if scale == "shared":
        tau = "m.tau" if any(line.startswith("m.tau ") for line in d.lines) else d.parameter("tau", "positive")
        spread = d.pick(
            f"precision={tau}", f"precision={tau}", f"precision={d.number()} * {tau}", f"variance={d.number()} / {tau}"
        )
    elif scale == "by class" and z:
        spread = f"precision={_looked_up(d, f'tau_{name}', 'positive', z)}"
    else:
        spread = f"sd={d.number()}" if scale == "sd" else f"variance={d.number()}"
    family = "LogNormal" if d.chance(0.12) else "Normal"
    d.seen(name, f"{family}({mean}, {spread})", plates)


def _classes(d: Draft) -> None:
    """Rows, or groups of rows, in hidden classes; one or two columns look at them; perhaps a second class."""
    rows = _rows(d)
    place = "g" if d.groups and d.chance(0.5) else rows
    z = _class(d, place)
    if d.chance(0.2):
        d.features.add("two classes")
        d.lines.append(f"m.c = pw.array({d.told('share', (d.sizes['k'],)).tolist()}, over=k)")
        d.hidden("u", f"Bernoulli(m.c[{z}])", 2, place)
        _gaussian(d, "y2", f"pw.where(m.u, {d.number(-2, 2)}, {d.number(-2, 2)})", rows)
    _column(d, "y", z, rows)
    if d.chance(0.35):
        _column(d, "w", z, d.pick(rows, place))


def _one_switch(d: Draft) -> None:
    """One class for everything: which mean, rate or prior holds."""
    rows = _rows(d)
    z = _class(d, "")
    d.features.add("one switch")
    if d.chance(0.5):
        a, b = d.number(-2, 2), d.number(-2, 2)
        d.lines.append(f"m.mu = pw.Normal(pw.where(pw.equal({z}, 0), {a}, {b}), sd={d.number()})")
        from independent.brute_force import Space

        d.unknown["mu"] = Space(())
        d.numbers += 1
        d.features.add("switched prior")
        _gaussian(d, "y", "m.mu", rows)
    else:
        _column(d, "y", z, rows)
    if d.chance(0.4):
        _column(d, "w", z, rows)


def _numbers(d: Draft) -> None:
    """No classes: counts, shares and Gaussians side by side, linked, transformed."""
    rows = _rows(d)
    for number in range(d.choose.randint(1, 2)):
        name = f"y{number}"
        kind = d.pick("gauss", "line", "count", "count", "share", "wait", "levels", "bent", "ratio")
        d.features.add(f"{kind} alone")
        if kind == "gauss":
            _gaussian(d, name, _effect(d, f"a{number}", rows), rows)
        elif kind == "line":
            a, b = _effect(d, f"a{number}", rows), d.parameter(f"b{number}", "real")
            _gaussian(d, name, f"{a} + {b} * {d.input('x', rows)}", rows)
        elif kind == "count":
            rate = d.parameter(f"rate{number}", "positive")
            d.seen(name, f"Poisson({d.pick('', '2.0 * ', d.input('e', rows, 0.5, 2.0) + ' * ')}{rate})", rows)
        elif kind == "share":
            q = d.parameter(f"q{number}", "share")
            d.seen(name, d.pick(f"Bernoulli({q})", f"Binomial(4, {q})", f"Geometric({q})", f"Bernoulli(1 - {q})"), rows)
        elif kind == "wait":
            rate = d.parameter(f"rate{number}", "positive")
            d.seen(
                name,
                d.pick(f"Exponential(rate={rate})", f"Gamma(1.5, rate={rate})", f"Exponential(scale={rate})"),
                rows,
            )
        elif kind == "levels":
            d.plate("k", 3, ", 3")
            d.seen(name, f"Categorical({d.parameter(f'shares{number}', 'shares', '', 3)})", rows)
        elif kind == "bent":
            u = d.parameter(f"u{number}", "real")
            d.lines.append(f"m.r{number} = pw.exp({u})")
            d.features |= {"function as a node", "transformation"}
            text = d.pick(
                f"Poisson(m.r{number})", f"Exponential(rate=m.r{number})", f"Normal({u}, variance=m.r{number})"
            )
            d.seen(name, text, rows)
        else:
            one, two = d.parameter(f"one{number}", "positive"), d.parameter(f"two{number}", "positive")
            d.seen(name, f"Poisson({d.pick(f'{one} * {two}', f'{one} + {two}', f'{one}')})", rows)


def _effect(d: Draft, name: str, rows: str) -> str:
    """A mean for all rows, or for groups of rows around a common mean."""
    if d.groups and d.chance(0.5):
        d.features.add("effects of groups")
        return d.parameter(name, "real", "g")
    if d.chance(0.2):
        d.features.add("transformation")
        return f"pw.log({d.parameter(name, 'positive')})"
    return d.parameter(name, "real")


def _sequence(d: Draft) -> None:
    """An ordered plate: a hidden chain with columns, an autoregression, or a hidden walk."""
    d.plate("t", d.choose.randint(2, 4), ", ordered=True")
    kind = d.pick("chain", "chain", "autoregression", "walk")
    d.features.add(f"ordered: {kind}")
    if kind == "chain":
        d.plate("k", 2, ", 2")
        d.lines.append('o = m.plate("o", like=k)')
        d.sizes["o"] = 2
        d.parameter("move", "shares", "o", 2)
        d.write("begin", f"Dirichlet({d.number(0.8, 3.0)}, over=k)")
        d.data["begin"] = np.array([0.3, 0.7])
        d.hidden("z", 'Categorical(m.move[m.lag("z")], start=m.begin)', 2, "t")
        _column(d, "y", "m.z", "t")
    elif kind == "autoregression":
        slope, scale = d.parameter("phi", "real"), d.parameter("tau", "positive")
        d.seen("y", f'Normal({slope} * m.lag("y"), precision={scale}, start=0.4)', "t")
    else:
        d.sizes["t"] = min(d.sizes["t"], 3)
        d.write("x", f'Normal({d.pick("", "0.8 * ")}m.lag("x"), sd={d.number()}, start=0.3)', "t")
        from independent.brute_force import Space

        d.unknown["x"] = Space((d.sizes["t"],))
        d.numbers += d.sizes["t"]
        d.seen("y", f"Normal(m.x, sd={d.number()})", "t")


def _two_tables(d: Draft) -> None:
    """Two tables of data that share an unknown."""
    d.features.add("two tables")
    d.plate("n", d.choose.randint(1, 3))
    d.plate("r", d.choose.randint(1, 3))
    kind = d.pick("mean", "rate", "share", "class")
    if kind == "mean":
        a = d.parameter("a", "real")
        _gaussian(d, "y", a, "n")
        _gaussian(d, "w", d.pick(a, f"2.0 * {a}", f"{a} + {d.parameter('b', 'real')}"), "r")
    elif kind == "rate":
        a = d.parameter("a", "positive")
        d.seen("y", f"Poisson({a})", "n")
        d.seen("w", d.pick(f"Exponential(rate={a})", f"Poisson(1.5 * {a})", f"Normal(0.3, precision={a})"), "r")
    elif kind == "share":
        q = d.parameter("q", "share")
        d.seen("y", f"Bernoulli({q})", "n")
        d.seen("w", d.pick(f"Binomial(4, {q})", f"Geometric({q})", f"Bernoulli(1 - {q})"), "r")
    else:
        z = _class(d, "n")
        _column(d, "y", z, "n")
        table = next((line.split(" = ")[0] for line in d.lines if line.startswith("m.mu_y = ")), "")
        if table and d.chance(0.5) and "plates=k)" in next(line for line in d.lines if line.startswith("m.mu_y = ")):
            _gaussian(d, "w", f"{table}[0]", "r")
        else:
            _gaussian(d, "w", d.parameter("b", "real"), "r")
