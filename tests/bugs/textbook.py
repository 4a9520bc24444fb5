"""Twenty models in the manner of textbooks of BUGS, written by us, each with a simulation from known parameters.

`TEXTBOOK[name]` is a text and a function from a source of chance to data and true parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

Simulated = tuple[dict[str, Any], dict[str, float]]
Random = np.random.Generator
NA = np.nan

TEXTBOOK: dict[str, tuple[str, Callable[[Random], Simulated]]] = {}


def textbook(text: str) -> Callable[[Callable[[Random], Simulated]], Callable[[Random], Simulated]]:
    """Put a simulation on the shelf beside its text."""

    def put(function: Callable[[Random], Simulated]) -> Callable[[Random], Simulated]:
        TEXTBOOK[function.__name__.replace("_", " ")] = (text, function)
        return function

    return put


def _captures(r: Random, n: int, times: int, phi: float, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Capture histories after first capture, and the first captures (from 1)."""
    first = r.integers(0, times - 1, n)
    y = np.zeros((n, times))
    for i in range(n):
        y[i, first[i]] = alive = 1
        for t in range(first[i] + 1, times):
            alive = alive and int(r.random() < phi)
            y[i, t] = alive and r.random() < p
    return y, first + 1


@textbook("""model {
  phi ~ dunif(0, 1)
  p ~ dunif(0, 1)
  for (i in 1:n) {
    z[i, f[i]] <- 1
    for (t in (f[i] + 1):T) {
      z[i, t] ~ dbern(phi * z[i, t - 1])
      y[i, t] ~ dbern(p * z[i, t])
    }
  }
}""")
def survival_of_marked_animals(r: Random) -> Simulated:
    y, first = _captures(r, 60, 5, 0.7, 0.6)
    return {"y": y, "f": first, "n": 60, "T": 5}, {"phi": 0.7, "p": 0.6}


@textbook("""model {
  phiA ~ dunif(0, 1)
  phiB ~ dunif(0, 1)
  psi ~ dunif(0, 1)
  p ~ dunif(0, 1)
  ps[1, 1] <- phiA * (1 - psi)
  ps[1, 2] <- phiA * psi
  ps[1, 3] <- 1 - phiA
  ps[2, 1] <- phiB * psi
  ps[2, 2] <- phiB * (1 - psi)
  ps[2, 3] <- 1 - phiB
  ps[3, 1] <- 0
  ps[3, 2] <- 0
  ps[3, 3] <- 1
  po[1, 1] <- p
  po[1, 2] <- 0
  po[1, 3] <- 1 - p
  po[2, 1] <- 0
  po[2, 2] <- p
  po[2, 3] <- 1 - p
  po[3, 1] <- 0
  po[3, 2] <- 0
  po[3, 3] <- 1
  for (i in 1:n) {
    z[i, f[i]] <- y[i, f[i]]
    for (t in (f[i] + 1):T) {
      z[i, t] ~ dcat(ps[z[i, t - 1], ])
      y[i, t] ~ dcat(po[z[i, t], ])
    }
  }
}""")
def several_sites(r: Random) -> Simulated:
    phi, psi, p, n, times = (0.8, 0.6), 0.3, 0.7, 70, 5
    move = np.array(
        [[phi[0] * (1 - psi), phi[0] * psi, 1 - phi[0]], [phi[1] * psi, phi[1] * (1 - psi), 1 - phi[1]], [0, 0, 1]]
    )
    see = np.array([[p, 0, 1 - p], [0, p, 1 - p], [0, 0, 1]])
    first, y = r.integers(0, times - 1, n), np.full((n, times), 3.0)
    for i in range(n):
        state = r.integers(0, 2)
        y[i, first[i]] = state + 1
        for t in range(first[i] + 1, times):
            state = r.choice(3, p=move[state])
            y[i, t] = r.choice(3, p=see[state]) + 1
    return {"y": y, "f": first + 1, "n": n, "T": times}, {"phiA": 0.8, "phiB": 0.6, "psi": 0.3, "p": 0.7}


@textbook("""model {
  omega ~ dunif(0, 1)
  p ~ dunif(0, 1)
  for (i in 1:M) {
    z[i] ~ dbern(omega)
    for (t in 1:T) { y[i, t] ~ dbern(z[i] * p) }
  }
  N <- sum(z[])
}""")
def a_closed_population(r: Random) -> Simulated:
    caught = r.random((60, 4)) < 0.4
    seen = caught[caught.any(axis=1)].astype(float)
    y = np.vstack([seen, np.zeros((100 - len(seen), 4))])
    return {"y": y, "M": 100, "T": 4}, {"N": 60.0, "p": 0.4}


