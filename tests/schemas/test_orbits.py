"""Moves along orbits: what the unknowns make stays, the joint distribution is kept, and long tails are reached."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.family import Array
from platewright.run.checks.verifying_moves import Moved, sampler_at
from platewright.schemas.blocks import OrbitBlock
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from schemas.coupled import COUPLED
from schemas.joint_distribution import compare
from schemas.small_instance import Instance, instance
from schemas.test_native_conditionals import needs_compiler

CASES = {case.name: case for case in COUPLED if case.name in ("noisy_covariate", "abilities", "products")}
LARGER = {name: case.resized(**dict.fromkeys(case.sizes, 6)) for name, case in CASES.items()}


def orbit_blocks(plan: GibbsPlan) -> list[OrbitBlock]:
    return [block for block in plan.blocks if isinstance(block, OrbitBlock)]


def made(name: str, values: dict[str, Array]) -> Array:
    """What the unknowns of a case make together."""
    if name == "noisy_covariate":
        return values["w"][0] + 2 * values["w"][1] * values["x"]
    if name == "abilities":
        return np.outer(values["ability"], values["slope"]) - 0.5 * values["difficulty"]
    return np.outer(values["a"], values["b"])


@pytest.mark.parametrize("name", CASES)
def test_what_the_unknowns_make_stays_all_along_the_orbit(name: str) -> None:
    case = CASES[name]
    small = instance(case, 3)
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    blocks = orbit_blocks(plan)
    sampler = sampler_at(plan, small.values, small.sizes)
    assert [block.along for block in blocks] == (["stretch"] if name == "products" else ["stretch", "shift"])
    for block in blocks:
        mover = Moved(sampler, plan.blocks.index(block)).mover
        start = mover.start(small.values)
        for at in (-1.3, 0.4, 2.0):
            moved, _ = mover.placed(at, start)
            assert any(np.max(np.abs(moved[key] - small.values[key])) > 0.01 for key in moved)
            there = made(name, {**small.values, **moved})
            np.testing.assert_allclose(there, made(name, dict(small.values)), atol=1e-12)


def along_orbits(plan: GibbsPlan, small: Instance, generator: np.random.Generator) -> dict[str, Array]:
    """Unknowns after moves along their orbits alone."""
    values = dict(small.values)
    sampler = sampler_at(plan, small.values, small.sizes)
    for _ in range(3):
        for block in orbit_blocks(plan):
            values |= Moved(sampler, plan.blocks.index(block)).mover.move(values, generator)
    return {name: values[name] for name in small.hidden}


def check_joint(name: str) -> None:
    found = compare(LARGER[name], along_orbits, first=400)
    assert found.passed, found


@pytest.mark.parametrize("name", LARGER)
def test_moves_along_orbits_alone_keep_the_joint_distribution(name: str) -> None:
    check_joint(name)


def blurred() -> pw.Model:
    """A wide slope of a blurred covariate: the larger the slope, the closer together the values of the covariate."""
    m = pw.Model("a long tail")
    n = m.plate("n")
    m.x = pw.Normal(0, sd=1, plates=n)
    m.a, m.b = pw.Normal(0, sd=100), pw.Normal(0, sd=100)
    m.y = pw.Binomial(30, logit=m.a + m.b * m.x, plates=n)
    return m


def shares_below(y: Array, b: Array) -> Array:
    """The posterior distribution of |b| for two rows, with eta = a + b x in place of x and a integrated out.

    p(b) = N(b; 0, v) / |b| E[ exp(-(eta1 - eta0)^2 / 4 b^2) N((eta0 + eta1) / 2; 0, v + b^2 / 2) ],   eta by the data
    """
    eta, v = np.linspace(-4, 4, 401), 100.0**2
    weight = np.exp(y[:, None] * eta - 30 * np.logaddexp(0, eta))
    chance = np.outer(weight[0], weight[1])
    gap, middle = np.subtract.outer(eta, eta), np.add.outer(eta, eta) / 2
    mass = []
    for at in b:
        wide = v + at**2 / 2
        inner = np.exp(-((gap / at) ** 2) / 4 - middle**2 / (2 * wide)) / np.sqrt(wide)
        mass.append(np.sum(chance * inner) * np.exp(-(at**2) / (2 * v)))  # b dlog(b) / b
    return np.cumsum(mass) / np.sum(mass)


@needs_compiler
def test_a_tail_that_paths_do_not_reach_is_reached() -> None:
    y = np.array([12, 19])
    fit = blurred().learn({"y": y}, chains=4, warm_up=300, draws=2000, seed=2, backend="c")
    assert "stretched together" in fit.how
    b = np.exp(np.linspace(-6, 7, 500))
    share = shares_below(y, b)
    found = np.abs(fit["b"].values)
    for level in (0.25, 0.5, 0.75, 0.95):
        place = float(np.interp(level, share, b))
        assert abs(np.mean(found < place) - level) < 0.05, (level, place)
