"""An independent reading of BUGS: cell by cell, with SciPy's densities; the judge of the translation.

Shares nothing with the translation but the tree. Slow on purpose.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy import linalg, special, stats

from platewright.language.bugs.syntax import (
    Assignment,
    Draw,
    Element,
    Empty,
    FunctionCall,
    Loop,
    Number,
    Operation,
    Range,
    Text,
)

Cell = tuple[str, tuple[int, ...]]
NAMES = {"dbinom": "dbin", "ddirich": "ddirch", "dchisq": "dchisqr", "dweibull": "dweib"}
LINK = {
    "log": math.exp,
    "logit": special.expit,
    "probit": special.ndtr,
    "cloglog": lambda x: 1 - math.exp(-math.exp(x)),
    None: lambda x: x,
}


class NoFunction(Exception):
    """A function that this reading does not have."""


class Direct:
    """All cells of a text with their statements, and values drawn for what the data leave open."""

    def __init__(self, text: Text, data: dict[str, np.ndarray], seed: int, start: dict[str, np.ndarray]) -> None:
        self.random = np.random.default_rng(seed)
        self.data = dict(data)
        self.start = start
        self.logical: dict[Cell, tuple[Assignment, dict[str, int], tuple[int, ...]]] = {}
        self.draws: list[tuple[Draw, dict[str, int]]] = []
        self.owner: dict[Cell, int] = {}
        self.memo: dict[Cell, float] = {}
        self.busy: set[Cell] = set()
        self.shapes: dict[str, list[int]] = {name: list(v.shape) for name, v in data.items()}
        for name, sizes in text.declared:
            if sizes and name not in data:
                try:
                    self.shapes[name] = [int(self.value(size, {})) for size in sizes]
                except KeyError:
                    continue
        for statements in (text.data, text.model):
            self._size(statements, {})
            self._expand(statements, {})

    # -- expansion ---

    def _loop(self, loop: Loop, loops: dict[str, int]) -> Any:
        if not isinstance(loop.domain, Range):
            return [int(value) for value in np.ravel(self.value(loop.domain, loops))]
        return range(int(self.value(loop.domain.first, loops)), int(self.value(loop.domain.last, loops)) + 1)

    def _size(self, statements: Any, loops: dict[str, int]) -> None:
        for statement in statements:
            if isinstance(statement, Loop):
                for k in self._loop(statement, loops):
                    self._size(statement.body, {**loops, statement.variable: k})
                continue
            target = statement.target
            if isinstance(statement, Assignment) and getattr(statement.value, "name", "") == "dim":
                self.shapes[target.name] = [len(self.shapes[statement.value.arguments[0].name])]
                continue
            sizes = self.shapes.setdefault(target.name, [0] * len(target.indices or ()))
            if target.name in self.data:
                continue
            for d, part in enumerate(target.indices or ()):
                if not isinstance(part, Empty):
                    end = part.last if isinstance(part, Range) else part
                    sizes[d] = max(sizes[d], int(self.value(end, loops)))

    def _expand(self, statements: Any, loops: dict[str, int]) -> None:
        for statement in statements:
            if isinstance(statement, Loop):
                for k in self._loop(statement, loops):
                    self._expand(statement.body, {**loops, statement.variable: k})
                continue
            cells = self.cells(statement.target, loops)
            for position in np.ndindex(*cells.shape):
                cell = (statement.target.name, cells[position])
                if isinstance(statement, Assignment):
                    self.logical[cell] = (statement, loops, position)
                else:
                    self.owner[cell] = len(self.draws)
            if isinstance(statement, Draw):
                self.draws.append((statement, loops))

    def cells(self, element: Element, loops: dict[str, int]) -> np.ndarray:
        """The cells of an element: one, or an array of them for slices."""
        sizes = self.shapes.get(element.name, [])
        parts = element.indices if element.indices is not None else tuple(Empty() for _ in sizes)
        spans: list[list[int]] = []
        sliced = []
        for d, part in enumerate(parts):
            if isinstance(part, Empty):
                spans.append(list(range(1, sizes[d] + 1)))
            elif isinstance(part, Range):
                spans.append(list(range(int(self.value(part.first, loops)), int(self.value(part.last, loops)) + 1)))
            else:
                spans.append([round(float(self.value(part, loops)))])
            sliced.append(isinstance(part, (Empty, Range)))
        shape = [len(span) for span, is_slice in zip(spans, sliced) if is_slice]
        found = np.empty(shape, dtype=object)
        for position, cell in zip(np.ndindex(*shape), itertools.product(*spans)):
            found[position] = cell
        return found

    # -- values ---

    def value(self, node: Any, loops: dict[str, int]) -> Any:
        """The value of an expression in a statement."""
        match node:
            case Number(value):
                return value
            case Element(name, None) if name in loops:
                return float(loops[name])
            case Element(name, indices) if indices is not None and not _sliced(indices) and name in self.shapes:
                at = tuple(round(float(self.value(part, loops))) for part in indices)
                return self.memo[name, at] if (name, at) in self.memo else self.cell((name, at))
            case Element(name, _):
                if name not in self.shapes and name not in self.data:
                    raise KeyError(name)
                cells = self.cells(node, loops)
                values = np.empty(cells.shape)
                for position in np.ndindex(*cells.shape):
                    values[position] = self.cell((name, cells[position]))
                return float(values) if values.ndim == 0 else values
            case Operation(operator, operands):
                return _operate(operator, [self.value(part, loops) for part in operands])
            case FunctionCall("dim", (Element(name, None),)):
                return np.array(self.shapes[name], dtype=float)
            case FunctionCall("length", (Element(name, None),)):
                return float(np.prod(self.shapes[name]))
            case FunctionCall(name, arguments):
                return _call(name, [self.value(part, loops) for part in arguments])
        raise TypeError(node)

    def cell(self, cell: Cell) -> float:
        """One node's value: given, computed, or drawn now and kept."""
        if cell in self.memo:
            return self.memo[cell]
        name, at = cell
        given = self.data.get(name)
        if given is not None and np.isfinite(found := float(given[tuple(k - 1 for k in at)])):
            self.memo[cell] = found
        elif cell in self.logical:
            statement, loops, position = self.logical[cell]
            value = self.value(statement.value, loops)
            value = value[position] if np.ndim(value) else value
            self.memo[cell] = float(LINK[statement.link](value))
        elif cell in self.owner:
            self._draw(self.owner[cell], cell)
        else:
            raise KeyError(f"{name}{list(at)}")
        return self.memo[cell]

    def _draw(self, number: int, cell: Cell) -> None:
        statement, loops = self.draws[number]
        cells = self.cells(statement.target, loops)
        name = statement.target.name
        start = self.start.get(name)
        if start is not None:
            values = [start[tuple(k - 1 for k in cells[p])] for p in np.ndindex(*cells.shape)]
            if np.isfinite(values).all():
                for position, value in zip(np.ndindex(*cells.shape), values):
                    self.memo[(name, cells[position])] = float(value)
                return
        if number in self.busy:  # a circle in the text: any number will do
            self.memo[cell] = float(self.random.normal(0, 0.3))
            return
        self.busy.add(number)  # type: ignore[arg-type]
        arguments = [self.value(part, loops) for part in statement.density.arguments]
        low, high = self._ends(statement, loops)
        drawn = np.asarray(_draw(self.random, NAMES.get(statement.density.name, statement.density.name), arguments,
                                 low, high, cells.shape))  # fmt: skip
        for position in np.ndindex(*cells.shape):
            self.memo.setdefault((name, cells[position]), float(drawn[position]))

    def _ends(self, statement: Draw, loops: dict[str, int]) -> tuple[float, float]:
        bounds = statement.density.bounds
        low = -math.inf if bounds is None or bounds.lower is None else float(self.value(bounds.lower, loops))
        high = math.inf if bounds is None or bounds.upper is None else float(self.value(bounds.upper, loops))
        return low, high

    # -- the density ---

    def log_joint(self) -> float:
        """The sum of all nodes' log densities."""
        return sum(value for _, _, value in self.terms())

    def terms(self) -> list[tuple[str, list[tuple[int, ...]], float]]:
        """Each line's node, its cells, and its log density."""
        found = []
        for statement, loops in self.draws:
            cells = self.cells(statement.target, loops)
            x = np.empty(cells.shape)
            for position in np.ndindex(*cells.shape):
                x[position] = self.cell((statement.target.name, cells[position]))
            arguments = [self.value(part, loops) for part in statement.density.arguments]
            value = self._log_density(statement, loops, float(x) if x.ndim == 0 else x, arguments)
            found.append((statement.target.name, [cells[at] for at in np.ndindex(*cells.shape)], value))
        return found

    def _log_density(self, statement: Draw, loops: dict[str, int], x: Any, arguments: list[Any]) -> float:
        name = NAMES.get(statement.density.name, statement.density.name)
        result = log_density(name, x, arguments)
        if (bounds := statement.density.bounds) is not None:
            low, high = self._ends(statement, loops)
            if not low <= x <= high:
                return -math.inf
            if bounds.kind == "T" and name != "dflat":
                law = _law(name, arguments)
                below = low - 1 if name in COUNTS else low  # of counts, the lower bound belongs to the interval
                result -= math.log(law.cdf(high) - law.cdf(below))
        return result

    def arrays(self) -> dict[str, np.ndarray]:
        """Values of all random names as whole arrays, for the translated model."""
        found: dict[str, np.ndarray] = {}
        for name, at in self.owner:
            table = found.setdefault(name, np.full(self.shapes[name], np.nan))
            table[tuple(k - 1 for k in at)] = self.cell((name, at))
        for name, table in found.items():
            if name in self.data:
                known = self.data[name]
                found[name] = np.where(np.isnan(table), known, table)
        return found


