"""Time Platewright and JAGS on the same BUGS cases in one run.

PYTHONPATH=src:tests python -m outside.jags_table [--case NAME] [--seconds S] [--json] [-o FILE]

Both run four chains. `first` is seconds from the text to the first draw; `rate` is effective samples a second of the
worst quantity, over warm-up and draws; `to 1000` is seconds from the text to the first 1,000 effective samples, with
everything compiled anew. Ratios above 1 are in our favour.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import platewright as pw
from outside.corpus import CORPUS, cases
from outside.jags import PROGRAM, JagsRefused, run_jags
from outside.running import run_apart
from platewright.errors import PlatewrightError
from platewright.language.bugs.data import read_data
from platewright.run.samplers.diagnosing import array_stats
from platewright.run.samplers.monitored import drawn_of
from platewright.run.samplers.sampling import SampledFit

WARM_UP, DRAWS = 1000, 5000
INDEPENDENT = 20_000


@dataclass(frozen=True)
class Times:
    """One engine on one case."""

    first: float
    rate: float
    thousand: float
    size: float
    how: str = ""


@dataclass(frozen=True)
class Race:
    """Both engines on one case, or why one of them did not run."""

    case: str
    scope: str
    ours: Times | None
    jags: Times | None
    remark: str = ""

    @property
    def ratios(self) -> tuple[float, float, float] | None:
        """First draw, rate, and time to 1,000: how many times as fast we are."""
        if self.ours is None or self.jags is None:
            return None
        return (
            self.jags.first / self.ours.first,
            self.ours.rate / self.jags.rate,
            self.jags.thousand / self.ours.thousand,
        )


def effective_size(draws: Mapping[str, np.ndarray]) -> float:
    """The least effective size of quantities that vary."""
    stats = array_stats()
    sizes = [
        float(stats.ess(values, chain_axis=0, draw_axis=1, method="mean"))
        for values in draws.values()
        if np.isfinite(values).all() and np.ptp(values) > 0
    ]
    return min(sizes) if sizes else float("nan")


def ours(text: str, data: Mapping[str, np.ndarray], wanted: Sequence[str]) -> Times:
    """Our times: once cold for the first draw and for compilation, once warm for the rate."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["PLATEWRIGHT_CACHE"] = cache
        start = perf_counter()
        model = pw.read_bugs(text, data)
        bound = model.read_from.data()
        plan_start = perf_counter()
        fit = _learned(model, bound, 1, 1)
        first = perf_counter() - start
        places = {one: model.read_from.cell(one) for one in wanted}
        if not isinstance(fit, SampledFit):
            begin = perf_counter()
            drawn = drawn_of(fit, INDEPENDENT)
            drawn.cells(places)
            took = perf_counter() - begin
            rate = INDEPENDENT / took
            return Times(first, rate, first + 1000 / rate, INDEPENDENT, fit.how)
        begin = perf_counter()
        cold = _learned(model, bound, WARM_UP, DRAWS)
        cold_seconds = perf_counter() - begin
        begin = perf_counter()
        fit = _learned(model, bound, WARM_UP, DRAWS)
        warm_seconds = perf_counter() - begin
        size = effective_size(drawn_of(fit).cells(places))
        rate = size / warm_seconds
        start_up = (plan_start - start) + max(cold_seconds - warm_seconds, 0.0)
        return Times(first, rate, start_up + 1000 / rate, size, cold.how)


def _learned(model: Any, data: Mapping[str, Any], warm_up: int, draws: int) -> Any:
    try:
        return model.learn(data, chains=4, warm_up=warm_up, draws=draws, seed=3)
    except PlatewrightError as error:
        if "options of exact" not in str(error):
            raise
    return model.learn(data)