@textbook("""model {
  for (s in 1:2) { p[s] ~ dunif(0, 1) }
  omega ~ dunif(0, 1)
  for (i in 1:M) {
    z[i] ~ dbern(omega)
    y[i, 1] ~ dbern(z[i] * p[1])
    for (t in 2:T) {
      y[i, t] ~ dbern(z[i] * (p[1] * (1 - y[i, t - 1]) + p[2] * y[i, t - 1]))
    }
  }
}""")
def trap_response(r: Random) -> Simulated:
    y = np.zeros((90, 4))
    for i in range(60):
        for t in range(4):
            y[i, t] = r.random() < (0.6 if t and y[i, t - 1] else 0.35)
    y = y[np.argsort(~y.any(axis=1), kind="stable")]
    return {"y": y, "M": 90, "T": 4}, {"p[1]": 0.35, "p[2]": 0.6}


@textbook("""model {
  for (k in 1:2) { a[k] ~ dnorm(0, 0.3)  b[k] ~ dnorm(0, 0.3) }
  for (i in 1:R) {
    z[i] ~ dbern(psi[i])
    logit(psi[i]) <- a[1] + a[2] * x[i]
    for (j in 1:J) {
      y[i, j] ~ dbern(z[i] * q[i, j])
      logit(q[i, j]) <- b[1] + b[2] * w[i, j]
    }
  }
}""")
def occupancy(r: Random) -> Simulated:
    x, w = r.normal(size=120), r.normal(size=(120, 4))
    z = r.random(120) < expit(0.3 + x)
    y = z[:, None] & (r.random((120, 4)) < expit(0.2 - 0.8 * w))
    return {"y": y.astype(float), "x": x, "w": w, "R": 120, "J": 4}, {
        "a[1]": 0.3,
        "a[2]": 1.0,
        "b[1]": 0.2,
        "b[2]": -0.8,
    }


@textbook("""model {
  psi1 ~ dunif(0, 1)
  phi ~ dunif(0, 1)
  gamma ~ dunif(0, 1)
  p ~ dunif(0, 1)
  for (i in 1:R) {
    z[i, 1] ~ dbern(psi1)
    for (t in 2:T) { z[i, t] ~ dbern(z[i, t - 1] * phi + (1 - z[i, t - 1]) * gamma) }
    for (t in 1:T) { y[i, t] ~ dbin(z[i, t] * p, J) }
  }
}""")
def dynamic_occupancy(r: Random) -> Simulated:
    z = np.zeros((80, 5), dtype=bool)
    z[:, 0] = r.random(80) < 0.5
    for t in range(1, 5):
        z[:, t] = r.random(80) < np.where(z[:, t - 1], 0.8, 0.25)
    y = r.binomial(3, 0.5 * z)
    return {"y": y, "R": 80, "T": 5, "J": 3}, {"psi1": 0.5, "phi": 0.8, "gamma": 0.25, "p": 0.5}


@textbook("""model {
  lambda ~ dgamma(0.1, 0.1)
  p ~ dunif(0, 1)
  for (i in 1:R) {
    N[i] ~ dpois(lambda)
    for (j in 1:J) { y[i, j] ~ dbin(p, N[i]) }
  }
}""")
def repeated_counts(r: Random) -> Simulated:
    y = r.binomial(r.poisson(4, 60)[:, None], 0.5, (60, 4))
    return {"y": y, "R": 60, "J": 4}, {"lambda": 4.0, "p": 0.5}


@textbook("""model {
  a ~ dnorm(0, 0.1)
  b ~ dnorm(0, 0.1)
  for (j in 1:J) { p[j] ~ dbeta(1, 1) }
  for (i in 1:R) {
    N[i] ~ dpois(lambda[i])
    log(lambda[i]) <- a + b * x[i]
    for (j in 1:J) { y[i, j] ~ dbin(p[j], N[i]) }
  }
}""")
def counts_along_a_gradient(r: Random) -> Simulated:
    x = r.uniform(-1, 1, 80)
    y = r.binomial(r.poisson(np.exp(1.5 + 0.7 * x))[:, None], np.array([0.5, 0.6, 0.4]), (80, 3))
    return {"y": y, "x": x, "R": 80, "J": 3}, {"a": 1.5, "b": 0.7}


