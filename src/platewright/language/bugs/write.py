"""Write a model as BUGS text, so that another engine can check ours: one loop for each plate, helpers for sums.

    m.y = pw.Normal(m.a, precision=m.tau, plates=row)   ->   for (at.row in 1:n.row) { y[at.row] ~ dnorm(a, tau) }

A series has a loop of one round for its start and one from the second step on. Categories count from 1 there and from
0 here; sizes of plates are names `n.<plate>` that the data must give. Potentials and undirected nodes are declined by
name, and series within another plate, whose beginnings only the data tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import product

from platewright.algebra.build import exp
from platewright.algebra.expression import (
    Add,
    Call,
    Constant,
    Expression,
    Index,
    Indicator,
    Inverse,
    Lag,
    Literal,
    LogDeterminant,
    Maximum,
    Multiply,
    Power,
    Reference,
    Size,
    Sum,
    Where,
    free_indices,
    names,
    rebuild,
)
from platewright.errors import ModelError
from platewright.language.bugs.densities import FORMS, Form
from platewright.language.model import Model
from platewright.language.plate import beginning
from platewright.language.variable import Variable

_CALLS = {
    "log": "log({})",
    "exp": "exp({})",
    "absolute": "abs({})",
    "logistic": "ilogit({})",
    "log_logistic": "log(ilogit({}))",
    "normal_cdf": "phi({})",
    "log_normal_cdf": "log(phi({}))",
    "normal_quantile": "probit({})",
    "lgamma": "loggam({})",
    "cos": "cos({})",
    "sin": "sin({})",
    "log1p": "log(1 + {})",
    "expm1": "(exp({}) - 1)",
    "maximum": "max({}, {})",
    "minimum": "min({}, {})",
    "less": "(1 - step({} - ({})))",
    "floor": "round({} - 0.5)",
    "gamma_cdf": "pgamma({1}, {0}, 1)",
    "beta_cdf": "pbeta({2}, {0}, {1})",
}
_ENDLESS = 1e308
"""BUGS has no word for infinity."""
_BY_FAMILY = {form.family: (name, form) for name, form in FORMS.items() if name != "dmnorm.vcov" and not form.fixed}
_HALVES = {"HalfNormal": "dnorm(0, {})", "HalfCauchy": "dt(0, pow({}, -2), 1)"}
"""The upper halves of symmetric distributions, which BUGS says with `T(0, )`."""
_VECTORS = {"Categorical": "log_probabilities", "Multinomial": "log_probabilities", "Dirichlet": "concentration"}


@dataclass
class _Page:
    """Lines so far, and the helpers that sums and tables needed."""

    model: Model
    names: dict[str, str]
    lines: list[str] = field(default_factory=list)
    helpers: int = 0
    loops: dict[str, str] = field(default_factory=dict)
    steps: dict[str, tuple[str, str]] = field(default_factory=dict)
    """For plates along which only a part is written now: the first step and the last."""

    def word(self, name: str) -> str:
        """A variable's name in the text."""
        return self.names[name]

    def loop(self, index: Index) -> str:
        """The loop variable of an index, the same throughout."""
        if index.name not in self.loops:
            bare = index.name.rstrip("'")
            word = "at." + bare.replace("_", ".").rstrip(".") + ".too" * (len(index.name) - len(bare))
            self.loops[index.name] = _apart(word, self.loops.values())
        return self.loops[index.name]

    def define(self, axes: tuple[Index, ...], body: str, name: str = "") -> str:
        """Write `name[axes] <- body` inside its loops and give the name."""
        name = name or self.fresh()
        self.statement(axes, f"{_element(name, [self.loop(axis) for axis in axes])} <- {body}")
        return name

    def fresh(self, word: str = "helper") -> str:
        """A name that nothing else has."""
        self.helpers += 1
        return _apart(f"{word}.{self.helpers}", self.names.values())

    def statement(self, axes: tuple[Index, ...], text: str) -> None:
        """One statement inside the loops of its axes."""
        heads = "".join(f"for ({self.loop(axis)} in {self.span(axis.plate)}) {{ " for axis in axes)
        self.lines.append(f"  {heads}{text}{' }' * len(axes)}")

    def span(self, plate: str) -> str:
        """The steps of a loop over a plate."""
        first, last = self.steps.get(plate, ("1", self.size(plate)))
        return f"{first}:{last}"

    def size(self, plate: str) -> str:
        """The size of a plate: a number, or the name that the data give."""
        size = self.model.plates[plate].size
        return f"n.{plate.replace('_', '.').rstrip('.')}" if size is None else str(size)


