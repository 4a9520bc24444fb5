"""Write a model as BUGS text, so that another engine can check ours: one loop for each plate, helpers for sums.

    m.y = pw.Normal(m.a, precision=m.tau, plates=row)   ->   for (at.row in 1:n.row) { y[at.row] ~ dnorm(a, tau) }

Categories count from 1 there and from 0 here; sizes of plates are names `n.<plate>` that the data must give. Series,
potentials, undirected nodes and matrix functions are declined by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from platewright.algebra.expression import (
    Add,
    Call,
    Constant,
    Expression,
    Index,
    Indicator,
    Lag,
    Literal,
    Maximum,
    Multiply,
    Power,
    Reference,
    Size,
    Sum,
    Where,
    free_indices,
)
from platewright.errors import ModelError
from platewright.language.bugs.densities import FORMS
from platewright.language.model import Model
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
}
_BY_FAMILY = {form.family: (name, form) for name, form in FORMS.items() if name != "dmnorm.vcov" and not form.fixed}
_VECTORS = {"Categorical": "log_probabilities", "Multinomial": "log_probabilities", "Dirichlet": "concentration"}


@dataclass
class _Page:
    """Lines so far, and the helpers that sums and tables needed."""

    model: Model
    lines: list[str] = field(default_factory=list)
    helpers: int = 0

    def define(self, axes: tuple[Index, ...], body: str, name: str = "") -> str:
        """Write `name[axes] <- body` inside its loops and give the name."""
        if not name:
            self.helpers += 1
            name = f"helper.{self.helpers}"
        self.statement(axes, f"{_element(name, [_loop(axis) for axis in axes])} <- {body}")
        return name

    def statement(self, axes: tuple[Index, ...], text: str) -> None:
        """One statement inside the loops of its axes."""
        heads = "".join(f"for ({_loop(axis)} in 1:{self.size(axis.plate)}) {{ " for axis in axes)
        self.lines.append(f"  {heads}{text}{' }' * len(axes)}")

    def size(self, plate: str) -> str:
        """The size of a plate: a number, or the name that the data give."""
        size = self.model.plates[plate].size
        return f"n.{_word(plate)}" if size is None else str(size)


def write_bugs(model: Model) -> str:
    """The model as BUGS text (JAGS reads it too); what BUGS cannot say is a `ModelError`."""
    if model.potentials:
        raise ModelError(f"potential `{next(iter(model.potentials))}` has no BUGS text", expected="distributions only")
    page = _Page(model)
    for name, variable in model.variables.items():
        if variable.kind == "input":
            continue
        if variable.kind == "deterministic" and variable.definition is not None:
            page.define(variable.axes, _text(variable.definition, page), _word(name))
        elif variable.kind == "random" and variable.family is not None:
            _write_draw(page, variable)
        else:
            raise ModelError(f"`{name}` is {variable.kind}, which BUGS cannot say", expected="distributions only")
    return "model {\n" + "\n".join(page.lines) + "\n}\n"


def _write_draw(page: _Page, variable: Variable) -> None:
    assert variable.family is not None
    family = (variable.family.within or variable.family).name
    known = _BY_FAMILY.get(family)
    if known is None or "first@" in "".join(_names(variable.log_density)):
        raise ModelError(f"`{variable.name}` is a {family} that BUGS cannot say", expected=", ".join(_BY_FAMILY))
    density, form = known
    given = dict(variable.parameters)
    shown = []
    for word in form.words:
        value = given.get(word if word in given else _VECTORS.get(family, ""))
        if value is None:
            raise ModelError(f"`{variable.name}`: {word} of {family} has no BUGS text")
        shown.append(
            _vector(page, variable, value) if word in ("probabilities", "concentration") else _text(value, page)
        )
    if family in ("Wishart", "MultivariateNormal"):
        raise ModelError(f"`{variable.name}`: matrices are not written yet")
    events = [f"1:{page.size(axis.plate)}" for axis in variable.events]
    target = _element(_word(variable.name), [*(_loop(axis) for axis in variable.plates), *events])
    page.statement(variable.plates, f"{target} ~ {density}({', '.join(shown)}){_bounds(page, variable)}")


def _bounds(page: _Page, variable: Variable) -> str:
    """`T(l, u)` of a truncated variable, `C(l, u)` of a censored one."""
    if variable.family is None or variable.family.within is None:
        return ""
    given = dict(variable.parameters)
    ends = ", ".join(_text(given[word], page) if word in given else "" for word in ("lower", "upper"))
    return f" {'T' if variable.family.proper else 'C'}({ends})"


def _vector(page: _Page, variable: Variable, value: Expression) -> str:
    """A vector parameter as a slice of a helper array; log probabilities are taken back."""
    from platewright.algebra.build import exp

    inside = sorted(free_indices(value) - set(variable.plates), key=lambda index: index.name)
    event = inside[0] if inside else variable.events[0]
    body = value if variable.family and variable.family.name == "Dirichlet" else exp(value)
    name = page.define((*variable.plates, event), _text(body, page))
    return _element(name, [*(_loop(axis) for axis in variable.plates), f"1:{page.size(event.plate)}"])


def _names(whole: Expression) -> list[str]:
    from platewright.algebra.expression import names

    return sorted(names(whole))


def _text(whole: Expression, page: _Page) -> str:
    match whole:
        case Constant(value):
            return f"({value:.17g})" if value < 0 else f"{value:.17g}"
        case Index():
            return f"({_loop(whole)} - 1)"
        case Size(plate):
            return page.size(plate)
        case Reference(name, indices):
            shown = _element(_word(name), [_position(at, page) for at in indices])
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
            chosen = _text(condition, page)
            return f"(({chosen}) * ({_text(then, page)}) + (1 - ({chosen})) * ({_text(otherwise, page)}))"
        case Sum(index, body) | Maximum(index, body):
            word = "sum" if isinstance(whole, Sum) else "max"
            axes = tuple(sorted(free_indices(body) - {index}, key=lambda axis: axis.name))
            name = page.define((*axes, index), _text(body, page))
            return f"{word}({_element(name, [*(_loop(axis) for axis in axes), f'1:{page.size(index.plate)}'])})"
        case Literal(values, shape, _, indices) if len(shape) == 1:
            page.helpers += 1
            name = f"table.{page.helpers}"
            page.lines += [f"  {name}[{k + 1}] <- {value:.17g}" for k, value in enumerate(values)]
            return f"{name}[{_position(indices[0], page)}]"
    raise ModelError(f"`{whole}` has no BUGS text", expected="sums, products, powers and the functions of BUGS")


def _position(at: Expression, page: _Page) -> str:
    """A position counted from 1."""
    match at:
        case Index():
            return _loop(at)
        case Lag(index):
            return f"{_loop(index)} - 1"
        case Constant(value):
            return str(int(value) + 1)
        case Reference(name, indices) if page.model.variables[name].domain.kind == "levels":
            return _element(_word(name), [_position(part, page) for part in indices])
    return f"{_text(at, page)} + 1"


def _element(name: str, positions: list[str]) -> str:
    return f"{name}[{', '.join(positions)}]" if positions else name


def _word(name: str) -> str:
    """Our names in BUGS: letters, digits and dots."""
    return name.replace("@", ".of.").replace("_", ".").rstrip(".")


def _loop(index: Index) -> str:
    primes = len(index.name) - len(index.name.rstrip("'"))
    return "at." + index.name.rstrip("'").replace("_", ".").rstrip(".") + ".too" * primes
