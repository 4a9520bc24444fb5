"""Models whose parameters can be integrated out when their hidden classes are known, and near misses."""

from __future__ import annotations

import platewright as pw
from schemas.mixtures import CLASSES_OF_GROUPS, MIXTURES
from schemas.small_instance import Case


def document_classes() -> pw.Model:
    m = pw.Model("hidden classes of documents")
    doc = m.plate("doc")
    word = m.plate("word", within=doc)
    k, term = m.plate("k", 2), m.plate("term", 3)
    m.p = pw.Dirichlet(1.5, over=k)
    m.phi = pw.Dirichlet(0.7, over=term, plates=k)
    m.z = pw.Categorical(m.p, plates=doc)
    m.w = pw.Categorical(m.phi[m.z], plates=word)
    return m


def many_topics() -> pw.Model:
    m = pw.Model("more topics than lanes")
    doc = m.plate("doc")
    word = m.plate("word", within=doc)
    topic, term = m.plate("topic", 11), m.plate("term", 4)
    m.theta = pw.Dirichlet(0.3, over=topic, plates=doc)
    m.phi = pw.Dirichlet(0.2, over=term, plates=topic)
    m.z = pw.Categorical(m.theta, plates=word)
    m.w = pw.Categorical(m.phi[m.z], plates=word)
    return m


def uneven_topics() -> pw.Model:
    m = pw.Model("topics with a prior for each term")
    doc = m.plate("doc")
    word = m.plate("word", within=doc)
    topic, term = m.plate("topic", 3), m.plate("term", 4)
    m.theta = pw.Dirichlet(pw.array([0.5, 1.0, 2.0], over=topic), over=topic, plates=doc)
    m.phi = pw.Dirichlet(pw.array([0.1, 0.2, 0.3, 0.4], over=term), over=term, plates=topic)
    m.z = pw.Categorical(m.theta, plates=word)
    m.w = pw.Categorical(m.phi[m.z], plates=word)
    return m


def known_shares() -> pw.Model:
    m = pw.Model("classes whose shares are known")
    n, k, term = m.plate("n"), m.plate("k", 3), m.plate("term", 3)
    m.phi = pw.Dirichlet(0.7, over=term, plates=k)
    m.z = pw.Categorical(pw.array([0.2, 0.3, 0.5], over=k), plates=n)
    m.x = pw.Categorical(m.phi[m.z], plates=n)
    return m


def mixed_conjugate_columns() -> pw.Model:
    m = pw.Model("naive Bayes with a hidden class")
    n, k, a = m.plate("n"), m.plate("k", 2), m.plate("a", 3)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.theta = pw.Dirichlet(1.5, over=a, plates=k)
    m.q = pw.Beta(2, 3, plates=k)
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.mu = pw.Normal(0, precision=0.5 * m.tau, plates=k)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.x = pw.Categorical(m.theta[m.z], plates=n)
    m.b = pw.Bernoulli(m.q[m.z], plates=n)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    m.c = pw.Poisson(m.rate[m.z], plates=n)
    return m


def conjugate_diagonal() -> pw.Model:
    m = pw.Model("diagonal mixture, conjugate")
    n, j, k = m.plate("n"), m.plate("j"), m.plate("k", 3)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.tau = pw.Gamma(3, rate=2, plates=(k, j))
    m.mu = pw.Normal(0.5, precision=0.3 * m.tau, plates=(k, j))
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=(n, j))
    return m


