"""Random expressions: what the NumPy printer writes computes what the direct evaluation computes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import platewright as pw
from platewright.algebra.build import add, call, equal, log_sum_exp, multiply, power, total, where
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Constant, Expression, Index, Reference
from platewright.backends.naming import Names
from platewright.backends.numpy.expression import NumpyPrinter

N, K, J = Index("n", "n"), Index("k", "k"), Index("j", "j")
SIZES = {"n": 3, "k": 2, "j": 2}
SHAPES = {"a": (), "x": (N,), "mu": (K,), "w": (J,), "table": (N, K), "turned": (K, N), "move": (K, J), "code": (N,)}


def leaf(generator: np.random.Generator, scope: tuple[Index, ...]) -> Expression:
    able = [name for name, axes in SHAPES.items() if set(axes) <= set(scope) and name != "code"]
    if generator.random() < 0.2:
        return Constant(float(generator.choice([-1.0, -0.5, 0.5, 2.0])))
    name = str(generator.choice(able))
    if name == "mu" and N in scope and generator.random() < 0.3:
        return Reference("mu", (Reference("code", (N,)),))
    return Reference(name, SHAPES[name])


def grown(generator: np.random.Generator, scope: tuple[Index, ...], depth: int) -> Expression:
    """A random expression over the indices in scope."""
    if depth == 0:
        return leaf(generator, scope)

    def part() -> Expression:
        return grown(generator, scope, depth - 1)

    match generator.integers(8):
        case 0 | 1:
            return add(part(), part(), part())
        case 2 | 3:
            return multiply(part(), part(), part())
        case 4:
            return power(add(power(part(), 2), 1.0), float(generator.choice([-1.0, 0.5, 2.0])))
        case 5:
            return call("tanh", part())
        case 6:
            return where(equal(Reference("code", (N,)), 1.0), part(), part()) if N in scope else part()
    inner = [index for index in (K, J) if index not in scope]
    if not inner:
        return part()
    index = inner[int(generator.integers(len(inner)))]
    body = grown(generator, (*scope, index), depth - 1)
    if generator.random() < 0.5:  # what prints as a matrix product
        body = multiply(body, Reference("mu" if index == K else "w", (index,)))
    return total(body, index) if generator.random() < 0.7 else log_sum_exp(call("tanh", body), index)


@pytest.mark.parametrize("seed", range(400))
def test_printed_numpy_is_the_expression(seed: int) -> None:
    generator = np.random.default_rng(seed)
    scope = ((N,), (N, K), (K,), ())[seed % 4]
    expression = grown(generator, scope, 3)
    values = {name: generator.normal(size=tuple(SIZES[axis.plate] for axis in axes)) for name, axes in SHAPES.items()}
    values["code"] = np.array([0, 1, 1])
    names = Names([*SHAPES, *(f"size {plate}" for plate in SIZES)])
    printer = NumpyPrinter(names)
    text = printer.printed(expression, scope, full=True)
    known = {names(name): value for name, value in values.items()}
    known |= {printer.size(plate): size for plate, size in SIZES.items()}
    if printer.used:
        pytest.skip(f"{printer.used} are support functions, tested elsewhere")
    found = eval(text, {"np": np, "special": special, **known})
    np.testing.assert_allclose(found, evaluate(expression, Environment(values, SIZES), scope), rtol=1e-10, atol=1e-12)


def test_slopes_lie_where_a_table_of_the_model_says() -> None:
    """Places that are numbers of the model are whole in the printed text too."""
    m = pw.Model("places")
    k, j, n = m.plate("k", 3), m.plate("j", 2), m.plate("n")
    m.g = pw.Input(plates=n, levels=k)
    m.where = pw.array([0, 1, 1], over=k)
    m.b = pw.Normal(0.0, sd=1.0, plates=j)
    m.y = pw.Poisson(pw.exp(m.b[m.where[m.g]]), plates=n)
    plan = m.derive(known=["y"], by="gibbs")
    assert plan.verify().passed
    data = {"g": [0, 1, 2, 2], "y": [3, 0, 1, 2]}
    fit = m.learn(data, by="gibbs", backend="numpy", chains=1, draws=20, warm_up=20)
    assert fit["b"].values.shape == (20, 2)