@textbook("""model {
  b ~ dnorm(0, 0.1)
  c[1] ~ dnorm(0, 0.1)
  for (k in 2:3) { step[k] ~ dexp(1)  c[k] <- c[k - 1] + step[k] }
  for (i in 1:n) {
    for (k in 1:3) { logit(Q[i, k]) <- c[k] - b * x[i] }
    pr[i, 1] <- Q[i, 1]
    for (k in 2:3) { pr[i, k] <- Q[i, k] - Q[i, k - 1] }
    pr[i, 4] <- 1 - Q[i, 3]
    y[i] ~ dcat(pr[i, ])
  }
}""")
def ordered_answers(r: Random) -> Simulated:
    x = r.normal(size=200)
    score = 1.2 * x + r.logistic(size=200)
    return {"y": 1 + np.searchsorted([-1.0, 0.3, 1.5], score), "x": x, "n": 200}, {"b": 1.2, "c[1]": -1.0, "c[3]": 1.5}


@textbook("""model {
  for (j in 1:J) {
    B[j, 1:2] ~ dmnorm(m[], Omega[,])
  }
  for (k in 1:2) { m[k] ~ dnorm(0, 0.01) }
  Omega[1:2, 1:2] ~ dwish(S[,], 3)
  tau ~ dgamma(0.01, 0.01)
  for (i in 1:n) { y[i] ~ dnorm(B[g[i], 1] + B[g[i], 2] * x[i], tau) }
}""")
def lines_of_many_groups(r: Random) -> Simulated:
    lines = r.multivariate_normal([2, -1], [[0.5, 0.1], [0.1, 0.3]], 30)
    g, x = np.repeat(np.arange(30), 8), r.normal(size=240)
    y = lines[g, 0] + lines[g, 1] * x + r.normal(0, 0.7, 240)
    return {"y": y, "x": x, "g": g + 1, "n": 240, "J": 30, "S": np.eye(2)}, {"m[1]": 2.0, "m[2]": -1.0, "tau": 0.7**-2}


@textbook("""model {
  a ~ dnorm(0, 0.01)
  sd ~ dunif(0, 5)
  for (i in 1:n) {
    e[i] ~ dnorm(0, pow(sd, -2))
    log(mu[i]) <- a + e[i]
    y[i] ~ dpois(mu[i])
  }
}""")
def overdispersed_counts(r: Random) -> Simulated:
    return {"y": r.poisson(np.exp(1 + r.normal(0, 0.6, 120))), "n": 120}, {"a": 1.0, "sd": 0.6}


@textbook("""model {
  m ~ dnorm(0, 0.01)
  tau <- pow(sd, -2)
  sd ~ dt(0, 1, 1)T(0, )
  for (j in 1:J) {
    u[j] ~ dnorm(m, tau)
    logit(p[j]) <- u[j]
    y[j] ~ dbin(p[j], n[j])
  }
}""")
def hospitals(r: Random) -> Simulated:
    n = r.integers(20, 60, 40)
    return {"y": r.binomial(n, expit(-0.5 + r.normal(0, 0.7, 40))), "n": n, "J": 40}, {"m": -0.5, "sd": 0.7}


@textbook("""model {
  shape ~ dgamma(1, 0.5)
  for (k in 1:2) { b[k] ~ dnorm(0, 0.1) }
  for (i in 1:n) {
    is.censored[i] ~ dinterval(t[i], end[i])
    t[i] ~ dweib(shape, rate[i])
    log(rate[i]) <- b[1] + b[2] * x[i]
  }
}""")
def censored_lifetimes(r: Random) -> Simulated:
    x = r.integers(0, 2, 120).astype(float)
    t = (r.exponential(size=120) / np.exp(-0.5 + 0.8 * x)) ** (1 / 1.5)
    over = t > 1.5
    data = {"t": np.where(over, NA, t), "end": np.full(120, 1.5), "is.censored": over.astype(float), "x": x, "n": 120}
    return data, {"shape": 1.5, "b[1]": -0.5, "b[2]": 0.8}


@textbook("""model {
  beta ~ dnorm(0, 0.1)
  for (j in 1:J) { h[j] ~ dgamma(0.1, 0.1) }
  for (i in 1:n) {
    for (j in 1:J) { d[i, j] ~ dpois(exposed[i, j] * h[j] * exp(beta * x[i])) }
  }
}""")
def hazards_in_pieces(r: Random) -> Simulated:
    x, cuts, hazard = r.integers(0, 2, 150).astype(float), np.array([0, 1.0, 2.0, 3.0]), (0.3, 0.6, 0.4)
    d, exposed = np.zeros((150, 3)), np.zeros((150, 3))
    for i in range(150):
        for j in range(3):
            time = r.exponential() / (hazard[j] * np.exp(0.7 * x[i]))
            exposed[i, j] = min(time, cuts[j + 1] - cuts[j])
            if time < cuts[j + 1] - cuts[j]:
                d[i, j] = 1
                break
    return {"d": d, "exposed": exposed, "x": x, "n": 150, "J": 3}, {"beta": 0.7, "h[1]": 0.3, "h[2]": 0.6}