def centred_at(centre: float) -> pw.Model:
    m = pw.Model("a mixture around a centre")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.mu = pw.Normal(centre, precision=0.3 * m.tau, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return m


def poisson_columns() -> pw.Model:
    m = pw.Model("mixture of Poisson columns")
    n, j, k = m.plate("n"), m.plate("j"), m.plate("k", 2)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.rate = pw.Gamma(2, rate=0.5, plates=(k, j))
    m.y = pw.Poisson(m.rate[m.z], plates=(n, j))
    return m


def shared_rate() -> pw.Model:
    m = pw.Model("one rate for all columns of a class")
    n, j, k = m.plate("n"), m.plate("j"), m.plate("k", 2)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.rate = pw.Gamma(2, rate=0.5, plates=k)
    m.y = pw.Poisson(m.rate[m.z], plates=(n, j))
    return m


def author_topics() -> pw.Model:
    m = pw.Model("two hidden variables of a word")
    doc = m.plate("doc")
    word = m.plate("word", within=doc)
    author, topic, term = m.plate("author", 2), m.plate("topic", 3), m.plate("term", 3)
    m.share = pw.Dirichlet(1.0, over=author, plates=doc)
    m.theta = pw.Dirichlet(0.8, over=topic, plates=author)
    m.phi = pw.Dirichlet(0.6, over=term, plates=topic)
    m.a = pw.Categorical(m.share, plates=word)
    m.z = pw.Categorical(m.theta[m.a], plates=word)
    m.w = pw.Categorical(m.phi[m.z], plates=word)
    return m


def crossed_words() -> pw.Model:
    m = pw.Model("a class on two plates")
    n, j, k, term = m.plate("n"), m.plate("j"), m.plate("k", 2), m.plate("term", 3)
    m.theta = pw.Dirichlet(0.8, over=k, plates=n)
    m.phi = pw.Dirichlet(0.6, over=term, plates=(k, j))
    m.z = pw.Categorical(m.theta, plates=(n, j))
    m.x = pw.Categorical(m.phi[m.z], plates=(n, j))
    return m


def switched() -> pw.Model:
    m = pw.Model("an effect that is there or not")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.p = pw.Beta(2, 2)
    m.z = pw.Bernoulli(m.p, plates=n)
    m.tau = pw.Gamma(3, rate=2)
    m.a = pw.Normal(1, precision=0.5 * m.tau)
    m.b = pw.Normal(0, precision=0.5 * m.tau)
    m.y = pw.Normal(m.a + m.b * m.x * m.z, precision=m.tau, plates=n)
    return m


WORDS = {"doc": 2, "word": 5}
GROUPS = {"word": (0, 0, 0, 1, 1)}

OWN: tuple[Case, ...] = (
    CLASSES_OF_GROUPS,
    Case("document_classes", document_classes, ("w",), WORDS, GROUPS),
    Case("many_topics", many_topics, ("w",), WORDS, GROUPS),
    Case("uneven_topics", uneven_topics, ("w",), WORDS, GROUPS),
    Case("author_topics", author_topics, ("w",), WORDS, GROUPS),
    Case("known_shares", known_shares, ("x",), {"n": 4}),
    Case("mixed_conjugate_columns", mixed_conjugate_columns, ("x", "b", "y", "c"), {"n": 4}),
    Case("conjugate_diagonal", conjugate_diagonal, ("y",), {"n": 3, "j": 2}),
    Case("poisson_columns", poisson_columns, ("y",), {"n": 3, "j": 2}),
    Case("shared_rate", shared_rate, ("y",), {"n": 3, "j": 2}),
    Case("switched", switched, ("y",), {"n": 4}),
    Case("crossed_words", crossed_words, ("x",), {"n": 3, "j": 2}),
)

NAMES = (
    "conjugate_precisions", "known_variance", "full_wishart", "full_inverse_wishart", "poissons", "exposed_poissons",
    "exponentials", "geometrics", "regressions", "zero_inflated", "misclassified", "contaminated", "two_causes",
    "blocks", "bernoulli_items", "latent_class", "latent_class_by_column", "two_apart", "topics",
)  # fmt: skip
"""Of the models that Gibbs sampling and EM are tested on, those that collapse."""

COLLAPSED: tuple[Case, ...] = (*(case for case in MIXTURES if case.name in NAMES), *OWN)


# -- near misses -----------------------------------------------------------------------------------------------------


def unknown_concentration() -> pw.Model:
    m = pw.Model("unknown concentration")
    n, k, term = m.plate("n"), m.plate("k", 2), m.plate("term", 3)
    m.a = pw.Gamma(2, rate=1)
    m.phi = pw.Dirichlet(m.a, over=term, plates=k)
    m.z = pw.Categorical(pw.array([0.5, 0.5], over=k), plates=n)
    m.x = pw.Categorical(m.phi[m.z], plates=n)
    return m


def not_conjugate() -> pw.Model:
    m = pw.Model("a rate with a log-normal prior")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.rate = pw.LogNormal(0, sd=1, plates=k)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    return m


def improper() -> pw.Model:
    m = pw.Model("a flat prior")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.mu = pw.Flat(plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    return m


def uniform_bounds() -> pw.Model:
    m = pw.Model("bounds of classes")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.top = pw.Pareto(2, 1, plates=k)
    m.y = pw.Uniform(0, m.top[m.z], plates=n)
    return m


def nothing_hidden() -> pw.Model:
    m = pw.Model("nothing hidden")
    n = m.plate("n")
    m.rate = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(m.rate, plates=n)
    return m
