"""Random sequences: autoregressions, Markov chains, random walks seen through noise; one sequence or several."""

from __future__ import annotations

import numpy as np

from laws.random_models import Sketch


def write_sequence(s: Sketch) -> None:
    """A model on an ordered plate."""
    size = s.choose.randint(3, 7)
    if s.chance(0.3):
        s.plate("g", 2)
        s.plate("t", size, within="g", extra=", ordered=True")
        s.inputs["g@t"] = np.sort(s.inputs["g@t"])
        s.columns["g"] = s.inputs["g@t"]
        first = np.r_[True, np.diff(s.inputs["g@t"]) != 0]
    else:
        s.plate("t", size, extra=", ordered=True")
        first = np.arange(size) == 0
    s.inputs["first@t"] = first.astype(int)
    s.pick(_autoregression, _markov, _walk)(s)


def _autoregression(s: Sketch) -> None:
    if s.chance(0.7):
        s.write(f"m.tau = pw.Gamma({s.number(1, 4)}, rate={s.number()})")
        scale, prior = "precision=m.tau", f"precision={s.number()} * m.tau"
    else:
        scale = prior = f"sd={s.number()}"
    s.write(f"m.phi = pw.Normal(0.2, {prior})")
    mean = 'm.phi * m.lag("y")'
    if s.chance(0.5):
        s.write(f"m.c = pw.Normal(0.0, {prior})")
        mean = f"m.c + {mean}"
    start = s.pick("0.0", "0.7")
    s.write(f"m.y = pw.Normal({mean}, {scale}, start={start}, plates=t)")
    _seen(s, "y", s.numbers.normal(size=s.sizes["t"]))


def _markov(s: Sketch) -> None:
    s.plate("k", s.choose.randint(2, 3), fixed=True)
    s.write('o = m.plate("o", like=k)')
    s.sizes["o"] = s.sizes["k"]
    s.write(f"m.begin = pw.Dirichlet({s.number()}, over=k)")
    s.write(f"m.move = pw.Dirichlet({s.number()}, over=k, plates=o)")
    s.write('m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=t)')
    _seen(s, "z", s.numbers.integers(0, s.sizes["k"], s.sizes["t"]))
    if s.chance(0.4):
        s.write("m.rate = pw.Gamma(2.0, rate=1.5, plates=k)")
        s.write("m.y = pw.Poisson(m.rate[m.z], plates=t)")
        _seen(s, "y", s.numbers.poisson(2.0, s.sizes["t"]))


def _walk(s: Sketch) -> None:
    shared = s.chance(0.5)
    if shared:
        s.write(f"m.tau = pw.Gamma({s.number(1, 4)}, rate={s.number()})")
    step = f"precision={s.number()} * m.tau" if shared else f"sd={s.number()}"
    noise = f"precision={s.number()} * m.tau" if shared else f"sd={s.number()}"
    drift = ""
    if s.chance(0.4):
        s.write(f"m.drift = pw.Normal(0.0, {step})")
        drift = " + m.drift"
    s.write(f'm.x = pw.Normal({s.pick("", "0.8 * ")}m.lag("x"){drift}, {step}, start=0.3, plates=t)')
    s.write(f"m.y = pw.Normal(m.x, {noise}, plates=t)")
    _seen(s, "y", s.numbers.normal(size=s.sizes["t"]))


def _seen(s: Sketch, name: str, values: np.ndarray) -> None:
    s.observed.append(name)
    s.values[name] = values
