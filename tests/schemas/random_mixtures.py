"""Mixtures put together at random: any number of columns of any conjugate kind, on rows, crossed plates or groups.

Classes belong to rows or to groups of rows; there may be a second class that depends on the first; a column may depend
on a known category too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import platewright as pw
from platewright.language.plate import Plate
from schemas.small_instance import Case


@dataclass
class Place:
    """Where a column stands: its model and name, its plates, and the class that it looks at."""

    m: pw.Model
    name: str
    plates: tuple[Plate, ...]
    hidden: str
    levels: Plate
    generator: np.random.Generator

    def __post_init__(self) -> None:
        self.at: tuple[object, ...] = (getattr(self.m, self.hidden),)
        extra: tuple[Plate, ...] = ()
        if len(self.plates) == 1 and self.generator.random() < 0.25:
            group = self.m.plate(f"group_{self.name}", 2)
            setattr(self.m, f"{self.name}_group", pw.Categorical(pw.array([0.4, 0.6], over=group), plates=self.plates))
            self.at = (*self.at, getattr(self.m, f"{self.name}_group"))
            extra = (group,)
        elif self.generator.random() < 0.5:
            extra = self.plates[1:]
        self.on = (self.levels, *extra)

    def number(self) -> float:
        return float(np.round(self.generator.uniform(0.3, 3.0), 2))

    def parameter(self, word: str, distribution: object) -> object:
        """A parameter of each class, looked up at the class of a row."""
        setattr(self.m, f"{word}_{self.name}", distribution)
        found = getattr(self.m, f"{word}_{self.name}")
        return found[self.at if len(self.at) > 1 else self.at[0]]

    def column(self, distribution: object) -> None:
        setattr(self.m, self.name, distribution)


def counts(c: Place) -> None:
    rate = c.parameter("rate", pw.Gamma(c.number(), rate=c.number(), plates=c.on))
    c.column(pw.Poisson(rate, plates=c.plates))


def waits(c: Place) -> None:
    rate = c.parameter("rate", pw.Gamma(c.number(), rate=c.number(), plates=c.on))
    c.column(pw.Exponential(rate=rate, plates=c.plates))


def answers(c: Place) -> None:
    c.column(pw.Bernoulli(c.parameter("q", pw.Beta(c.number(), c.number(), plates=c.on)), plates=c.plates))


def trials(c: Place) -> None:
    c.column(pw.Geometric(c.parameter("q", pw.Beta(c.number(), c.number(), plates=c.on)), plates=c.plates))


def levels(c: Place) -> None:
    over = c.m.plate(f"level_{c.name}", int(c.generator.integers(2, 5)))
    theta = c.parameter("theta", pw.Dirichlet(c.number(), over=over, plates=c.on))
    c.column(pw.Categorical(theta, plates=c.plates))


def measures(c: Place) -> None:
    tau = c.parameter("tau", pw.Gamma(2 + c.number(), rate=c.number(), plates=c.on))
    own = getattr(c.m, f"tau_{c.name}")
    mu = c.parameter("mu", pw.Normal(c.number(), precision=c.number() * own, plates=c.on))
    c.column(pw.Normal(mu, precision=tau, plates=c.plates))


def readings(c: Place) -> None:
    mu = c.parameter("mu", pw.Normal(c.number(), sd=c.number(), plates=c.on))
    c.column(pw.Normal(mu, sd=c.number(), plates=c.plates))


KINDS: tuple[Callable[[Place], None], ...] = (counts, waits, answers, trials, levels, measures, readings)


def random_mixture(seed: int) -> Case:
    """A mixture of one to four columns."""
    grouped = seed % 3 == 2

    def build() -> pw.Model:
        g = np.random.default_rng(seed)
        m = pw.Model(f"random mixture {seed}")
        n = m.plate("n")
        classes = {"z": m.plate("k", int(g.integers(2, 5)))}
        m.p = pw.Dirichlet(float(g.integers(1, 4)) / 2, over=classes["z"])
        m.z = pw.Categorical(m.p, plates=n)
        if seed % 4 == 1:
            classes["u"] = m.plate("kind", 2)
            m.share = pw.Dirichlet(0.75, over=classes["u"], plates=classes["z"])
            m.u = pw.Categorical(m.share[m.z], plates=n)
        inner = m.plate("inner", within=n) if grouped else None
        j = m.plate("j", 2)
        for number in range(int(g.integers(1, 5))):
            row = n if inner is None or g.random() < 0.4 else inner
            plates = (row, j) if g.random() < 0.4 else (row,)
            hidden = "u" if "u" in classes and g.random() < 0.5 else "z"
            KINDS[int(g.integers(len(KINDS)))](Place(m, f"c{number}", plates, hidden, classes[hidden], g))
        return m

    known = tuple(name for name in build().variables if name.startswith("c"))
    groups = {"inner": (0, 0, 1, 2, 2, 2)} if grouped else {}
    return Case(f"random_{seed}", build, known, {"n": 3, "inner": 6} if grouped else {"n": 3}, groups)
