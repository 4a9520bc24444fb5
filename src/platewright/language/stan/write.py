"""Write a model as Stan text, so that another engine can check ours: known variables are data, unknowns parameters.

    m.y = pw.Normal(m.a, sd=m.s, plates=row)   ->   for (i_row in 1:n_row) target += normal_lpdf(y[i_row] | a, s);

Every factor keeps its constants, so that `target` is our log joint. Categories count from 1 there and from 0 here; open
plates are sizes `n_<plate>` in the data. Unknowns that are discrete are declined: Stan has none.
"""

from __future__ import annotations

from collections.abc import Iterable

from platewright.algebra.expression import Expression, Index, names, walk
from platewright.errors import ModelError, UnknownName
from platewright.language.model import Model
from platewright.language.stan.apart import apart
from platewright.language.stan.densities import counts, density
from platewright.language.stan.expressions import body_of, element, looped
from platewright.language.stan.page import Page
from platewright.language.variable import Variable


def write_stan(model: Model, known: Iterable[str] | None = None) -> str:
    """The model as a Stan program; `known` names its data, by default the random variables nothing depends on."""
    chosen = leaves(model) if known is None else set([known] if isinstance(known, str) else known)
    for name in chosen:
        if name not in model.variables:
            raise UnknownName(name, model.variables, where="known=")
    page = Page(model)
    _check_unknowns(model, chosen)
    derived = [name for name, variable in model.variables.items() if variable.definition is not None]
    in_model = _model_lines(page)
    in_derived = _derived_lines(page, derived)
    blocks = [
        ("data", [*_sizes(page), *(_declared(page, model.variables[name]) for name in _data(page, chosen))]),
        ("transformed data", page.tables),
        ("parameters", [_declared(page, model.variables[name]) for name in _unknown(model, chosen)]),
        ("transformed parameters", in_derived),
        ("model", in_model),
    ]
    shown = [f"{title} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n" for title, lines in blocks if lines]
    return f"// {_comment(model.title)}\n" + "".join(shown)


def leaves(model: Model) -> set[str]:
    """The random variables that no other variable depends on."""
    used: set[str] = set()
    for name, variable in model.variables.items():
        used |= set(variable.parents) - {name}
    for potential in model.potentials.values():
        used |= names(potential.expression)
    return {name for name, variable in model.variables.items() if variable.kind == "random" and name not in used}


def _comment(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _data(page: Page, known: set[str]) -> list[str]:
    return [
        name
        for name, variable in page.model.variables.items()
        if (variable.kind == "input" and not page.is_first(name)) or name in known
    ]


def _unknown(model: Model, known: set[str]) -> list[str]:
    return [n for n, variable in model.variables.items() if variable.kind == "random" and n not in known]


def _check_unknowns(model: Model, known: set[str]) -> None:
    for name, variable in model.variables.items():
        if variable.kind in ("undirected", "statistic"):
            raise ModelError(f"`{name}` is {variable.kind}, which Stan cannot say", expected="distributions only")
        if variable.kind == "random" and name not in known and variable.domain.is_discrete:
            raise ModelError(
                f"`{name}` is unknown and {variable.domain}: Stan has no discrete parameters",
                expected="discrete variables that are known",
                hint="sum it out of the model by hand, or name it in known=",
            )


# -- declarations ------------------------------------------------------------------------------------------------------


def _sizes(page: Page) -> list[str]:
    """Sizes that the data give: those of open plates that the model uses, a `like` plate by its root."""
    used: list[str] = []
    for variable in page.model.variables.values():
        plates = [axis.plate for axis in variable.axes]
        plates += [str(variable.domain.levels)] if variable.domain.levels else []
        used += [part.plate for part in walk(variable.log_density) if isinstance(part, Index)]
        used += plates
    for potential in page.model.potentials.values():
        used += [part.plate for part in walk(potential.expression) if isinstance(part, Index)]
    found = dict.fromkeys(page.size(plate) for plate in used)
    return [f"int<lower=1> {size};" for size in found if not size.isdigit()]


def _declared(page: Page, variable: Variable) -> str:
    """`array[n_row] real<lower=0> name;`"""
    domain, word = variable.domain, page.word(variable.name)
    plates, events = [page.size(axis.plate) for axis in variable.plates], [page.size(a.plate) for a in variable.events]
    match domain.kind:
        case "levels":
            shape, base = [*plates, *events], f"int<lower=1, upper={page.size(str(domain.levels))}>"
        case "integer":
            shape, base = [*plates, *events], f"int{_bounds(domain.lower, domain.upper, whole=True)}"
        case "simplex":
            shape, base = plates, f"simplex[{events[0]}]"
        case "matrix":
            shape, base = plates, f"cov_matrix[{events[0]}]"
        case "circle":
            shape, base = [*plates, *events], "real<lower=-pi(), upper=pi()>"
        case "vector":
            shape, base = plates, f"vector[{events[0]}]"
        case _ if variable.name in counts(page.model):
            shape, base = plates, "int<lower=0>"
        case _:
            shape, base = [*plates, *events], f"real{_bounds(domain.lower, domain.upper)}"
    return f"{_array(shape)}{base} {word};"


def _array(shape: list[str]) -> str:
    return f"array[{', '.join(shape)}] " if shape else ""


def _bounds(lower: float, upper: float, whole: bool = False) -> str:
    written = (lambda value: str(int(value))) if whole else repr
    found = [f"lower={written(lower)}"] if lower > -float("inf") else []
    found += [f"upper={written(upper)}"] if upper < float("inf") else []
    return f"<{', '.join(found)}>" if found else ""


# -- statements --------------------------------------------------------------------------------------------------------


def _derived_lines(page: Page, derived: list[str]) -> list[str]:
    """Declarations first, then the values."""
    lines, values = [], []
    for name in derived:
        variable = page.model.variables[name]
        assert variable.definition is not None
        shape = [page.size(axis.plate) for axis in variable.axes]
        lines.append(f"{_array(shape)}real {page.word(name)};")
        target = element(page.word(name), [page.loop(axis) for axis in variable.axes])
        values += _statement(page, variable.axes, f"{target} = {{}};", variable.definition)
    return [*lines, *values]


def _model_lines(page: Page) -> list[str]:
    """One `target +=` for each random variable, inside the loops of its plates, and for each potential."""
    lines: list[str] = []
    for variable in page.model.variables.values():
        if variable.kind != "random":
            continue
        before, text = density(page, variable)
        if text != "0.0":
            lines += looped(page, variable.plates, [*before, f"target += {text};"])
    for potential in page.model.potentials.values():
        lines += _statement(page, potential.axes, "target += {};", potential.expression)
    return lines


def _statement(page: Page, axes: tuple[Index, ...], form: str, value: Expression) -> list[str]:
    before, text = body_of(page, apart(value, frozenset(axes)))
    return looped(page, axes, [*before, form.format(text)])
