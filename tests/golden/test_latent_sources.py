"""Every example, by every iterative schema that takes it: its source runs alone, with the numbers of the library.

The sources run in a fresh interpreter that knows of no Platewright, on small made-up data, with a given seed.
"""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.running import running
from platewright.backends.kernels.trials import LEAST_WARM_UP
from platewright.backends.numpy.collapsed import CollapsedEmitter
from platewright.backends.numpy.gibbs import GibbsEmitter
from platewright.errors import NotSolvable, PlatewrightError
from platewright.run.checks.simulating import small_data
from platewright.run.plan_source import plan_source
from platewright.run.samplers import collapsed_fit
from platewright.run.samplers.sampling import run_gibbs

ROOT = Path(__file__).parents[2]
REGENERATE = runpy.run_path(str(ROOT / "examples" / "regenerate.py"))
GALLERY: list[Path] = [*REGENERATE["gallery"](), *REGENERATE["latent_gallery"]()]
SCHEMAS = {"gibbs": "posterior", "collapsed-gibbs": "posterior"}
"""Those whose loops the library has beside the text; of the others `laws/test_source_is_what_ran.py` asks for bits."""
EMITTERS: Mapping[str, Any] = {
    "gibbs": GibbsEmitter,
    "collapsed-gibbs": CollapsedEmitter,
}
OPTIONS: Mapping[str, Mapping[str, float]] = {
    "gibbs": {"seed": 2, "chains": 1, "draws": 3, "warm_up": 3},
    "collapsed-gibbs": {"seed": 2, "chains": 1, "draws": 3, "warm_up": 3},
}
IMPOSSIBLE = {("zero_inflated_counts", "collapsed-gibbs")}
"""From a start that the model does not allow, the library's sampler stops, and so does the source."""
DRIVER = """
import importlib.util, json, sys
import numpy as np

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "platewright":
            raise ImportError("an emitted file stands alone")

sys.meta_path.insert(0, Refuse())
for by, options in json.loads(sys.argv[1]).items():
    spec = importlib.util.spec_from_file_location("learned_" + by.replace("-", "_"), by + ".py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data = dict(np.load(by + ".data.npz"))
    found = module.learn(data, json.load(open(by + ".size.json")), **options)
    np.savez(by + ".found.npz", **found)
"""


def plans(folder: Path) -> dict[str, Any]:
    """The plan of an example by each schema that takes it."""
    space = runpy.run_path(str(folder / "model.py"))
    found = {}
    for by, goal in SCHEMAS.items():
        try:
            found[by] = space["m"].derive(known=space["known"], goal=goal, by=by).plan
        except NotSolvable:
            continue
    return found


def by_the_library(by: str, plan: Any, columns: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    options: Any = OPTIONS[by]
    if by == "gibbs":
        return dict(run_gibbs(plan, columns, sizes, backend="numpy", **options)[0])
    return dict(collapsed_fit.run_collapsed(plan, columns, sizes, backend="numpy", **options).chains)


@pytest.mark.parametrize("folder", GALLERY, ids=lambda folder: folder.name)
def test_sources_run_alone_and_give_the_numbers_of_the_library(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The library may visit elements in an order that suits the memory; a source visits them as they come.
    monkeypatch.setattr(collapsed_fit, "visiting_order", lambda *_: {})
    wanted: dict[str, dict[str, Any]] = {}
    for by, plan in plans(folder).items():
        values, sizes = small_data(plan.graph, seed=1)
        columns = {name: value for name, value in values.items() if plan.graph.is_known(name)}
        emitter = EMITTERS[by](plan)
        emitter.module()
        names = emitter.names
        (tmp_path / f"{by}.py").write_text(plan_source(plan))
        np.savez(tmp_path / f"{by}.data.npz", **{names(name): value for name, value in columns.items()})
        (tmp_path / f"{by}.size.json").write_text(json.dumps({names(plate): int(n) for plate, n in sizes.items()}))
        if (folder.name, by) in IMPOSSIBLE:
            given = {names(name): value for name, value in columns.items()}
            with pytest.raises(PlatewrightError, match="positive probability"):
                by_the_library(by, plan, columns, sizes)
            with pytest.raises(ArithmeticError, match="positive probability"):
                learn = running(plan_source(plan))["learn"]
                learn(given, {names(plate): int(n) for plate, n in sizes.items()}, **OPTIONS[by])
            continue
        found = by_the_library(by, plan, columns, sizes)
        wanted[by] = {names(name): value for name, value in found.items()}
    if not wanted:
        pytest.skip("no sampler takes it")
    chosen = json.dumps({by: OPTIONS[by] for by in wanted})
    (tmp_path / "driver.py").write_text(DRIVER)
    command = [sys.executable, "-I", "driver.py", chosen]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for by, expected in wanted.items():
        printed = dict(np.load(tmp_path / f"{by}.found.npz"))
        shared = printed.keys() & expected.keys()
        assert len(shared) == len(printed) > 0, (by, printed.keys() ^ expected.keys())
        for name in shared:
            np.testing.assert_allclose(printed[name], expected[name], rtol=1e-6, atol=1e-8, err_msg=f"{by}: {name}")


@pytest.mark.parametrize("name", ["eight_schools", "mixture_diagonal", "student_regression"])
def test_trials_of_a_source_are_those_of_the_library(name: str) -> None:
    (folder,) = [folder for folder in GALLERY if folder.name == name]
    plan = plans(folder)["gibbs"]
    values, sizes = small_data(plan.graph, seed=1)
    columns = {name: value for name, value in values.items() if plan.graph.is_known(name)}
    options: Any = {"seed": 2, "chains": 2, "draws": 2, "warm_up": LEAST_WARM_UP}
    expected = run_gibbs(plan, columns, sizes, backend="numpy", **options)[0]
    names = GibbsEmitter(plan).names
    given = {names(name): value for name, value in columns.items()}
    found = running(plan_source(plan))["learn"](given, {names(p): int(n) for p, n in sizes.items()}, **options)
    for unknown, draws in expected.items():
        np.testing.assert_allclose(found[names(unknown)], draws, rtol=1e-6, atol=1e-8, err_msg=unknown)
