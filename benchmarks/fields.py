"""Mean field beside scikit-learn and hmmlearn: what an iteration costs.

One thread, float64, but for chains the same start. An iteration of ours is the whole of it: expected log factors, the
pass over the rows in C, the posterior of the parameters and its moments, and the exact bound. For topics scikit-learn
makes one update of its documents in an iteration, as ours does; the note says where both go with its own default.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from side_by_side import Line
from topics import ALPHA, documents

import platewright as pw
from platewright.graph.graph import read_graph
from platewright.run.hidden.mean_field import Runner, with_noises
from platewright.run.hidden.native_em import NativeEM
from platewright.schemas.mean_field import MeanFieldPlan, plan_mean_field

Values = Mapping[str, np.ndarray]
Run = Callable[[int], object]
LEVELS = 10


class Field:
    """Mean field by the C backend, from soft guesses or from given moments."""

    def __init__(self, model: pw.Model, columns: Values, sizes: Mapping[str, int], start: Values) -> None:
        (known,) = (name for name in columns if "@" not in name)
        plan = plan_mean_field(read_graph(model, (known,)), "posterior")
        assert isinstance(plan, MeanFieldPlan), plan
        self.native = NativeEM(plan, columns, with_noises(plan, sizes), threads=1)
        assert self.native.native, self.native.left
        self.runner = Runner(plan, columns, sizes, native=self.native)
        soft = {name for name in start if name.endswith((".probability", ".pair"))}
        self.moments = Runner(plan, columns, sizes).posterior(start).moments if soft else start
        self.bound = -np.inf

    def __call__(self, iterations: int) -> Values:
        """Moments after so many iterations."""
        moments = self.moments
        for _ in range(iterations):
            moments = self.step(moments)
        return moments

    def step(self, moments: Values) -> Values:
        """One iteration; the bound after it is kept."""
        found, entropy = self.runner.hidden(moments)
        settled = self.runner.posterior({**moments, **found})
        self.bound = settled.evidence + entropy
        return settled.moments

    @property
    def note(self) -> str:
        """Whether all steps were C's, in one pass each."""
        return f", {self.native.apart} second passes, {sum(self.native.by_numpy.values())} by NumPy"


def per_iteration(repeats: int, few: int, many: int, *runs: Run) -> list[tuple[float, float]]:
    """Processor seconds and seconds by the clock of one iteration of each run; the runs take turns."""
    best: dict[tuple[int, int], np.ndarray] = {}
    for _ in range(repeats):
        for number, run in enumerate(runs):
            for count in (few, many):
                clock, processor = time.perf_counter(), time.thread_time()
                run(count)
                took = np.array([time.thread_time() - processor, time.perf_counter() - clock])
                best[number, count] = np.minimum(best.get((number, count), took), took)
    return [tuple((best[k, many] - best[k, few]) / (many - few)) for k in range(len(runs))]  # type: ignore[misc]


def compared(what: str, target: float, repeats: int, ours: Field, peer: Run, name: str, note: str = "") -> Line:
    (own, own_clock), (other, other_clock) = per_iteration(repeats, 2, 8, ours, peer)
    clock = f"by the clock {1e3 * own_clock:.1f} and {1e3 * other_clock:.0f}: {other_clock / own_clock:.1f}x"
    text = f"ours {1e3 * own:.1f} ms, {name} {1e3 * other:.0f} ms an iteration ({clock}){note}{ours.note}"
    return Line(what, other / own, target, "x", at_least=True, note=text)


# -- Gaussian mixtures -----------------------------------------------------------------------------------------------


def mixture(kind: str, columns: int) -> pw.Model:
    """The priors of scikit-learn, written down: a scale and the mean given it, for each class."""
    m = pw.Model("mixture")
    n, k, d = m.plate("n"), m.plate("k", LEVELS), m.plate("d", columns)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    if kind == "full":
        m.S = pw.Wishart(columns + 2, scale=pw.identity(d), over=d, plates=k)
        m.mu = pw.MultivariateNormal(0, precision=0.01 * m.S, over=d, plates=k)
        m.y = pw.MultivariateNormal(m.mu[m.z], precision=m.S[m.z], over=d, plates=n)
        return m
    m.tau = pw.Gamma((columns + 2) / 2, rate=0.5, plates=(k, d))
    m.mu = pw.Normal(0, precision=0.01 * m.tau, plates=(k, d))
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=(n, d))
    return m


