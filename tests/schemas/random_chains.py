"""Random hidden Markov models with random data: any emission columns, ragged sequences, moves that inputs choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import platewright as pw
from platewright.family import Array
from platewright.graph.graph import read_graph
from platewright.language.plate import beginning, membership
from platewright.schemas.em import EMPlan, plan_em

Data = dict[str, Array]
COLUMNS = ("symbol", "pair", "gauss", "wide", "count", "flag", "lagged", "rate")


@dataclass(frozen=True, eq=False)
class RandomChain:
    """A plan, data that fit its shapes, and parameters to start from."""

    plan: EMPlan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    values: Mapping[str, Array]


def random_chain(
    seed: int,
    lengths: list[int] | None = None,
    states: int | None = None,
    columns: tuple[str, ...] | None = None,
    chosen_moves: bool | None = None,
) -> RandomChain:
    """One model, with what is not given drawn at random."""
    generator = np.random.default_rng(seed)
    states = states or int(generator.choice([2, 3, 4, 6, 7, 10, 11, 17]))
    if lengths is None:
        lengths = generator.integers(1, 60, int(generator.integers(1, 20))).tolist()
    if columns is None:
        columns = tuple(c for c in COLUMNS if generator.random() < 0.35) or ("symbol",)
    if chosen_moves is None:
        chosen_moves = bool(generator.random() < 0.3)
    m = pw.Model("random chain")
    k, series = m.plate("k", states), m.plate("series")
    before, kind = m.plate("before", like=k), m.plate("kind", 3)
    step = m.plate("step", ordered=True, within=series)
    total = int(sum(lengths))
    data: dict[str, Array] = {}
    m.begin = pw.Dirichlet(1.5, over=k)
    if chosen_moves:
        m.x = pw.Input(plates=step, levels=kind)
        data["x"] = generator.integers(0, 3, total)
        m.move = pw.Dirichlet(1.5, over=k, plates=(kind, before))
        m.z = pw.Categorical(m.move[m.x, m.lag("z")], start=m.begin, plates=step)
    else:
        m.move = pw.Dirichlet(1.5, over=k, plates=before)
        m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
    for name in columns:
        EMISSIONS[name](m, step, k, data, total, generator)
    plan = plan_em(read_graph(m, tuple(data)), "map")
    assert isinstance(plan, EMPlan), plan
    groups = np.repeat(np.arange(len(lengths)), lengths)
    data[membership("step", "series")] = groups
    data[beginning("step")] = np.concatenate([[1], groups[1:] != groups[:-1]]).astype(np.int64)
    sizes = {"k": states, "before": states, "kind": 3, "series": len(lengths), "step": total, "a": 5, "b": 3, "j": 3}
    return RandomChain(plan, data, sizes, parameters(plan, sizes, generator))


def parameters(plan: EMPlan, sizes: Mapping[str, int], generator: np.random.Generator) -> dict[str, Array]:
    """Values of all parameters, anywhere in their domains."""
    found = {}
    hidden = {item.name for item in plan.hidden}
    for name, node in plan.graph.nodes.items():
        if plan.graph.is_known(name) or name in hidden:
            continue
        shape = tuple(sizes[axis.plate] for axis in node.axes)
        if node.domain.kind == "simplex":
            found[name] = generator.dirichlet(np.ones(shape[-1]), shape[:-1])
        elif node.domain.upper == 1:
            found[name] = generator.uniform(0.05, 0.95, shape)
        elif node.domain.lower == 0:
            found[name] = generator.gamma(2.0, 1.0, shape)
        else:
            found[name] = generator.normal(size=shape)
    return found


# -- columns that a chain emits ----------------------------------------------------------------------------------------


def _symbol(m: pw.Model, step: pw.Plate, k: pw.Plate, data: Data, total: int, generator: np.random.Generator) -> None:
    a = m.plate("a", 5)
    m.shown = pw.Dirichlet(1.2, over=a, plates=k)
    m.s = pw.Categorical(m.shown[m.z], plates=step)
    data["s"] = generator.integers(0, 5, total)


def _pair(m: pw.Model, step: pw.Plate, k: pw.Plate, data: Data, total: int, generator: np.random.Generator) -> None:
    b, j = m.plate("b", 3), m.plates.get("j") or m.plate("j", 3)
    m.answers = pw.Dirichlet(1.2, over=b, plates=(k, j))
    m.t = pw.Categorical(m.answers[m.z], plates=(step, j))
    data["t"] = generator.integers(0, 3, (total, 3))


def _gauss(m: pw.Model, step: pw.Plate, k: pw.Plate, data: Data, total: int, generator: np.random.Generator) -> None:
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.mu = pw.Normal(0, precision=0.3 * m.tau, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=step)
    data["y"] = 5 + 2 * generator.normal(size=total)


def _wide(m: pw.Model, step: pw.Plate, k: pw.Plate, data: Data, total: int, generator: np.random.Generator) -> None:
    j = m.plates.get("j") or m.plate("j", 3)
    m.level = pw.Normal(0, sd=2, plates=(k, j))
    m.w = pw.Normal(m.level[m.z], sd=1, plates=(step, j))
    data["w"] = generator.normal(size=(total, 3))


def _count(m: pw.Model, step: pw.Plate, k: pw.Plate, data: Data, total: int, generator: np.random.Generator) -> None:
    m.often = pw.Gamma(2, rate=0.5, plates=k)
    m.c = pw.Poisson(m.often[m.z], plates=step)
    data["c"] = generator.poisson(3.0, total)


def _flag(m: pw.Model, step: pw.Plate, k: pw.Plate, data: Data, total: int, generator: np.random.Generator) -> None:
    m.q = pw.Beta(2, 3, plates=k)
    m.f = pw.Bernoulli(m.q[m.z], plates=step)
    data["f"] = generator.integers(0, 2, total)


def _lagged(m: pw.Model, step: pw.Plate, k: pw.Plate, data: Data, total: int, generator: np.random.Generator) -> None:
    m.kappa = pw.Gamma(3, rate=2, plates=k)
    m.phi = pw.Normal(0, precision=m.kappa, plates=k)
    m.r = pw.Normal(m.phi[m.z] * m.lag("r"), precision=m.kappa[m.z], start=0.3, plates=step)
    data["r"] = generator.normal(size=total)


def _rate(m: pw.Model, step: pw.Plate, k: pw.Plate, data: Data, total: int, generator: np.random.Generator) -> None:
    m.speed = pw.Gamma(2, rate=1, plates=k)
    m.e = pw.Exponential(rate=m.speed[m.z], plates=step)
    data["e"] = generator.exponential(size=total)


EMISSIONS = {
    "symbol": _symbol,
    "pair": _pair,
    "gauss": _gauss,
    "wide": _wide,
    "count": _count,
    "flag": _flag,
    "lagged": _lagged,
    "rate": _rate,
}
