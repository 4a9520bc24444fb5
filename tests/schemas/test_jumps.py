"""Signs and labels that nothing but priors tells: found, and changed by jumps that keep the posterior."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.backends.kernels.jumps import MirrorMover, RelabelMover
from platewright.errors import ConvergenceWarning
from platewright.schemas.blocks import JumpBlock
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.mirrors import Mirror, is_own_prior
from schemas.small_instance import Case, instance, log_joint
from schemas.test_conditional_ratio import EVERY, plan_of
from schemas.turned_models import items, loadings, product, sides

Y = np.random.default_rng(0).normal(size=12) + 2.5


def square(mean: float = 0.3) -> pw.Model:
    m = pw.Model("square")
    m.a = pw.Normal(mean, sd=1.0)
    m.y = pw.Normal(m.a**2, sd=1.0, plates=m.plate("row"))
    return m


def squares() -> pw.Model:
    m = pw.Model("squares")
    k, row = m.plate("k", 2), m.plate("row")
    m.g = pw.Input(plates=row, levels=k)
    m.a = pw.Normal(0.3, sd=1.0, plates=k)
    m.y = pw.Normal(m.a[m.g] ** 2, sd=1.0, plates=row)
    return m


def line(power: float = 1.0) -> pw.Model:
    """Near misses: a sum, an odd power, a function that is neither."""
    m = pw.Model("line")
    row = m.plate("row")
    m.a = pw.Normal(0.0, sd=1.0)
    m.b = pw.Normal(0.0, sd=1.0)
    m.y = pw.Normal(m.a**power + pw.exp(m.b), sd=1.0, plates=row)
    m.u = pw.Normal(m.a * m.b + m.a, sd=1.0, plates=row)
    return m


def turned(model: pw.Model) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    plan = model.derive(known=["y", "u"] if "u" in model.variables else ["y"], by="gibbs").plan
    assert isinstance(plan, GibbsPlan)
    return [
        (b.variables, b.jump.plates) for b in plan.blocks if isinstance(b, JumpBlock) and isinstance(b.jump, Mirror)
    ]


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (square, [(("a",), ())]),
        (product, [(("a", "b"), ())]),
        (loadings, [(("w", "z"), ("k",))]),
        (items, [(("w", "z", "b"), ())]),
        (sides, [(("w", "mu", "z"), ()), (("mu", "z"), ())]),
        (lambda: sides(0.5), [(("mu", "z"), ())]),
        (line, []),
        (lambda: line(3.0), []),
    ],
    ids=["square", "product", "loadings", "items", "sides", "off", "line", "cube"],
)
def test_signs_are_found_by_the_form(model: Callable[[], pw.Model], found: object) -> None:
    assert turned(model()) == found


def sampled(model: pw.Model, data: dict[str, Any], **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        return model.learn(data, by="gibbs", **options)


def moment(log_density: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> tuple[float, float]:
    """Mean and spread of the first of two numbers, by a lattice."""
    a, b = np.meshgrid(*[np.linspace(-6, 6, 1601)] * 2, indexing="ij")
    log = log_density(a, b)
    weight = np.exp(log - log.max())
    mean = float((weight * a).sum() / weight.sum())
    return mean, float(np.sqrt((weight * (a - mean) ** 2).sum() / weight.sum()))


def of_square(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return -0.5 * ((a - 0.3) ** 2 + b**2 + sum((y - a**2) ** 2 for y in Y))


def of_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return -0.5 * ((a - 0.4) ** 2 + (b - 0.2) ** 2 + sum((y - a * b) ** 2 for y in Y))


@pytest.mark.parametrize(("model", "log_density"), [(square, of_square), (product, of_product)])
def test_no_seed_is_wrong(model: Callable[[], pw.Model], log_density: Any) -> None:
    mean, sd = moment(log_density)
    for seed in range(10):
        fit = sampled(model(), {"y": Y}, seed=seed, backend="c")
        size = float(fit.diagnostics()["a"]["effective_size"])
        assert abs(float(fit["a"].mean) - mean) < 5 * sd / np.sqrt(size)
        assert fit["a"].sd == pytest.approx(sd, rel=0.1)


def test_numpy_turns_too() -> None:
    mean, sd = moment(of_square)
    fit = square().learn({"y": Y}, by="gibbs", backend="numpy", chains=2, draws=150, warm_up=30)
    assert abs(float(fit["a"].mean) - mean) < 6 * sd / np.sqrt(300)


def test_elements_turn_one_by_one() -> None:
    """Two squares have four modes; their signs are independent."""
    data = {"g": np.repeat([0, 1], 12), "y": np.concatenate([Y, Y])}
    fit = sampled(squares(), data, backend="c")
    mean, sd = moment(of_square)
    for element in (0, 1):
        size = fit.diagnostics()["a"]["effective_size"][element]
        assert abs(fit["a"].mean[element] - mean) < 5 * sd / np.sqrt(size)
    signs = np.sign(fit["a"].values)
    assert abs(np.corrcoef(signs.T)[0, 1]) < 0.15


def test_both_backends_turn_the_same_elements() -> None:
    data = {"y": np.random.default_rng(1).normal(size=(6, 4))}
    for backend in ("numpy", "c"):
        fit = loadings().learn(data, by="gibbs", backend=backend, chains=2, draws=40, warm_up=10)
        signs = np.sign(fit.chains["w"][:, :, 0]).reshape(-1, 2)
        assert len(np.unique(signs, axis=0)) == 4


class Uneven:
    """Probabilities that jumps must keep."""

    def of_signs(self, values: Any) -> float:
        return float(np.sum(np.where(values["a"] > 0, np.log(0.8), np.log(0.2))))

    def of_places(self, values: Any) -> float:
        """Element 3 is at place k with probability k / 6, and its label is at the same place."""
        return float(np.log(np.flatnonzero(values["a"] == 3)[0] + 1e-300))


def test_turning_over_keeps_the_density() -> None:
    mover = MirrorMover(Uneven().of_signs, {"a": ((0,), 0)})
    generator, found = np.random.default_rng(0), {"a": np.array([1.0, -2.0])}
    shares = []
    for _ in range(4000):
        found |= mover.move(found, generator)
        shares.append(found["a"] > 0)
    assert np.abs(np.mean(shares, axis=0) - 0.8).max() < 0.04
    assert set(np.abs(found["a"])) == {1.0, 2.0}


def test_exchanges_keep_the_density_and_take_labels_along() -> None:
    mover = RelabelMover(Uneven().of_places, 4, {"a": ((0,), False), "z": ((), True)})
    generator, found = np.random.default_rng(0), {"a": np.arange(4), "z": np.arange(4)}
    places = []
    for _ in range(8000):
        found |= mover.move(found, generator)
        assert np.array_equal(found["a"][found["z"]], np.arange(4))
        places.append(found["z"][3])
    assert np.bincount(places, minlength=4) / 8000 == pytest.approx(np.arange(4) / 6, abs=0.03)


TURNED = [
    (case, block)
    for case in EVERY
    for block in plan_of(case).blocks
    if isinstance(block, JumpBlock) and isinstance(block.jump, Mirror)
]


@pytest.mark.parametrize(("case", "block"), TURNED, ids=lambda one: str(getattr(one, "name", "")))
def test_nothing_but_own_priors_changes_when_signs_turn(case: Case, block: JumpBlock) -> None:
    """By numbers: the factors that tie the unknowns to data, to each other and to their past stay what they are."""
    tied = [factor for factor in block.factors if not is_own_prior(factor, frozenset(block.variables))]
    for seed in range(3):
        small = instance(case, seed)
        before = log_joint(tied, small.values, small.sizes)
        assert isinstance(block.jump, Mirror)
        turned = {name: end - np.asarray(small.values[name]) for name, (_, end) in block.jump.parts.items()}
        assert log_joint(tied, {**small.values, **turned}, small.sizes) == pytest.approx(before, rel=1e-12)


def test_some_signs_turn() -> None:
    assert TURNED