def _sliced(indices: Any) -> bool:
    return any(isinstance(part, (Empty, Range)) for part in indices)


def _operate(operator: str, values: list[Any]) -> Any:
    first = values[0]
    with np.errstate(all="ignore"):
        match operator:
            case "+":
                return sum(values[1:], start=first)
            case "*":
                return math.prod(values[1:], start=first) if not any(np.ndim(v) for v in values) else np.prod(
                    np.broadcast_arrays(*values), axis=0)  # fmt: skip
            case "neg":
                return -first
            case "not":
                return float(first == 0)
        second = values[1]
        match operator:
            case "/":
                return np.divide(first, second)
            case "^":
                return np.power(first, second)
            case "%*%":
                return first @ second
    compare = {"==": np.equal, "!=": np.not_equal, "<": np.less, ">": np.greater, "<=": np.less_equal,
               ">=": np.greater_equal, "&&": np.logical_and, "||": np.logical_or}  # fmt: skip
    return np.asarray(compare[operator](first, second), dtype=float)[()]


def _call(name: str, values: list[Any]) -> Any:
    if name not in FUNCTIONS:
        raise NoFunction(name)
    with np.errstate(all="ignore"):
        return FUNCTIONS[name](*values)


FUNCTIONS = {
        "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "abs": np.abs, "phi": special.ndtr, "logit": special.logit,
        "ilogit": special.expit, "pow": np.power, "sum": np.sum, "mean": np.mean, "prod": np.prod,
        "max": lambda *v: max(np.ravel(v)), "min": lambda *v: min(np.ravel(v)), "inprod": np.dot,
        "sd": lambda v: np.std(v, ddof=1), "step": lambda v: float(v >= 0), "equals": lambda a, b: float(a == b),
        "inverse": np.linalg.inv, "logdet": lambda m: np.linalg.slogdet(m)[1], "round": lambda v: np.floor(v + 0.5),
        "icloglog": lambda v: 1 - np.exp(-np.exp(v)), "loggam": special.gammaln, "t": np.transpose,
        "interp.lin": lambda x, a, b: np.interp(x, a, b), "trunc": np.trunc, "length": np.size,
        "ifelse": lambda c, a, b: a if c else b, "ranked": lambda v, k: np.sort(v)[int(k) - 1],
        "cloglog": lambda p: np.log(-np.log(1 - p)), "cos": np.cos, "sin": np.sin,
        "sort": np.sort, "rank": lambda v, *k: float(sum(one <= v[int(k[0]) - 1] for one in v)) if k else _ranks(v),
        "logfact": lambda v: special.gammaln(v + 1), "probit": special.ndtri, "mexp": linalg.expm,
}  # fmt: skip


