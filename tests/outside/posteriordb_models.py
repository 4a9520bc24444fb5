"""The models of the posteriordb cases in our language, with the priors of their Stan texts.

A parameter without a prior in a Stan text is flat on its declared range; a prior on a parameter declared positive is
cut off at zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import platewright as pw

Data = Mapping[str, Any]
Places = Mapping[str, tuple[str, tuple[int, ...]]]


@dataclass(frozen=True)
class Written:
    """A model with its data, and what becomes of its draws.

    `sort_by`: number the components in the order of this parameter. `ordered`: keep the chains in which these
    parameters are in order.
    """

    model: pw.Model
    data: dict[str, Any]
    sort_by: str | None = None
    ordered: tuple[str, ...] = ()


def regression(columns: Callable[[Data], list[Any]], response: Callable[[Data], Any], sigma: Any = None) -> Any:
    """A linear regression with an intercept, flat coefficients and a prior of sigma (flat if none is given)."""

    def written(data: Data) -> Written:
        y = np.asarray(response(data), dtype=float)
        x = np.column_stack([np.ones(len(y)), *(np.asarray(column, dtype=float) for column in columns(data))])
        return _linear(x, y, sigma() if sigma else pw.Flat(lower=0), None)

    return written


def _linear(x: np.ndarray, y: np.ndarray, sigma: Any, spread: float | None) -> Written:
    m = pw.Model("regression")
    row, column = m.plate("row"), m.plate("column", x.shape[1])
    m.x = pw.Input(plates=(row, column))
    m.beta = pw.Flat(plates=column) if spread is None else pw.Normal(0, sd=spread, plates=column)
    m.sigma = sigma
    m.y = pw.Normal(pw.dot(m.x, m.beta, over=column), sd=m.sigma, plates=row)
    return Written(m, {"x": x, "y": y})


def matrix_regression(data: Data) -> Written:
    """Normal coefficients and a half-normal scale."""
    return _linear(np.asarray(data["X"], float), np.asarray(data["y"], float), pw.HalfNormal(sd=10.0), 10.0)


def autoregression(data: Data) -> Written:
    """Each value follows linearly from the last K; the first K are given."""
    y, count = np.asarray(data["y"], dtype=float), int(data["K"])
    m = pw.Model("autoregression")
    row, step = m.plate("row"), m.plate("step", count)
    m.past = pw.Input(plates=(row, step))
    m.alpha = pw.Normal(0, sd=10.0)
    m.beta = pw.Normal(0, sd=10.0, plates=step)
    m.sigma = pw.HalfCauchy(2.5)
    m.y = pw.Normal(m.alpha + pw.dot(m.past, m.beta, over=step), sd=m.sigma, plates=row)
    past = np.column_stack([y[count - k : len(y) - k] for k in range(1, count + 1)])
    return Written(m, {"past": past, "y": y[count:]})


def schools(data: Data) -> Written:
    """Effects around a common mean."""
    m = pw.Model("schools")
    school = m.plate("school")
    m.spread = pw.Input(plates=school)
    m.tau = pw.HalfCauchy(5.0)
    m.mu = pw.Normal(0, sd=5.0)
    m.theta = pw.Normal(m.mu, sd=m.tau, plates=school)
    m.y = pw.Normal(m.theta, sd=m.spread, plates=school)
    return Written(m, {"spread": np.asarray(data["sigma"], float), "y": np.asarray(data["y"], float)})


def schools_apart(data: Data) -> Written:
    """The same with standardised effects."""
    m = pw.Model("schools")
    school = m.plate("school")
    m.spread = pw.Input(plates=school)
    m.tau = pw.HalfCauchy(5.0)
    m.mu = pw.Normal(0, sd=5.0)
    m.theta_trans = pw.Normal(0, sd=1.0, plates=school)
    m.theta = m.mu + m.tau * m.theta_trans
    m.y = pw.Normal(m.theta, sd=m.spread, plates=school)
    return Written(m, {"spread": np.asarray(data["sigma"], float), "y": np.asarray(data["y"], float)})


def mixture(data: Data) -> Written:
    """Two normals. Prior and likelihood do not change when the components change places, and with them theta and
    1 - theta, so that draws put in the order of mu are draws under the constraint that mu is ordered.
    """
    m = pw.Model("mixture")
    row, k = m.plate("row"), m.plate("k", 2)
    m.theta = pw.Dirichlet(5.0, over=k)
    m.mu = pw.Normal(0, sd=2.0, plates=k)
    m.sigma = pw.HalfNormal(sd=2.0, plates=k)
    m.z = pw.Categorical(m.theta, plates=row)
    m.y = pw.Normal(m.mu[m.z], sd=m.sigma[m.z], plates=row)
    return Written(m, {"y": np.asarray(data["y"], float)}, sort_by="mu")


def drives(data: Data) -> Written:
    """A hidden Markov chain of two states. The Stan text orders the rates of its states: so do the draws that are kept,
    which are draws of the ordered posterior.
    """
    m = pw.Model("drives")
    k = m.plate("k", 2)
    before, time = m.plate("before", like=k), m.plate("time", ordered=True)
    centre = pw.array([0.0, 3.0], over=k)
    m.move = pw.Dirichlet(pw.array(np.asarray(data["alpha"], float).tolist(), over=(before, k)), over=k, plates=before)
    m.phi = pw.Flat(lower=0, plates=k)
    m.rate = pw.Flat(lower=0, plates=k)
    m.potential("phi_prior", -0.5 * (m.phi - centre) ** 2)
    m.potential("rate_prior", -0.5 * (m.rate - centre) ** 2)
    m.z = pw.Categorical(m.move[m.lag("z")], start=pw.array([0.5, 0.5], over=k), plates=time)
    m.u = pw.Exponential(rate=m.phi[m.z], plates=time)
    m.v = pw.Exponential(rate=m.rate[m.z], plates=time)
    return Written(m, {"u": np.asarray(data["u"], float), "v": np.asarray(data["v"], float)}, ordered=("phi", "rate"))


def _party(data: Data) -> list[Any]:
    age = np.asarray(data["age_discrete"])
    ages = [(age == group).astype(float) for group in (2, 3, 4)]
    return [data["real_ideo"], data["race_adj"], *ages, data["educ1"], data["gender"], data["income"]]


def _standardised(values: Any) -> np.ndarray:
    found = np.asarray(values, dtype=float)
    return (found - found.mean()) / found.std(ddof=1)


def _log(name: str) -> Callable[[Data], Any]:
    return lambda data: np.log(np.asarray(data[name], dtype=float))


def _interaction(height: Callable[[Data], Any]) -> Callable[[Data], list[Any]]:
    return lambda d: [height(d), d["male"], np.asarray(height(d), float) * np.asarray(d["male"], float)]


def _cauchy() -> Any:
    return pw.HalfCauchy(2.5)


def _plain(name: str) -> Callable[[Data], Any]:
    return lambda data: data[name]


_score = _plain("kid_score")

MODELS: dict[str, Callable[[Data], Written]] = {
    "arK": autoregression,
    "hmm_drive_0": drives,
    "earn_height": regression(lambda d: [d["height"]], _plain("earn")),
    "log10earn_height": regression(lambda d: [d["height"]], lambda d: np.log10(np.asarray(d["earn"], float))),
    "logearn_height": regression(lambda d: [d["height"]], _log("earn")),
    "logearn_height_male": regression(lambda d: [d["height"], d["male"]], _log("earn")),
    "logearn_interaction": regression(_interaction(_plain("height")), _log("earn")),
    "logearn_interaction_z": regression(_interaction(lambda d: _standardised(d["height"])), _log("earn")),
    "logearn_logheight_male": regression(lambda d: [_log("height")(d), d["male"]], _log("earn")),
    "eight_schools_centered": schools,
    "eight_schools_noncentered": schools_apart,
    "kidscore_interaction": regression(
        lambda d: [d["mom_hs"], d["mom_iq"], np.asarray(d["mom_hs"], float) * np.asarray(d["mom_iq"], float)],
        _score,
        _cauchy,
    ),
    "kidscore_momhs": regression(lambda d: [d["mom_hs"]], _score, _cauchy),
    "kidscore_momhsiq": regression(lambda d: [d["mom_hs"], d["mom_iq"]], _score, _cauchy),
    "kidscore_momiq": regression(lambda d: [d["mom_iq"]], _score, _cauchy),
    "low_dim_gauss_mix": mixture,
    "nes": regression(_party, _plain("partyid7")),
    "blr": matrix_regression,
}
"""By the name of the Stan text: the part of a case's name behind the dash."""
