"""Different schemas, one answer: Gibbs against closed forms and against enumeration, on models small enough."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import platewright as pw
from platewright.errors import UnknownName
from schemas import hierarchies, mixtures

RUN = {"chains": 2, "draws": 1000, "warm_up": 50}


def close(draws: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> None:
    """Means of chains (chain, draw, ...) agree within five Monte Carlo errors, found from batches of draws."""
    chains, count = draws.shape[:2]
    batches = draws[:, : count // 20 * 20].reshape(chains * 20, count // 20, *draws.shape[2:]).mean(axis=1)
    error = np.maximum(batches.std(axis=0, ddof=1) / np.sqrt(len(batches)), sd * (2 / (chains * count)) ** 0.5)
    assert (np.abs(draws.mean(axis=(0, 1)) - mean) <= 5 * error + 1e-12).all()


def coin() -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("coin")
    m.theta = pw.Beta(2, 3)
    m.x = pw.Bernoulli(m.theta, plates=m.plate("n"))
    return m, {"x": [1, 0, 1, 1]}


def normal() -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("normal")
    m.tau = pw.Gamma(4, rate=2)
    m.mu = pw.Normal(0, precision=0.5 * m.tau)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=m.plate("n"))
    return m, {"y": [0.3, 1.2, -0.4]}


def line() -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("line")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(4, rate=2)
    m.a = pw.Normal(0, precision=0.5 * m.tau)
    m.b = pw.Normal(0, precision=0.5 * m.tau)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau, plates=n)
    return m, {"x": [0.0, 1.0, 2.0, 3.0], "y": [0.1, 0.8, 2.3, 2.9]}


def words() -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("words")
    k = m.plate("k", 3)
    m.p = pw.Dirichlet(1.5, over=k)
    m.x = pw.Categorical(m.p, plates=m.plate("n"))
    return m, {"x": [0, 2, 2, 1, 2]}


def table() -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("covariance")
    n, d = m.plate("n"), m.plate("d", 2)
    m.S = pw.Wishart(8, scale=pw.identity(d), over=d)
    m.mu = pw.MultivariateNormal(0, precision=m.S, over=d)
    m.y = pw.MultivariateNormal(m.mu, precision=m.S, over=d, plates=n)
    return m, {"y": [[0.1, 0.4], [1.0, 1.2], [-0.6, 0.2]]}


def chain() -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("seen chain")
    k = m.plate("k", 2)
    before, step = m.plate("before", like=k), m.plate("step", ordered=True)
    m.begin = pw.Dirichlet(1.5, over=k)
    m.move = pw.Dirichlet(1.5, over=k, plates=before)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
    return m, {"z": [0, 0, 1, 0, 1, 1]}


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("written", [coin, normal, line, words, table, chain])
def test_gibbs_agrees_with_the_closed_form(written: object, backend: str) -> None:
    m, data = written()  # type: ignore[operator]
    exact = m.learn(data)
    drawn = m.learn(data, by="gibbs", backend=backend, **RUN)
    for name, draws in drawn.chains.items():
        many = exact.draws(20_000)[name]
        close(draws, many.mean(axis=0), many.std(axis=0))


ENUMERATED = {
    "known_variance": {"y": [-1.0, 2.5, 2.2]},
    "poissons": {"y": [0, 6, 1, 9]},
    "latent_class": {"x": [[0, 1, 2], [0, 1, 2], [2, 0, 0]]},
    "conjugate_precisions": {"y": [-1.0, 2.5, 2.2]},
    "misclassified": {"y": [[1, 1, 1], [0, 0, 1], [0, 0, 0]]},
}


def classes_alike(name: str, backend: str = "numpy") -> None:
    """How often Gibbs puts two rows into one class, against the evidence of each way to class all rows."""
    case = next(case for case in mixtures.MIXTURES if case.name == name)
    m, data = case.build(), ENUMERATED[name]
    hidden = "truth" if name == "misclassified" else "z"
    rows = len(next(iter(data.values())))
    levels = 2 if hidden == "truth" else next(plate.size for plate in m.plates.values() if plate.name == "k")
    ways = np.array(list(product(range(levels or 0), repeat=rows)))
    logs = np.array([m.learn({**data, hidden: way}).log_evidence for way in ways])
    share = np.exp(logs - np.logaddexp.reduce(logs))
    alike = ways[:, :, None] == ways[:, None, :]
    wanted = np.tensordot(share, alike, axes=1)
    found = m.learn(data, by="gibbs", backend=backend, **RUN).chains[hidden]
    together = (found[..., :, None] == found[..., None, :]).astype(float)
    close(together, wanted, np.sqrt(np.maximum(wanted * (1 - wanted), 0)))


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("name", ENUMERATED)
def test_gibbs_agrees_with_enumeration_of_hidden_classes(name: str, backend: str) -> None:
    classes_alike(name, backend)


@pytest.mark.parametrize("build", [mixtures.poissons, hierarchies.pumps])
def test_one_seed_gives_one_run_and_chains_differ(build: object) -> None:
    m = build()  # type: ignore[operator]
    data = {"y": [1, 0, 4, 7]} | ({"t": [1.0, 2.0, 1.0, 2.0]} if "t" in m.variables else {})
    short = {"chains": 2, "draws": 20, "warm_up": 10}
    first, again, other = (m.learn(data, by="gibbs", seed=seed, **short).chains for seed in (3, 3, 4))
    for name, draws in first.items():
        np.testing.assert_array_equal(draws, again[name])
        if np.issubdtype(draws.dtype, np.floating):
            assert not np.array_equal(draws, other[name])
            assert not np.array_equal(draws[0], draws[1])


def test_one_seed_gives_one_estimate() -> None:
    m = mixtures.poissons()
    first, again = (m.learn({"y": [1, 0, 4, 7]}, goal="map", seed=3) for _ in range(2))
    for name in ("p", "rate"):
        np.testing.assert_array_equal(first[name].value, again[name].value)


def test_thinning_keeps_every_other_sweep() -> None:
    m, data = coin()
    every = m.learn(data, by="gibbs", chains=1, draws=10, warm_up=3).chains["theta"]
    other = m.learn(data, by="gibbs", chains=1, draws=5, warm_up=3, thin=2).chains["theta"]
    np.testing.assert_array_equal(every[:, 1::2], other)


def test_an_option_that_a_sampler_does_not_have_is_named() -> None:
    m, data = coin()
    with pytest.raises(UnknownName, match="drawz"):
        m.learn(data, by="gibbs", drawz=3)