def write_bugs(model: Model) -> str:
    """The model as BUGS text (JAGS reads it too); what BUGS cannot say is a `ModelError`."""
    if model.potentials:
        raise ModelError(f"potential `{next(iter(model.potentials))}` has no BUGS text", expected="distributions only")
    page = _Page(model, written_names(model))
    for name, variable in model.variables.items():
        if variable.kind == "input":
            continue
        if variable.kind == "deterministic" and variable.definition is not None:
            page.define(variable.axes, _text(variable.definition, page), page.word(name))
        elif variable.kind == "random" and variable.family is not None:
            _write_draw(page, variable)
        else:
            raise ModelError(f"`{name}` is {variable.kind}, which BUGS cannot say", expected="distributions only")
    return "model {\n" + "\n".join(page.lines) + "\n}\n"


def _write_draw(page: _Page, variable: Variable) -> None:
    assert variable.family is not None
    family = (variable.family.within or variable.family).name
    known = _BY_FAMILY.get(family)
    if family in _HALVES and variable.family.within is None:
        ((_, spread),) = variable.parameters
        target = _element(page.word(variable.name), [page.loop(axis) for axis in variable.plates])
        page.statement(variable.plates, f"{target} ~ {_HALVES[family].format(_text(spread, page))} T(0, )")
        return
    if known is None:
        raise ModelError(f"`{variable.name}` is a {family} that BUGS cannot say", expected=", ".join(_BY_FAMILY))
    steps = [axis for axis in variable.plates if beginning(axis.plate) in names(variable.log_density)]
    if not steps:
        _write_distribution(page, variable, *known, dict(variable.parameters))
        return
    (step,) = steps
    plate = page.model.plates[step.plate]
    if plate.within is not None:
        raise ModelError(f"`{variable.name}` is a series on {plate}: where each begins has no BUGS text")
    first = Reference(beginning(step.plate), (step,))
    for span, begins in ((("1", "1"), True), (("2", page.size(step.plate)), False)):
        page.steps[step.plate] = span
        given = {word: _branch(value, first, begins) for word, value in variable.parameters}
        _write_distribution(page, variable, *known, given)
        del page.steps[step.plate]


def _branch(whole: Expression, first: Reference, begins: bool) -> Expression:
    """What an expression is at the first step of a series, or at all later ones."""
    if isinstance(whole, Where) and whole.condition == first:
        return _branch(whole.then if begins else whole.otherwise, first, begins)
    return rebuild(whole, lambda part: _branch(part, first, begins))


def _write_distribution(
    page: _Page, variable: Variable, density: str, form: Form, given: Mapping[str, Expression]
) -> None:
    assert variable.family is not None
    family = (variable.family.within or variable.family).name
    shown: list[str] = []
    for word in form.words:
        value = given.get(word if word in given else _VECTORS.get(family, ""))
        if value is None:
            raise ModelError(f"`{variable.name}`: {word} of {family} has no BUGS text")
        rank = form.rank(len(shown))
        is_log = given.get("log_probabilities") is value
        shown.append(_array(page, variable, exp(value) if is_log else value, rank) if rank else _text(value, page))
    events = [f"1:{page.size(axis.plate)}" for axis in variable.events]
    target = _element(page.word(variable.name), [*(page.loop(axis) for axis in variable.plates), *events])
    page.statement(variable.plates, f"{target} ~ {density}({', '.join(shown)}){_bounds(page, variable)}")


def _bounds(page: _Page, variable: Variable) -> str:
    """`T(l, u)` of a truncated variable, `C(l, u)` of a censored one."""
    if variable.family is None or variable.family.within is None:
        return ""
    given = dict(variable.parameters)
    ends = ", ".join(_text(given[word], page) if word in given else "" for word in ("lower", "upper"))
    return f" {'T' if variable.family.proper else 'C'}({ends})"


def _array(page: _Page, variable: Variable, value: Expression, rank: int) -> str:
    """A vector or matrix parameter as a slice of a helper array."""
    inside = sorted(free_indices(value) - set(variable.plates), key=lambda index: index.name)
    if len(inside) < rank:  # the same number everywhere, or along one of the axes
        own = variable.events[0] if variable.events else inside[0]
        inside += [index for index in (own, Index(own.name + "'", own.plate)) if index not in inside]
    events = tuple(inside[:rank])
    name = page.define((*variable.plates, *events), _text(value, page))
    slices = [f"1:{page.size(event.plate)}" for event in events]
    return _element(name, [*(page.loop(axis) for axis in variable.plates), *slices])