def _ranks(values: np.ndarray) -> np.ndarray:
    """Places in order, the first of equals first."""
    found = np.empty(len(values))
    found[np.argsort(values, kind="stable")] = np.arange(1, len(values) + 1)
    return found


COUNTS = ("dbern", "dbin", "dbetabin", "dpois", "dnegbin", "dgeom", "dgeom0", "dgeom1")


def _law(name: str, a: list[Any]) -> Any:
    """SciPy's distribution for a scalar BUGS one."""
    match name:
        case "dnorm":
            return stats.norm(a[0], a[1] ** -0.5)
        case "dlnorm":
            return stats.lognorm(s=a[1] ** -0.5, scale=np.exp(a[0]))
        case "dgamma":
            return stats.gamma(a[0], scale=1 / a[1])
        case "dinvgamma":
            return stats.invgamma(a[0], scale=a[1])
        case "dbeta":
            return stats.beta(*a)
        case "dexp":
            return stats.expon(scale=1 / a[0])
        case "dweib":
            return stats.weibull_min(a[0], scale=a[1] ** (-1 / a[0]))
        case "dt":
            return stats.t(a[2], a[0], a[1] ** -0.5)
        case "ddexp":
            return stats.laplace(a[0], 1 / a[1])
        case "dlogis":
            return stats.logistic(a[0], 1 / a[1])
        case "dpar":
            return stats.pareto(a[0], scale=a[1])
        case "dunif":
            return stats.uniform(a[0], a[1] - a[0])
        case "dchisqr":
            return stats.chi2(a[0])
        case "df":
            return stats.f(a[0], a[1])
        case "dbetabin":
            return stats.betabinom(int(a[2]), a[0], a[1])
        case "dggamma" | "dgen.gamma":
            return stats.gengamma(a[0], a[2], scale=1 / a[1])
        case "dbern":
            return stats.bernoulli(a[0])
        case "dbin":
            return stats.binom(a[1], a[0])
        case "dpois":
            return stats.poisson(a[0])
        case "dnegbin":
            return stats.nbinom(a[1], a[0])
        case "dgeom" | "dgeom1":
            return stats.geom(a[0])
        case "dgeom0":
            return stats.geom(a[0], loc=-1)
    raise NoFunction(name)