def gaussian(kind: str, quick: bool, repeats: int) -> Line:
    """A Gaussian mixture beside `BayesianGaussianMixture`, from the same soft assignments."""
    from sklearn.mixture import BayesianGaussianMixture

    rows, columns = (50_000 if quick else 200_000), 8
    generator = np.random.default_rng(0)
    centres = generator.normal(0, 3, (LEVELS, columns))
    z = generator.integers(0, LEVELS, rows)
    y = centres[z] + generator.standard_normal((rows, columns))
    guess = 0.5 * np.eye(LEVELS)[z] + 0.5 * generator.dirichlet(np.ones(LEVELS), rows)
    ours = Field(mixture(kind, columns), {"y": y}, {"n": rows, "k": LEVELS, "d": columns}, {"z.probability": guess})

    class Started(BayesianGaussianMixture):  # type: ignore[misc]
        """The same from given assignments."""

        def _initialize_parameters(self, X: np.ndarray, random_state: object, xp: object = None) -> None:
            self._initialize(X, guess)

    prior = np.eye(columns) if kind == "full" else np.ones(columns)
    given = {"mean_prior": np.zeros(columns), "mean_precision_prior": 0.01, "weight_concentration_prior": 1.0}
    given |= {"degrees_of_freedom_prior": columns + 2, "covariance_prior": prior, "reg_covar": 0.0, "tol": 0.0}
    given |= {"covariance_type": "full" if kind == "full" else "diag"}

    def peer(iterations: int) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that so few iterations do not converge
            way = "dirichlet_distribution"
            model = Started(n_components=LEVELS, max_iter=iterations, weight_concentration_prior_type=way, **given)
            return model.fit(y).means_

    # Of diagonal ones scikit-learn takes the logarithms as if they were of a full Wishart, so means differ a little.
    apart = np.max(np.abs(ours(3)["mu.mean"] - peer(3)))
    what = f"mean field, Gaussian mixture, {kind}, N={rows:.0e}, D={columns}, K={LEVELS}"
    target = 20 if kind == "full" else 10
    return compared(what, target, repeats, ours, peer, "scikit-learn", f", means within {apart:.0e}")


# -- topics ----------------------------------------------------------------------------------------------------------


def topic_model(topics: int, terms: int) -> pw.Model:
    """Latent Dirichlet allocation, with the priors that both are given."""
    m = pw.Model("topics")
    doc = m.plate("doc")
    word = m.plate("word", within=doc)
    topic, term = m.plate("topic", topics), m.plate("term", terms)
    m.theta = pw.Dirichlet(ALPHA, over=topic, plates=doc)
    m.phi = pw.Dirichlet(ALPHA, over=term, plates=topic)
    m.z = pw.Categorical(m.theta, plates=word)
    m.w = pw.Categorical(m.phi[m.z], plates=word)
    return m


def topics(quick: bool, repeats: int) -> Line:
    """One update of the topics of all words and of all parameters beside scikit-learn's, from the same first topics."""
    from scipy import sparse, special
    from sklearn.decomposition import LatentDirichletAllocation

    count, length, terms, levels = (500 if quick else 2000), 100, 2000, 20
    words = documents(count, length, terms, levels)
    of = np.repeat(np.arange(count), length)
    table = sparse.coo_matrix((np.ones(words.size), (of, words.ravel())), (count, terms)).tocsr()

    def log_moments(weights: np.ndarray) -> np.ndarray:
        return np.asarray(special.digamma(weights) - special.digamma(weights.sum(axis=-1, keepdims=True)))

    given = {"doc_topic_prior": ALPHA, "topic_word_prior": ALPHA, "random_state": 0}
    first = np.random.RandomState(0).gamma(100.0, 0.01, (levels, terms))  # where scikit-learn starts
    start = {"theta.moment0": log_moments(np.ones((count, levels))), "phi.moment0": log_moments(first)}
    sizes = {"doc": count, "word": words.size, "topic": levels, "term": terms}
    ours = Field(topic_model(levels, terms), {"doc@word": of, "w": words.ravel()}, sizes, start)

    def peer(iterations: int) -> LatentDirichletAllocation:
        return LatentDirichletAllocation(levels, max_iter=iterations, max_doc_update_iter=1, **given).fit(table)

    # Both go to modes of their own: scikit-learn by default settles each document anew, from a random start, before it
    # moves the topics. Its bound is put in our words after one update of ours, which can only raise it.
    model = LatentDirichletAllocation(levels, max_iter=10, **given).fit(table)
    shares = log_moments(model.transform(table, normalize=False))
    ours.step({"theta.moment0": shares, "phi.moment0": log_moments(model.components_)})
    theirs = ours.bound
    ours(100)
    note = f", bound after 100 iterations {ours.bound:.6g}, of scikit-learn after 10 of up to 100 inner {theirs:.6g}"
    what = f"mean field, topics, {count} x {length} words, V={terms}, K={levels}"
    return compared(what, 2, repeats, ours, peer, "scikit-learn", note)


