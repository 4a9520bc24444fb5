"""What a program says of its target: `~` and `target +=`, each as draws and log factors of single elements.

y ~ normal(mu, sigma);                 for (i in 1:N) y[i] ~ dnorm(mu[i], sigma^-2)
target += normal_lpdf(y | mu, sigma)   the same
target += -square(x) / 2               a log factor

Constants: `~` leaves them open, so that a prior cut off at a bound is normalised there; `target +=` means what it says.
"""

from __future__ import annotations

import math

from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.densities import FACTOR
from platewright.language.bugs.distribution_functions import function_of
from platewright.language.bugs.syntax import Bounds, Density, Draw, Element, Empty, FunctionCall, Place
from platewright.language.stan.reading.densities import GLM, Form, Written, density_of, known_form, log_density
from platewright.language.stan.reading.expressions import lower, number_of
from platewright.language.stan.reading.state import State, Variable
from platewright.language.stan.reading.syntax import (
    Assignment,
    Call,
    Expression,
    Name,
    Number,
    Operation,
    Tilde,
)
from platewright.language.stan.reading.trouble import Trouble
from platewright.language.stan.reading.value import Value, operated, operation


def tilde(statement: Tilde, state: State) -> None:
    """`value ~ distribution(...)`."""
    _drawn(
        statement.value,
        statement.distribution,
        statement.arguments,
        statement.truncation,
        False,
        statement.place,
        state,
    )


def add_to_target(statement: Assignment, state: State) -> None:
    """`target += value`, term by term."""
    if statement.operator not in ("+", "-"):
        raise Trouble(statement.place, "`target` is assigned", "`target += ...`")
    for sign, term in _terms(statement.value, -1.0 if statement.operator == "-" else 1.0):
        found = density_of(term.name) if isinstance(term, Call) else None
        if isinstance(term, Call) and found and found[1] in ("_lpdf", "_lpmf", "_lupdf", "_lupmf") and sign == 1:
            if not term.arguments:
                raise Trouble(term.place, f"`{term.name}` has no arguments")
            _drawn(term.arguments[0], found[0], term.arguments[1:], None, True, term.place, state)
            continue
        from platewright.language.stan.reading.summed_out import put_back  # mixtures have densities in them

        if sign == 1 and isinstance(term, Call) and put_back(term, state):
            continue
        value = lower(term, state)
        factor_of(value if sign == 1 else operated("neg", value), term.place, state)


def _terms(node: Expression, sign: float) -> list[tuple[float, Expression]]:
    """A sum as its terms with their signs."""
    found: list[tuple[float, Expression]] = []
    waiting = [(sign, node)]
    while waiting:
        sign, node = waiting.pop()
        match node:
            case Operation("+", (left, right)):
                waiting += [(sign, right), (sign, left)]
            case Operation("-", (left, right)):
                waiting += [(-sign, right), (sign, left)]
            case Operation("neg", (inner,)):
                waiting.append((-sign, inner))
            case Number(value) if value == 0:
                continue
            case _:
                found.append((sign, node))
    return found


def factor_of(value: Value, place: Place, state: State) -> None:
    """A log factor for every element of a value."""
    heads = state.heads(value.sizes, place)
    at = tuple(Element(head.variable, None, place) for head in heads)
    state.say(factor(value.at(at), (*state.loop_names, *(head.variable for head in heads)), place, state), heads)


def factor(tree: bugs.Expression, loops: tuple[str, ...], place: Place, state: State) -> Draw:
    """A log factor as a statement."""
    at = tuple(Element(loop, None, place) for loop in loops)
    return Draw(Element(state.fresh("target"), at or None, place), Density(FACTOR, (tree,), None, place), place)


def _drawn(
    node: Expression,
    name: str,
    given: tuple[Expression, ...],
    truncation: tuple[Expression | None, Expression | None] | None,
    exact: bool,
    place: Place,
    state: State,
) -> None:
    if isinstance(node, Call) and node.name == "to_vector" and len(node.arguments) == 1:
        whole = lower(node.arguments[0], state)
        if whole.rank == 2 and not any(lower(part, state).rank for part in given):
            node = node.arguments[0]
    value = lower(node, state)
    if name in ("lkj_corr", "lkj_corr_cholesky"):
        factor_of(log_density(name, value, [lower(part, state) for part in given], place, state), place, state)
        return
    if name in GLM:
        name, given_values = _regression(name, given, place, state)
    else:
        given_values = [lower(part, state) for part in given]
    name, given_values = _in_other_words(name, value, given_values, place, state)
    form = known_form(name, len(given_values), place)
    if isinstance(form, Written) or not _is_drawable(node, value, state):
        if truncation is not None:
            raise Trouble(place, "a truncation here", "a variable before `~`, and a distribution of the shelf")
        factor_of(log_density(name, value, given_values, place, state), place, state)
        return
    _write(node, value, name, form, given_values, truncation, exact, place, state)


