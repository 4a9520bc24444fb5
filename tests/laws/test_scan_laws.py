"""Law: a scan along an ordered plate is the model written out step by step, in value and slope, on every backend.

Each recursion is written in a few lines; beside it stands the same by a plain loop over the steps of each sequence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import platewright as pw
from platewright.algebra.evaluate import Environment, evaluate
from platewright.errors import CycleError, NotSolvable, UnknownName
from platewright.graph.graph import read_graph
from platewright.run.forward import simulate
from platewright.schemas.whole_density import curvatures_of

Array = np.ndarray
Values = Mapping[str, float]
SERIES = ("a", "b")


@dataclass(frozen=True)
class Recursion:
    """A model with a recursion, columns of data for a series, and the log joint of one series by a plain loop."""

    name: str
    model: Callable[[], pw.Model]
    columns: Callable[[np.random.Generator, int], dict[str, Array]]
    likelihood: Callable[[Values, Mapping[str, Array]], float]


def _begin(name: str) -> tuple[pw.Model, pw.Plate]:
    m = pw.Model(name)
    series = m.plate("series")
    return m, m.plate("t", within=series, ordered=True)


def _normal(y: float, mean: float, sd: float) -> float:
    return float(stats.norm.logpdf(y, mean, sd))


def _garch() -> pw.Model:
    m, t = _begin("garch")
    m.mu = pw.Normal(0.0, sd=1.0)
    m.w, m.a, m.b = pw.Gamma(2.0, rate=4.0), pw.Beta(2.0, 4.0), pw.Beta(4.0, 2.0)
    m.h = pw.Recursion(m.w + m.a * (m.lag("y") - m.mu) ** 2 + m.b * m.lag("h"), start=m.w, plates=t)
    m.y = pw.Normal(m.mu, variance=m.h, plates=t)
    return m


def _garch_by_loop(v: Values, data: Mapping[str, Array]) -> float:
    total, h, before = 0.0, v["w"], 0.0
    for step, y in enumerate(data["y"]):
        h = v["w"] if step == 0 else v["w"] + v["a"] * (before - v["mu"]) ** 2 + v["b"] * h
        total, before = total + _normal(y, v["mu"], np.sqrt(h)), y
    return total


def _moving_average() -> pw.Model:
    m, t = _begin("moving_average")
    m.mu, m.s = pw.Normal(0.0, sd=5.0), pw.Gamma(2.0, rate=2.0)
    m.b1, m.b2 = pw.Beta(1.0, 1.0), pw.Beta(1.0, 1.0)
    m.y = pw.Normal(m.mu + m.b1 * m.lag("e") + m.b2 * m.lag("e", 2), sd=m.s, start=m.mu, plates=t)
    m.e = pw.Recursion(m.y - m.mu - m.b1 * m.lag("e") - m.b2 * m.lag("e", 2), start=m.y - m.mu, plates=t)
    return m


def _moving_average_by_loop(v: Values, data: Mapping[str, Array]) -> float:
    total, errors = 0.0, list[float]()
    for step, y in enumerate(data["y"]):
        mean = v["mu"] if step < 2 else v["mu"] + v["b1"] * errors[-1] + v["b2"] * errors[-2]
        total += _normal(y, mean, v["s"])
        errors.append(y - mean)
    return total


def _smoothing() -> pw.Model:
    m, t = _begin("smoothing")
    m.alpha, m.beta, m.s = pw.Beta(1.0, 1.0), pw.Beta(1.0, 1.0), pw.Gamma(2.0, rate=2.0)
    m.l0, m.b0 = pw.Normal(0.0, sd=3.0), pw.Normal(0.0, sd=1.0)
    m.y = pw.Normal(m.lag("level") + m.lag("trend"), sd=m.s, start=m.l0, plates=t)
    m.level = pw.Recursion(m.alpha * m.y + (1 - m.alpha) * (m.lag("level") + m.lag("trend")), start=m.l0, plates=t)
    m.trend = pw.Recursion(m.beta * (m.level - m.lag("level")) + (1 - m.beta) * m.lag("trend"), start=m.b0, plates=t)
    return m


def _smoothing_by_loop(v: Values, data: Mapping[str, Array]) -> float:
    total, level, trend = 0.0, v["l0"], v["b0"]
    for step, y in enumerate(data["y"]):
        if step == 0:
            total += _normal(y, v["l0"], v["s"])
            continue
        total += _normal(y, level + trend, v["s"])
        new = v["alpha"] * y + (1 - v["alpha"]) * (level + trend)
        level, trend = new, v["beta"] * (new - level) + (1 - v["beta"]) * trend
    return total


def _epidemic() -> pw.Model:
    m, t = _begin("epidemic")
    m.beta, m.gamma, m.rho = pw.Gamma(4.0, rate=8.0), pw.Beta(2.0, 8.0), pw.Beta(2.0, 2.0)
    m.i0 = pw.Gamma(4.0, rate=1.0)
    m.new = m.beta * m.lag("S") * m.lag("I") / 500.0
    m.S = pw.Recursion(m.lag("S") - m.new, start=100.0 - m.i0, plates=t)
    m.I = pw.Recursion(m.lag("I") + m.new - m.gamma * m.lag("I"), start=m.i0, plates=t)
    m.y = pw.Poisson(m.rho * m.I, plates=t)
    return m


def _epidemic_by_loop(v: Values, data: Mapping[str, Array]) -> float:
    total, s, i = 0.0, 100.0 - v["i0"], v["i0"]
    for step, y in enumerate(data["y"]):
        if step:
            new = v["beta"] * s * i / 500.0
            s, i = s - new, i + new - v["gamma"] * i
        total += float(stats.poisson.logpmf(y, v["rho"] * i))
    return total


def _predators() -> pw.Model:
    m, t = _begin("predators")
    m.p, m.q, m.r, m.s = (pw.LogNormal(-2.0, sd=0.25) for _ in range(4))
    m.x = pw.Recursion(m.lag("x") * pw.exp(0.1 * (m.p - m.q * m.lag("z"))), start=1.0, plates=t)
    m.z = pw.Recursion(m.lag("z") * pw.exp(0.1 * (m.s * m.lag("x") - m.r)), start=1.5, plates=t)
    m.u = pw.Normal(pw.log(m.x), sd=0.3, plates=t)
    m.v = pw.Normal(pw.log(m.z), sd=0.3, plates=t)
    return m


def _predators_by_loop(v: Values, data: Mapping[str, Array]) -> float:
    total, x, z = 0.0, 1.0, 1.5
    for step, (a, b) in enumerate(zip(data["u"], data["v"], strict=True)):
        if step:
            x, z = x * np.exp(0.1 * (v["p"] - v["q"] * z)), z * np.exp(0.1 * (v["s"] * x - v["r"]))
        total += _normal(a, np.log(x), 0.3) + _normal(b, np.log(z), 0.3)
    return total


def _one(name: str) -> Callable[[np.random.Generator, int], dict[str, Array]]:
    return lambda generator, steps: {name: generator.normal(size=steps)}


RECURSIONS = (
    Recursion("garch", _garch, _one("y"), _garch_by_loop),
    Recursion("moving average", _moving_average, _one("y"), _moving_average_by_loop),
    Recursion("exponential smoothing", _smoothing, _one("y"), _smoothing_by_loop),
    Recursion("epidemic", _epidemic, lambda g, n: {"y": g.poisson(3.0, n)}, _epidemic_by_loop),
    Recursion("predators", _predators, lambda g, n: {k: g.normal(size=n) for k in "uv"}, _predators_by_loop),
)


def _data(found: Recursion, steps: int, seed: int) -> tuple[dict[str, Array], list[dict[str, Array]]]:
    """Two sequences, one of them shorter, and the same one by one."""
    generator = np.random.default_rng(seed)
    apart = [found.columns(generator, count) for count in (steps, steps // 2 + 1)]
    labels = np.repeat(SERIES, [len(next(iter(one.values()))) for one in apart])
    return {"series": labels, **{key: np.concatenate([one[key] for one in apart]) for key in apart[0]}}, apart


def _density(found: Recursion, steps: int, backend: str = "auto") -> tuple[Any, list[dict[str, Array]]]:
    data, apart = _data(found, steps, 1)
    return found.model().derive(set(data) - {"series"}).log_density(data, backend=backend), apart


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("found", RECURSIONS, ids=lambda found: found.name)
def test_the_log_density_is_that_of_a_plain_loop(found: Recursion, backend: str) -> None:
    density, apart = _density(found, 9, backend)
    generator = np.random.default_rng(2)
    variables = found.model().variables
    for _ in range(5):
        place = 0.7 * generator.normal(size=density.size)
        values = {name: float(value) for name, value in density.values(place).items()}
        own = Environment({name: np.array(value) for name, value in values.items()})
        priors = sum(float(evaluate(variables[name].log_density, own)) for name in values)
        expected = priors + sum(found.likelihood(values, one) for one in apart)
        assert density(place) - density.volume(place) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("found", RECURSIONS, ids=lambda found: found.name)
def test_slopes_are_those_of_the_density(found: Recursion, backend: str) -> None:
    density, _ = _density(found, 9, backend)
    place = 0.5 * np.random.default_rng(3).normal(size=density.size)
    for shift in 1e-3 * np.eye(density.size):
        near, far = (density(place + k * shift) - density(place - k * shift) for k in (1, 2))
        slope = (8 * near - far) / 12e-3
        assert density.gradient(place) @ shift / 1e-3 == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("found", RECURSIONS, ids=lambda found: found.name)
def test_the_work_is_linear_in_the_steps(found: Recursion) -> None:
    short, long = (_seconds(found, steps) for steps in (2_000, 16_000))
    assert long < 24 * short  # eight times the steps; a quadratic one takes 64 times as long


def _seconds(found: Recursion, steps: int) -> float:
    density, _ = _density(found, steps, "c")
    place = density.start()
    density.gradient(place)
    best = np.inf
    for _ in range(5):
        place = place + 1e-7
        begin = time.process_time()
        for number in range(8):
            density.gradient(place + 1e-9 * (number + 1))  # at another place each time: the last one is remembered
        best = min(best, time.process_time() - begin)
    return best


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_a_random_recursion_is_the_unrolled_model(seed: int) -> None:
    generator = np.random.default_rng(seed)
    states, steps = int(generator.integers(1, 4)), 6
    looks = [
        (int(generator.integers(states)), int(generator.integers(1, 4)), bool(generator.integers(2)))
        for _ in range(states * 2)
    ]
    data = generator.normal(size=steps)
    scanned, unrolled = _scanned(states, looks), _unrolled(states, looks, steps)
    one = scanned.derive({"y"}).log_density({"y": data}, backend="numpy")
    two = unrolled.derive({f"y{t}" for t in range(steps)}).log_density({f"y{t}": data[t] for t in range(steps)})
    place = generator.normal(size=one.size)
    assert list(one.names) == list(two.names)
    assert one(place) == pytest.approx(two(place), rel=1e-10)
    np.testing.assert_allclose(one.gradient(place), two.gradient(place), rtol=1e-8, atol=1e-10)


Looks = Sequence[tuple[int, int, bool]]
"""For two terms of each state: which state it looks at, how many steps back, and whether through a bend."""


def _parameters(m: pw.Model, states: int) -> None:
    for k in range(states):
        setattr(m, f"a{k}", pw.Normal(0.0, sd=1.0))
        setattr(m, f"b{k}", pw.Normal(0.0, sd=1.0))
        setattr(m, f"c{k}", pw.Normal(0.0, sd=1.0))


def _next(m: Any, k: int, looks: Looks, earlier: Callable[[int, int], Any]) -> Any:
    (i, one, bent), (j, two, _) = looks[2 * k], looks[2 * k + 1]
    first, second = earlier(i, one), earlier(j, two)
    term = pw.tanh(first) if bent else first
    return getattr(m, f"c{k}") + getattr(m, f"a{k}") * term + getattr(m, f"b{k}") * first * second


def _scanned(states: int, looks: Looks) -> pw.Model:
    m = pw.Model("scanned")
    t = m.plate("t", ordered=True)
    _parameters(m, states)
    for k in range(states):
        after = _next(m, k, looks, lambda i, back: m.lag(f"x{i}", back))
        setattr(m, f"x{k}", pw.Recursion(after, start=0.5 * getattr(m, f"c{k}"), plates=t))
    m.y = pw.Normal(_seen([getattr(m, f"x{k}") for k in range(states)]), sd=1.0, plates=t)
    return m


def _seen(states: Sequence[Any]) -> Any:
    """A bounded function of all states, which are looked at in turn: none is barren."""
    return sum((pw.tanh(state) for state in states), pw.tanh(states[0]))


def _unrolled(states: int, looks: Looks, steps: int) -> pw.Model:
    m = pw.Model("unrolled")
    _parameters(m, states)
    for step in range(steps):
        for k in range(states):
            deepest = max(back for _, back, _ in looks[2 * k : 2 * k + 2])
            start = 0.5 * getattr(m, f"c{k}")
            after = (
                _next(m, k, looks, lambda i, back, t=step: getattr(m, f"x{i}_{t - back}")) if step >= deepest else start
            )
            setattr(m, f"x{k}_{step}", after)
        seen = _seen([getattr(m, f"x{k}_{step}") for k in range(states)])
        setattr(m, f"y{step}", pw.Normal(seen, sd=1.0))
    return m


@pytest.mark.parametrize("found", RECURSIONS, ids=lambda found: found.name)
def test_a_plan_with_a_scan_proves_itself(found: Recursion) -> None:
    names = set(found.columns(np.random.default_rng(0), 2))
    for law in found.model().derive(names).verify().laws:
        assert law.passed, law


def test_autoregressions_of_any_order_are_exact() -> None:
    m = pw.Model("ar3")
    t = m.plate("t", ordered=True)
    m.tau = pw.Gamma(2.0, rate=2.0)
    for k in (1, 2, 3):
        setattr(m, f"a{k}", pw.Normal(0.0, precision=m.tau))
    mean = m.a1 * m.lag("y") + m.a2 * m.lag("y", 2) + m.a3 * m.lag("y", 3)
    m.y = pw.Normal(mean, precision=m.tau, start=0.0, plates=t)
    y = np.random.default_rng(4).normal(size=40)
    fit = m.learn({"y": y})
    design = np.column_stack([y[3 - k : -k] for k in (1, 2, 3)])
    inverse = np.linalg.inv(design.T @ design + np.eye(3))
    assert fit.how.startswith("exact")
    np.testing.assert_allclose([fit[f"a{k}"].mean for k in (1, 2, 3)], inverse @ design.T @ y[3:], rtol=1e-9)


def test_two_chains_that_feed_each_other_are_two_regressions() -> None:
    m = pw.Model("coupled")
    t = m.plate("t", ordered=True)
    for k in "abcd":
        setattr(m, k, pw.Normal(0.0, sd=1.0))
    m.x = pw.Normal(m.a * m.lag("x") + m.b * m.lag("z"), sd=1.0, start=0.0, plates=t)
    m.z = pw.Normal(m.c * m.lag("x") + m.d * m.lag("z"), sd=1.0, start=0.0, plates=t)
    x, z = np.random.default_rng(5).normal(size=(2, 50))
    fit = m.learn({"x": x, "z": z})
    design = np.column_stack([x[:-1], z[:-1]])
    inverse = np.linalg.inv(design.T @ design + np.eye(2))
    np.testing.assert_allclose([fit["a"].mean, fit["b"].mean], inverse @ design.T @ x[1:], rtol=1e-9)
    np.testing.assert_allclose([fit["c"].mean, fit["d"].mean], inverse @ design.T @ z[1:], rtol=1e-9)


def test_what_is_simulated_obeys_the_recursion() -> None:
    m = pw.Model("garch")
    t = m.plate("t", ordered=True)
    m.w, m.b = pw.Gamma(2.0, rate=4.0), pw.Beta(2.0, 4.0)
    m.h = pw.Recursion(m.w + m.b * m.lag("h") + 0.3 * m.lag("y") ** 2, start=m.w, plates=t)
    m.y = pw.Normal(0.0, variance=m.h, plates=t)
    values = simulate(read_graph(m), {"t": 30}, {"first@t": np.arange(30) == 0}, seed=6)
    h, y = values["h"], values["y"]
    np.testing.assert_allclose(h[1:], values["w"] + values["b"] * h[:-1] + 0.3 * y[:-1] ** 2)
    assert h[0] == values["w"]


def test_a_look_back_at_what_is_never_defined_is_refused() -> None:
    m = pw.Model("lost")
    t = m.plate("t", ordered=True)
    m.y = pw.Normal(m.lag("e"), sd=1.0, start=0.0, plates=t)
    with pytest.raises(UnknownName, match="`e`"):
        m.derive({"y"})


def test_functions_of_each_other_at_the_same_element_are_refused() -> None:
    m = pw.Model("circle")
    t = m.plate("t", ordered=True)
    m.a = pw.Recursion(m.lag("b") + m.lag("a"), start=0.0, plates=t)
    m.c = m.a + 1.0
    with pytest.raises(CycleError, match="own previous element"):
        m.b = m.c + m.lag("b")


def test_second_derivatives_through_a_scan_are_refused() -> None:
    density, _ = _density(RECURSIONS[0], 5, "numpy")
    with pytest.raises(NotSolvable, match="go through a scan"):
        curvatures_of(density.whole.block.slopes, density.whole.variables)