def theirs(
    text: str, data: Mapping[str, np.ndarray], initial: Mapping[str, np.ndarray], wanted: Sequence[str], seconds: float
) -> Times:
    """Times of JAGS; initial values of the case are tried where it finds none itself."""
    try:
        found = run_jags(text, data, {}, wanted, WARM_UP, DRAWS, seconds)
    except JagsRefused:
        if not initial:
            raise
        found = run_jags(text, data, initial, wanted, WARM_UP, DRAWS, seconds)
    size = effective_size(found.draws)
    rate = size / found.sampling
    return Times(found.first, rate, found.first + 1000 / rate, size)


def race(name: str, seconds: float) -> Race:
    """One case, both engines."""
    folder = CORPUS / "bugs" / name
    reference = json.loads((folder / "reference.json").read_text())
    text = next(folder.glob("model*.bug")).read_text()
    data = read_data(folder / "data.json")
    scope = reference["scope"]
    wanted = [item["name"] for item in reference["quantities"] if item["name"] != "deviance" and item["trust"] != "X"]
    remarks = []
    mine: Times | None = None
    try:
        model = pw.read_bugs(text, data)
        wanted = [one for one in wanted if _is_node(model, one)]
        mine = ours(text, data, wanted)
    except PlatewrightError as error:
        remarks.append(f"declined by us: {str(error).splitlines()[0][:100]}")
    jags: Times | None = None
    try:
        jags = theirs(text, data, _initial(folder), wanted, seconds)
    except JagsRefused as error:
        remarks.append(f"JAGS: {error}")
    return Race(name, scope, mine, jags, "; ".join(remarks))


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


def shown(found: Race) -> str:
    """One line of the table."""
    cells = [found.case.ljust(24), found.scope.ljust(7)]
    for times in (found.ours, found.jags):
        texts = ["-"] * 3 if times is None else [f"{times.first:.2f}", f"{times.rate:.0f}", f"{times.thousand:.2f}"]
        cells += [text.rjust(9) for text in texts]
    ratios = found.ratios
    cells += [("-" if ratios is None else f"{ratio:.2g}").rjust(7) for ratio in ratios or (0.0,) * 3]
    return " ".join([*cells, found.remark]).rstrip()


HEADER = (
    f"{'case':24} {'scope':7} {'first':>9} {'rate':>9} {'to 1000':>9} {'JAGS 1st':>9} {'rate':>9} {'to 1000':>9}"
    f" {'x first':>7} {'x rate':>7} {'x 1000':>7}"
)


def means(found: Sequence[Race]) -> str:
    """Geometric means over the core cases that both ran."""
    ratios = [race.ratios for race in found if race.ratios is not None and race.scope == "core"]
    usable = np.array([r for r in ratios if np.isfinite(r).all() and min(r) > 0])
    if not len(usable):
        return "no core case was run by both"
    means = np.exp(np.log(usable).mean(axis=0))
    ahead = int((usable[:, 2] >= 1).sum())
    return (
        f"geometric means over {len(usable)} core cases that both ran: first draw {means[0]:.2f}x, "
        f"effective samples a second {means[1]:.2f}x, to the first 1,000 {means[2]:.2f}x (ahead in {ahead})"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="outside-jags")
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--core", action="store_true", help="only the cases in scope `core`")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-o", "--output", metavar="FILE")
    given = parser.parse_args(argv)
    if PROGRAM is None or not CORPUS.is_dir():
        print("JAGS is not installed" if PROGRAM is None else f"the reference cases are not here: {CORPUS}")
        return 0
    lines, found = [HEADER], []
    if not given.json:
        print(HEADER)
    for name in cases("bugs"):
        if given.case and name not in given.case:
            continue
        if given.core and json.loads((CORPUS / "bugs" / name / "reference.json").read_text())["scope"] != "core":
            continue
        one = run_apart(race, (name, given.seconds), 4 * given.seconds)
        one = one if isinstance(one, Race) else Race(name, "?", None, None, str(one))
        found.append(one)
        lines.append(shown(one))
        print(json.dumps(asdict(one)) if given.json else lines[-1], flush=True)
    lines += ["", means(found)]
    if not given.json:
        print("\n".join(lines[-2:]))
    if given.output:
        Path(given.output).write_text("```text\n" + "\n".join(lines) + "\n```\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
