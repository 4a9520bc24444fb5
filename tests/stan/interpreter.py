"""A small Stan: enough of the language to compute `target` of the programs that we write, and nothing of ours in it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special, stats

TOKEN = re.compile(
    r"\s*(?:(?P<skip>//[^\n]*)|(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|(?P<word>[A-Za-z]\w*)"
    r"|(?P<mark>\+=|==|!=|<=|>=|[-+*/<>=?:;,|(){}\[\]]))"
)
TYPES = {"int", "real", "vector", "matrix", "simplex", "cov_matrix", "array"}


def tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text.rstrip()):
        match = TOKEN.match(text, at)
        assert match is not None, text[at : at + 40]
        at = match.end()
        if match.lastgroup != "skip":
            found.append(match.group().strip())
    return found


class Program:
    """The blocks of a program, parsed once; `target` runs them with given values."""

    def __init__(self, text: str) -> None:
        self.tokens = tokens(text)
        self.at = 0
        self.blocks: dict[str, list[Any]] = {}
        while self.at < len(self.tokens):
            title = self.take()
            while self.peek() != "{":
                title += " " + self.take()
            self.blocks[title] = self.block()

    # -- parsing ---

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        found = self.tokens[self.at]
        assert wanted is None or found == wanted, f"{found} where {wanted} was wanted"
        self.at += 1
        return found

    def block(self) -> list[Any]:
        self.take("{")
        found = []
        while self.peek() != "}":
            found.append(self.statement())
        self.take("}")
        return found

    def statement(self) -> Any:
        if self.peek() == "{":
            return ("block", self.block())
        if self.peek() == "for":
            for word in ("for", "("):
                self.take(word)
            name = self.take()
            self.take("in")
            low = self.expression()
            self.take(":")
            high = self.expression()
            self.take(")")
            return ("for", name, low, high, self.block())
        if self.peek() == "if":
            self.take("if")
            (condition,) = self.listed("(", ")")
            then = self.block()
            self.take("else")
            return ("if", condition, then, self.block())
        if self.peek() in TYPES:
            return self.declaration()
        name, indices = self.take(), []
        if self.peek() == "[":
            indices = self.listed("[", "]")
        operator = self.take()
        assert operator in ("=", "+="), operator
        value = self.expression()
        self.take(";")
        return ("assign", name, indices, operator, value)

    def declaration(self) -> Any:
        shape = []
        kind = self.take()
        if kind == "array":
            shape = self.listed("[", "]")
            kind = self.take()
        bounds: dict[str, Any] = {}
        if self.peek() == "<":
            self.take("<")
            while self.peek() != ">":
                word = self.take()
                self.take("=")
                bounds[word] = self.sum()
                if self.peek() == ",":
                    self.take(",")
            self.take(">")
        sizes = self.listed("[", "]") if kind in ("vector", "matrix", "simplex", "cov_matrix") else []
        name, value = self.take(), None
        if self.peek() == "=":
            self.take("=")
            value = self.expression()
        self.take(";")
        return ("declare", kind, [*shape, *(sizes * 2 if kind == "cov_matrix" else sizes)], bounds, name, value)

    def listed(self, opening: str, closing: str) -> list[Any]:
        self.take(opening)
        found = []
        while self.peek() != closing:
            found.append(self.expression())
            if self.peek() in (",", "|"):
                self.take()
        self.take(closing)
        return found

    def expression(self) -> Any:
        condition = self.comparison()
        if self.peek() != "?":
            return condition
        self.take("?")
        then = self.expression()
        self.take(":")
        return ("choose", condition, then, self.expression())

    def comparison(self) -> Any:
        left = self.sum()
        if self.peek() in ("==", "!=", "<", ">", "<="):
            return (self.take(), left, self.sum())
        return left

    def sum(self) -> Any:
        left = self.product()
        while self.peek() in ("+", "-"):
            left = (self.take(), left, self.product())
        return left

    def product(self) -> Any:
        left = self.unary()
        while self.peek() in ("*", "/"):
            left = (self.take(), left, self.unary())
        return left

    def unary(self) -> Any:
        if self.peek() == "-":
            self.take()
            return ("negate", self.unary())
        return self.primary()

    def primary(self) -> Any:
        if self.peek() == "(":
            self.take("(")
            found = self.expression()
            self.take(")")
            return found
        if self.peek() == "{":
            return ("array", self.listed("{", "}"))
        word = self.take()
        if word[0].isdigit() or word[0] == ".":
            return ("number", float(word) if re.search(r"[.eE]", word) else int(word))
        if self.peek() == "(":
            called = ("call", word, self.listed("(", ")"))
            return ("element", called, self.listed("[", "]")) if self.peek() == "[" else called
        if self.peek() == "[":
            return ("index", word, self.listed("[", "]"))
        return ("name", word)

    # -- running ---

    def target(self, values: Mapping[str, Any]) -> float:
        """The log density at values of all data and parameters, which must lie within their bounds and shapes."""
        scope: dict[str, Any] = {"target": 0.0}
        for title in ("data", "transformed data", "parameters", "transformed parameters", "model"):
            given = title in ("data", "parameters")
            for statement in self.blocks.get(title, []):
                self.run(statement, scope, values if given else None)
        return float(scope["target"])

    def run(self, statement: Any, scope: dict[str, Any], given: Mapping[str, Any] | None = None) -> None:
        match statement:
            case ("block", body):
                inner = dict(scope)
                for part in body:
                    self.run(part, inner)
                self.close(scope, inner)
            case ("for", name, low, high, body):
                assert name not in scope, f"{name} is declared twice"
                for value in range(self.value(low, scope), self.value(high, scope) + 1):
                    inner = {**scope, name: value}
                    for part in body:
                        self.run(part, inner)
                    del inner[name]
                    self.close(scope, inner)
            case ("if", condition, then, otherwise):
                chosen = self.value(condition, scope)
                assert isinstance(chosen, int), "a condition is an int"
                self.run(("block", then if chosen else otherwise), scope)
            case ("declare", kind, sizes, bounds, name, value):
                assert name not in scope, f"{name} is declared twice"
                shape = tuple(self.value(size, scope) for size in sizes)
                if given is not None:
                    scope[name] = self.checked(name, given[name], kind, shape, bounds, scope)
                elif value is not None:
                    found = self.value(value, scope)
                    assert np.shape(found) == shape
                    scope[name] = np.array(found) if shape else found
                else:
                    scope[name] = np.full(shape, np.nan) if shape else math.nan
            case ("assign", name, indices, operator, value):
                found = self.value(value, scope)
                assert name in scope, f"{name} is not declared"
                if not indices:
                    scope[name] = found if operator == "=" else scope[name] + found
                    return
                at = self.position(scope[name], indices, scope)
                scope[name][at] = found if operator == "=" else scope[name][at] + found

    def close(self, scope: dict[str, Any], inner: dict[str, Any]) -> None:
        """Assignments to outer variables stay; local declarations go."""
        for name in scope:
            scope[name] = inner[name]

    def checked(self, name: str, value: Any, kind: str, shape: tuple[int, ...], bounds: Any, scope: Any) -> Any:
        found = np.asarray(value)
        assert found.shape == shape, f"{name} has shape {found.shape}, declared {shape}"
        if kind == "int":
            assert (found == np.round(found)).all(), name
            found = found.astype(int)
        for word, bound in bounds.items():
            edge = self.value(bound, scope)
            assert (found >= edge if word == "lower" else found <= edge).all(), f"{name} beyond {word} {edge}"
        if kind == "simplex":
            assert np.allclose(found.sum(axis=-1), 1) and (found >= 0).all()
        return found if shape else found.item()

    def position(self, array: Any, indices: list[Any], scope: dict[str, Any]) -> tuple[int, ...]:
        at = tuple(self.value(index, scope) for index in indices)
        for place, size in zip(at, np.shape(array)):
            assert isinstance(place, (int, np.integer)) and 1 <= place <= size, f"position {at} of {np.shape(array)}"
        return tuple(place - 1 for place in at)

    def value(self, whole: Any, scope: dict[str, Any]) -> Any:
        match whole:
            case ("number", number):
                return number
            case ("name", name):
                return scope[name]
            case ("index", name, indices):
                found = scope[name][self.position(scope[name], indices, scope)]
                return found.item() if np.ndim(found) == 0 else found
            case ("element", called, indices):
                found = self.value(called, scope)
                return found[self.position(found, indices, scope)].item()
            case ("array", parts):
                return [self.value(part, scope) for part in parts]
            case ("call", name, arguments):
                return FUNCTIONS[name](*(self.value(part, scope) for part in arguments))
            case ("negate", inner):
                return -self.value(inner, scope)
            case ("choose", condition, then, otherwise):
                chosen = self.value(condition, scope)
                assert isinstance(chosen, int), "a condition is an int"
                return self.value(then if chosen else otherwise, scope)
            case (operator, left, right):
                return OPERATORS[operator](self.value(left, scope), self.value(right, scope))
        raise AssertionError(whole)


def divided(left: Any, right: Any) -> Any:
    """Whole numbers divide without a remainder, as they do in Stan."""
    both_whole = isinstance(left, int) and isinstance(right, int)
    return left // right if both_whole else left / right


def whole(value: Any) -> Any:
    """Stan takes an `int` here and no other number."""
    assert isinstance(value, (int, np.integer)), f"{value!r} is no int"
    return value


OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divided,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<=": lambda a, b: int(a <= b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
}

FUNCTIONS: dict[str, Any] = {
    "log": lambda x: float(np.log(x)),
    "exp": np.exp,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "abs": abs,
    "lgamma": special.gammaln,
    "inv_logit": special.expit,
    "log_inv_logit": special.log_expit,
    "cos": np.cos,
    "sin": np.sin,
    "tanh": np.tanh,
    "Phi": special.ndtr,
    "std_normal_lcdf": special.log_ndtr,
    "log_modified_bessel_first_kind": lambda order, x: np.log(special.ive(order, x)) + x,
    "fmax": max,
    "fmin": min,
    "atan2": np.arctan2,
    "pow": lambda a, b: float(a) ** b,
    "square": lambda a: a * a,
    "sqrt": lambda a: float(a) ** 0.5,
    "inv": lambda a: 1 / a,
    "inv_sqrt": lambda a: float(a) ** -0.5,
    "inv_square": lambda a: 1 / (a * a),
    "pi": lambda: math.pi,
    "lmgamma": lambda d, x: special.multigammaln(x, d),
    "log_sum_exp": special.logsumexp,
    "max": np.max,
    "inverse_spd": np.linalg.inv,
    "log_determinant": lambda a: np.linalg.slogdet(a)[1],
    "quad_form_sym": lambda a, v: v @ a @ v,
    "negative_infinity": lambda: -math.inf,
    "bernoulli_lpmf": lambda x, p: stats.bernoulli.logpmf(x, p),
    "beta_lpdf": lambda x, a, b: stats.beta.logpdf(x, a, b),
    "binomial_lpmf": lambda x, n, p: stats.binom.logpmf(x, whole(n), p),
    "chi_square_lpdf": lambda x, n: stats.chi2.logpdf(x, n),
    "cauchy_lpdf": lambda x, m, s: stats.cauchy.logpdf(x, m, s),
    "double_exponential_lpdf": lambda x, m, s: stats.laplace.logpdf(x, m, s),
    "exponential_lpdf": lambda x, r: stats.expon.logpdf(x, scale=1 / r),
    "gamma_lpdf": lambda x, a, r: stats.gamma.logpdf(x, a, scale=1 / r),
    "inv_gamma_lpdf": lambda x, a, s: stats.invgamma.logpdf(x, a, scale=s),
    "lognormal_lpdf": lambda x, m, s: stats.norm.logpdf(np.log(x), m, s) - np.log(x),
    "normal_lpdf": lambda x, m, s: stats.norm.logpdf(x, m, s),
    "pareto_lpdf": lambda x, low, a: stats.pareto.logpdf(x, a, scale=low),
    "poisson_lpmf": lambda x, r: stats.poisson.logpmf(x, r),
    "student_t_lpdf": lambda x, n, m, s: stats.t.logpdf(x, n, m, s),
    "uniform_lpdf": lambda x, low, high: stats.uniform.logpdf(x, low, high - low),
    "von_mises_lpdf": lambda x, m, k: stats.vonmises.logpdf(x, k, loc=m),
    "dirichlet_lpdf": lambda x, a: stats.dirichlet.logpdf(x / x.sum(), a),
    "multi_normal_prec_lpdf": lambda x, m, p: stats.multivariate_normal.logpdf(x, m, np.linalg.inv(p)),
    "wishart_lpdf": lambda x, n, s: stats.wishart.logpdf(x, n, s),
    "inv_wishart_lpdf": lambda x, n, s: stats.invwishart.logpdf(x, n, s),
}
