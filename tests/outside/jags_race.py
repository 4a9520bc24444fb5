"""One BUGS case by Platewright and by JAGS, turn by turn: how fast, and how long until 1,000 effective samples.

Both get four chains, the same sweeps of warm-up, and are asked for the same quantities; the worst of them counts.

    pilot     effective samples a second over warm-up and draws, and effective samples a draw: ours in a second run of
              all but the compiler, which is against us; of JAGS the time of a run less that of a run of one draw
    cold      from the text to so many draws as have 1,000 effective samples; nothing of the model was read or compiled

Ours runs in a process that has learned other, small models, JAGS in a process that has done nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import platewright as pw
from outside.corpus import CORPUS
from outside.jags import JagsLate, JagsRefused, now, run_jags
from outside.running import Late, run_apart
from platewright.backends.c_gibbs.split import split_passes
from platewright.elimination.state import GaussianConditional
from platewright.errors import PlatewrightError
from platewright.language.bugs.data import read_data
from platewright.run.samplers.diagnosing import array_stats
from platewright.run.samplers.monitored import drawn_of
from platewright.run.samplers.sampling import SampledFit
from platewright.schemas.blocks import ExactBlock

WARM_UP, FIRST, MOST = 500, 500, 20_000
ENOUGH = 1000
INDEPENDENT = 20_000
TO_SETTLE_IN = 60.0
TOYS = (
    "model { for (i in 1:3) { y[i] ~ dpois(m); z[i] ~ dnorm(a, t) } "
    "m ~ dgamma(s, 1); s ~ dexp(1); a ~ dnorm(0, 1); t ~ dgamma(1, 1) }",
    "model { for (i in 1:3) { y[i] ~ dbern(p); z[i] ~ dbern(q[c]) } p ~ dbeta(1, 1); c ~ dcat(w[1:2]) }",
)
TOY_DATA = {"y": [1, 1, 0], "z": [0, 0, 1], "q": [0.2, 0.6], "w": [0.5, 0.5]}

Draws = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """What both engines are given."""

    name: str
    scope: str
    text: str
    data: Mapping[str, np.ndarray]
    initial: Mapping[str, np.ndarray]
    wanted: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """One run of one engine; `all` is from the text to the draws, `sampling` without reading and compiling."""

    draws: Draws
    all: float
    sampling: float = float("nan")
    how: str = ""
    marks: str = ""
    independent: bool = False


@dataclass(frozen=True)
class Times:
    """One engine on one case. `thousand` is at least so much where the engine was late."""

    rate: float
    thousand: float
    how: str = ""
    marks: str = ""
    late: bool = False


@dataclass(frozen=True)
class Race:
    """Both engines on one case, or why one of them did not run."""

    case: str
    scope: str
    ours: Times | None
    jags: Times | None
    remark: str = ""

    @property
    def ratios(self) -> tuple[float, float] | None:
        """Effective samples a second, and time to the first 1,000: how many times as fast we are."""
        if self.ours is None or self.jags is None:
            return None
        return self.ours.rate / self.jags.rate, self.jags.thousand / self.ours.thousand


Engine = Callable[[Case, int, float, bool], Run]
"""A case, draws of each chain, the limit of the run, and whether sampling is timed by itself."""


def read_case(name: str) -> Case:
    """A case of the corpus."""
    folder = CORPUS / "bugs" / name
    reference = json.loads((folder / "reference.json").read_text())
    text = next(folder.glob("model*.bug")).read_text()
    wanted = [item["name"] for item in reference["quantities"] if item["name"] != "deviance" and item["trust"] != "X"]
    return Case(name, reference["scope"], text, read_data(folder / "data.json"), _initial(folder), tuple(wanted))


def race(name: str, seconds: float, rounds: int = 3) -> Race:
    """One case, both engines, turn by turn; `seconds` is the limit of a run, the median of `rounds` counts."""
    case = _with_common(read_case(name), seconds)
    remarks: list[str] = []
    pilots: dict[str, tuple[Times, int]] = {}
    for label, engine in (("ours", ours), ("JAGS", theirs)):
        try:
            pilots[label] = pilot(case, engine, seconds)
        except (PlatewrightError, JagsRefused) as error:
            remarks.append(f"{label}: {str(error).splitlines()[0][:100]}")
        except Exception as error:  # a table of many cases goes on
            remarks.append(f"{label} broke: {type(error).__name__}: {str(error)[:100]}")
    taken: dict[str, list[float]] = {"ours": [], "JAGS": []}
    for number in range(rounds):
        for label, engine in (("ours", ours), ("JAGS", theirs)):
            if label not in pilots or pilots[label][0].late or (number and sum(taken[label]) > seconds / 2):
                continue
            _, draws = pilots[label]
            try:
                taken[label].append(engine(case, draws, seconds, False).all)
            except (Late, JagsLate):
                times, draws = pilots[label]
                pilots[label] = replace(times, thousand=max(times.thousand, seconds), late=True), draws
            except Exception as error:  # the time reckoned from the pilot stands
                remarks.append(f"{label} broke: {type(error).__name__}: {str(error)[:100]}")
    found = {label: _settled(times, taken[label]) for label, (times, _) in pilots.items()}
    remarks += [f"{label} late" for label, times in found.items() if times.late]
    return Race(name, case.scope, found.get("ours"), found.get("JAGS"), "; ".join(remarks))


def _settled(times: Times, taken: Sequence[float]) -> Times:
    return replace(times, thousand=median(taken)) if taken and not times.late else times


def pilot(case: Case, engine: Engine, seconds: float) -> tuple[Times, int]:
    """Effective samples a second of the worst quantity, and how many draws of each chain have 1,000 of them.

    Chains are made longer while they are short and there is time; where 1,000 would take longer than `seconds`, the
    time is reckoned from what was seen and the engine is late.
    """
    draws = FIRST
    while True:
        begin = perf_counter()
        try:
            found = engine(case, draws, seconds, True)
        except (Late, JagsLate):
            if draws == FIRST:
                return Times(float("nan"), seconds, late=True), 0
            break
        took = perf_counter() - begin
        kept, size = (found, draws), effective_size(found)
        if draws >= MOST or took * 4 > seconds:
            break
        draws = min(4 * draws, MOST)
    run, draws = kept
    rate = size / run.sampling
    needed = max(ceil(draws * ENOUGH / size), 4) if size > 0 else draws
    expected = run.all - run.sampling + run.sampling * (WARM_UP + needed) / (WARM_UP + draws)
    late = not run.independent and expected > seconds
    return Times(rate, expected, run.how, run.marks, late), needed


def effective_size(run: Run) -> float:
    """The least effective size of quantities that vary."""
    varying = [values for values in run.draws.values() if np.isfinite(values).all() and np.ptp(values) > 0]
    if run.independent or not varying:
        return float(next(iter(run.draws.values())).size)
    stats = array_stats()
    return min(float(stats.ess(values, chain_axis=0, draw_axis=1, method="mean")) for values in varying)


# -- the engines ---------------------------------------------------------------------------------------------------


def ours(case: Case, draws: int, seconds: float, again: bool) -> Run:
    """Platewright, in a process of its own."""
    if again:
        return _answer(run_apart(_ours, (case, draws, True), 2 * seconds))
    return _answer(run_apart(_cold, (case, draws), seconds + TO_SETTLE_IN, fresh=True))


def settle_in() -> None:
    """Learn two small models by C and in closed form: a session in which packages and grammar are loaded."""
    first, second = (pw.read_bugs(text, TOY_DATA) for text in TOYS)
    first.learn(first.read_from.data(), backend="c", warm_up=5, draws=5)
    drawn_of(second.learn(second.read_from.data()), 5)


def _cold(case: Case, draws: int) -> Run:
    settle_in()
    return _ours(case, draws, False)


def _answer(found: Any) -> Any:
    if isinstance(found, Exception):
        raise found
    return found


def _ours(case: Case, draws: int, again: bool) -> Run:
    with tempfile.TemporaryDirectory() as cache:
        _with_objects_only(Path(os.environ["PLATEWRIGHT_CACHE"]), Path(cache))
        os.environ["PLATEWRIGHT_CACHE"] = cache
        start = now()
        model = pw.read_bugs(case.text, case.data)
        data = model.read_from.data()
        fit = _learned(model, data, draws)
        independent = not isinstance(fit, SampledFit)
        places = {one: model.read_from.cell(one) for one in case.wanted}
        found = drawn_of(fit, ENOUGH).cells(places)
        total = now() - start
        if not again:
            return Run({}, total)
        begin = now()
        if independent:
            found = drawn_of(fit, INDEPENDENT).cells(places)
            return Run(found, total, now() - begin, fit.how, marks(fit.plan), True)
        drawn_of(_learned(model, data, draws)).cells(places)
        return Run(found, total, now() - begin, fit.how, marks(fit.plan))


def _with_objects_only(warm: Path, cold: Path) -> None:
    """What installation leaves: the functions that all models share, and no model."""
    for file in (*warm.glob("*.o"), *warm.glob("shared-*")):
        shutil.copy(file, cold)


def _learned(model: Any, data: Mapping[str, Any], draws: int) -> Any:
    try:
        return model.learn(data, chains=4, warm_up=WARM_UP, draws=draws, seed=3, backend="c")
    except PlatewrightError as error:
        if "options of exact" not in str(error):
            raise
    return model.learn(data)


def theirs(case: Case, draws: int, seconds: float, again: bool) -> Run:
    """JAGS; initial values of the case are given where it finds none itself."""
    initial: Mapping[str, np.ndarray] = {}
    try:
        found = run_jags(case.text, case.data, initial, case.wanted, WARM_UP, draws, seconds)
    except JagsRefused:
        if not case.initial:
            raise
        initial = case.initial
        found = run_jags(case.text, case.data, initial, case.wanted, WARM_UP, draws, seconds)
    if not again:
        return Run({}, found.seconds)
    begun = run_jags(case.text, case.data, initial, case.wanted, 0, 1, seconds).seconds
    return Run(found.draws, found.seconds, max(found.seconds - begun, 1e-3))


def _with_common(case: Case, seconds: float) -> Case:
    """Only quantities that our model has too: a reference may monitor what only a remark in its text defines."""
    found = run_apart(_common, (case,), seconds)
    return case if isinstance(found, Exception) else replace(case, wanted=found)


def _common(case: Case) -> tuple[str, ...]:
    model = pw.read_bugs(case.text, case.data)
    return tuple(one for one in case.wanted if _is_node(model, one))


def marks(plan: Any) -> str:
    """`S` where sums over data alone are hoisted out of the sweeps, `G` where Gaussian blocks are eliminated."""
    plans = (
        [block.plan for block in plan.blocks if isinstance(block, ExactBlock)] if hasattr(plan, "blocks") else [plan]
    )
    unknown = frozenset(plan.graph.unknown)
    splits = [split_passes(each.program, unknown) for each in plans]
    hoisted = any(split.fixed or split.few for split in splits)
    gaussian = any(isinstance(one, GaussianConditional) for each in plans for one in each.conditionals)
    return f"{'S' if hoisted else ''}{'G' if gaussian else ''}"


def _is_node(model: Any, name: str) -> bool:
    try:
        model.read_from.cell(name)
    except PlatewrightError:
        return False
    return True


def _initial(folder: Path) -> dict[str, np.ndarray]:
    file = folder / "inits.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    first = (found[0] if found else {}) if isinstance(found, list) else found
    return read_data({key: value for key, value in first.items() if not key.startswith(".")})