def _text(whole: Expression, page: _Page) -> str:
    match whole:
        case Constant(value):
            held = max(-_ENDLESS, min(_ENDLESS, value))
            return f"({held:.17g})" if held < 0 else f"{held:.17g}"
        case Index():
            return f"({page.loop(whole)} - 1)"
        case Size(plate):
            return page.size(plate)
        case Reference(name, indices):
            shown = _element(page.word(name), [_position(at, page) for at in indices])
            return f"({shown} - 1)" if page.model.variables[name].domain.kind == "levels" else shown
        case Add(terms):
            return "(" + " + ".join(_text(term, page) for term in terms) + ")"
        case Multiply(factors):
            return " * ".join(_text(factor, page) for factor in factors)
        case Power(base, exponent):
            return f"pow({_text(base, page)}, {_text(exponent, page)})"
        case Call(function, arguments) if function in _CALLS:
            return _CALLS[function].format(*(_text(part, page) for part in arguments))
        case Indicator(left, right):
            return f"equals({_text(left, page)}, {_text(right, page)})"
        case Where(condition, then, otherwise):
            # Not `c a + (1 - c) b`: the branch that is not taken may be infinite.
            return f"ifelse({', '.join(_text(part, page) for part in (condition, then, otherwise))})"
        case Sum(index, body) | Maximum(index, body):
            word = "sum" if isinstance(whole, Sum) else "max"
            axes = tuple(sorted(free_indices(body) - {index}, key=lambda axis: axis.name))
            name = page.define((*axes, index), _text(body, page))
            return f"{word}({_element(name, [*(page.loop(axis) for axis in axes), f'1:{page.size(index.plate)}'])})"
        case Inverse(matrix, row, column, at_row, at_column):
            axes, filled = _matrix(matrix, row, column, page)
            square = f"1:{page.size(row.plate)}"
            name = page.fresh()
            result = _element(name, [*(page.loop(axis) for axis in axes), square, square])
            page.statement(axes, f"{result} <- inverse({filled})")
            return _element(name, [*map(page.loop, axes), _position(at_row, page), _position(at_column, page)])
        case LogDeterminant(matrix, row, column):
            return f"logdet({_matrix(matrix, row, column, page)[1]})"
        case Literal(values, shape, _, indices):
            name = page.fresh("table")
            for at, value in zip(product(*(range(1, size + 1) for size in shape)), values, strict=True):
                page.lines.append(f"  {_element(name, [str(k) for k in at])} <- {_text(Constant(value), page)}")
            return _element(name, [_position(at, page) for at in indices])
    raise ModelError(f"`{whole}` has no BUGS text", expected="sums, products, powers and the functions of BUGS")


def _matrix(matrix: Expression, row: Index, column: Index, page: _Page) -> tuple[tuple[Index, ...], str]:
    """A matrix in a helper array, with the axes that it repeats over."""
    axes = tuple(sorted(free_indices(matrix) - {row, column}, key=lambda axis: axis.name))
    name = page.define((*axes, row, column), _text(matrix, page))
    square = f"1:{page.size(row.plate)}"
    return axes, _element(name, [*(page.loop(axis) for axis in axes), square, square])


def _position(at: Expression, page: _Page) -> str:
    """A position counted from 1."""
    match at:
        case Index():
            return page.loop(at)
        case Lag(index):
            return f"{_position(index, page)} - 1"
        case Constant(value):
            return str(int(value) + 1)
        case Reference(name, indices) if page.model.variables[name].domain.kind == "levels":
            return _element(page.word(name), [_position(part, page) for part in indices])
    return f"{_text(at, page)} + 1"


def _element(name: str, positions: list[str]) -> str:
    return f"{name}[{', '.join(positions)}]" if positions else name


def written_names(model: Model) -> dict[str, str]:
    """Our names in BUGS: letters, digits and dots; two that would become one are told apart."""
    found: dict[str, str] = {}
    for name in model.variables:
        found[name] = _apart(name.replace("@", ".of.").replace("_", ".").rstrip("."), found.values())
    return found


def _apart(word: str, taken: Collection[str]) -> str:
    while word in taken:
        word += ".too"
    return word
