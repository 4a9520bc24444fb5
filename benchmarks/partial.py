"""Mixed models beside lme4 in one run: our full posterior, and the point estimate (REML) of R's lme4.

    y = mu + beta x + u[region] + v[person] + e                  the scales of u, v and e unknown; rows vary by person
    y = mu + beta x + v[person] + w[person] x + e                with slopes of their own

Ours is timed from `learn` on: derivation, pass over the rows, quadrature, and the mean and standard deviation of every
unknown. lme4 is timed inside R, from data in memory to the estimate. Both in seconds of the processor, which a busy
machine does not stretch, and by the clock.

    python benchmarks/partial.py [--persons 100,1000,5000,20000] [--only mixed|slopes|order|flagship|regression]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from shutil import which

import numpy as np

import platewright as pw

R = """
suppressMessages(library(lme4))
d <- read.csv("{path}")
d$person <- factor(d$person); d$region <- factor(d$region)
t <- system.time(f <- lmer({formula}, data = d, REML = TRUE))
cat(t[["user.self"]] + t[["sys.self"]], t[["elapsed"]], sigma(f), "\\n")
"""
FORMULAS = {"mixed": "y ~ x + (1 | region) + (1 | person)", "slopes": "y ~ x + (1 + x || person)"}
Data = dict[str, np.ndarray]


def simulated(people: int, kind: str, seed: int = 0) -> Data:
    """About twenty rows a person."""
    generator = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), 1 + generator.poisson(19, people))
    count = len(person)
    region, x = generator.integers(0, 8, count), generator.normal(size=count)
    y = 1.5 + 0.7 * x + 0.8 * generator.normal(size=people)[person] + 0.5 * generator.normal(size=count)
    if kind == "mixed":
        y += 0.6 * generator.normal(size=8)[region]
    else:
        y += 0.3 * generator.normal(size=people)[person] * x
    return {"person": person, "region": region, "x": x, "y": y}


def model(kind: str, order: str = "uv") -> pw.Model:
    """The model, its effects written in either order."""
    m = pw.Model(kind)
    regions, persons, row = m.plate("regions"), m.plate("persons"), m.plate("row")
    m.person = pw.Input(plates=row, levels=persons)
    m.x = pw.Input(plates=row)
    m.mu = pw.Normal(0, sd=10)
    m.beta = pw.Normal(0, sd=10)
    m.s_v = pw.HalfNormal(sd=2.0)
    m.s_e = pw.HalfNormal(sd=2.0)
    if kind == "slopes":
        m.s_w = pw.HalfNormal(sd=2.0)
        m.v = pw.Normal(0, sd=m.s_v, plates=persons)
        m.w = pw.Normal(0, sd=m.s_w, plates=persons)
        m.y = pw.Normal(m.mu + m.beta * m.x + m.v[m.person] + m.w[m.person] * m.x, sd=m.s_e, plates=row)
        return m
    m.s_u = pw.HalfNormal(sd=2.0)
    m.region = pw.Input(plates=row, levels=regions)
    for letter in order:
        if letter == "u":
            m.u = pw.Normal(0, sd=m.s_u, plates=regions)
        else:
            m.v = pw.Normal(0, sd=m.s_v, plates=persons)
    m.y = pw.Normal(m.mu + m.beta * m.x + m.u[m.region] + m.v[m.person], sd=m.s_e, plates=row)
    return m


def timed(work: Callable[[], object]) -> tuple[float, float, object]:
    """Seconds of the processor and of the clock, and what came out."""
    clock, processor = time.perf_counter(), time.process_time()
    found = work()
    return time.process_time() - processor, time.perf_counter() - clock, found


def ours(kind: str, data: Data, order: str = "uv") -> tuple[float, float, str]:
    """The full posterior: mean and standard deviation of every unknown."""
    wanted = {name: values for name, values in data.items() if kind == "mixed" or name != "region"}
    m = model(kind, order)

    def run() -> object:
        fit = m.learn(wanted)
        for name in fit.plan.graph.unknown:
            fit[name].mean, fit[name].sd
        return fit

    processor, clock, fit = timed(run)
    return processor, clock, fit.how  # type: ignore[attr-defined]


def theirs(kind: str, data: Data) -> tuple[float, float]:
    """lme4's estimate of the same."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        table = np.column_stack([data[name] for name in ("person", "region", "x", "y")])
        np.savetxt(
            path, table, delimiter=",", header="person,region,x,y", comments="", fmt=["%d", "%d", "%.17g", "%.17g"]
        )
        script = Path(folder) / "run.R"
        script.write_text(R.format(path=path, formula=FORMULAS[kind]))
        done = subprocess.run(["Rscript", str(script)], capture_output=True, text=True, timeout=600, check=True)
    processor, clock, _ = map(float, done.stdout.split())
    return processor, clock


