"""`keep=`: draws of the unknowns that it names, and of all others the sums that those draws would have had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.backends.c.compile import find_compiler
from platewright.run.checks import room
from platewright.run.samplers.sums_of_draws import Sums
from run.test_long_samplers import COINS, COUNTS, mixture, sliced

WAYS: dict[str, dict[str, Any]] = {
    "gibbs": {"by": "gibbs", "backend": "numpy"},
    "gibbs in C": {"by": "gibbs", "backend": "c"},
    "collapsed": {"by": "collapsed-gibbs", "backend": "numpy"},
    "collapsed in C": {"by": "collapsed-gibbs", "backend": "c"},
}
FEW: dict[str, Any] = {"chains": 2, "draws": 25, "warm_up": 10, "seed": 3}


def fitted(way: str, **more: Any) -> Any:
    if WAYS[way]["backend"] == "c" and find_compiler() is None:
        pytest.skip("no C compiler")
    return mixture().learn(COUNTS, **WAYS[way], **FEW, **more)


@pytest.mark.parametrize("keep", [["rate"], ["z", "p"], []], ids=["rate", "z and p", "none"])
@pytest.mark.parametrize("way", WAYS)
def test_sums_are_those_of_the_draws_that_were_not_kept(way: str, keep: list[str]) -> None:
    whole, some = fitted(way), fitted(way, keep=keep)
    assert list(some.chains) == [name for name in whole.chains if name in keep]
    assert tuple(some) == tuple(name for name in whole if name in whole.learned or keep == ["z", "p"])
    for name, values in some.chains.items():
        assert values.tobytes() == whole.chains[name].tobytes()
    for name in some.sums:
        flat = whole.chains[name].reshape(-1, *whole.chains[name].shape[2:])
        np.testing.assert_allclose(some[name].mean, flat.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(some[name].variance, flat.var(axis=0, ddof=1), rtol=1e-11)
    if "z" in some.sums:
        flat = whole.chains["z"].reshape(-1, whole.chains["z"].shape[-1])
        np.testing.assert_array_equal(some.probabilities("z")[:, 1], flat.mean(axis=0))
        np.testing.assert_array_equal(some.expected("z"), some.probabilities("z"))


def test_a_draw_added_twice_would_be_noticed() -> None:
    node = mixture().variables["rate"]
    draws = np.random.default_rng(0).normal(size=(9, 2))
    sums = Sums.of(node, {"k": 2}).after(draws[:4]).after(draws[4:])
    np.testing.assert_allclose(sums.mean, draws.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(sums.scatter / 9, draws.var(axis=0), rtol=1e-13)
    again = sums.after(draws[8:])
    assert not np.allclose(again.mean, draws.mean(axis=0), rtol=1e-6)
    assert sums.values.tobytes() == Sums.of(node, {"k": 2}).after(draws).values.tobytes()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("keep", [["rate"], []], ids=["rate", "none"])
def test_a_fit_with_sums_is_saved_and_read(way: str, keep: list[str], tmp_path: Path) -> None:
    fit = fitted(way, keep=keep)
    fit.save(tmp_path / "a.fit")
    again = pw.load(tmp_path / "a.fit")
    assert str(again.summary()) == str(fit.summary())
    np.testing.assert_array_equal(again.probabilities("z"), fit.probabilities("z"))
    np.testing.assert_array_equal(again["rate"].sd, fit["rate"].sd)


def test_what_sums_cannot_say_is_refused_in_words() -> None:
    fit = fitted("gibbs", keep=["rate"])
    for ask in (
        lambda: fit["z"].quantile(0.5),
        lambda: fit["z"].draw(),
        lambda: fit.log_evidence,
        lambda: fit["p"].shares,
        lambda: fitted("gibbs", keep=[]).draws(3),
        lambda: fitted("gibbs", keep=[]).predict(3),
    ):
        with pytest.raises(pw.errors.NotLearned, match=r"kept|no draws|no shares"):
            ask()
    with pytest.raises(pw.errors.PlatewrightError, match="`p`"):
        fit.predict(3)
    with pytest.raises(pw.errors.UnknownName, match="keep="):
        fitted("gibbs", keep=["rates"])
    with pytest.raises(pw.errors.ParameterError, match="keep is 3"):
        fitted("gibbs", keep=3)


def test_the_chains_that_disagree_are_told_by_their_sums() -> None:
    """Labels that the chains hold differently are summed as they were drawn, and the summary says so."""
    shown = str(fitted("gibbs", keep=[]).summary())
    assert "sums of 50 draws" in shown
    assert "summed under the labels that they had" in shown


def test_hamiltonian_blocks_are_summed_too() -> None:
    options: dict[str, Any] = {"by": "gibbs", "backend": "numpy", **FEW}
    whole, some = sliced().learn(COINS, **options), sliced().learn(COINS, keep=["a"], **options)
    np.testing.assert_allclose(some["s"].mean, whole["s"].mean, rtol=1e-12)
    np.testing.assert_allclose(some["b"].sd, whole["b"].sd, rtol=1e-10)


def test_draws_that_do_not_fit_are_taken_as_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_compiler() is None:
        pytest.skip("no C compiler")
    monkeypatch.setattr(room, "free_bytes", lambda: 6e7)
    data = {"y": np.tile(COUNTS["y"], 1_000)}
    options: dict[str, Any] = {"by": "gibbs", "backend": "c", "chains": 1, "draws": 450, "warm_up": 5}
    with pytest.raises(pw.errors.SizeError, match="keep="):
        mixture().learn(data, **options)
    fit = mixture().learn(data, keep=["rate", "p"], **options)
    assert fit.probabilities("z").shape == (20_000, 2)