def _in_other_words(name: str, value: Value, given: list[Value], place: Place, state: State) -> tuple[str, list[Value]]:
    """Distributions that others say: by a Cholesky factor, by logits, by a scale matrix, by counts alone."""
    from platewright.language.stan.reading.matrices import ARRAYS

    match name, given:
        case ("multi_normal_cholesky", [mean, factor_]):
            return "multi_normal", [mean, ARRAYS["tcrossprod"](state, place, factor_)]
        case ("multi_student_t", [degrees, mean, scale]):
            return name, [degrees, mean, ARRAYS["inverse"](state, place, scale)]
        case ("wishart", [degrees, scale]):
            return name, [degrees, ARRAYS["inverse"](state, place, scale)]
        case ("multinomial", [shares]) if value.rank == 1:
            return name, [shares, ARRAYS["sum"](state, place, value)]
        case ("multinomial_logit", [logits]) if value.rank == 1:
            return "multinomial", [ARRAYS["softmax"](state, place, logits), ARRAYS["sum"](state, place, value)]
        case ("categorical_logit", [logits]):
            return "categorical", [ARRAYS["softmax"](state, place, logits)]
        case ("ordered_logistic" | "ordered_probit", [score, cuts]):
            return "categorical", [_between_cuts(name, score, cuts, place)]
    return name, given


def _between_cuts(name: str, score: Value, cuts: Value, place: Place) -> Value:
    """P(k) = F(score - cut[k - 1]) - F(score - cut[k]), with 1 before the first cut and 0 after the last.

    Cuts before the first and after the last have no place in their array: their factor is switched off.
    """
    word = "ilogit" if name == "ordered_logistic" else "phi"
    if score.rank > 1 or cuts.rank != 1:
        raise Trouble(place, f"`{name}` of a matrix of scores, or without a vector of cuts", "a vector of each")
    one = bugs.Number(1.0)

    def at(asked: tuple[bugs.Index, ...]) -> bugs.Expression:
        *row, k = asked
        here_score = score.at(tuple(row))

        def above(k: bugs.Expression) -> bugs.Expression:
            return FunctionCall(word, (operation("+", here_score, operation("neg", cuts.at((k,)))),), place)

        assert not isinstance(k, (Empty, bugs.Range))
        is_first, is_last = (
            FunctionCall("equals", (k, one)),
            FunctionCall("equals", (k, operation("+", cuts.sizes[0], one))),
        )
        before = FunctionCall("max", (operation("+", k, bugs.Number(-1.0)), one))
        here = FunctionCall("min", (k, cuts.sizes[0]))
        top = FunctionCall("ifelse", (is_first, one, above(before)))
        return operation("+", top, operation("neg", FunctionCall("ifelse", (is_last, bugs.Number(0.0), above(here)))))

    return Value(at, (*score.sizes, operation("+", cuts.sizes[0], one)), "vector", gives_slices=False)


def _regression(name: str, given: tuple[Expression, ...], place: Place, state: State) -> tuple[str, list[Value]]:
    """`y ~ poisson_log_glm(X, alpha, beta)` is `y ~ poisson_log(alpha + X * beta)`."""
    word, before, has_constant, more = GLM[name]
    if len(given) != before + 2 + has_constant + more:
        raise Trouble(place, f"`{name}` is given {len(given)} arguments", f"{before + 2 + has_constant + more}")
    first, (x, *terms), rest = given[:before], given[before : len(given) - more], given[len(given) - more :]
    score: Expression = Operation("*", (x, terms[-1]), place)
    if has_constant:
        score = Operation("+", (terms[0], score), place)
    return word, [lower(part, state) for part in (*first, score, *rest)]


def _is_drawable(node: Expression, value: Value, state: State) -> bool:
    """Whether the left side is a variable of the data or of the parameters, or elements of one."""
    name = _variable(node)
    if name is None or name not in state.variables:
        return False
    return state.variables[name].role in ("data", "computed", "parameter")


