"""The closed list of functions an expression may call, each with its derivative and its two spellings.

A function is written once here; evaluation, printing, differentiation and the backends all read this table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Function:
    """A named function: how NumPy and LaTeX spell it, and whether its value is always positive."""

    name: str
    numpy: str
    latex: str
    arity: int = 1
    positive: bool = False


FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("log", "np.log", r"\log"),
        Function("exp", "np.exp", r"\exp", positive=True),
        Function("log1p", "np.log1p", r"\mathrm{log1p}"),
        Function("expm1", "np.expm1", r"\mathrm{expm1}"),
        Function("absolute", "np.abs", r"\mathrm{abs}"),
        Function("lgamma", "special.gammaln", r"\log\Gamma"),
        Function("scaled_lgamma", "scaled_lgamma", r"\log\Gamma^{*}", arity=2),
        Function("log_beta", "log_beta", r"\log B", arity=2),
        Function("digamma", "special.digamma", r"\psi"),
        Function("trigamma", "trigamma", r"\psi_1"),
        Function("logistic", "special.expit", r"\mathrm{logistic}", positive=True),
        Function("log_logistic", "special.log_expit", r"\log\mathrm{logistic}"),
        Function("cos", "np.cos", r"\cos"),
        Function("sin", "np.sin", r"\sin"),
        Function("tanh", "np.tanh", r"\tanh"),
        Function("log_bessel0", "log_bessel0", r"\log I_0"),
        Function("normal_cdf", "special.ndtr", r"\Phi", positive=True),
        Function("log_normal_cdf", "special.log_ndtr", r"\log\Phi"),
        Function("normal_quantile", "special.ndtri", r"\Phi^{-1}"),
        Function("gamma_cdf", "special.gammainc", r"P", arity=2, positive=True),
        Function("beta_cdf", "special.betainc", r"I", arity=3, positive=True),
        Function("multivariate_lgamma", "multivariate_lgamma", r"\log\Gamma_d", arity=2),
        Function("arctan2", "np.arctan2", r"\mathrm{arctan2}", arity=2),
        Function("multivariate_digamma", "multivariate_digamma", r"\psi_d", arity=2),
        Function("bessel_ratio", "bessel_ratio", r"I_1/I_0"),
        Function("less", "less", r"\mathrm{less}", arity=2),
        Function("maximum", "np.maximum", r"\max", arity=2),
        Function("minimum", "np.minimum", r"\min", arity=2),
        Function("floor", "np.floor", r"\mathrm{floor}"),
        Function("xlogy", "special.xlogy", r"\mathrm{xlogy}", arity=2),
    )
}

Derivative = Callable[..., object]