def beside(kind: str, people: list[int]) -> None:
    """A line for each number of persons."""
    ours(kind, simulated(10, kind))  # what Python loads once
    for count in people:
        data = simulated(count, kind)
        processor, clock, how = ours(kind, data)
        said = (
            f"{kind} {count:>6,} persons {len(data['y']):>8,} rows: ours {processor:.3f} s ({clock:.3f} by the clock)"
        )
        if which("Rscript") is None:
            beside_ours = "no R here"
        else:
            other, other_clock = theirs(kind, data)
            beside_ours = f"lme4 {other:.3f} s ({other_clock:.3f}): {other / processor:.1f} times sooner"
        print(f"{said}, {beside_ours}; {how.split(':')[0]}", flush=True)


def growth() -> None:
    """The exponent of the time from 50 to 20,000 persons, for both orders of writing."""
    for order in ("uv", "vu"):
        ours("mixed", simulated(10, "mixed"), order)
        seconds = {
            count: min(ours("mixed", simulated(count, "mixed"), order)[0] for _ in range(2)) for count in (50, 20_000)
        }
        exponent = np.log(seconds[20_000] / seconds[50]) / np.log(400)
        few, many = seconds[50], seconds[20_000]
        print(f"order {order}: {few:.3f} s at 50, {many:.3f} s at 20,000 persons: exponent {exponent:.2f}")


def flagship_data(seed: int) -> tuple[Data, dict[str, object]]:
    """Two tables of the size that MultiBUGS published, and the truth behind them."""
    generator = np.random.default_rng(seed)
    people, first, second = 20_410, 240_776, 184_336
    share = generator.gamma(2.0, 1.0, people)
    more = generator.choice(people, first - people, p=share / share.sum())
    truth: dict[str, object] = {"sd_e": 0.8, "sd_z": 1.1, "sd_p": 0.6, "sd_r": 0.4, "sd_s": 0.3, "lam": 0.7}
    truth |= {"beta": np.array([0.5, -0.3, 0.2, 0.1]), "mu_r": 1.0, "mu_s": -0.5}
    region, source = 1.0 + 0.4 * generator.normal(size=8), -0.5 + 0.3 * generator.normal(size=8)
    person = 0.6 * generator.normal(size=people)
    truth |= {"region": region, "source": source, "person": person}
    data = {"who": np.concatenate([np.arange(people), more]), "x": generator.normal(size=(first, 4))}
    for name, count in (("y", first), ("z", second)):
        data[f"r_{name}"] = generator.integers(0, 8, count)
        data[f"s_{name}"] = (generator.random(count) < 0.5) * 1.0
    effects = {name: region[data[f"r_{name}"]] + source[data[f"r_{name}"]] * data[f"s_{name}"] for name in "yz"}
    data["y"] = data["x"] @ truth["beta"] + effects["y"] + person[data["who"]] + 0.8 * generator.normal(size=first)
    data["z"] = 0.7 + effects["z"] + 1.1 * generator.normal(size=second)
    return data, truth


