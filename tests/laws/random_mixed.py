"""Random small models of all kinds at once, as text, with data: what `random_models` does not draw.

    m.z = pw.Bernoulli(m.p, plates=n)                 hidden classes beside hidden numbers
    m.mu = pw.Normal(0.3, precision=m.tau, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau, plates=n)

Switches over Gaussian means, counts and shares beside Gaussians, groups, ordered plates, two tables, cells that were
not seen, functions as nodes, transformations. Unknown cells are few enough to be summed and integrated by
`brute_force`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from independent.brute_force import BruteForce, Space

Array = np.ndarray
MOST_WAYS = 16


@dataclass(frozen=True)
class Mixed:
    """A random model with data; `features` says what was drawn."""

    seed: int
    lines: tuple[str, ...]
    data: Mapping[str, Array]
    """Known values, NaN where a cell is not known."""
    groups: Mapping[str, Array]
    sizes: Mapping[str, int]
    unknown: Mapping[str, Space]
    within: Mapping[str, str]
    features: frozenset[str]

    @cached_property
    def columns(self) -> dict[str, Array]:
        """The data as a user gives them: membership under the name of the outer plate."""
        return {**self.data, **{self.within[inner]: codes for inner, codes in self.groups.items()}}

    def model(self) -> Any:
        """The model, written anew."""
        import platewright as pw

        m = pw.Model(f"mixed {self.seed}")
        space = {"pw": pw, "np": np, "m": m}
        for line in self.lines:
            exec(line, space)
        return m

    @property
    def has_holes(self) -> bool:
        """Whether a variable is known in part."""
        return any(space.known is not None for space in self.unknown.values())

    def reference(self, given: Mapping[str, Array] | None = None) -> BruteForce:
        """The judge; what is given is not summed or integrated."""
        told = dict(given or {})
        data = {name: value for name, value in self.data.items() if name not in self.unknown}
        unknown = {name: space for name, space in self.unknown.items() if name not in told}
        return BruteForce(self.lines, {**data, **told}, self.groups, self.sizes, unknown)

    def __str__(self) -> str:
        """A script that can be pasted."""
        shown = {name: np.asarray(value).tolist() for name, value in self.columns.items()}
        data = ", ".join(f'"{name}": np.array({value})'.replace("nan", "np.nan") for name, value in shown.items())
        head = ["import numpy as np", "import platewright as pw", f'm = pw.Model("mixed {self.seed}")']
        return "\n".join([*head, *self.lines, f"data = {{{data}}}", "fit = m.learn(data)"])


@dataclass
class Draft:
    """A model being written: its lines, data and unknowns, and how many more of them it may have."""

    seed: int
    lines: list[str] = field(default_factory=list)
    data: dict[str, Array] = field(default_factory=dict)
    groups: dict[str, Array] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, Space] = field(default_factory=dict)
    within: dict[str, str] = field(default_factory=dict)
    features: set[str] = field(default_factory=set)
    numbers: int = 0
    """Unknown real coordinates so far."""
    ways: int = 1
    """Values that the unknown classes have together so far."""

    def __post_init__(self) -> None:
        self.choose = random.Random(self.seed)
        self.values = np.random.default_rng(self.seed)
        self.most = self.choose.choice((1, 2, 2, 3))

    def chance(self, probability: float) -> bool:
        return self.choose.random() < probability

    def pick(self, *options: Any) -> Any:
        return self.choose.choice(options)

    def number(self, low: float = 0.4, high: float = 3.0) -> str:
        return f"{self.choose.uniform(low, high):.2f}"

    def plate(self, name: str, size: int, words: str = "") -> str:
        if name not in self.sizes:
            self.lines.append(f'{name} = m.plate("{name}"{words})')
            self.sizes[name] = size
        return name

    def shape(self, plates: str) -> tuple[int, ...]:
        return tuple(self.sizes[plate.strip()] for plate in plates.strip("()").split(",") if plate.strip())

    def write(self, name: str, text: str, plates: str = "") -> None:
        """`m.name = pw.text, plates=...)`; the text lacks its last bracket when there are plates."""
        placed = f", plates={plates})" if plates else ")"
        self.lines.append(f"m.{name} = pw.{text.removesuffix(')')}{placed}")

    def input(self, name: str, plates: str, low: float = -1.5, high: float = 1.5) -> str:
        taken = any(line.startswith(f"m.{name} = ") for line in self.lines)
        if taken and f"m.{name} = pw.Input(plates={plates})" not in self.lines:
            name = f"{name}_{plates}"  # of another table
        if f"m.{name} = pw.Input(plates={plates})" not in self.lines:
            self.lines.append(f"m.{name} = pw.Input(plates={plates})")
            self.data[name] = np.round(self.values.uniform(low, high, self.shape(plates)), 2)
        return f"m.{name}"

    def parameter(self, name: str, kind: str, plates: str = "", size: int = 0) -> str:
        """A continuous unknown of a kind; told where there are too many already. Returns how it is written."""
        family, space = self.prior(kind)
        shape = (*self.shape(plates), *((size,) if kind == "shares" else ()))
        wide = int(np.prod(shape[:-1])) * (size - 1) if kind == "shares" else int(np.prod(shape))
        self.write(name, family, plates)
        if self.numbers + wide <= self.most and self.chance(0.9):
            self.numbers += wide
            self.unknown[name] = Space(shape, **space)
            self.features.add(f"{family.split('(')[0]} unknown")
        else:
            self.features.add("told parameter")
            self.data[name] = np.minimum(self.told(kind, shape), space.get("high", np.inf) - 0.05)
        return f"m.{name}"

    def prior(self, kind: str) -> tuple[str, dict[str, Any]]:
        a, b = self.number(1.2, 4.0), self.number()
        if kind == "shares":
            return f"Dirichlet({self.number(0.8, 3.0)}, over=k)", {"shares": True}
        if kind == "share":
            return self.pick(
                (f"Beta({a}, {b})", {"low": 0.0, "high": 1.0}), (f"Beta({b}, {a})", {"low": 0.0, "high": 1.0})
            )
        if kind == "positive":
            names = [
                f"Gamma({a}, rate={b})",
                f"Gamma({a}, rate={b})",
                f"Gamma({a}, scale={b})",
                f"Exponential(rate={b})",
            ]
            if self.chance(0.2):
                names = [f"InverseGamma({a}, scale={b})", f"LogNormal(0.2, sd={b})", f"Weibull(1.5, rate={b})"]
            return self.pick(*names), {"low": 0.0}
        if self.chance(0.12):
            return self.pick(
                (f"Uniform(-2.0, {a})", {"low": -2.0, "high": float(a)}), (f"StudentT(5.0, 0.3, scale={b})", {})
            )
        return self.pick(f"Normal({self.number(-2, 2)}, sd={b})", f"Normal(0.0, variance={b})"), {}

    def told(self, kind: str, shape: tuple[int, ...]) -> Array:
        if kind == "shares":
            return self.values.dirichlet(np.full(shape[-1], 3.0), shape[:-1])
        low, high = {"share": (0.15, 0.85), "positive": (0.4, 2.5), "real": (-1.5, 1.5)}[kind]
        return np.round(self.values.uniform(low, high, shape), 2)

    def hidden(self, name: str, text: str, levels: int, plates: str = "") -> str:
        """A class, unknown as far as there is room; where there is not, some of its cells are known."""
        self.write(name, text, plates)
        shape = self.shape(plates)
        told = self.values.integers(0, levels, shape)
        known = told.astype(float)
        for at in np.ndindex(*shape):
            if self.ways * levels <= MOST_WAYS // (1 + (self.numbers > 2)) and self.chance(0.93):
                self.ways *= levels
                known[at] = np.nan
        if np.isnan(known).all():
            self.unknown[name] = Space(shape, levels=levels)
        elif np.isnan(known).any():
            self.features.add("classes known in part")
            self.unknown[name] = Space(shape, levels=levels, known=known)
            self.data[name] = known
        else:
            self.data[name] = told
        if name in self.unknown:
            self.features.add(f"{text.split('(')[0]} unknown")
        return f"m.{name}"

    def seen(self, name: str, text: str, plates: str) -> None:
        """A column of data; now and then a cell of it is not there."""
        self.write(name, text, plates)
        family, shape = text.split("(")[0], self.shape(plates)
        counts = {"Poisson": 8, "Geometric": 0, "Bernoulli": 2, "Binomial": 5, "Categorical": 2}
        values = {
            "Normal": lambda: self.values.normal(0.5, 1.5, shape),
            "LogNormal": lambda: self.values.lognormal(0.2, 0.8, shape),
            "Exponential": lambda: self.values.exponential(1.0, shape) + 0.05,
            "Gamma": lambda: self.values.exponential(1.0, shape) + 0.05,
            "Poisson": lambda: self.values.poisson(2.0, shape),
            "Geometric": lambda: self.values.geometric(0.4, shape),
            "Binomial": lambda: self.values.integers(0, 5, shape),
        }.get(family, lambda: self.values.integers(0, 2, shape))()
        self.data[name] = values if family in counts else np.round(values, 2)
        self.features.add(f"{family} seen")
        if family in ("Normal", "Bernoulli", "Categorical") and len(shape) == 1 and self.chance(0.1):
            levels = {"Normal": 0, "Bernoulli": 2}.get(family) or (
                0 if family == "Normal" else self.sizes["k" if "shares" in text else "v"]
            )
            self.hole(name, family, shape, levels)

    def hole(self, name: str, family: str, shape: tuple[int, ...], levels: int) -> None:
        """One cell that was not seen, where there is room for another unknown."""
        if (
            shape[0] == 1
            or (family == "Normal" and self.numbers >= self.most)
            or self.ways * max(levels, 1) > MOST_WAYS
        ):
            return
        known = self.data[name].astype(float)
        known[self.choose.randrange(shape[0])] = np.nan
        self.data[name] = known
        self.numbers += family == "Normal"
        self.ways *= max(levels, 1)
        self.unknown[name] = Space(shape, levels=levels, known=known)
        self.features.add(f"hole in {family}")

    def finished(self) -> Mixed:
        """The model; `discrete` and `continuous` say what is unknown in it."""
        kinds = {"discrete" if space.levels else "continuous" for space in self.unknown.values()}
        self.features.add(" and ".join(sorted(kinds)) + " unknown" if kinds else "nothing unknown")
        return Mixed(
            self.seed, tuple(self.lines), self.data, self.groups, self.sizes, self.unknown, self.within,
            frozenset(self.features),
        )  # fmt: skip


def mixed_model(seed: int) -> Mixed:
    """The model of this number; the same on every machine."""
    from laws.random_mixed_parts import write_mixed

    for attempt in range(20):
        draft = Draft(seed + 1_000_003 * attempt)
        write_mixed(draft)
        if draft.unknown:
            break
    return draft.finished()
