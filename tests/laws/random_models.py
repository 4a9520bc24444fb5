"""Random small models in the language, as text, with data drawn from themselves.

A model is a list of lines of Python, so that a failure prints the model that failed:

    m.tau = pw.Gamma(2.0, rate=1.0)
    m.mu = pw.Normal(0.5, precision=0.3 * m.tau)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)

Many have conjugate priors, many do not: both "solved and right" and "declined with a reason" are wanted.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import platewright as pw
from platewright.graph.graph import read_graph
from platewright.run.forward import simulate

Array = np.ndarray


@dataclass
class Sketch:
    """A model being written: its lines, its plates and inputs, and the random numbers that decide."""

    seed: int
    kind: str = ""
    lines: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, Array] = field(default_factory=dict)
    columns: dict[str, Array] = field(default_factory=dict)
    """Membership columns under the names that a user gives them."""
    observed: list[str] = field(default_factory=list)
    values: dict[str, Array] = field(default_factory=dict)
    """Observations that are not drawn from the model: any value in the support will do."""
    space: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.choose = random.Random(self.seed)
        self.numbers = np.random.default_rng(self.seed)
        self.space |= {"pw": pw, "np": np, "m": pw.Model(f"random {self.seed}")}

    @property
    def model(self) -> Any:
        """The model as written so far."""
        return self.space["m"]

    def write(self, line: str) -> None:
        """Add a line and run it."""
        self.lines.append(line)
        exec(line, self.space)

    def chance(self, probability: float) -> bool:
        """A coin."""
        return self.choose.random() < probability

    def pick(self, *options: Any) -> Any:
        """One of the options."""
        return self.choose.choice(options)

    def number(self, low: float = 0.3, high: float = 3.0) -> str:
        """A number with two digits."""
        return f"{self.choose.uniform(low, high):.2f}"

    # -- plates and inputs ---------------------------------------------------------------------------------------------

    def plate(self, name: str, size: int, *, fixed: bool = False, within: str = "", extra: str = "") -> str:
        """A plate whose size is fixed in the model or comes from the data."""
        shown = f", {size}" if fixed else ""
        inside = f", within={within}" if within else ""
        self.write(f'{name} = m.plate("{name}"{shown}{inside}{extra})')
        self.sizes[name] = size
        if within:
            codes = self.numbers.integers(0, self.sizes[within], size)
            codes[: self.sizes[within]] = np.arange(min(size, self.sizes[within]))
            self.inputs[f"{within}@{name}"] = codes
            self.columns[within] = codes
        return name

    def coded(self, name: str, rows: str, levels: str) -> str:
        """A categorical input on the rows; returns how it is written."""
        self.write(f"m.{name} = pw.Input(plates={rows}, levels={levels})")
        self.inputs[name] = self.numbers.integers(0, self.sizes[levels], self.sizes[rows])
        return f"m.{name}"

    def real(self, name: str, plates: str, positive: bool = False) -> str:
        """A real input."""
        self.write(f"m.{name} = pw.Input(plates={plates})")
        shape = tuple(self.sizes[plate.strip()] for plate in plates.strip("()").split(",") if plate.strip())
        values = self.numbers.uniform(0.5, 2.0, shape) if positive else self.numbers.normal(size=shape)
        self.inputs[name] = np.round(values, 3)
        return f"m.{name}"

    # -- data --------------------------------------------------------------------------------------------------------

    def finished(self) -> Sample:
        """Values for everything, drawn from the model; some of the unknowns are told too."""
        told = list(self.observed)
        every = dict(self.values)
        if not set(told) <= set(every):
            every |= simulate(read_graph(self.model), self.sizes, {**self.inputs, **self.values}, self.seed)
            for name, node in self.model.variables.items():
                if node.kind == "random" and name not in told and self.chance(0.07):
                    told.append(name)
        data = {name: value for name, value in self.inputs.items() if "@" not in name}
        data |= self.columns
        data |= {name: every[name] for name in told}
        inner = {name.split("@")[0]: name.split("@")[1] for name in self.inputs if "@" in name}
        return Sample(self.seed, self.kind, self.model, data, tuple(self.lines), tuple(told), dict(self.sizes), inner)


@dataclass(frozen=True)
class Sample:
    """A random model with data."""

    seed: int
    kind: str
    model: Any
    data: Mapping[str, Array]
    lines: tuple[str, ...]
    told: tuple[str, ...]
    sizes: Mapping[str, int]
    inner: Mapping[str, str]
    """Outer plate -> the plate within it, whose rows the membership column of the outer plate describes."""

    def plates_of(self, name: str) -> tuple[str, ...]:
        """The plates along the axes of a variable or of a membership column."""
        if name in self.model.variables:
            return tuple(axis.plate for axis in self.model.variables[name].axes)
        return (self.inner[name],)

    def __str__(self) -> str:
        """A script that does the same."""
        head = ["import numpy as np", "import platewright as pw", f'm = pw.Model("random {self.seed}")']
        data = ", ".join(f'"{name}": np.array({np.asarray(value).tolist()})' for name, value in self.data.items())
        return "\n".join([*head, *self.lines, f"fit = m.learn({{{data}}})"])


def random_model(seed: int) -> Sample:
    """The model of this number; the same on every machine."""
    from laws.random_discrete import write_discrete
    from laws.random_gaussian import write_gaussian
    from laws.random_scalar import write_scalar
    from laws.random_sequences import write_sequence
    from laws.random_vectors import write_vector

    sketch = Sketch(seed)
    kinds = {
        "gaussian": write_gaussian,
        "scalar": write_scalar,
        "discrete": write_discrete,
        "sequence": write_sequence,
        "vector": write_vector,
    }
    weights = {"gaussian": 40, "scalar": 30, "discrete": 16, "sequence": 8, "vector": 6}
    sketch.kind = sketch.choose.choices(list(weights), list(weights.values()))[0]
    kinds[sketch.kind](sketch)
    with np.errstate(all="ignore"):
        sample = sketch.finished()
    if all(np.isfinite(value).all() for value in sample.data.values()):
        return sample
    return random_model(seed + 1_000_003)  # a prior so wide that its own draws overflow
