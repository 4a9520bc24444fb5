"""Law: the source of a fit, run alone on its data, gives the numbers of the fit, bit for bit.

Every model of the gallery and random ones, by each schema whose printed functions the library runs, samplers too. The
files run in a fresh interpreter that knows of no Platewright, with no word but their data: the options of the run are
their defaults.
"""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from laws.random_latents import random_latent
from platewright.backends.numpy.annealed import AnnealedEmitter
from platewright.backends.numpy.collapsed import CollapsedEmitter
from platewright.backends.numpy.em import em_emitter
from platewright.backends.numpy.gibbs import GibbsEmitter
from platewright.backends.numpy.laplace import LaplaceEmitter
from platewright.backends.numpy.mean_field import mean_field_emitter
from platewright.errors import ImproperPosterior, NotSolvable, PlatewrightError, Unbounded
from platewright.run.checks.simulating import small_data
from platewright.run.evidence.evidence_fit import EvidenceFit, run_evidence
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.em_search import run_em
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.hidden.mean_field_search import run_mean_field
from platewright.run.samplers.collapsed_fit import CollapsedFit, run_collapsed
from platewright.run.samplers.sampling import SampledFit, run_gibbs

ROOT = Path(__file__).parents[2]
REGENERATE = runpy.run_path(str(ROOT / "examples" / "regenerate.py"))
GALLERY: list[Path] = [*REGENERATE["gallery"](), *REGENERATE["latent_gallery"]()]
GOALS = {"em": "map", "mean-field": "posterior"}
SAMPLERS = ("gibbs", "collapsed-gibbs")
TOLD: Mapping[str, Mapping[str, Any]] = {
    "em": {"seed": 5, "restarts": 2, "iterations": 45},
    "mean-field": {"seed": 5, "restarts": 2, "iterations": 25},
    **{by: {"seed": 5, "chains": 2, "draws": 3, "warm_up": 5, "thin": 2} for by in SAMPLERS},
}
"""More iterations than plain steps, so that longer ones are taken too."""
IMPOSSIBLE = {"zero_inflated_counts"}
"""Where a collapsed chain finds no level possible at its start, and says so."""
DRIVER = """
import importlib.util, json, sys
import numpy as np

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "platewright":
            raise ImportError("an emitted file stands alone")

sys.meta_path.insert(0, Refuse())
for number in range(int(sys.argv[1])):
    spec = importlib.util.spec_from_file_location(f"learned_{number}", f"{number}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.learn(dict(np.load(f"{number}.data.npz")), json.load(open(f"{number}.size.json")))
    np.savez(f"{number}.found.npz", **found)
"""
Fit = EstimatedFit | MeanFieldFit | SampledFit | EvidenceFit


def wanted_of(fit: Fit) -> dict[str, Any]:
    """The numbers of a fit, as its source names them."""
    if isinstance(fit, MeanFieldFit):
        return {**fit.result.values, "lower_bound": fit.lower_bound}
    if isinstance(fit, EvidenceFit):
        found = {"log_evidence": fit.log_evidence, "error": fit.evidence.error, "modes": modes_of(fit)}
        return {name: value for name, value in found.items() if value is not None}
    names = names_of(fit)
    if isinstance(fit, SampledFit):
        return {names(name): values for name, values in fit.chains.items()}
    return {**{names(name): value for name, value in fit.estimate.values.items()}, "log_joint": fit.log_joint}


def modes_of(fit: EvidenceFit) -> int | None:
    """How many modes are alike, as Laplace's method says."""
    said = re.search(r"(\d+) modes that differ by labels", fit.evidence.detail)
    return (int(said[1]) if said else 1) if fit.derivation.schema == "laplace" else None


def names_of(fit: Fit) -> Any:
    gathered = "stand for" in fit.backend
    if isinstance(fit, SampledFit):
        kind: Any = CollapsedEmitter if isinstance(fit, CollapsedFit) else GibbsEmitter
        sampler = kind(fit.derivation, fit.options)
        sampler.module()
        return sampler.names
    if isinstance(fit, EvidenceFit):
        weighing = (AnnealedEmitter if fit.derivation.schema == "annealed" else LaplaceEmitter)(fit.derivation)
        weighing.module()
        return weighing.names
    if isinstance(fit, MeanFieldFit):
        field = mean_field_emitter(fit.derivation, gathered)
        field.module()
        return field.names
    emitter = em_emitter(fit.derivation, gathered)
    emitter.module()
    return emitter.names