def _variable(node: Expression) -> str | None:
    from platewright.language.stan.reading.syntax import Indexed

    while isinstance(node, Indexed):
        node = node.inner
    return node.name if isinstance(node, Name) else None


def _write(
    node: Expression,
    value: Value,
    name: str,
    form: Form,
    given: list[Value],
    truncation: tuple[Expression | None, Expression | None] | None,
    exact: bool,
    place: Place,
    state: State,
) -> None:
    """A draw for each element."""
    ranks = form.ranks or (0,) * len(given)
    arguments = [state.sliced(one, place) if rank else one for one, rank in zip(form.arguments(*given), ranks or ())]
    if not form.ranks:
        arguments = list(form.arguments(*given))
    each = max([value.rank - form.events, *(0 if form.ranks else one.rank for one in arguments)])
    outer = [one.rank - rank for one, rank in zip(arguments, ranks)] if form.ranks else [one.rank for one in arguments]
    if value.rank < form.events or any(rank not in (0, each) for rank in outer):
        raise Trouble(place, f"the arguments of `{name}` do not have the shape of its value")
    if value.rank - form.events < each:  # one value with many arguments: many factors
        factor_of(log_density(name, value, given, place, state), place, state)
        return
    heads = state.heads(value.sizes[:each], place)
    at = tuple(Element(head.variable, None, place) for head in heads)
    trees = tuple(one.at((*(at if rank else ()), *((Empty(),) * own)))
                  for one, rank, own in zip(arguments, outer, form.ranks or (0,) * len(arguments)))  # fmt: skip
    target = value.at((*at, *((Empty(),) * form.events)))
    assert isinstance(target, Element)
    known = state.variables[str(_variable(node))]
    instead: bugs.Expression | None = None
    if not form.events and not form.ranks and form.bugs != "dbetabin":
        instead = FunctionCall("logdensity." + form.bugs[1:], (target, *trees), place)
    elif name == "dirichlet" and not heads:
        instead = log_density(name, value, given, place, state).scalar
    density = Density(form.bugs, trees, None, place)
    if truncation is not None:
        ends = [None if end is None else number_of(end, state) for end in truncation]
        density = Density(form.bugs, trees, Bounds("T", ends[0], ends[1], place), place)
        instead = None
    mass = None
    if truncation is None and known.role == "parameter":
        density, mass = _bounded(known, target, density, form, exact, place, state)
    state.say(Draw(target, density, place), heads)
    if mass is not None:
        state.masses[len(state.said) - 1] = mass
    if instead is not None:
        state.instead[len(state.said) - 1] = instead


def _bounded(
    known: Variable, target: Element, density: Density, form: Form, exact: bool, place: Place, state: State
) -> tuple[Density, bugs.Expression | None]:
    """The density cut off where the declaration says, if it reaches beyond; and the log mass that this takes away."""
    at = target.indices or ()
    ends: list[bugs.Expression | None] = []
    for value, edge, inward in ((known.lower, form.support[0], 1), (known.upper, form.support[1], -1)):
        tree = None if value is None else value.at(tuple(at) if value.rank else ())
        settled = None if tree is None else state.known(tree)
        needless = form.bugs == "dunif" or (settled is not None and inward * (edge - settled) >= 0)
        ends.append(None if tree is None or needless else tree)
    if ends == [None, None]:
        return density, None
    settled_all = all(state.is_known(tree) for tree in (*density.arguments, *(end for end in ends if end is not None)))
    kind = "T" if settled_all and "ordered" not in known.base else "C"
    mass = _log_mass(density, ends, place) if exact and kind == "T" else None
    if exact and mass is None:
        kind = "C"
    return Density(density.name, density.arguments, Bounds(kind, ends[0], ends[1], place), place), mass


def _log_mass(density: Density, ends: list[bugs.Expression | None], place: Place) -> bugs.Expression | None:
    """log(F(upper) - F(lower)), or None where F is not known."""
    zero = bugs.Number(0.0)
    if ends == [zero, None] and density.name in ("dnorm", "dt") and density.arguments[0] == zero:
        return bugs.Number(-math.log(2.0))
    word = "p" + density.name[1:]
    if function_of(word) is None or (None in ends and ends == [None, None]):
        return None
    high, low = (
        None if end is None else FunctionCall(word, (end, *density.arguments), place) for end in reversed(ends)
    )
    above: bugs.Expression = bugs.Number(1.0) if high is None else high
    return FunctionCall("log", (above if low is None else operation("+", above, operation("neg", low)),), place)