@textbook("""model {
  for (k in 1:2) { rate[k] ~ dgamma(1, 0.5) }
  for (t in 1:T) { prior[t] <- 1 / T }
  change ~ dcat(prior[])
  for (t in 1:T) { y[t] ~ dpois(rate[1 + step(t - change - 0.5)]) }
}""")
def a_change_of_rate(r: Random) -> Simulated:
    y = np.concatenate([r.poisson(3.2, 25), r.poisson(1.0, 35)])
    return {"y": y, "T": 60}, {"rate[1]": 3.2, "rate[2]": 1.0}


@textbook("""model {
  x[1] ~ dnorm(3, 0.1)
  drift ~ dnorm(0, 1)
  q ~ dunif(0, 1)
  s ~ dunif(0, 1)
  for (t in 2:T) { x[t] ~ dnorm(x[t - 1] + drift, pow(q, -2)) }
  for (t in 1:T) { y[t] ~ dnorm(x[t], pow(s, -2)) }
}""")
def a_population_over_years(r: Random) -> Simulated:
    x = 3 + np.cumsum(r.normal(0.05, 0.2, 60))
    return {"y": x + r.normal(0, 0.3, 60), "T": 60}, {"drift": 0.05, "q": 0.2, "s": 0.3}


@textbook("""model {
  psi ~ dunif(0, 1)
  lambda ~ dgamma(1, 0.1)
  for (i in 1:n) {
    w[i] ~ dbern(psi)
    y[i] ~ dpois(w[i] * lambda)
  }
}""")
def too_many_zeros(r: Random) -> Simulated:
    return {"y": (r.random(150) < 0.6) * r.poisson(3, 150), "n": 150}, {"psi": 0.6, "lambda": 3.0}


@textbook("""model {
  for (i in 1:n) { theta[i] ~ dnorm(0, 1) }
  for (k in 1:K) { a[k] ~ dlnorm(0, 4)  b[k] ~ dnorm(0, 0.5) }
  for (i in 1:n) {
    for (k in 1:K) { y[i, k] ~ dbern(p[i, k])  logit(p[i, k]) <- a[k] * (theta[i] - b[k]) }
  }
}""")
def items_of_a_test(r: Random) -> Simulated:
    theta, b = r.normal(size=150), np.array([-1, -0.3, 0.3, 0.9])
    y = r.random((150, 4)) < expit(1.2 * (theta[:, None] - b))
    return {"y": y.astype(float), "n": 150, "K": 4}, {"b[1]": -1.0, "b[2]": -0.3, "b[3]": 0.3, "b[4]": 0.9}


@textbook("""model {
  s ~ dunif(0, 1)
  r ~ dunif(0, 1)
  for (t in 1:T) { marray[t, 1:(T + 1)] ~ dmulti(pr[t, ], released[t]) }
  for (t in 1:T) {
    pr[t, t] <- (1 - s) * r
    for (j in (t + 1):T) { pr[t, j] <- pow(s, j - t) * (1 - s) * r }
    for (j in 1:(t - 1)) { pr[t, j] <- 0 }
    pr[t, T + 1] <- 1 - sum(pr[t, 1:T])
  }
}""")
def ring_recoveries(r: Random) -> Simulated:
    s, found, times = 0.6, 0.3, 5
    table = np.zeros((times, times + 1))
    for t in range(times):
        pr = [0.0] * t + [s ** (j - t) * (1 - s) * found for j in range(t, times)]
        table[t] = r.multinomial(200, [*pr, 1 - sum(pr)])
    return {"marray": table, "released": np.full(times, 200), "T": times}, {"s": s, "r": found}


@textbook("""model {
  for (k in 1:2) { mu[k] ~ dnorm(0, 0.01)  tau[k] ~ dgamma(1, 1) }
  for (k in 1:2) { move[k, 1:2] ~ ddirch(ones[]) }
  z[1] ~ dcat(even[])
  for (t in 2:T) { z[t] ~ dcat(move[z[t - 1], ]) }
  for (t in 1:T) { y[t] ~ dnorm(mu[z[t]], tau[z[t]]) }
  low <- min(mu[1], mu[2])
  high <- max(mu[1], mu[2])
}""")
def two_regimes(r: Random) -> Simulated:
    z = np.zeros(120, dtype=int)
    for t in range(1, 120):
        z[t] = z[t - 1] if r.random() < 0.9 else 1 - z[t - 1]
    y = np.where(z == 0, -1.0, 2.0) + r.normal(0, 0.8, 120)
    return {"y": y, "T": 120, "ones": [1, 1], "even": [0.5, 0.5]}, {"low": -1.0, "high": 2.0}
