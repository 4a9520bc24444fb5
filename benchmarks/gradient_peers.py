"""The models of `gradient_models.py`, by the same names, for NumPyro, which is imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Log = dict[str, np.ndarray]


def models() -> Mapping[str, Callable[[Any], None]]:
    """Functions of the data, one a model; raises ImportError where NumPyro is not installed."""
    import jax.numpy as jnp
    import numpyro as npy
    import numpyro.distributions as d

    def coefficients(count: int, sd: float) -> Any:
        return npy.sample("b", d.Normal(0, sd).expand([count]).to_event(1))

    def logistic(x: Any, y: Any) -> None:
        a, b = npy.sample("a", d.Normal(0, 2.5)), coefficients(x.shape[1], 2.5)
        npy.sample("y", d.Bernoulli(logits=a + x @ b), obs=y)

    def poisson(x: Any, e: Any, y: Any) -> None:
        a, b = npy.sample("a", d.Normal(0, 2.5)), coefficients(x.shape[1], 2.5)
        npy.sample("y", d.Poisson(e * jnp.exp(a + x @ b)), obs=y)

    def hierarchical_logistic(x: Any, group: Any, y: Any) -> None:
        mu, nu = npy.sample("mu", d.Normal(0, 2)), npy.sample("nu", d.Normal(0, 2))
        s, t = npy.sample("s", d.HalfNormal(1)), npy.sample("t", d.HalfNormal(1))
        with npy.plate("k", 50):
            a, b = npy.sample("a", d.Normal(mu, s)), npy.sample("b", d.Normal(nu, t))
        npy.sample("y", d.Bernoulli(logits=a[group] + b[group] * x), obs=y)

    def mixed(x: Any, group: Any, y: Any) -> None:
        mu, b = npy.sample("mu", d.Normal(0, 5)), npy.sample("b", d.Normal(0, 5))
        s, t = npy.sample("s", d.HalfNormal(2)), npy.sample("t", d.HalfNormal(2))
        with npy.plate("k", 1_000):
            a = npy.sample("a", d.Normal(mu, s))
        npy.sample("y", d.Normal(a[group] + b * x, t), obs=y)

    def negative_binomial(x: Any, y: Any) -> None:
        a, b, r = npy.sample("a", d.Normal(0, 2.5)), coefficients(x.shape[1], 2.5), npy.sample("r", d.Gamma(2, 0.5))
        npy.sample("y", d.NegativeBinomial2(jnp.exp(a + x @ b), r), obs=y)

    def robust(x: Any, y: Any) -> None:
        a, b = npy.sample("a", d.Normal(0, 5)), coefficients(x.shape[1], 5)
        s, nu = npy.sample("s", d.HalfNormal(5)), npy.sample("nu", d.Gamma(2, 0.1))
        npy.sample("y", d.StudentT(nu, a + x @ b, s), obs=y)

    def item_response(y: Any) -> None:
        theta = npy.sample("theta", d.Normal(0, 1).expand([y.shape[0]]))
        slope = npy.sample("slope", d.LogNormal(0, 0.5).expand([y.shape[1]]))
        hard = npy.sample("hard", d.Normal(0, 1.5).expand([y.shape[1]]))
        npy.sample("y", d.Bernoulli(logits=slope * (theta[:, None] - hard)), obs=y)

    def probit(x: Any, y: Any) -> None:
        from jax.scipy.special import log_ndtr

        eta = npy.sample("a", d.Normal(0, 2.5)) + x @ coefficients(x.shape[1], 2.5)
        npy.factor("y", jnp.where(y == 1, log_ndtr(eta), log_ndtr(-eta)).sum())

    def ordered(x: Any, y: Any) -> None:
        b, first = coefficients(x.shape[1], 2.5), npy.sample("first", d.Normal(0, 3))
        second, third = npy.sample("second", d.Gamma(2, 1)), npy.sample("third", d.Gamma(2, 1))
        cuts = jnp.stack([first, first + second, first + second + third])
        npy.sample("y", d.OrderedLogistic(x @ b, cuts), obs=y)

    def process(x: Any, y: Any) -> None:
        length, height = npy.sample("length", d.LogNormal(0, 1)), npy.sample("height", d.LogNormal(0, 1))
        noise = npy.sample("noise", d.LogNormal(-1, 1))
        kernel = height**2 * jnp.exp(-0.5 * ((x[:, None] - x) / length) ** 2) + noise**2 * jnp.eye(len(x))
        npy.sample("y", d.MultivariateNormal(jnp.zeros(len(x)), covariance_matrix=kernel), obs=y)

    def survival(x: Any, t: Any, z: Any, end: Any) -> None:
        shape, a = npy.sample("shape", d.Gamma(2, 1)), npy.sample("a", d.Normal(0, 2.5))
        b = coefficients(x.shape[1], 2.5)
        npy.sample("t", d.Weibull(jnp.exp(-(a + x @ b) / shape), shape), obs=t)
        npy.factor("alive", -(jnp.exp(a + z @ b) * end**shape).sum())

    def softmax(x: Any, y: Any) -> None:
        a = npy.sample("a", d.Normal(0, 1).expand([3]))
        w = npy.sample("w", d.Normal(0, 1).expand([x.shape[1], 3]))
        npy.sample("y", d.Categorical(logits=a + x @ w), obs=y)

    def eight_schools(y: Any, se: Any) -> None:
        mu, tau = npy.sample("mu", d.Normal(0, 5)), npy.sample("tau", d.HalfCauchy(5))
        theta = npy.sample("theta", d.Normal(mu, tau).expand([len(y)]))
        npy.sample("y", d.Normal(theta, se), obs=y)

    every = (logistic, poisson, hierarchical_logistic, mixed, negative_binomial, robust, item_response, probit, ordered)
    found = {model.__name__: model for model in (*every, process, survival, softmax, eight_schools)}
    return {**found, "logistic_few": logistic}


class Peer:
    """NumPyro's sampler of one model, with as many chains and draws as ours, the chains in threads of their own."""

    def __init__(self, name: str, data: Mapping[str, np.ndarray], chains: int, draws: int, warm_up: int) -> None:
        import jax
        import numpyro
        from numpyro.infer import MCMC, NUTS

        numpyro.enable_x64()
        self.data = {key: jax.numpy.asarray(values) for key, values in data.items()}
        self.key = jax.random.PRNGKey
        counts = {"num_warmup": warm_up, "num_samples": draws, "num_chains": chains}
        self.sampler = MCMC(NUTS(models()[name]), **counts, chain_method="parallel", progress_bar=False)

    def run(self, seed: int) -> Log:
        """Draws by name: chain, draw, element. Compiled the first time."""
        self.sampler.run(self.key(seed), **self.data)
        return {name: np.asarray(values) for name, values in self.sampler.get_samples(group_by_chain=True).items()}


def missing() -> str | None:
    """Why there is no peer, or None; four chains go side by side only if JAX is told before it starts."""
    try:
        import numpyro
    except ImportError:
        return "NumPyro is not installed here (pip install numpyro); its columns are left out"
    numpyro.set_host_device_count(4)
    return None
