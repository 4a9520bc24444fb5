"""Stan programs of our own, each with data, points, and its log density written with scipy by hand.

Densities hold up to a constant: `~` of Stan leaves constants open. What a text sums out by hand is summed out here too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

Point = dict[str, np.ndarray]
N = stats.norm.logpdf


@dataclass(frozen=True)
class Snippet:
    """A text, its data, points in its parameters, and the log density there; `hidden`: what was put back."""

    text: str
    data: dict[str, Any]
    density: Callable[[Any, Any], float]
    points: tuple[dict[str, Any], ...]
    hidden: tuple[str, int] | None = None


class Named:
    """Values by name, as attributes."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update({name: np.asarray(value, dtype=float) for name, value in values.items()})


def both(**values: tuple[Any, Any]) -> tuple[dict[str, Any], ...]:
    """Two points from pairs."""
    return tuple({name: pair[k] for name, pair in values.items()} for k in range(2))


SNIPPETS: dict[str, Snippet] = {
    "regression by a matrix": Snippet(
        """data { int<lower=0> N; int<lower=1> K; matrix[N, K] X; vector[N] y; }
        parameters { vector[K] b; real a; real<lower=0> s; }
        model { a ~ student_t(3, 0, 2.5); b ~ normal(0, 2); s ~ cauchy(0, 1); y ~ normal(a + X * b, s); }""",
        {"N": 3, "K": 2, "X": [[1, 2], [0, 1], [3, -1]], "y": [0.5, 1, 2]},
        lambda d, p: (
            stats.t(3, 0, 2.5).logpdf(p.a) + N(p.b, 0, 2).sum() + stats.cauchy(0, 1).logpdf(p.s)
            + N(d.y, p.a + d.X @ p.b, p.s).sum()
        ),
        both(a=(0.3, -1), b=([0.5, 1], [-1, 0.2]), s=(0.7, 2)),
    ),
    "groups by an array of numbers": Snippet(
        """data { int N; int J; array[N] int<lower=1, upper=J> g; array[N] int<lower=0> y; vector[N] x; }
        parameters { vector[J] u; real m; real<lower=0> t; real b; }
        transformed parameters { vector[N] eta = m + t * u[g] + b * x; }
        model { u ~ std_normal(); t ~ exponential(2); m ~ normal(0, 5); y ~ poisson_log(eta); }""",
        {"N": 4, "J": 2, "g": [1, 2, 2, 1], "y": [0, 3, 1, 2], "x": [0.1, 0.2, -1, 1]},
        lambda d, p: (
            N(p.u).sum() + stats.expon(scale=0.5).logpdf(p.t) + N(p.m, 0, 5)
            + stats.poisson(np.exp(p.m + p.t * p.u[d.g.astype(int) - 1] + p.b * d.x)).logpmf(d.y).sum()
        ),
        both(u=([0.2, -0.3], [1, 0.4]), m=(0.1, 1), t=(0.5, 1.5), b=(0.3, -0.2)),
    ),
    "a running total over a loop": Snippet(
        """data { int T; int K; vector[T] y; }
        parameters { vector[K] b; real a; real<lower=0> s; }
        model {
          for (t in (K + 1):T) {
            real mu; // the mean
            mu = a;
            for (k in 1:K) mu += b[k] * y[t - k];
            y[t] ~ normal(mu, s);
          }
        }""",
        {"T": 6, "K": 2, "y": [1, 2, 1.5, 0.5, 1, 2]},
        lambda d, p: sum(N(d.y[t], p.a + p.b[0] * d.y[t - 1] + p.b[1] * d.y[t - 2], p.s) for t in range(2, 6)),
        both(a=(0.3, -1), b=([0.5, 1], [-1, 0.2]), s=(0.7, 2)),
    ),
    "conditions on data": Snippet(
        """data { int N; array[N] int c; vector[N] y; array[N, 2] int w; }
        parameters { real a; real b; }
        model {
          for (n in 1:N) {
            if (c[n] == 1) y[n] ~ normal(a, 1); else if (c[n] == 2) { y[n] ~ normal(b, 2); }
            for (k in 1:2) if (w[n, k] > 0) target += -0.5 * square(a - k * b) * n;
          }
        }""",
        {"N": 4, "c": [1, 2, 3, 1], "y": [0.3, 1, 2, -1], "w": [[0, 1], [1, 1], [0, 0], [1, 0]]},
        lambda d, p: (
            N(d.y[0], p.a, 1) + N(d.y[3], p.a, 1) + N(d.y[1], p.b, 2)
            - 0.5 * sum((n + 1) * (p.a - (k + 1) * p.b) ** 2 for n in range(4) for k in range(2) if d.w[n, k] > 0)
        ),
        both(a=(0.3, -1), b=(0.5, 1)),
    ),
    "drawn twice": Snippet(
        """data { int N; vector[N] y; }
        parameters { real m; vector[2] v; }
        model { y ~ normal(m, 1); y ~ normal(2 * m, 3); m ~ normal(0, 1); m ~ cauchy(1, 2);
                for (n in 1:3) v ~ normal(n, 1); v[1] ~ normal(m, 2); }""",
        {"N": 2, "y": [0.5, -0.5]},
        lambda d, p: (
            N(d.y, p.m, 1).sum() + N(d.y, 2 * p.m, 3).sum() + N(p.m) + stats.cauchy(1, 2).logpdf(p.m)
            + sum(N(p.v, n, 1).sum() for n in (1, 2, 3)) + N(p.v[0], p.m, 2)
        ),
        both(m=(0.3, -1), v=([0.5, 1], [-1, 0.2])),
    ),
    "bounds that hang on parameters": Snippet(
        """parameters { real<lower=0> s; real<lower=0> x; real<lower=s, upper=10> z; vector<lower=0>[2] w; }
        model { s ~ gamma(2, 1); x ~ normal(s, 1); w ~ normal(0, s); target += normal_lpdf(z | 1, s); }""",
        {},
        lambda d, p: stats.gamma(2).logpdf(p.s) + N(p.x, p.s, 1) + N(p.w, 0, p.s).sum() + N(p.z, 1, p.s),
        both(s=(0.3, 1.2), x=(0.5, 1), z=(2, 3), w=([0.1, 0.2], [1, 2])),
    ),
    "ordered cut points": Snippet(
        """data { int N; int K; array[N] int<lower=1, upper=K> y; vector[N] x; }
        parameters { ordered[K - 1] c; real b; }
        model { c ~ normal(0, 3); for (n in 1:N) y[n] ~ ordered_logistic(b * x[n], c); }""",
        {"N": 4, "K": 3, "y": [1, 2, 3, 2], "x": [0.1, 0.5, 1, -1]},
        lambda d, p: N(p.c, 0, 3).sum() + sum(
            np.log(np.diff(np.concatenate([[0], special.expit(p.c - p.b * x), [1]]))[int(y) - 1])
            for x, y in zip(d.x, d.y)
        ),
        both(c=([-0.3, 0.7], [0.1, 0.4]), b=(0.5, 1)),
    ),
    "log_mix": Snippet(
        """data { int N; vector[N] y; }
        parameters { positive_ordered[2] mu; array[2] real<lower=0> s; real<lower=0, upper=1> p; }
        model { s ~ normal(0, 2); mu ~ normal(0, 2); p ~ beta(5, 2);
          for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | mu[1], s[1]), normal_lpdf(y[n] | mu[2], s[2])); }""",
        {"N": 3, "y": [0.5, 2, 1]},
        lambda d, p: (
            N(p.s, 0, 2).sum() + N(p.mu, 0, 2).sum() + stats.beta(5, 2).logpdf(p.p)
            + np.log(p.p * np.exp(N(d.y, p.mu[0], p.s[0])) + (1 - p.p) * np.exp(N(d.y, p.mu[1], p.s[1]))).sum()
        ),
        both(mu=([0.5, 1.5], [0.1, 0.3]), s=([1, 2], [0.5, 1]), p=(0.3, 0.6)),
        ("y", 2),
    ),
    "log_sum_exp of a simplex": Snippet(
        """data { int N; int K; array[N] int y; }
        parameters { simplex[K] w; vector<lower=0>[K] r; }
        model { r ~ gamma(2, 1);
          for (n in 1:N) { vector[K] lp = log(w);
            for (k in 1:K) lp[k] += poisson_lpmf(y[n] | r[k]); target += log_sum_exp(lp); }
        }""",
        {"N": 3, "K": 3, "y": [0, 4, 2]},
        lambda d, p: stats.gamma(2).logpdf(p.r).sum() + np.log(
            (p.w * np.exp(stats.poisson(p.r).logpmf(d.y[:, None]))).sum(axis=1)
        ).sum(),
        both(w=([0.5, 0.2, 0.3], [0.1, 0.3, 0.6]), r=([1, 2, 5], [0.5, 1, 1.5])),
        ("y", 3),
    ),
    "a forward recursion": Snippet(
        """data { int T; int K; vector[T] y; }
        parameters { simplex[K] start; array[K] simplex[K] move; vector[K] mu; }
        model {
          mu ~ normal(0, 2);
          {
            array[T, K] real gamma;
            vector[K] acc;
            for (k in 1:K) gamma[1, k] = log(start[k]) + normal_lpdf(y[1] | mu[k], 1);
            for (t in 2:T) for (k in 1:K) {
              for (j in 1:K) acc[j] = gamma[t - 1, j] + log(move[j, k]) + normal_lpdf(y[t] | mu[k], 1);
              gamma[t, k] = log_sum_exp(acc);
            }
            target += log_sum_exp(gamma[T]);
          }
        }""",
        {"T": 4, "K": 2, "y": [0.5, 1, -1, 0.2]},
        lambda d, p: N(p.mu, 0, 2).sum() + forward(p.start, p.move, np.exp(N(d.y[:, None], p.mu, 1))),
        both(start=([0.3, 0.7], [0.5, 0.5]), move=([[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.5, 0.5]]),
             mu=([0.1, 1], [-1, 2])),
        ("path", 2),
    ),
    "vectors of several": Snippet(
        """data { int J; int D; array[J] vector[D] y; cov_matrix[D] V; }
        parameters { vector[D] m; cov_matrix[D] S; array[J] vector[D] th; }
        model { S ~ inv_wishart(D + 2, V); m ~ multi_normal(rep_vector(0, D), V);
                th ~ multi_normal(m, S); for (j in 1:J) y[j] ~ normal(th[j], 1); }""",
        {"J": 2, "D": 2, "y": [[0.5, 1], [1, 2]], "V": [[2, 0.3], [0.3, 1]]},
        lambda d, p: (
            stats.invwishart(4, d.V).logpdf(p.S) + stats.multivariate_normal(np.zeros(2), d.V).logpdf(p.m)
            + stats.multivariate_normal(p.m, p.S).logpdf(p.th).sum() + N(d.y, p.th, 1).sum()
        ),
        both(m=([0.1, 1], [-1, 2]), S=([[1, 0.2], [0.2, 2]], [[3, 1], [1, 1]]),
             th=([[0.4, 1], [1, 0]], [[0, 0.2], [-1, 1]])),
    ),
    "transformed data": Snippet(
        """data { int N; vector[N] y; }
        transformed data { real m = mean(y); vector[N] z; int h = N / 2; z = (y - m) / sd(y); }
        parameters { real a; real<lower=0> s; }
        model { z[1:h] ~ normal(a, s); z[(h + 1):N] ~ normal(-a, s); s ~ inv_gamma(2, 3); }
        generated quantities { real b = a / s; array[N] real r = normal_rng(rep_vector(a, N), s); }""",
        {"N": 5, "y": [1, 2, 4, 3, 7]},
        lambda d, p: (
            N(standard(d.y)[:2], p.a, p.s).sum() + N(standard(d.y)[2:], -p.a, p.s).sum()
            + stats.invgamma(2, scale=3).logpdf(p.s)
        ),
        both(a=(0.3, -1), s=(0.7, 2)),
    ),
    "distributions of counts and times": Snippet(
        """data { int N; array[N] int y; vector[N] t; array[N] int b; }
        parameters { real<lower=0> m; real<lower=0> f; real<lower=0, upper=1> p; real l; }
        model { y ~ neg_binomial_2(m, f); t ~ weibull(f, m); y ~ neg_binomial(m, f); b ~ binomial(5, p);
                b ~ binomial_logit(6, l); t ~ lognormal(l, f); t ~ pareto(0.1, m); t ~ double_exponential(l, f);
                t ~ logistic(l, m); t ~ gumbel(l, m); t ~ skew_normal(l, m, 2); t ~ chi_square(m);
                t ~ uniform(0, 9); }""",
        {"N": 3, "y": [0, 2, 5], "t": [0.5, 1, 3], "b": [1, 3, 2]},
        lambda d, p: (
            stats.nbinom(p.f, p.f / (p.f + p.m)).logpmf(d.y).sum() + stats.weibull_min(p.f, scale=p.m).logpdf(d.t).sum()
            + stats.nbinom(p.m, p.f / (p.f + 1)).logpmf(d.y).sum() + stats.binom(5, p.p).logpmf(d.b).sum()
            + stats.binom(6, special.expit(p.l)).logpmf(d.b).sum()
            + stats.lognorm(p.f, scale=np.exp(p.l)).logpdf(d.t).sum()
            + stats.pareto(p.m, scale=0.1).logpdf(d.t).sum() + stats.laplace(p.l, p.f).logpdf(d.t).sum()
            + stats.logistic(p.l, p.m).logpdf(d.t).sum() + stats.gumbel_r(p.l, p.m).logpdf(d.t).sum()
            + stats.skewnorm(2, p.l, p.m).logpdf(d.t).sum() + stats.chi2(p.m).logpdf(d.t).sum()
        ),
        both(m=(1.3, 2), f=(0.7, 2), p=(0.3, 0.6), l=(0.2, -0.5)),
    ),
    "regressions in one word": Snippet(
        """data { int N; matrix[N, 2] X; array[N] int y; vector[N] z; }
        parameters { vector[2] b; real a; real<lower=0> s; }
        model { y ~ bernoulli_logit_glm(X, a, b); z ~ normal_id_glm(X, a, b, s);
                target += normal_lpdf(s | 0, 2) + sum(b) - dot_self(b); }""",
        {"N": 3, "X": [[1, 2], [0, 1], [3, -1]], "y": [0, 1, 1], "z": [0.5, 1, 2]},
        lambda d, p: (
            stats.bernoulli(special.expit(p.a + d.X @ p.b)).logpmf(d.y).sum() + N(d.z, p.a + d.X @ p.b, p.s).sum()
            + N(p.s, 0, 2) + p.b.sum() - p.b @ p.b
        ),
        both(a=(0.3, -1), b=([0.5, 1], [-1, 0.2]), s=(0.7, 2)),
    ),
    "values carried from round to round": Snippet(
        """data { int T; vector[T] y; }
        parameters { real<lower=0> w; real<lower=0, upper=1> a; real m; }
        model { real h = w; real e = 0;
          for (t in 1:T) { e = y[t] - m - 0.5 * e; y[t] ~ normal(m, sqrt(h)); h = w + a * square(e); } }""",
        {"T": 4, "y": [0.5, 1, -1, 0.2]},
        lambda d, p: garch(d.y, p.w, p.a, p.m),
        both(w=(0.3, 1), a=(0.2, 0.6), m=(0.1, -0.3)),
    ),
    "truncation": Snippet(
        """data { int N; vector<lower=0>[N] y; }
        parameters { real m; real<lower=0> s; }
        model { for (n in 1:N) y[n] ~ normal(m, s) T[0, ];
          target += normal_lccdf(1 | m, s) + exponential_lcdf(2 | s); }""",
        {"N": 3, "y": [0.5, 1, 3]},
        lambda d, p: (
            (N(d.y, p.m, p.s) - stats.norm.logsf(0, p.m, p.s)).sum() + stats.norm.logsf(1, p.m, p.s)
            + stats.expon(scale=1 / p.s).logcdf(2)
        ),
        both(m=(0.3, -1), s=(0.7, 2)),
    ),
    "all values of a change point": Snippet(
        """data { int T; array[T] int D; } transformed data { real each = -log(T); }
        parameters { real<lower=0> e; real<lower=0> l; }
        transformed parameters { vector[T] lp; lp = rep_vector(each, T);
          for (s in 1:T) for (t in 1:T) lp[s] = lp[s] + poisson_lpmf(D[t] | t < s ? e : l); }
        model { e ~ exponential(0.5); l ~ exponential(1); target += log_sum_exp(lp); }""",
        {"T": 5, "D": [4, 5, 3, 0, 1]},
        lambda d, p: (
            stats.expon(scale=2).logpdf(p.e) + stats.expon.logpdf(p.l) + special.logsumexp([
                sum(stats.poisson(p.e if t < s else p.l).logpmf(d.D[t]) for t in range(5)) for s in range(5)
            ])
        ),
        both(e=(4.0, 2), l=(0.5, 1)),
    ),
    "abundance by ragged sums": Snippet(
        """data { int R; int T; array[R, T] int y; int K; }
        transformed data { array[R] int most; for (i in 1:R) most[i] = max(y[i]); }
        parameters { real<lower=0> r; real<lower=0, upper=1> p; }
        model { r ~ exponential(0.1);
          for (i in 1:R) { vector[K - most[i] + 1] lp;
            for (j in 1:(K - most[i] + 1))
              lp[j] = poisson_lpmf(most[i] + j - 1 | r) + binomial_lpmf(y[i] | most[i] + j - 1, p);
            target += log_sum_exp(lp); } }""",
        {"R": 3, "T": 2, "y": [[1, 2], [3, 2], [0, 1]], "K": 12},
        lambda d, p: stats.expon(scale=10).logpdf(p.r) + sum(
            special.logsumexp([stats.poisson(p.r).logpmf(n) + stats.binom(n, p.p).logpmf(y).sum()
                               for n in range(int(y.max()), 13)]) for y in d.y
        ),
        both(r=(2.0, 4), p=(0.4, 0.6)),
    ),
    "occupied by what was counted": Snippet(
        """data { int R; int T; array[R, T] int y; vector[R] x; }
        transformed data { array[R] int seen; int some = 0;
          for (i in 1:R) { seen[i] = sum(y[i]); if (seen[i]) some += 1; } }
        parameters { real a; real b; real q; }
        transformed parameters { vector[R] psi = a + b * x; }
        model { a ~ normal(0, some);
          for (i in 1:R) if (seen[i]) target += bernoulli_logit_lpmf(1 | psi[i]) + bernoulli_logit_lpmf(y[i] | q);
            else target += log_sum_exp(bernoulli_logit_lpmf(1 | psi[i]) + bernoulli_logit_lpmf(0 | q) * T,
                                       bernoulli_logit_lpmf(0 | psi[i])); }""",
        {"R": 4, "T": 3, "y": [[1, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0]], "x": [0.5, -1, 1, 0.2]},
        lambda d, p: N(p.a, 0, 2) + sum(
            np.log(special.expit(p.a + p.b * x) * np.prod(np.where(y == 1, special.expit(p.q), special.expit(-p.q)))
                   + (0 if y.any() else special.expit(-p.a - p.b * x))) for x, y in zip(d.x, d.y)
        ),
        both(a=(0.3, -0.5), b=(1.0, 0.2), q=(0.1, -0.4)),
    ),
    "volatility in three steps": Snippet(
        """data { int T; vector[T] y; }
        parameters { real m; real<lower=-1, upper=1> f; real<lower=0> s; vector[T] e; }
        transformed parameters { vector[T] h = e * s; h[1] /= sqrt(1 - f * f); h += m;
          for (t in 2:T) h[t] += f * (h[t - 1] - m); }
        model { m ~ cauchy(0, 10); s ~ cauchy(0, 5); e ~ std_normal(); y ~ normal(0, exp(h / 2)); }""",
        {"T": 4, "y": [0.5, 1, -1, 0.2]},
        lambda d, p: (
            stats.cauchy(0, 10).logpdf(p.m) + stats.cauchy(0, 5).logpdf(p.s) + N(p.e).sum()
            + N(d.y, 0, np.exp(volatility(p) / 2)).sum()
        ),
        both(m=(0.1, -0.5), f=(0.6, -0.3), s=(0.5, 1), e=([0.2, -1, 0.4, 1], [1, 0, -0.5, 0.3])),
    ),
    "decomposed regressors": Snippet(
        """data { int N; int K; matrix[N, K] x; vector[N] y; array[N] int g; array[3] int c; }
        transformed data { matrix[N, K] Q = qr_thin_Q(x) * sqrt(N - 1); matrix[K, K] R = qr_thin_R(x) / sqrt(N - 1); }
        parameters { vector[K] b; real a; ordered[2] k; matrix[2, K] w; simplex[3] p; }
        model { y ~ normal(a + Q * b, 2); g ~ ordered_logistic(x * b, k); to_vector(w) ~ std_normal();
          target += -dot_self(R * b) - square(to_vector(w)[3]); c ~ multinomial(p); }""",
        {"N": 4, "K": 2, "x": [[1, 2], [0, 1], [3, -1], [1, 1]], "y": [0.5, 1, -1, 0.2], "g": [1, 3, 2, 2],
         "c": [2, 0, 3]},
        lambda d, p: (
            N(d.y, p.a + upright(d.x)[0] @ p.b * np.sqrt(3), 2).sum()
            - np.sum((upright(d.x)[1] @ p.b) ** 2) / 3 + N(p.w).sum() - p.w[0, 1] ** 2
            + stats.multinomial(5, p.p).logpmf(d.c) + sum(
                np.log(np.diff(np.concatenate([[0], special.expit(p.k - x @ p.b), [1]]))[int(g) - 1])
                for x, g in zip(d.x, d.g)
            )
        ),
        both(b=([0.5, 1], [-1, 0.2]), a=(0.3, -1), k=([-0.3, 0.7], [0.1, 0.4]), w=([[1, 2], [0, 1]], [[0, 1], [2, 0]]),
             p=([0.5, 0.2, 0.3], [0.1, 0.3, 0.6])),
    ),
}  # fmt: skip


def standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std(ddof=1)


def forward(start: np.ndarray, move: np.ndarray, seen: np.ndarray) -> float:
    now = start * seen[0]
    for row in seen[1:]:
        now = (now @ move) * row
    return float(np.log(now.sum()))


def garch(y: np.ndarray, w: float, a: float, m: float) -> float:
    total, h, e = 0.0, w, 0.0
    for value in y:
        e = value - m - 0.5 * e
        total += N(value, m, np.sqrt(h))
        h = w + a * e**2
    return float(total)


def volatility(p: Any) -> np.ndarray:
    h = p.e * p.s
    h[0] /= np.sqrt(1 - p.f**2)
    h = h + p.m
    for t in range(1, len(h)):
        h[t] += p.f * (h[t - 1] - p.m)
    return h


def upright(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Q and R with a positive diagonal of R."""
    q, r = np.linalg.qr(x)
    signs = np.sign(np.diag(r))
    return q * signs, r * signs[:, None]
