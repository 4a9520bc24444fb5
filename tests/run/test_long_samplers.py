"""Long runs of samplers and of mean field: killed or stopped by Ctrl-C, stored, and carried on to the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.backends.c.compile import find_compiler
from platewright.backends.kernels.trials import LEAST_WARM_UP
from platewright.errors import SourceError
from platewright.family import Array
from platewright.run import checkpoint
from platewright.run.checkpoint import Checkpoint


def mixture() -> pw.Model:
    m = pw.Model("two classes")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(2, over=k)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    return m


def sliced() -> pw.Model:
    m = pw.Model("a shape for the slice, weights for the gradient")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.s = pw.HalfCauchy(1.0)
    m.a = pw.Normal(0, sd=2)
    m.b = pw.Normal(0, sd=m.s)
    m.y = pw.Bernoulli(pw.logistic(m.a + m.b * m.x), plates=n)
    return m


def separate() -> pw.Model:
    m = pw.Model("mean apart from precision")
    n = m.plate("n")
    m.tau = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(1, sd=2)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)
    return m


def jumping() -> pw.Model:
    m = pw.Model("shares and a place where a level jumps: no gradient")
    n, k = m.plate("n"), m.plate("k", 3)
    m.x = pw.Input(plates=n)
    m.p = pw.Dirichlet(2.0, over=k)
    m.y = pw.Normal(pw.where(pw.less(m.x, m.p[0]), 0.0, m.p[1]), sd=0.5, plates=n)
    return m


RNG = np.random.default_rng(3)
COUNTS = {"y": RNG.poisson(np.where(np.arange(20) < 10, 1.0, 6.0))}
COINS = {"x": RNG.normal(size=25), "y": RNG.integers(0, 2, 25)}
REALS = {"y": RNG.normal(1.5, 1.0, 12)}
STEPS = {"x": RNG.uniform(size=12), "y": RNG.normal(0.3, 0.5, 12)}
FEW: dict[str, Any] = {"chains": 2, "draws": 30, "warm_up": 20}
RUNS: dict[str, tuple[Callable[[], pw.Model], dict[str, Array], dict[str, Any]]] = {
    "gibbs": (mixture, COUNTS, {"by": "gibbs", "backend": "numpy", **FEW}),
    "gibbs in C": (mixture, COUNTS, {"by": "gibbs", "backend": "c", **FEW}),
    "Hamiltonian": (sliced, COINS, {"by": "gibbs", "backend": "numpy", **FEW}),
    "Hamiltonian in C": (sliced, COINS, {"by": "gibbs", "backend": "c", **FEW}),
    "coordinates": (jumping, STEPS, {"by": "gibbs", "backend": "numpy", **FEW}),
    "coordinates in C": (jumping, STEPS, {"by": "gibbs", "backend": "c", **FEW}),
    "with trials": (separate, REALS, {"by": "gibbs", "backend": "numpy", **FEW, "warm_up": LEAST_WARM_UP}),
    "with trials in C": (sliced, COINS, {"by": "gibbs", "backend": "c", **FEW, "warm_up": LEAST_WARM_UP}),
    "thinned, without warm-up": (sliced, COINS, {"by": "gibbs", "backend": "numpy", **FEW, "warm_up": 0, "thin": 2}),
    "collapsed": (mixture, COUNTS, {"by": "collapsed-gibbs", "backend": "numpy", **FEW, "draws": 10, "warm_up": 3}),
    "collapsed in C": (mixture, COUNTS, {"by": "collapsed-gibbs", "backend": "c", **FEW}),
    "sums": (mixture, COUNTS, {"by": "gibbs", "backend": "numpy", "keep": ["rate"], **FEW}),
    "sums in C": (mixture, COUNTS, {"by": "gibbs", "backend": "c", "keep": ["rate"], **FEW}),
    "sums alone in C": (mixture, COUNTS, {"by": "gibbs", "backend": "c", "keep": [], "thin": 3, **FEW}),
    "sums, collapsed": (mixture, COUNTS, {"by": "collapsed-gibbs", "backend": "c", "keep": ["rate"], **FEW}),
    "mean field": (mixture, COUNTS, {"by": "mean-field", "restarts": 2, "iterations": 60}),
    "mean field in blocks": (separate, REALS, {"by": "mean-field", "restarts": 2, "iterations": 60, "tolerance": 0.0}),
    "plain means": (separate, REALS, {"by": "mean-field", "update": "plain", "iterations": 60, "tolerance": 0.0}),
}


def learn(name: str, **more: Any) -> Any:
    build, data, options = RUNS[name]
    if options.get("backend") == "c" and find_compiler() is None:
        pytest.skip("no C compiler")
    return build().learn(data, seed=5, **{**options, **more})


def bits(fit: Any) -> dict[str, bytes]:
    """Everything that a fit holds, as bytes."""
    if hasattr(fit, "chains"):
        more = {} if getattr(fit, "means", None) is None else {f"mean {k}": v for k, v in fit.means.items()}
        more |= {f"sums {name}": np.array([each.values for each in sums]) for name, sums in fit.sums.items()}
        return {name: np.asarray(values).tobytes() for name, values in {**fit.chains, **more}.items()}
    track = {"track": np.array(fit.result.bounds or fit.result.changes)}
    return {name: np.asarray(values).tobytes() for name, values in {**fit.result.values, **track}.items()}


class Killed(Exception):
    """Stands for a machine that goes down."""


def stopped_after(count: int, error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run ends with an error after so many stored states."""
    stores = iter([None] * count + [error])
    save = Checkpoint.save

    def saving(self: Checkpoint, state: checkpoint.State, force: bool = False) -> None:
        save(self, state, force)
        if (stop := next(stores, None)) is not None:
            raise stop

    monkeypatch.setattr(Checkpoint, "save", saving)


