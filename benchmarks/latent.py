"""What an iteration of EM or mean field, or a Gibbs sweep, costs beside its peers: measured, the target, pass or miss.

    PYTHONPATH=src python benchmarks/latent.py [--quick] [--only NAME ...]

NAME is one of full, diagonal, classes, lda, holes, factors, hmm, hmm-gaussian, the field-... lines, first and gibbs.

One thread, float64, the same number of iterations, and but for latent classes the same start. Time per iteration is the
slope between two numbers of iterations, so nobody's set-up is charged to its iterations; the runs take turns and the
best of several counts. The ratio is that of processor time of the thread, which other users of the machine disturb
least; times by the clock are in the note. An iteration of ours is the whole of it: coefficients, the pass over the
rows in C, and the maximisation.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is loaded

import numpy as np  # noqa: E402
from class_peers import absent, class_peers  # noqa: E402
from factors import factors  # noqa: E402
from fields import FIELDS  # noqa: E402
from gibbs_sweeps import beside_jags, beside_numpy  # noqa: E402
from holes import holes  # noqa: E402
from side_by_side import Line, fresh  # noqa: E402
from topics import lda  # noqa: E402

import platewright as pw  # noqa: E402
from platewright.graph.graph import read_graph  # noqa: E402
from platewright.run.hidden.em import Runner  # noqa: E402
from platewright.run.hidden.native_em import NativeEM  # noqa: E402
from platewright.schemas.em import EMPlan, plan_em  # noqa: E402

LEVELS = 10
Values = Mapping[str, np.ndarray]
Run = Callable[[int], object]


@dataclass(frozen=True)
class Setting:
    """What was asked for on the command line."""

    quick: bool
    repeats: int


@dataclass(frozen=True)
class Slope:
    """Seconds of an iteration: of the processor, and by the clock."""

    processor: float
    clock: float


def slopes(repeats: int, few: int, many: int, *runs: Run) -> list[Slope]:
    """The time of one iteration of each run; the runs take turns."""
    best: dict[tuple[int, int], list[float]] = {}
    for _ in range(repeats):
        for number, run in enumerate(runs):
            for count in (few, many):
                clock, processor = time.perf_counter(), time.thread_time()
                run(count)
                took = [time.thread_time() - processor, time.perf_counter() - clock]
                best[number, count] = [min(pair) for pair in zip(best.get((number, count), took), took)]
    found = []
    for number in range(len(runs)):
        parts = [(b - a) / (many - few) for a, b in zip(best[number, few], best[number, many])]
        found.append(Slope(*parts))
    return found


# -- models ----------------------------------------------------------------------------------------------------------


def classes() -> tuple[pw.Model, pw.Plate, pw.Plate]:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", LEVELS)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    return m, n, k


def full_model(columns: int) -> pw.Model:
    """Full covariances; a weak conjugate prior stands where scikit-learn adds 1e-6 to the diagonal."""
    m, n, k = classes()
    d = m.plate("d", columns)
    m.S = pw.Wishart(columns + 2, scale=pw.identity(d), over=d, plates=k)
    m.mu = pw.MultivariateNormal(0, precision=1e-6 * m.S, over=d, plates=k)
    m.y = pw.MultivariateNormal(m.mu[m.z], precision=m.S[m.z], over=d, plates=n)
    return m


def diagonal_model(columns: int) -> pw.Model:
    """Diagonal covariances, maximum likelihood."""
    m, n, k = classes()
    j = m.plate("j", columns)
    m.mu = pw.Flat(plates=(k, j))
    m.tau = pw.Flat(lower=0, plates=(k, j))
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=(n, j))
    return m


def class_model(columns: int, values: int) -> pw.Model:
    """Latent classes, maximum likelihood."""
    m, n, k = classes()
    j, v = m.plate("j", columns), m.plate("v", values)
    m.theta = pw.Dirichlet(1, over=v, plates=(k, j))
    m.x = pw.Categorical(m.theta[m.z], plates=(n, j))
    return m


def chain_model(columns: int, values: int) -> pw.Model:
    """Hidden Markov models, maximum likelihood: Gaussian columns where there are any, else a symbol."""
    m = pw.Model("hidden chain")
    k, series = m.plate("k", LEVELS), m.plate("series")
    before, step = m.plate("before", like=k), m.plate("step", ordered=True, within=series)
    m.begin = pw.Dirichlet(1, over=k)
    m.move = pw.Dirichlet(1, over=k, plates=before)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
    if not columns:
        m.shown = pw.Dirichlet(1, over=m.plate("v", values), plates=k)
        m.y = pw.Categorical(m.shown[m.z], plates=step)
        return m
    j = m.plate("j", columns)
    m.mu = pw.Flat(plates=(k, j))
    m.tau = pw.Flat(lower=0, plates=(k, j))
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=(step, j))
    return m


def planned(model: pw.Model, known: str) -> EMPlan:
    plan = plan_em(read_graph(model, (known,)), "map")
    assert isinstance(plan, EMPlan), plan
    return plan


class Ours:
    """EM by the C backend from given parameters."""

    def __init__(self, model: pw.Model, columns: Values, sizes: Mapping[str, int], start: Values) -> None:
        (known,) = (name for name in columns if "@" not in name)
        self.plan, self.columns, self.sizes, self.start = planned(model, known), columns, sizes, start
        self.em = NativeEM(self.plan, columns, sizes, threads=1)
        assert self.em.native, self.em.left
        self.runner = Runner(self.plan, columns, sizes, self.em)

    def __call__(self, iterations: int) -> Values:
        """Parameters after so many iterations."""
        values = self.start
        for _ in range(iterations):
            values = self.runner.next_values(self.runner.look(values), values)
        return values

    @property
    def note(self) -> str:
        """Whether all steps were C's, in one pass each."""
        return f", {self.em.apart} second passes, {sum(self.em.by_numpy.values())} by NumPy"