def check(fits: Mapping[str, Fit], folder: Path) -> None:
    """Run the sources of all fits in one process, and compare."""
    for number, fit in enumerate(fits.values()):
        names = names_of(fit)
        (folder / f"{number}.py").write_text(fit.source())
        np.savez(folder / f"{number}.data.npz", **{names(name): value for name, value in fit.columns.items()})
        (folder / f"{number}.size.json").write_text(json.dumps({names(p): int(n) for p, n in fit.sizes.items()}))
    (folder / "driver.py").write_text(DRIVER)
    command = [sys.executable, "-I", "driver.py", str(len(fits))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    for number, (name, fit) in enumerate(fits.items()):
        found, wanted = dict(np.load(folder / f"{number}.found.npz")), wanted_of(fit)
        assert found.keys() <= wanted.keys(), (name, found.keys() - wanted.keys())
        if isinstance(fit, SampledFit | EvidenceFit):
            assert found.keys() == wanted.keys(), name
        else:
            assert len(found) > bool(set(fit.plan.graph.unknown) - fit.derivation.latent.names), name
        for key in found:
            same = np.asarray(wanted[key]).astype(found[key].dtype).tobytes() == found[key].tobytes()
            assert same, (name, key, wanted[key], found[key])


def gallery_fits(folder: Path) -> Iterator[tuple[str, Fit]]:
    """An example on small simulated data, by each schema that takes it."""
    space = runpy.run_path(str(folder / "model.py"))
    for by, goal in GOALS.items():
        try:
            plan = space["m"].derive(known=space["known"], goal=goal, by=by).plan
        except NotSolvable:
            continue
        values, sizes = small_data(plan.graph, seed=1)
        columns = {name: value for name, value in values.items() if plan.graph.is_known(name)}
        if by == "em":
            best = run_em(plan, columns, sizes, **TOLD[by])
            yield f"{folder.name} by {by}", EstimatedFit(plan, columns, sizes, best)
        else:
            bounded = run_mean_field(plan, columns, sizes, **TOLD[by])
            yield f"{folder.name} by {by}", MeanFieldFit(plan, columns, sizes, bounded)


def gallery_chains(folder: Path) -> Iterator[tuple[str, Fit]]:
    """An example on small simulated data, by each sampler that takes it."""
    space = runpy.run_path(str(folder / "model.py"))
    for by in SAMPLERS:
        try:
            plan = space["m"].derive(known=space["known"], goal="posterior", by=by).plan
        except NotSolvable:
            continue
        values, sizes = small_data(plan.graph, seed=1)
        columns = {name: value for name, value in values.items() if plan.graph.is_known(name)}
        if by == "gibbs":
            chains, ran = run_gibbs(plan, columns, sizes, **TOLD[by])
            yield f"{folder.name} by {by}", SampledFit(plan, columns, sizes, chains, told=ran.told)
        elif folder.name in IMPOSSIBLE:
            with pytest.raises(PlatewrightError, match="positive probability"):
                run_collapsed(plan, columns, sizes, backend="numpy", **TOLD[by])
        else:
            run = run_collapsed(plan, columns, sizes, backend="numpy", **TOLD[by])
            yield f"{folder.name} by {by}", CollapsedFit(plan, columns, sizes, run.chains, told=run.told)


def gallery_weights(folder: Path) -> Iterator[tuple[str, Fit]]:
    """The evidence of an example by annealed importance sampling and by Laplace's method, where these take it."""
    space = runpy.run_path(str(folder / "model.py"))
    for by, told in {"annealed": {"particles": 3, "powers": 4}, "laplace": {"restarts": 2}}.items():
        try:
            plan = space["m"].derive(known=space["known"], goal="evidence", by=by).plan
        except NotSolvable:
            continue
        values, sizes = small_data(plan.graph, seed=1)
        columns = {name: value for name, value in values.items() if plan.graph.is_known(name)}
        try:
            yield f"{folder.name} by {by}", run_evidence(plan, columns, sizes, {}, 5, "numpy", told)
        except PlatewrightError as error:
            assert by == "laplace" and ("no Gaussian fits there" in str(error) or "no mode" in str(error)), folder


def test_evidences_of_every_example(tmp_path: Path) -> None:
    fits = {name: fit for folder in GALLERY for name, fit in gallery_weights(folder)}
    assert len(fits) > 60
    check(fits, tmp_path)


def test_chains_of_some_examples(tmp_path: Path) -> None:
    fits = {name: fit for folder in GALLERY[4::9] for name, fit in gallery_chains(folder)}
    assert len(fits) > 5
    check(fits, tmp_path)


@pytest.mark.slow
def test_chains_of_every_example(tmp_path: Path) -> None:
    fits = {name: fit for folder in GALLERY for name, fit in gallery_chains(folder)}
    assert len(fits) > 60
    check(fits, tmp_path)


def random_chains(seeds: range) -> dict[str, Fit]:
    """Random models by Gibbs sampling."""
    found: dict[str, Fit] = {}
    for seed in seeds:
        m, data = random_latent(seed)
        try:
            told = {**TOLD["gibbs"], "seed": seed}
            found[m.title] = m.learn(data, by="gibbs", backend="numpy", **told)
        except (NotSolvable, ImproperPosterior):
            continue
    return found


def test_random_chains(tmp_path: Path) -> None:
    fits = random_chains(range(12))
    assert len(fits) > 8
    check(fits, tmp_path)


@pytest.mark.slow
def test_many_random_chains(tmp_path: Path) -> None:
    fits = random_chains(range(12, 320))
    assert len(fits) > 220
    check(fits, tmp_path)


def test_every_example(tmp_path: Path) -> None:
    fits = {name: fit for folder in GALLERY for name, fit in gallery_fits(folder)}
    assert len(fits) > 30
    check(fits, tmp_path)


def random_fits(seeds: range) -> dict[str, Fit]:
    """Random models, by one schema or the other."""
    found: dict[str, Fit] = {}
    for seed in seeds:
        by = list(GOALS)[seed % 2]
        m, data = random_latent(seed)
        try:
            fit = m.learn(data, goal=GOALS[by], by=by, backend="numpy", **{**TOLD[by], "seed": seed})
        except (NotSolvable, Unbounded, ImproperPosterior):
            continue
        found[f"{m.title} by {by}"] = fit
    return found


def test_random_models(tmp_path: Path) -> None:
    fits = random_fits(range(40))
    assert len(fits) > 30
    check(fits, tmp_path)


@pytest.mark.slow
def test_many_random_models(tmp_path: Path) -> None:
    fits = random_fits(range(40, 360))
    assert len(fits) > 270
    check(fits, tmp_path)


def overlapping() -> tuple[pw.Model, dict[str, Any]]:
    """Three classes that overlap: plain steps alone would be far from the mode after many of them."""
    m = pw.Model("overlapping classes")
    n, k = m.plate("n"), m.plate("k", 3)
    m.p = pw.Dirichlet(2, over=k)
    m.mu = pw.Normal(0, sd=5, plates=k)
    m.v = pw.InverseGamma(3, scale=1, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Normal(m.mu[m.z], variance=m.v[m.z], plates=n)
    generator = np.random.default_rng(3)
    return m, {"y": generator.normal(generator.choice([-1.0, 0.3, 1.5], 1200), 0.7)}


def test_longer_steps_and_starts_on_some_rows_are_in_the_file(tmp_path: Path) -> None:
    m, data = overlapping()
    many = {"y": np.tile(data["y"], 5) + np.linspace(0, 0.1, 6000)}
    fits = {
        "longer steps": m.learn(data, goal="map", backend="numpy"),
        "some rows": m.learn(many, goal="map", backend="numpy", restarts=2, iterations=30, seed=3),
        "given values": m.learn(data, goal="map", backend="numpy", initial={"mu": [-1.0, 0.0, 1.0]}, iterations=30),
    }
    check(fits, tmp_path)


def test_the_law_notices_another_algorithm(tmp_path: Path) -> None:
    """A planted defect: the source of a fit with other options."""
    m, data = overlapping()
    fit = m.learn(data, goal="map", backend="numpy", iterations=30)
    object.__setattr__(fit.estimate.options, "numbers", {**fit.estimate.options.numbers, "iterations": 29})
    with pytest.raises(AssertionError):
        check({"one iteration less": fit}, tmp_path)
