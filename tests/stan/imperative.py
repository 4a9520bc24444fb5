"""Random programs that assign, carry and overwrite, each as Stan text and as what Python makes of the same lines."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SIZE = 4
HEAD = """data { int N; vector[N] y; matrix[N, N] W; }
parameters { vector[N] p; real a; }
model {
  vector[N] x = p; vector[N] z; matrix[N, N] M; real s = a;
  for (i in 1:N) { z[i] = a * y[i]; for (j in 1:N) M[i, j] = W[i, j] + p[j]; }
"""
TAIL = """  target += -dot_self(x) - dot_product(z, y) - square(s);
  for (i in 1:N) target += -square(M[i, 1]) * i - sum(M[i]);
}
"""


@dataclass
class Writer:
    """Lines in both languages, with the loops around."""

    choice: random.Random
    stan: list[str] = field(default_factory=list)
    python: list[str] = field(default_factory=list)
    loops: tuple[str, ...] = ()
    least: dict[str, int] = field(default_factory=dict)
    local: tuple[str, ...] = ()
    depth: int = 1

    def both(self, stan: str, python: str) -> None:
        self.stan.append("  " * self.depth + stan)
        self.python.append("    " * self.depth + python)

    def index(self) -> tuple[str, str]:
        """A position within 1:N, and the same from zero."""
        chosen = self.choice.random()
        if not self.loops or chosen < 0.15:
            k = self.choice.randint(1, SIZE)
            return str(k), str(k - 1)
        loop = self.choice.choice(self.loops)
        if chosen < 0.35 and self.least[loop] == 2:
            return f"{loop} - 1", f"({loop} - 1) - 1"
        if chosen < 0.42:
            return f"N - {loop} + 1", f"N - {loop}"
        return loop, f"{loop} - 1"

    def read(self) -> tuple[str, str]:
        """Something to read."""
        which = self.choice.choice(["x", "x", "z", "y", "s", "a", "M", "W"])
        if which in ("s", "a"):
            which = self.choice.choice([which, *self.local])
            return which, which
        one, one_zero = self.index()
        if which in ("M", "W"):
            two, two_zero = self.index()
            return f"{which}[{one}, {two}]", f"{which}[{one_zero}, {two_zero}]"
        return f"{which}[{one}]", f"{which}[{one_zero}]"

    def value(self, own: tuple[str, str]) -> tuple[str, str]:
        first, second = self.read(), self.read()
        form = self.choice.choice(["{} + {}", "0.5 * {} - {}", "{} * {} / 4"])
        if self.choice.random() < 0.5:
            first = own
        return form.format(first[0], second[0]), form.format(first[1], second[1])

    def assign(self) -> None:
        which = self.choice.choice(["x", "x", "x", "z", "s", "M", "target"])
        if which == "target":
            stan, python = self.value(self.read())
            self.both(f"target += {stan};", f"target += {python}")
            return
        if which == "s":
            which = self.choice.choice([which, *self.local])
        own = (which, which)
        if which in ("x", "z"):
            one, zero = self.index()
            own = f"{which}[{one}]", f"{which}[{zero}]"
        elif which == "M":
            (one, one_zero), (two, two_zero) = self.index(), self.index()
            own = f"M[{one}, {two}]", f"M[{one_zero}, {two_zero}]"
        stan, python = self.value(own)
        sign = self.choice.choice(["=", "=", "+="])
        self.both(f"{own[0]} {sign} {stan};", f"{own[1]} {sign} {python}")

    def whole(self) -> None:
        """Whole vectors, slices, rows."""
        lines = [
            ("x = x + z;", "x = x + z"), ("z = 0.5 * x;", "z = 0.5 * x"), ("x += a;", "x = x + a"),
            ("x[2:3] = z[1:2];", "x[1:3] = z[0:2].copy()"), ("x[1:2] = x[2:3];", "x[0:2] = x[1:3].copy()"),
            ("s = sum(x);", "s = x.sum()"), ("x[1] = s;", "x[0] = s"), ("M[2] = x';", "M[1] = x"),
            ("z = M * x;", "z = M @ x"), ("M[, 1] = z;", "M[:, 0] = z"), ("x = M[1]';", "x = M[0].copy()"),
        ]  # fmt: skip
        self.both(*self.choice.choice(lines))

    def statement(self) -> None:
        chosen = self.choice.random()
        if chosen < 0.45 and len(self.loops) < 2:
            self.loop()
        elif chosen < 0.6:
            self.whole()
        elif chosen < 0.7 and self.loops:
            self.branches()
        else:
            self.assign()

    def branches(self) -> None:
        """A condition on data, with one branch or two."""
        loop = self.choice.choice(self.loops)
        self.both(f"if (y[{loop}] > 0) {{", f"if y[{loop} - 1] > 0:")
        self.inside(self.loops, self.choice.randint(1, 2))
        if self.choice.random() < 0.5:
            self.both("} else {", "else:")
            self.inside(self.loops, self.choice.randint(1, 2))
        self.both("}", "pass")

    def inside(self, loops: tuple[str, ...], count: int) -> None:
        """Assignments one level deeper."""
        inner = Writer(self.choice, self.stan, self.python, loops, self.least, self.local, self.depth + 1)
        for _ in range(count):
            inner.assign()

    def loop(self) -> None:
        name, first = "ijk"[len(self.loops)], self.choice.choice([1, 2])
        self.both(f"for ({name} in {first}:N) {{", f"for {name} in range({first}, N + 1):")
        outer = self.loops, self.local, self.depth
        self.loops, self.depth = (*self.loops, name), self.depth + 1
        self.least[name] = first
        if self.choice.random() < 0.4:
            stan, python = self.value(self.read())
            self.both(f"real h{name} = {stan};", f"h{name} = {python}")
            self.local = (*self.local, f"h{name}")
        for _ in range(self.choice.randint(1, 3)):
            self.statement()
        self.loops, self.local, self.depth = outer
        self.both("}", "pass")


def program(seed: int) -> tuple[str, Any]:
    """A Stan text, and the function of `(y, W, p, a)` that has its target."""
    writer = Writer(random.Random(seed))
    for _ in range(writer.choice.randint(1, 4)):
        writer.statement()
    lines = "\n".join(writer.python)
    space: dict[str, Any] = {}
    exec(  # our own text, made two lines above
        f"def target_of(y, W, p, a):\n    N, x, z, M, s, target = {SIZE}, p.copy(), a * y, W + p, a, 0.0\n{lines}\n"
        "    target += -x @ x - z @ y - s**2 - sum(M[i, 0] ** 2 * (i + 1) + M[i].sum() for i in range(N))\n"
        "    return target\n",
        space,
    )
    return HEAD + "\n".join(writer.stan) + "\n" + TAIL, space["target_of"]


def data() -> dict[str, np.ndarray]:
    """What is known."""
    chance = np.random.default_rng(3)
    return {"N": np.array(float(SIZE)), "y": chance.normal(size=SIZE), "W": chance.normal(size=(SIZE, SIZE))}