# -- lines -----------------------------------------------------------------------------------------------------------


def compared(what: str, target: float, setting: Setting, ours: Ours, peer: Run, name: str, note: str = "") -> Line:
    own, other = slopes(setting.repeats, 2, 5, ours, peer)
    clock = f"by the clock {1e3 * own.clock:.1f} and {1e3 * other.clock:.0f}: {other.clock / own.clock:.1f}x"
    text = f"ours {1e3 * own.processor:.1f} ms, {name} {1e3 * other.processor:.0f} ms an iteration ({clock}){note}"
    return Line(what, other.processor / own.processor, target, "x", at_least=True, note=text + ours.note)


def gaussian(kind: str, target: float, setting: Setting) -> list[Line]:
    """A Gaussian mixture beside scikit-learn, from the same start."""
    from sklearn.mixture import GaussianMixture

    rows, columns = (100_000 if setting.quick else 1_000_000), 8
    generator = np.random.default_rng(0)
    centres = generator.normal(0, 3, (LEVELS, columns))
    y = centres[generator.integers(0, LEVELS, rows)] + generator.standard_normal((rows, columns))
    mean, weights = centres + 0.3, np.full(LEVELS, 1 / LEVELS)
    unit = np.tile(np.eye(columns), (LEVELS, 1, 1)) if kind == "full" else np.ones((LEVELS, columns))
    model = full_model(columns) if kind == "full" else diagonal_model(columns)
    start = {"p": weights, "mu": mean, ("S" if kind == "full" else "tau"): unit}
    inner = "d" if kind == "full" else "j"
    ours = Ours(model, {"y": y}, {"n": rows, "k": LEVELS, inner: columns}, start)

    def peer(iterations: int) -> np.ndarray:
        given = {"weights_init": weights, "means_init": mean, "precisions_init": unit}
        shape = "full" if kind == "full" else "diag"
        method = {"covariance_type": shape, "init_params": "random_from_data", "random_state": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that so few iterations do not converge
            return GaussianMixture(LEVELS, max_iter=iterations, tol=0, **method, **given).fit(y).means_

    apart = np.max(np.abs(ours(3)["mu"] - peer(3)))
    what = f"Gaussian mixture, {kind}, N={rows:.0e}, D={columns}, K={LEVELS}"
    return [compared(what, target, setting, ours, peer, "scikit-learn", f", means within {apart:.0e}")]


def latent_classes(setting: Setting) -> list[Line]:
    """Latent classes beside the faster of stepmix and pomegranate, where they are installed."""
    rows, columns, count = (50_000 if setting.quick else 200_000), 20, 5
    generator = np.random.default_rng(0)
    truth = generator.dirichlet(np.ones(count), (LEVELS, columns))
    z = generator.integers(0, LEVELS, rows)
    x = (generator.random((rows, columns, 1)) > np.cumsum(truth[z], axis=-1)).sum(axis=-1).clip(0, count - 1)
    start = {"p": np.full(LEVELS, 1 / LEVELS), "theta": generator.dirichlet(np.full(count, 5.0), (LEVELS, columns))}
    sizes = {"n": rows, "k": LEVELS, "j": columns, "v": count}
    ours = Ours(class_model(columns, count), {"x": x}, sizes, start)
    peers = class_peers(x, start["p"], start["theta"])
    own, *others = slopes(setting.repeats, 2, 5, ours, *peers.values())
    each = ", ".join(f"{name} {1e3 * slope.processor:.0f} ms" for name, slope in zip(peers, others))
    best = min(others, key=lambda slope: slope.processor)
    clock = f"by the clock {1e3 * own.clock:.1f}: {min(slope.clock for slope in others) / own.clock:.1f}x"
    note = f"ours {1e3 * own.processor:.1f} ms an iteration, {each} ({clock}){absent(peers)}{ours.note}"
    if "pomegranate" in peers:
        note += f", pomegranate's tables within {np.max(np.abs(ours(3)['theta'] - peers['pomegranate'](3))):.0e}"
    what = f"latent classes, N={rows:.0e}, {columns} variables of {count}, K={LEVELS}"
    return [Line(what, best.processor / own.processor, 15, "x", at_least=True, note=note)]


def chain(columns: int, setting: Setting) -> list[Line]:
    """A hidden Markov model beside hmmlearn, from the same start."""
    from hmmlearn.hmm import CategoricalHMM, GaussianHMM

    count, length, values = (200 if setting.quick else 1000), 500, 10
    generator = np.random.default_rng(0)
    z = generator.integers(0, LEVELS, (count, length))
    for t in range(1, length):
        z[:, t] = np.where(generator.random(count) < 0.8, z[:, t - 1], z[:, t])
    begin, move = (generator.dirichlet(np.full(LEVELS, 5.0), shape) for shape in ((), LEVELS))
    start = {"begin": begin, "move": move}
    given = {"startprob_": begin, "transmat_": move}
    if columns:
        centres = generator.normal(0, 3, (LEVELS, columns))
        y = centres[z.ravel()] + generator.standard_normal((count * length, columns))
        start |= {"mu": centres + 0.3, "tau": np.ones((LEVELS, columns))}
        given |= {"means_": start["mu"], "covars_": 1 / start["tau"]}
    else:
        truth = generator.dirichlet(np.full(values, 0.5), LEVELS)
        y = (generator.random((count * length, 1)) > np.cumsum(truth[z.ravel()], axis=-1)).sum(axis=-1).clip(0, 9)
        start["shown"] = given["emissionprob_"] = generator.dirichlet(np.full(values, 5.0), LEVELS)
    groups = np.repeat(np.arange(count), length)
    data = {"y": y, "series@step": groups, "first@step": (np.arange(count * length) % length == 0).astype(np.int64)}
    sizes = {"k": LEVELS, "before": LEVELS, "series": count, "step": count * length, "v": values, "j": columns}
    ours = Ours(chain_model(columns, values), data, sizes, start)

    def peer(iterations: int) -> np.ndarray:
        how = {"n_iter": iterations, "tol": -np.inf, "implementation": "scaling", "init_params": ""}
        # maximum likelihood: without its own priors, which ours has not
        free = {"min_covar": 0, "covars_prior": 0, "covars_weight": 1} if columns else {"emissionprob_prior": 1}
        model = (GaussianHMM if columns else CategoricalHMM)(LEVELS, **how, **free)
        for name, value in given.items():
            setattr(model, name, value)
        return model.fit(y.reshape(len(groups), -1), np.full(count, length)).transmat_

    apart = np.max(np.abs(ours(3)["move"] - peer(3)))
    kind = f"{columns} Gaussian columns" if columns else f"{values} symbols"
    what = f"hidden chain, {count} x {length} steps, K={LEVELS}, {kind}"
    return [compared(what, 14, setting, ours, peer, "hmmlearn", f", moves within {apart:.0e}")]


FIRST = """
import os, time
os.environ.update(PLATEWRIGHT_CACHE={cache!r}, PATH={path!r})
begin = time.perf_counter()
import sys
sys.path.insert(0, {here!r})
import numpy as np
from latent import Ours, full_model
y = np.random.default_rng(0).normal(size=(1000, 8))
start = {{"p": np.full(10, 0.1), "mu": y[:10], "S": np.tile(np.eye(8), (10, 1, 1))}}
Ours(full_model(8), {{"y": y}}, {{"n": 1000, "k": 10, "d": 8}}, start)(1)
print(time.perf_counter() - begin)
"""


def first_result(setting: Setting) -> list[Line]:
    """Import, derive, compile, one iteration, in a fresh interpreter."""
    here = os.path.dirname(os.path.abspath(__file__))
    cold = []
    for _ in range(setting.repeats):
        with tempfile.TemporaryDirectory() as folder:
            code = FIRST.format(cache=folder, here=here, path=os.environ.get("PATH", ""))
            cold += fresh(code, 1)
            warm = fresh(code, setting.repeats)
    return [
        Line("first iteration of a full mixture, nothing compiled", min(cold), 2.0, "s"),
        Line("    the same, compiled before", min(warm), 0.5, "s"),
    ]


def gibbs(setting: Setting) -> list[Line]:
    """Sweeps of Gibbs sampling beside a vectorised NumPy sampler, and beside JAGS where it is installed."""
    return [*beside_numpy(setting.quick, setting.repeats), *beside_jags(setting.repeats)]


def field(line: Callable[[bool, int], Line], setting: Setting) -> list[Line]:
    """A line of mean field."""
    return [line(setting.quick, setting.repeats)]


LINES: Mapping[str, Callable[[Setting], list[Line]]] = {
    "full": partial(gaussian, "full", 30),
    "diagonal": partial(gaussian, "diagonal", 20),
    "classes": latent_classes,
    "lda": lambda setting: lda(setting.quick, setting.repeats),
    "holes": lambda setting: holes(setting.quick, setting.repeats),
    "factors": lambda setting: factors(setting.quick, setting.repeats),
    "hmm": partial(chain, 0),
    "hmm-gaussian": partial(chain, 4),
    **{name: partial(field, line) for name, line in FIELDS.items()},
    "first": first_result,
    "gibbs": gibbs,
}


def main() -> int:
    """Print every line; the exit code counts the misses."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--only", nargs="+", choices=LINES, default=list(LINES))
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    print(f"command: {' '.join([os.path.basename(sys.executable), *sys.argv])}")
    misses = 0
    for name in asked.only:
        for line in LINES[name](Setting(asked.quick, asked.repeats)):
            print(line, flush=True)
            misses += not line.passes
    return misses


if __name__ == "__main__":
    raise SystemExit(main())
