"""Long runs of EM and mean field: stored, carried on to the same bits, ended by Ctrl-C with what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.backends.kernels import accelerated, search
from platewright.errors import SourceError
from platewright.family import Array
from platewright.run import checkpoint
from platewright.run.hidden.stages import Staged, Stages

WAYS: dict[str, dict[str, Any]] = {"em": {"goal": "map"}, "mean-field": {"by": "mean-field"}}


def mixture() -> pw.Model:
    m = pw.Model("close classes")
    n, k = m.plate("n"), m.plate("k", 3)
    m.p = pw.Dirichlet(2, over=k)
    m.mu = pw.Normal(0, sd=5, plates=k)
    m.v = pw.InverseGamma(3, scale=1, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Normal(m.mu[m.z], variance=m.v[m.z], plates=n)
    return m


def data() -> dict[str, Array]:
    rng = np.random.default_rng(3)
    return {"y": rng.normal(rng.choice([-1.0, 0.3, 1.5], 300), 0.7)}


class Killed(Exception):
    """Stands for a machine that goes down."""


def stopped_after(count: int, error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run ends with an error after so many iterations."""
    iterations = iter(range(count))
    told = Stages.told

    def telling(self: Stages[Any], now: Staged) -> None:
        told(self, now)
        if next(iterations, None) is None:
            raise error

    monkeypatch.setattr(Stages, "told", telling)


def track(fit: Any) -> tuple[float, ...]:
    """The objective of EM, or the bound of mean field, at each iteration."""
    return tuple(fit.estimate.objective if hasattr(fit, "estimate") else fit.result.bounds)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [1, 15, 30, 47, 80])
def test_a_run_that_was_killed_goes_on_to_the_same_bits(
    way: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = mixture().learn(data(), restarts=3, iterations=150, **WAYS[way])
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "WRITING", 0.0)
    path = tmp_path / "state.npz"
    with monkeypatch.context() as patch, pytest.raises(Killed):
        stopped_after(count, Killed, patch)
        mixture().learn(data(), restarts=3, iterations=150, checkpoint=path, **WAYS[way])
    assert path.exists()
    resumed = mixture().learn(data(), restarts=3, iterations=150, checkpoint=path, **WAYS[way])
    assert track(resumed) == track(whole)
    for name in ("p", "mu", "v"):
        assert np.asarray(resumed[name].mean).tobytes() == np.asarray(whole[name].mean).tobytes()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [7, 19, 20, 39, 40, 50])
def test_ctrl_c_gives_what_there_is_and_the_rest_later(
    way: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a short run, at its end, at the first iteration of the next, and while the best goes on."""
    path = tmp_path / "state.npz"
    with monkeypatch.context() as patch:
        stopped_after(count, KeyboardInterrupt, patch)
        part = mixture().learn(data(), restarts=2, iterations=150, checkpoint=path, **WAYS[way])
    assert "interrupted" in part.how
    assert np.isfinite(track(part)[-1])
    assert part.probabilities("z").sum(axis=-1) == pytest.approx(1.0)
    whole = mixture().learn(data(), restarts=2, iterations=150, **WAYS[way])
    assert track(part)[-1] <= track(whole)[-1]
    resumed = mixture().learn(data(), restarts=2, iterations=150, checkpoint=path, **WAYS[way])
    assert track(resumed) == track(whole)


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_before_a_run_begins_gives_the_best_that_ended(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = iter([False, True])
    one_run = search.one_run

    def at_the_door() -> Any:
        raise KeyboardInterrupt

    def begun(done: Any, start: Any, pursued: Any, iterations: int) -> Any:
        return one_run(done, at_the_door if next(starts) else start, pursued, iterations)

    monkeypatch.setattr(search, "one_run", begun)
    fit = mixture().learn(data(), restarts=3, iterations=150, **WAYS[way])
    assert "interrupted after 20 iterations" in fit.how


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    mixture().learn(data(), goal="map", restarts=1, iterations=5, checkpoint=path)
    with pytest.raises(SourceError, match="of another run"):
        mixture().learn(data(), goal="map", restarts=1, iterations=5, seed=1, checkpoint=path)
    path.write_bytes(b"nonsense")
    with pytest.raises(SourceError, match="cannot be read"):
        mixture().learn(data(), goal="map", restarts=1, iterations=5, checkpoint=path)


def test_longer_steps_reach_the_same_height_in_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = mixture().learn(data(), goal="map", restarts=1, iterations=3000, tolerance=1e-13)
    monkeypatch.setattr(accelerated, "PLAIN", 10**9)
    plain = mixture().learn(data(), goal="map", restarts=1, iterations=3000, tolerance=1e-13)
    assert len(quick.estimate.objective) < 0.6 * len(plain.estimate.objective)
    assert quick.log_joint >= plain.log_joint - 1e-6
    assert (np.diff(quick.estimate.objective) >= -1e-9 * (1 + abs(quick.log_joint))).all()
