"""Small BUGS texts of our own, each with data: one construct or two apiece. The laws and the fuzzer feed on them."""

# ruff: noqa: E501
from __future__ import annotations

SNIPPETS: dict[str, tuple[str, dict[str, object]]] = {
    "entering_at_several_times": (
        "model { for (i in 1:n) { z[i, f[i]] <- 1\n for (t in (f[i] + 1):T) { z[i, t] ~ dbern(mu[i, t]); mu[i, t] <- phi * z[i, t - 1]\n"
        " y[i, t] ~ dbern(0.1 + p[t] * z[i, t]) } } phi ~ dunif(0.2, 0.9) for (t in 1:T) { p[t] ~ dunif(0, 0.9) } }",
        {
            "n": 4,
            "T": 5,
            "f": [1, 3, 2, 5],
            "y": [[None, 0, 1, 0, 0], [None, None, None, 1, 0], [None, None, 1, 1, 1], [None] * 5],
        },
    ),
    "all_released_at_once": (
        "model { for (i in 1:3) { z[i, 1] <- 1\n for (t in 2:4) { z[i, t] ~ dbern(phi[t - 1] * z[i, t - 1])\n"
        " y[i, t] ~ dbern(0.1 + p * z[i, t]) } } p ~ dunif(0, 0.9) for (t in 1:3) { phi[t] ~ dunif(0, 1) } }",
        {"y": [[None, 1, 0, 0], [None, 0, 0, 1], [None, 0, 0, 0]]},
    ),
    "moving_after_a_first_state": (
        "model { for (i in 1:3) { s[i, f[i]] ~ dcat(w[])\n for (t in (f[i] + 1):n[i]) { s[i, t] ~ dcat(P[s[i, t - 1], ]) }\n"
        " for (t in f[i]:n[i]) { y[i, t] ~ dnorm(m[s[i, t]], 1) } }\n"
        " for (k in 1:2) { P[k, 1:2] ~ ddirich(one[]) m[k] ~ dnorm(0, 0.1) } w[1:2] ~ ddirich(one[]) }",
        {"f": [1, 2, 1], "n": [4, 3, 2], "one": [1, 1], "y": [[1, 0.5, 3, 2], [None, 0, 2, None], [4, 3, None, None]]},
    ),
    "slices_that_begin_apart": (
        "model { for (j in 2:T) { y[j] ~ dnorm(inprod(a[1:(j - 1)], b[2:j]) + sum(a[1:(j - 1)] * (b[2:j] - 1)), 1) }\n"
        " for (k in 1:T) { a[k] ~ dnorm(0, 1); b[k] ~ dnorm(0, 1) } for (i in 1:N) { v[i] ~ dnorm(inprod(b[s[i]:e[i]], w[1:2]), 1) }\n"
        " for (i in 1:N) { u[i] ~ dnorm(x[i, s[i]:e[i]] %*% b[2:3], 1) } }",
        {
            "T": 5,
            "y": [None, 1, 2, 3, 4],
            "N": 3,
            "v": [1, 2, 3],
            "s": [1, 4, 2],
            "e": [2, 5, 3],
            "w": [0.3, 0.7],
            "u": [1, 0, 2],
            "x": [[1, 2, 3, 4, 5], [2, 1, 2, 1, 3], [0, 1, 2, 0, 1]],
        },
    ),
    "ends_that_move": (
        "model { for (j in 2:T) { y[j] ~ dnorm(prod(a[1:j]) + max(a[1:j]) - min(c[j:T]) + sd(a[1:j]), 1) }\n"
        " for (k in 1:T) { a[k] ~ dnorm(0, 1); c[k] ~ dnorm(0, 1) } }",
        {"T": 5, "y": [None, 1, 2, 3, 4]},
    ),
    "sizes_of_data": (
        "data { D <- dim(X) }\nmodel { for (i in 1:length(y)) { y[i] ~ dnorm(m + X[i, 1], 1) } m ~ dnorm(0, 1) n <- length(y)\n"
        " for (i in 1:D[1]) { for (j in 1:D[2]) { X[i, j] ~ dnorm(n * m, length(X[, 1])) } } for (k in chosen) { z[k] ~ dexp(exp(m)) } };",
        {"y": [1, 2, 3], "X": [[1, 2], [3, 1], [0, 4]], "chosen": [1, 3, 4], "z": [1, None, 2, 3]},
    ),
    "t_and_f_and_beta_binomial": (
        "model { for (i in 1:N) { f[i] ~ df(d[1], d[2]); o[i] ~ dbetabin(a, b, n[i]); y[i, 1:2] ~ dmt(m[], Om[,], k)\n"
        " s[i] ~ dt(0, 4, 1) T(0, ); h[i] ~ dt(m[1], 2, 5) T(-1, 3); g[i] ~ dt(m[2], 1, k) T(, 4) }\n"
        " for (j in 1:2) { d[j] ~ dunif(1, 9); m[j] ~ dnorm(0, 1) } a ~ dgamma(2, 1) b ~ dgamma(2, 1) k ~ dunif(2, 9) }",
        {
            "N": 3,
            "f": [0.5, 1, 3],
            "o": [0, 2, 5],
            "n": [4, 5, 5],
            "y": [[1, 2], [0, 1], [2, 0]],
            "Om": [[2, 0.5], [0.5, 1]],
            "h": [0, 1, 2],
            "g": [3, 0, -7],
        },
    ),
    "a_part_of_a_loop": (
        "model { for (k in 1:5) { x[k] ~ dnorm(0, 1) } for (k in 1:4) { y[k] ~ dnorm(x[k], 1) }\n"
        " u[1] <- 0 for (k in 2:5) { u[k] ~ dnorm(0, 1) } for (k in 1:4) { v[k] ~ dnorm(u[k], 1) } }",
        {"y": [1, 2, 3, 4], "v": [1, 0, 2, 1]},
    ),
    "leaning_on_two_before": (
        "model { b[1] ~ dnorm(0, 1) b[2] ~ dnorm(b[1], tau) for (t in 3:T) { b[t] ~ dnorm(m[t], tau); m[t] <- 2 * b[t - 1] - b[t - 2] }\n"
        " for (t in 1:T) { y[t] ~ dpois(exp(b[t])) } tau ~ dgamma(2, 1) z[1] ~ dexp(1) z[2] ~ dexp(1)\n"
        " for (t in 3:T) { z[t] ~ dgamma(1 + phi * z[t - 2], 1 + z[t - 1]) } phi ~ dexp(1) }",
        {"T": 30, "y": [1, 2, 3] * 10, "z": [0.5, 1.5, 1.0] * 10},
    ),
    "ranks_with_ties": (
        "model { r[1:4] <- rank(x[]) q[1:3] <- rank(a[]) for (i in 1:4) { y[i] ~ dnorm(r[i] + rank(x[], i) + q[2], 1) }\n"
        " for (k in 1:3) { a[k] ~ dbin(0.5, 2) } }",
        {"x": [2, 1, 2, 3], "y": [1, 2, 3, 4]},
    ),
    "line": (
        "model { for (i in 1:N) { y[i] ~ dnorm(mu[i], tau)\n mu[i] <- a + b * (x[i] - mean(x[])) }\n"
        "a ~ dnorm(0, 1.0E-2) b ~ dnorm(0, .01); tau ~ dgamma(2, 2) sigma <- 1 / sqrt(tau) }",
        {"N": 4, "y": [1, 2.5, None, 4], "x": [0, 1, 2, 5]},
    ),
    "groups": (
        "model { for (i in 1:N) { y[i] ~ dpois(lambda[i]); log(lambda[i]) <- alpha[group[i]] + beta[2] }\n"
        "for (g in 1:G) { alpha[g] ~ dt(m, 2, 5) } m ~ ddexp(0, 1.5) beta[1] ~ dlogis(0, 2) beta[2] ~ dlogis(1, 1) }",
        {"N": 5, "G": 3, "y": [1, 0, 3, 2, 7], "group": [1, 3, 3, 2, 1]},
    ),
    "corner": (
        "model { a[1] <- 0 for (k in 2:K) { a[k] ~ dnorm(0, 1) }\n"
        "for (i in 1:N) { for (k in 1:K) { logit(p[i,k]) <- a[k] + u[i]; y[i,k] ~ dbin(p[i,k], n[k]) } u[i] ~ dnorm(0, 2) }"
        " total <- sum(p[,]) spread <- max(a[]) - min(a[]) }",
        {"N": 2, "K": 3, "n": [4, 5, 6], "y": [[1, 2, 3], [0, 5, 6]]},
    ),
    "ragged": (
        "model { for (i in 1:N) { for (j in offset[i]:(offset[i + 1] - 1)) { y[j] ~ dnorm(mu[i] + z[j], 1) }\n"
        " mu[i] ~ dnorm(0, 1); m[i] <- mean(y[offset[i]:(offset[i+1]-1)]) } }",
        {"N": 3, "offset": [1, 3, 4, 7], "y": [1, 2, 3, 4, 5, 6], "z": [0, 1, 0, 1, 0, 1]},
    ),
    "running_sum": (
        "model { for (j in 1:T) { y[j] ~ dnorm(sum(d[1:j]), 1); d[j] ~ dgamma(2, 1); s[j] <- exp(-sum(d[1:j]))\n"
        " m[j] <- mean(e[2, j:T]); e[1, j] ~ dnorm(0, 1); e[2, j] ~ dnorm(1, 1) } }",
        {"T": 4, "y": [1, 2, 3.5, 4]},
    ),
    "ordered": (
        "model { for (k in 1:3) { a0[k] ~ dnorm(0, 1) } a[1:3] <- sort(a0[1:3]) r <- rank(a0[1:3], 2)\n"
        " m <- ranked(a0[], 2) for (i in 1:N) { y[i] ~ dnorm(a[g[i]], 4) } }",
        {"N": 4, "y": [1, 2, 0, -1], "g": [3, 3, 2, 1]},
    ),
    "five_in_order": (
        "model { for (k in 1:5) { a0[k] ~ dnorm(0, 1) } a[1:5] <- sort(a0[]) m <- ranked(a0[], 4)\n"
        " for (i in 1:N) { y[i] ~ dnorm(a[g[i]] + m, 4) } }",
        {"N": 5, "y": [1, 2, 0, -1, 3], "g": [5, 3, 2, 1, 4]},
    ),
    "change_point": (
        "model { for (i in 1:N) { y[i] ~ dnorm(alpha + b[J[i]] * (x[i] - c), tau); J[i] <- 1 + step(x[i] - c) }\n"
        "c ~ dunif(-1, 1) alpha ~ dnorm(0, 1) tau ~ dgamma(2, 1) for (j in 1:2) { b[j] ~ dnorm(0, 1) } }",
        {"N": 5, "y": [1, 0.5, 0.1, -1, -2], "x": [-1, -0.5, 0, 0.5, 1]},
    ),
    "parts_of_given_vectors": (
        "model { p[1:2] ~ ddirch(a[1:2]) q[1:3] ~ ddirch(a[2:4]) y[1:2] ~ dmulti(p[1:2], 5) u[1:3] ~ dmulti(q[], 6)\n"
        " for (i in 1:N) { v[i] ~ dnorm(inprod(x[i, 1:2], b[1:2]), 1) } for (k in 1:3) { b[k] ~ dnorm(0, 1) } }",
        {"a": [1, 2, 3, 4], "y": [2, 3], "u": [1, 2, 3], "N": 2, "v": [1, 2], "x": [[1, 2, 3], [3, 1, 2]]},
    ),
    "rows_of_several_sizes": (
        "model { for (i in 1:N) { z[i] ~ dcat(p[]); y[i, 1:3] ~ dmulti(e[z[i], ], n[i]) } p[1:3] ~ ddirch(one[])\n"
        "e[2, 1:2] ~ ddirch(one[1:2]) e[3, 1:3] ~ ddirch(one[]) e[1, 1] <- 1 e[1, 2] <- 0 e[1, 3] <- 0 e[2, 3] <- 0 }",
        {"N": 3, "y": [[2, 0, 0], [1, 0, 0], [3, 0, 0]], "n": [2, 1, 3], "one": [1, 1, 1]},
    ),
    "ragged_pairs": (
        "model { for (i in 1:N) { for (k in 1:n[i]) { x[i, k] ~ dexp(rate[i]) } rate[i] ~ dgamma(2, 1) } }",
        {"N": 3, "n": [2, 0, 3], "x": [[1, 2, None], [None, None, None], [0.5, 1.5, 2.5]]},
    ),
    "walk": (
        "model { x[1] ~ dnorm(0, 1) for (t in 2:T) { x[t] ~ dnorm(phi * x[t - 1], 4) }\n"
        "for (t in 1:T) { y[t] ~ dnorm(x[t], 2) } phi ~ dunif(0, 1) d <- x[T] - x[1] }",
        {"T": 5, "y": [0.1, 0.2, None, 0.4, 0.1]},
    ),
    "second_order": (
        "model { for (t in 3:T) { x[t] ~ dnorm(2 * x[t-1] - x[t-2], 4) } x[1] ~ dnorm(0,1) x[2] ~ dnorm(0,1) }",
        {"T": 5, "x": [0.1, 0.2, None, 0.4, 0.1]},
    ),
    "markov": (
        "model { for (i in 1:N) { z[i,1] ~ dbern(psi) for (t in 2:T) { mu[i,t] <- z[i,t-1]*phi[t-1]+(1-z[i,t-1])*g\n"
        "z[i,t] ~ dbern(mu[i,t]) } for (t in 1:T) { y[i,t] ~ dbern(z[i,t]*p) } }\n"
        "for (t in 1:T-1) { phi[t] ~ dbeta(2, 2) } g ~ dbeta(1, 3) p ~ dbeta(1,1) psi ~ dbeta(1, 1)\n"
        "occ[1] <- psi for (t in 2:T) { occ[t] <- occ[t-1]*phi[t-1] + (1-occ[t-1])*g } }",
        {"N": 2, "T": 3, "y": [[1, 0, 1], [1, 1, 0]]},
    ),
    "hidden": (
        "model { s[1] ~ dcat(pi[]) for (t in 2:T) { s[t] ~ dcat(A[s[t-1], 1:K]) }\n"
        "for (t in 1:T) { y[t] ~ dnorm(mu[s[t]], 1) } pi[1:K] ~ ddirch(one[]) "
        "for (k in 1:K) { A[k, 1:K] ~ ddirch(one[]) mu[k] ~ dnorm(0, 0.1) one[k] <- 1 } }",
        {"T": 6, "K": 2, "y": [0, 0.1, 3, 3.1, 0.2, 2.9]},
    ),
    "mixture": (
        "model { for (i in 1:N) { y[i] ~ dnorm(mu[z[i]], tau[z[i]]) z[i] ~ dcat(P[]) ones[i] <- z[i] == 1 }\n"
        "P[1:3] ~ ddirich(alpha[]) for (k in 1:3) { mu[k] ~ dnorm(k, 1); tau[k] ~ dlnorm(0, 1) } n1 <- sum(ones[]) }",
        {"N": 4, "y": [1, 2, 3, 1.5], "z": [1, None, None, 3], "alpha": [1, 2, 3]},
    ),
    "wishart": (
        "model { for (i in 1:N) { Y[i, 1:M] ~ dmnorm(mu[], Omega[,]) } for (j in 1:M) { mu[j] ~ dnorm(0, .1) }\n"
        "Omega[1:M, 1:M] ~ dwish(R[,], 4) Sigma[1:M,1:M] <- inverse(Omega[,]) ld <- logdet(Omega[,])\n"
        "q <- t(mu[]) %*% Omega[,] %*% mu[] corr <- Sigma[1,2] / sqrt(Sigma[1,1] * Sigma[2,2]) }",
        {"N": 3, "M": 2, "Y": [[1, 2], [2, 1], [0, 0.5]], "R": [[2, 0.1], [0.1, 1]]},
    ),
    "regression": (
        "model { for (i in 1:N) { y[i] ~ dnorm(inprod(beta[], X[i,]) + b0, tau) } b0 ~ dflat()\n"
        "for (j in 1:P) { beta[j] ~ ddexp(0, lambda) } lambda ~ dexp(1) tau ~ dpar(1.5, 0.2)\n"
        "norm <- sqrt(inprod(beta[], beta[])) pr <- prod(beta[1:2]) }",
        {"N": 3, "P": 3, "y": [1, 2, 3], "X": [[1, 0, 2], [0, 1, 1], [2, 2, 0]]},
    ),
    "truncated": (
        "model { a ~ dnorm(0, 1) T(0,) b ~ dnorm(m, 2) T(-1, 2) c ~ dexp(m + 3) T(0.1, 4) d ~ dweib(2, 1) T(, 3)\n"
        "e ~ dlnorm(0, 1) T(0.5,) f ~ dlogis(m, 1) T(, 1) g ~ dnorm(m, 1) T(, 3) h ~ ddexp(m, 1) T(-2,2) m ~ dunif(-1, 1) }",
        {},
    ),
    "censored": (
        "model { for (i in 1:N) { t[i] ~ dweib(r, mu) C(c[i],) } r ~ dexp(1) mu ~ dgamma(1,1) x ~ dnorm(0,1) I(,0) }",
        {"N": 3, "t": [2, None, 1], "c": [0, 3, 0]},
    ),
    "intervals": (
        "model { for (i in 1:N) { k[i] ~ dinterval(t[i], cut[]) t[i] ~ dnorm(1.5, 1) } }",
        {"N": 3, "k": [1, 1, 1], "cut": [0.1, 2.9]},
    ),
    "counted": (
        "model { y ~ dsum(a, b) a ~ dbin(0.4, 3) b ~ dbin(0.5, 4) }",
        {"y": 7},
    ),
    "factors": (
        "model { for (i in 1:N) { zero[i] <- 0; zero[i] ~ dloglik(phi[i]) phi[i] <- -pow(x[i] - m, 2) } m ~ dnorm(0,1)\n"
        "g ~ dggamma(2, 1.5, 0.7) w ~ dchisqr(3) k ~ dnegbin(0.4, 3) }",
        {"N": 2, "x": [1, 2]},
    ),
    "cloned": (
        "data { for (j in 1:c[1]) { r[j] <- v[1] } for (i in 2:R) { for (j in c[i-1]+1 : c[i]) { r[j] <- v[i] } } }\n"
        "model { for (j in 1:c[R]) { r[j] ~ dbern(p) } for (k in 1:2) { s[k] <- u[k]; s[k] ~ dpois(m) } p ~ dbeta(1, 1)\n"
        " m ~ dgamma(1, 1) }",
        {"R": 3, "c": [1, 3, 4], "v": [0, 1, 1], "u": [2, 3]},
    ),
    "counts": (
        "var p[2,3]; model { for (i in 1:2) { X[i,] ~ dmulti(p[i,], n[i]) for (k in 1:3) { p[i,k] <- f[i,k] / sum(f[i,])\n"
        "log(f[i,k]) <- a[i] * (k - 1) } a[i] ~ dnorm(0, 1) } }",
        {"X": [[1, 2, 3], [4, 0, 1]], "n": [6, 5]},
    ),
    "ordinal": (
        "model { for (i in 1:N) { for (j in 1:J) { for (k in 1:ncat[j]-1) { logit(Q[i,j,k]) <- th[i] - g[j,k] }\n"
        "p[i,j,1] <- 1 - Q[i,j,1] for (k in 2:ncat[j]-1) { p[i,j,k] <- Q[i,j,k-1] - Q[i,j,k] }\n"
        "p[i,j,ncat[j]] <- Q[i,j,ncat[j]-1] y[i,j] ~ dcat(p[i,j,1:ncat[j]]) } th[i] ~ dnorm(0,1) } }",
        {
            "N": 2,
            "J": 3,
            "ncat": [2, 3, 4],
            "g": [[0.1, None, None], [-1, 1, None], [-1, 0, 1]],
            "y": [[1, 2, 4], [2, None, 1]],
        },
    ),
    "functions": (
        "model { x ~ dnorm(0.5, 1) y <- step(x) + equals(x, 2) + abs(x) + cos(x) * sin(x) + trunc(x * 3) + round(x)\n"
        "+ (x > 0 && x <= 2) + ifelse(x < 1, 2, 3) + ilogit(x) + phi(x) + icloglog(x) + x ^ 2 - -x + !x\n"
        "+ loggam(x + 4) + max(x, 1) + min(x, 1, 2) z ~ dnorm(y, 1) w ~ dnorm(interp.lin(x, k[], v[]), 1) }",
        {"k": [-9, 0, 1, 9], "v": [0, 1, 3, 2]},
    ),
    "shifted": (
        "model { for (i in 1:N) { y[i] ~ dnorm(a[i + 1] - a[i], 1) } for (i in 1:N+1) { a[i] ~ dnorm(x[2 * i], 1) }\n"
        "for (i in 1:N) { w[N + 1 - i] ~ dnorm(a[i], 1) } }",
        {"N": 3, "y": [1, 2, 3], "x": [1, 2, 3, 4, 5, 6, 7, 8]},
    ),
    "reserved": (
        "model { for (i in 1:plates) { lambda[i] ~ dgamma(1, 1) y.obs[i] ~ dpois(lambda[i] * class) } learn <- lambda[1] }",
        {"plates": 2, "y.obs": [1, 2], "class": 1.5},
    ),
    "square": (
        "model { for (j in 2:s-1) { T[j,j] <- tau * (1 + pow(rho, 2)) } T[1,1] <- tau T[s,s] <- tau\n"
        "for (j in 1:s-1) { T[j,j+1] <- -tau * rho; T[j+1,j] <- T[j,j+1] }\n"
        "for (i in 1:s-1) { for (j in 2+i:s) { T[i,j] <- 0; T[j,i] <- 0 } } for (j in 1:s) { mu[j] <- 0.5 }\n"
        "g[1:s] ~ dmnorm(mu[], T[,]) rho ~ dunif(0,1) tau ~ dunif(0.5, 3) }",
        {"s": 4},
    ),
    "circle": (
        "model { a ~ dunif(b, 10) b ~ dunif(0, top) top <- min(a, c) c ~ dunif(b, 10) y ~ dnorm(a - b, 1) }",
        {"y": 1.5},
    ),
    "neighbours": (
        "model { for (k in 2:K-1) { m[k] <- (b[k-1] + b[k+1]) / 2; n[k] <- 2 } m[1] <- b[2]; n[1] <- 1\n"
        "m[K] <- b[K-1]; n[K] <- 1 for (k in 1:K) { b[k] ~ dnorm(m[k], p[k]); p[k] <- n[k] * tau\n"
        "q[k] <- n[k] * b[k] * (b[k] - m[k]); y[k] ~ dpois(mu[k]); log(mu[k]) <- b[k] }\n"
        "d <- 0.1 + sum(q[]) / 2 tau ~ dgamma(3, d) }",
        {"K": 4, "y": [1, 0, 2, 3]},
    ),
    "own_total": (
        "model { for (i in 1:I) { Y[i, 1:3] ~ dmulti(p[i, 1:3], N[i]); N[i] <- sum(Y[i, ])\n"
        "for (j in 1:3) { p[i, j] <- phi[i, j] / sum(phi[i, ]); log(phi[i, j]) <- a[j] + b[j] * x[i] } }\n"
        "a[1] <- 0; b[1] <- 0; for (j in 2:3) { a[j] ~ dnorm(0, 1); b[j] ~ dnorm(0, 1) } }",
        {"I": 3, "x": [-1, 0, 2], "Y": [[3, 1, 2], [0, 4, 1], [2, 2, 2]]},
    ),
    "moving_average": (
        "model { mu[1] <- a; eps[1] <- y[1] - mu[1]; for (t in 2:T) { y[t] ~ dnorm(mu[t], tau)\n"
        "mu[t] <- a + theta * eps[t-1]; eps[t] <- y[t] - mu[t] } a ~ dnorm(0, 1); theta ~ dunif(-1, 1)\n"
        "tau ~ dgamma(2, 1) }",
        {"T": 26, "y": [0.1, -0.4, 0.3, 0.5, -0.2, 0.6, 0.0, -0.7, 0.2, 0.4, 0.1, -0.1, 0.8] * 2},
    ),
    "counts_within_bounds": (
        "model { for (i in 1:n) { y[i] ~ dpois(lam) T(1, ); x[i] ~ dpois(lam) T(, 5); w[i] ~ dnegbin(p, r) T(low[i], 6)\n"
        " v[i] ~ dbin(p, m[i]) T(1, high[i]); g[i] ~ dgeom(p); h[i] ~ dgeom0(p) T(1, ); f[i] ~ dgeom1(p) T(2, 9) }\n"
        " N ~ dpois(5) T(2, 8) k ~ dbin(p, N) lam ~ dgamma(2, 1) p ~ dbeta(2, 2) r ~ dgamma(3, 1) u <- ppois(2, lam) + pbin(N, p, 3) }",
        {
            "n": 3,
            "y": [1, 2, 4],
            "x": [0, 3, 5],
            "w": [0, 2, 6],
            "low": [-1, 0, 2],
            "v": [1, 2, 3],
            "m": [3, 2, 5],
            "high": [2, 2, 4],
            "g": [1, 4, 2],
            "h": [2, 1, 5],
            "f": [2, 9, 3],
            "k": 2,
        },
    ),
    "quantiles_of_the_normal": (
        "data { P[1:2, 1:2] <- mexp(A[, ]) }\nmodel { for (i in 1:n) { y[i] ~ dbin(p[i], 10); p[i] <- phi(a + b * x[i]); h[i] <- probit(p[i]) }\n"
        " a ~ dnorm(0, 1) b ~ dnorm(0, 1) q ~ dbeta(2, 3) z ~ dnorm(probit(q) + h[2], 1) s ~ dcat(P[1, ]) }",
        {"n": 3, "x": [-1, 0, 1], "y": [2, 4, 9], "z": 0.5, "s": 2, "A": [[-1, 1], [0.5, -0.5]]},
    ),
    "looked_up_by_a_bound_index": (
        "model { for (i in 1:n) { y[i] ~ dnorm(mu[i], tau); mu[i] <- sum(c[i, 1:3]) + interp.lin(x[i] + s, at[], high[])\n"
        " for (k in 1:3) { c[i, k] <- b[tab[i, k]] * w[k] } } for (j in 1:4) { b[j] ~ dnorm(0, 1) } s ~ dnorm(0, 1)\n"
        " for (j in 1:3) { high[j] ~ dnorm(0, 0.1) } tau ~ dgamma(2, 1) }",
        {
            "n": 4,
            "y": [1, 0, 2, 3],
            "x": [-3, 0.2, 1.1, 5],
            "at": [0, 1, 2],
            "w": [0.5, 0.3, 0.2],
            "tab": [[1, 2, 2], [4, 3, 1], [3, 3, 3], [2, 4, 1]],
        },
    ),
    "pedigree": (
        "model { for (i in 3:N) { g[i] ~ dcat(P[g[mum[i]], g[dad[i]], 1:2]) } for (i in 1:2) { g[i] ~ dcat(f[]) }\n"
        "for (i in 1:N) { d[i] ~ dbern(q[g[i]]) } q[1] ~ dbeta(5, 20) q[2] ~ dbeta(20, 5) }",
        {
            "N": 10,
            "mum": [1, 1, 1, 1, 3, 3, 5, 4, 5, 7],
            "dad": [2, 2, 2, 2, 2, 4, 6, 6, 8, 8],
            "f": [0.4, 0.6],
            "d": [0, 1, 0, 1, 1, 0, 1, 1, 0, 1],
            "P": [[[0.9, 0.1], [0.5, 0.5]], [[0.4, 0.6], [0.1, 0.9]]],
        },
    ),
}

STARTS: dict[str, dict[str, object]] = {
    "circle": {"a": 5, "b": 2, "c": 6},
    "neighbours": {"b": [0.1, 0.3, 0.2, 0.6], "tau": 2},
}
"""Values for what cannot be drawn one after another."""