def flagship_model() -> pw.Model:
    """y with covariates and an effect of each person, z without, regions and sources in both; five scales."""
    m = pw.Model("two tables of many persons")
    regions, persons, columns = m.plate("regions", 8), m.plate("persons"), m.plate("columns", 4)
    row, other = m.plate("row"), m.plate("other")
    m.r_y = pw.Input(plates=row, levels=regions)
    m.r_z = pw.Input(plates=other, levels=regions)
    m.who = pw.Input(plates=row, levels=persons)
    m.s_y = pw.Input(plates=row)
    m.s_z = pw.Input(plates=other)
    m.x = pw.Input(plates=(row, columns))
    for name in ("sd_e", "sd_z", "sd_p", "sd_r", "sd_s"):
        setattr(m, name, pw.Uniform(0, 10))
    for name in ("lam", "mu_r", "mu_s"):
        setattr(m, name, pw.Normal(0, sd=100))
    m.beta = pw.Normal(0, sd=100, plates=columns)
    m.region = pw.Normal(m.mu_r, sd=m.sd_r, plates=regions)
    m.source = pw.Normal(m.mu_s, sd=m.sd_s, plates=regions)
    m.person = pw.Normal(0, sd=m.sd_p, plates=persons)
    fixed = pw.sum(m.beta[columns] * m.x[row, columns], over=columns)
    m.y = pw.Normal(fixed + m.region[m.r_y] + m.source[m.r_y] * m.s_y + m.person[m.who], sd=m.sd_e, plates=row)
    m.z = pw.Normal(m.lam + m.region[m.r_z] + m.source[m.r_z] * m.s_z, sd=m.sd_z, plates=other)
    return m


def flagship(runs: int) -> None:
    """Time, memory, and how often the truth lies between the quantiles 5 % and 95 %."""
    inside: dict[str, list[float]] = {}
    for seed in range(runs):
        data, truth = flagship_data(seed)
        m = flagship_model()
        processor, clock, fit = timed(lambda m=m, data=data: m.learn(data))
        more, more_clock, _ = timed(fit.summary)  # type: ignore[attr-defined]
        for name, value in truth.items():
            low, high = fit[name].quantile([0.05, 0.95])  # type: ignore[index]
            inside.setdefault(name, []).append(float(np.mean((low <= value) & (value <= high))))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"flagship {seed}: {processor:.2f} + {more:.2f} s of the processor ({clock:.2f} + {more_clock:.2f} by the "
            f"clock) to the posterior and its table, {memory:.2f} GiB; {fit.how[-60:]}",  # type: ignore[attr-defined]
            flush=True,
        )
    print("covered by 90 %:", ", ".join(f"{name} {np.mean(share):.2f}" for name, share in inside.items()))


def regression() -> None:
    """Group intercepts and slopes from millions of rows, with priors that are not conjugate."""
    generator = np.random.default_rng(0)
    rows = 2_618_018
    data = {"g": generator.integers(0, 17, rows), "x": generator.normal(size=(rows, 3))}
    data["y"] = generator.normal(size=17)[data["g"]] + data["x"] @ [0.5, -1.0, 0.2] + 0.7 * generator.normal(size=rows)
    m = pw.Model("large regression")
    row, group, columns = m.plate("row"), m.plate("group", 17), m.plate("columns", 3)
    m.g = pw.Input(plates=row, levels=group)
    m.x = pw.Input(plates=(row, columns))
    m.s_a = pw.Exponential(rate=1.0)
    m.s = pw.HalfNormal(sd=1.0)
    m.a = pw.Normal(0, sd=m.s_a, plates=group)
    m.b = pw.Normal(0, sd=5, plates=columns)
    m.y = pw.Normal(m.a[m.g] + pw.sum(m.b[columns] * m.x[row, columns], over=columns), sd=m.s, plates=row)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    processor, clock, fit = timed(lambda: m.learn(data))
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    print(f"{rows:,} rows: {processor:.2f} s ({clock:.2f} by the clock), {memory:.2f} GiB more; {fit.how}")  # type: ignore[attr-defined]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", default="100,1000,5000,20000")
    parser.add_argument("--only", default="mixed,slopes,order,flagship,regression")
    parser.add_argument("--runs", type=int, default=20, help="simulations of the flagship")
    options = parser.parse_args()
    wanted, people = options.only.split(","), [int(count) for count in options.persons.split(",")]
    for kind in FORMULAS:
        if kind in wanted:
            beside(kind, people)
    if "order" in wanted:
        growth()
    if "flagship" in wanted:
        flagship(options.runs)
    if "regression" in wanted:
        regression()


if __name__ == "__main__":
    main()