# -- hidden chains ---------------------------------------------------------------------------------------------------


def chain_model(columns: int, values: int) -> pw.Model:
    """Hidden Markov models with conjugate priors: Gaussian columns where there are any, else a symbol."""
    m = pw.Model("hidden chain")
    k, series = m.plate("k", LEVELS), m.plate("series")
    before, step = m.plate("before", like=k), m.plate("step", ordered=True, within=series)
    m.begin = pw.Dirichlet(0.1, over=k)
    m.move = pw.Dirichlet(0.1, over=k, plates=before)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
    if not columns:
        m.shown = pw.Dirichlet(0.1, over=m.plate("v", values), plates=k)
        m.y = pw.Categorical(m.shown[m.z], plates=step)
        return m
    d = m.plate("d", columns)
    m.S = pw.Wishart(columns + 2, scale=pw.identity(d), over=d, plates=k)
    m.mu = pw.MultivariateNormal(0, precision=m.S, over=d, plates=k)
    m.y = pw.MultivariateNormal(m.mu[m.z], precision=m.S[m.z], over=d, plates=step)
    return m


def chain(columns: int, quick: bool, repeats: int) -> Line:
    """A hidden Markov model beside hmmlearn's variational ones; only the cost of an iteration, starts differ."""
    from hmmlearn.vhmm import VariationalCategoricalHMM, VariationalGaussianHMM

    count, length, values = (50 if quick else 200), 500, 10
    generator = np.random.default_rng(0)
    z = generator.integers(0, LEVELS, (count, length))
    for t in range(1, length):
        z[:, t] = np.where(generator.random(count) < 0.8, z[:, t - 1], z[:, t])
    if columns:
        y = generator.normal(0, 3, (LEVELS, columns))[z.ravel()] + generator.standard_normal((z.size, columns))
    else:
        truth = np.cumsum(generator.dirichlet(np.full(values, 0.5), LEVELS)[z.ravel()], axis=-1)
        y = (generator.random((z.size, 1)) > truth).sum(axis=-1).clip(0, values - 1)
    groups = np.repeat(np.arange(count), length)
    data = {"y": y, "series@step": groups, "first@step": (np.arange(z.size) % length == 0).astype(np.int64)}
    sizes = {"k": LEVELS, "before": LEVELS, "series": count, "step": z.size, "v": values, "d": columns}
    guess = 0.5 * np.eye(LEVELS)[z.ravel()] + 0.5 / LEVELS
    pairs = np.concatenate([guess[:1, :, None] * guess[:1, None], guess[:-1, :, None] * guess[1:, None]])
    ours = Field(chain_model(columns, values), data, sizes, {"z.probability": guess, "z.pair": pairs})

    def peer(iterations: int) -> object:
        how = {"n_iter": iterations, "tol": -np.inf, "implementation": "scaling", "random_state": 0}
        model = VariationalGaussianHMM(LEVELS, **how) if columns else VariationalCategoricalHMM(LEVELS, **how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(y.reshape(z.size, -1), np.full(count, length))

    kind = f"{columns} Gaussian columns" if columns else f"{values} symbols"
    what = f"mean field, hidden chain, {count} x {length} steps, K={LEVELS}, {kind}"
    return compared(what, 10, repeats, ours, peer, "hmmlearn")


FIELDS: Mapping[str, Callable[[bool, int], Line]] = {
    "field-diagonal": partial(gaussian, "diagonal"),
    "field-full": partial(gaussian, "full"),
    "field-topics": topics,
    "field-hmm": partial(chain, 0),
    "field-hmm-gaussian": partial(chain, 4),
}
"""The lines by name."""