@pytest.mark.parametrize("count", [0, 3, 17])
@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_was_killed_goes_on_to_the_same_bits(
    name: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = bits(learn(name))
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "WRITING", 0.0)
    path = tmp_path / "state.npz"
    with monkeypatch.context() as patch:
        stopped_after(count, Killed, patch)
        with suppress(Killed):  # C may be done before so many states were stored
            learn(name, checkpoint=path)
    assert path.exists()
    assert bits(learn(name, checkpoint=path)) == whole
    assert bits(learn(name, checkpoint=path)) == whole  # a run that has ended is not repeated, and gives the same


@pytest.mark.parametrize("name", ["gibbs", "Hamiltonian", "collapsed", "mean field", "mean field in blocks"])
def test_ctrl_c_gives_what_there_is_and_the_rest_later(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = learn(name)
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "WRITING", 0.0)
    path = tmp_path / "state.npz"
    with monkeypatch.context() as patch:
        stopped_after(6, KeyboardInterrupt, patch)
        part = learn(name, checkpoint=path)
    if hasattr(part, "chains"):
        kept = next(iter(part.chains.values())).shape[1]
        assert 0 < kept < next(iter(whole.chains.values())).shape[1]
        for unknown, values in part.chains.items():
            assert values.tobytes() == whole.chains[unknown][: len(values), :kept].tobytes()
    else:
        assert part.result.interrupted and "interrupted" in part.how
        assert np.isfinite(part.lower_bound)
    assert bits(learn(name, checkpoint=path)) == bits(whole)


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from run import test_long_samplers as t
from platewright.run import checkpoint
checkpoint.SECONDS = checkpoint.WRITING = 0.0
t.learn({name!r}, checkpoint={path!r}, **{more!r})
"""


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("name", ["gibbs", "gibbs in C"])
def test_a_process_that_was_killed_leaves_a_state_to_go_on_from(
    name: str, kind: signal.Signals, tmp_path: Path
) -> None:
    more = {"draws": 300} if name == "gibbs" else {"draws": 2_000, "thin": 200}
    path = tmp_path / "state.npz"
    text = SCRIPT.format(tests=str(Path(__file__).parents[1]), name=name, path=str(path), more=more)
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(text)], env=os.environ, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(kind)
    process.wait(60)
    assert path.exists()
    assert bits(learn(name, checkpoint=path, **more)) == bits(learn(name, **more))


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    learn("gibbs", checkpoint=path)
    with pytest.raises(SourceError, match="of another run"):
        learn("gibbs", checkpoint=path, draws=31)
    with pytest.raises(SourceError, match="of another run"):
        learn("gibbs in C", checkpoint=path)