def log_density(name: str, x: Any, a: list[Any]) -> float:
    """The log density of one node."""
    match name:
        case "dflat":
            return 0.0
        case "dloglik":
            return float(a[0])
        case "dcat":
            return float(np.log(a[0][round(x) - 1]))
        case "dmulti":
            return float(special.gammaln(a[1] + 1) - special.gammaln(x + 1).sum() + special.xlogy(x, a[0]).sum())
        case "ddirch":
            return float(stats.dirichlet(a[0]).logpdf(x / x.sum()))
        case "dmnorm":
            return float(stats.multivariate_normal(a[0], np.linalg.inv(a[1])).logpdf(x))
        case "dmnorm.vcov":
            return float(stats.multivariate_normal(a[0], a[1]).logpdf(x))
        case "dmt":
            return float(stats.multivariate_t(a[0], np.linalg.inv(a[1]), df=a[2]).logpdf(x))
        case "dwish":
            return float(stats.wishart(a[1], np.linalg.inv(a[0])).logpdf(x))
        case "dinterval":
            cuts = np.ravel(a[1])
            return 0.0 if int((a[0] > cuts).sum()) == round(x) else -math.inf
        case "dsum":
            return 0.0 if x == sum(a) else -math.inf
        # SciPy takes a millisecond to freeze a distribution; these four make up most nodes of most models.
        case "dnorm":
            return 0.5 * math.log(a[1] / (2 * math.pi)) - 0.5 * a[1] * (x - a[0]) ** 2
        case "dbern":
            return float(special.xlogy(x, a[0]) + special.xlog1py(1 - x, -a[0])) if x in (0, 1) else -math.inf
        case "dpois":
            return float(special.xlogy(x, a[0]) - a[0] - math.lgamma(x + 1)) if x >= 0 else -math.inf
        case "dbin":
            n, p = a[1], a[0]
            if not 0 <= x <= n:
                return -math.inf
            front = math.lgamma(n + 1) - math.lgamma(x + 1) - math.lgamma(n - x + 1)
            return float(front + special.xlogy(x, p) + special.xlog1py(n - x, -p))
    law = _law(name, a)
    return float(law.logpmf(x) if name in COUNTS else law.logpdf(x))


def _draw(random: np.random.Generator, name: str, a: list[Any], low: float, high: float, shape: Any) -> Any:
    """A value in the support, of moderate size: priors in BUGS are often far too wide to draw from."""
    u = random.uniform
    match name:
        case "dnorm" | "dt" | "ddexp" | "dlogis" | "dflat":
            centre = float(np.clip(a[0], -3, 3)) if a else 1.0
            value = centre + 0.3 * random.normal()
            if low > -math.inf and high < math.inf:
                return u(low, high)
            return max(value, low + u(0.1, 1)) if low > -math.inf else min(value, high - u(0.1, 1))
        case "dgamma" | "dexp" | "dchisqr" | "dlnorm" | "dweib" | "dggamma" | "dgen.gamma":
            return max(low, 0) + u(0.5, 1.5)
        case "dpar":
            return a[1] + u(0.5, 1.5)
        case "dunif":
            return a[0] + (a[1] - a[0]) * u(0.45, 0.55)
        case "dbeta":
            return u(0.3, 0.7)
        case "dbern":
            return 1.0
        case "dbin":
            return float(min(a[1], high))
        case "dpois" | "dnegbin" | "dgeom" | "dgeom0" | "dgeom1":
            return float(min(max(20.0, low), high))
        case "dcat":
            return float(random.choice(np.flatnonzero(np.asarray(a[0]) > 0)) + 1)
        case "ddirch":
            return random.dirichlet(np.ones(shape))
        case "dmnorm" | "dmnorm.vcov":
            return a[0] + 0.3 * random.normal(size=shape)
        case "dwish":
            root = np.eye(shape[0]) + 0.1 * random.normal(size=shape)
            return root @ root.T
    raise NoFunction(name)
