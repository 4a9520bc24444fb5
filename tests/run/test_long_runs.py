"""Long runs of EM: stored, carried on to the same bits, ended by Ctrl-C with what there is, and shortened."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import platewright as pw
from platewright.errors import SourceError
from platewright.family import Array
from platewright.run import checkpoint
from platewright.run.hidden import climbing, em_search
from platewright.run.hidden.climbing import Climb


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
    """The next run ends with an error after so many looks."""
    looks = iter(range(count))
    told = em_search._Search.told

    def telling(self: em_search._Search, now: Climb) -> None:
        told(self, now)
        if next(looks, None) is None:
            raise error

    monkeypatch.setattr(em_search._Search, "told", telling)


@pytest.mark.parametrize("count", [1, 15, 30, 47, 80])
def test_a_run_that_was_killed_goes_on_to_the_same_bits(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = mixture().learn(data(), goal="map", restarts=3, iterations=150)
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    path = tmp_path / "state.npz"
    with monkeypatch.context() as patch, pytest.raises(Killed):
        stopped_after(count, Killed, patch)
        mixture().learn(data(), goal="map", restarts=3, iterations=150, checkpoint=path)
    assert path.exists()
    resumed = mixture().learn(data(), goal="map", restarts=3, iterations=150, checkpoint=path)
    assert resumed.estimate.objective == whole.estimate.objective
    for name in ("p", "mu", "v"):
        assert resumed[name].value.tobytes() == whole[name].value.tobytes()


def test_ctrl_c_gives_what_there_is_and_the_rest_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.npz"
    with monkeypatch.context() as patch:
        stopped_after(50, KeyboardInterrupt, patch)
        part = mixture().learn(data(), goal="map", restarts=2, iterations=150, checkpoint=path)
    assert "interrupted" in part.how
    assert np.isfinite(part.log_joint)
    assert part.probabilities("z").sum(axis=-1) == pytest.approx(1.0)
    whole = mixture().learn(data(), goal="map", restarts=2, iterations=150)
    assert part.log_joint <= whole.log_joint
    resumed = mixture().learn(data(), goal="map", restarts=2, iterations=150, checkpoint=path)
    assert resumed.estimate.objective == whole.estimate.objective


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
    monkeypatch.setattr(climbing, "PLAIN", 10**9)
    plain = mixture().learn(data(), goal="map", restarts=1, iterations=3000, tolerance=1e-13)
    assert len(quick.estimate.objective) < 0.6 * len(plain.estimate.objective)
    assert quick.log_joint >= plain.log_joint - 1e-6
    assert (np.diff(quick.estimate.objective) >= -1e-9 * (1 + abs(quick.log_joint))).all()
