"""Stan sums discrete unknowns out by hand; here they are put back, so that the model is what it was before the sum.

    target += log_mix(theta, normal_lpdf(y[n] | mu[1], s), normal_lpdf(y[n] | mu[2], s));

        z[n] ~ dcat((theta, 1 - theta))        y[n] ~ dnorm(mu[z[n]], s^-2)

    gamma[t, k] = log_sum_exp(over j: gamma[t - 1, j] + log(move[j, k]) + normal_lpdf(y[t] | mu[k], s));

        z[t] ~ dcat(move[z[t - 1], ])          y[t] ~ dnorm(mu[z[t]], s^-2)

A finite mixture is a sum over z of p(z) p(y | z), and the forward recursion of a hidden Markov chain is such a sum over
paths: the lines with z have that sum as what is left when z is summed out, so nothing changes for what Stan knows of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.relations import Relation, flatten
from platewright.language.bugs.syntax import (
    Assignment,
    Density,
    Draw,
    Element,
    Empty,
    FunctionCall,
    Number,
    Operation,
    Place,
    Range,
    elements,
)
from platewright.language.stan.reading.draws import factor
from platewright.language.stan.reading.expressions import lower
from platewright.language.stan.reading.state import Head, State, elements_of
from platewright.language.stan.reading.syntax import Call
from platewright.language.stan.reading.value import Value, operated

Tree = bugs.Expression
STATE = Element("the state")
"""Stands where the hidden value will."""
BEFORE = Element("the state before")
MOST_INLINED = 2_000


def put_back(term: Call, state: State) -> bool:
    """Say a log factor as draws of a hidden variable and of what it explains; False where it is no mixture."""
    if term.name not in ("log_mix", "log_sum_exp"):
        return False
    values = [lower(part, state) for part in term.arguments]
    match term.name, values:
        case ("log_mix", [share, one, other]) if not (share.rank or one.rank or other.rank):
            rest = operated("+", Value(lambda _: Number(1.0)), operated("neg", share))
            shares = _together([share.scalar, rest.scalar], term.place, state)
            return _mixture(shares, _as_one([one.scalar, other.scalar], term.place, state), term.place, state)
        case ("log_mix", [shares, parts]) if shares.rank == parts.rank == 1 and shares.gives_slices:
            return _mixture(shares.at((STATE,)), _terms(_inlined(parts.at((STATE,)), state)), term.place, state)
        case ("log_sum_exp", [parts]) if parts.rank == 1:
            tree = parts.at((STATE,))
            return _chain(tree, term.place, state) or _from_weights(_terms(_inlined(tree, state)), term.place, state)
        case ("log_sum_exp", [one, other]) if not (one.rank or other.rank):
            trees = [_inlined(one.scalar, state), _inlined(other.scalar, state)]
            return _from_weights(_as_one(trees, term.place, state), term.place, state)
    return False


def _from_weights(terms: list[Tree], place: Place, state: State) -> bool:
    """A mixture whose weights stand in its sum, as the log of an element of a simplex."""
    weights = [term for term in terms if _share_of(term, state) is not None]
    if len(weights) != 1:
        return False
    share = _share_of(weights[0], state)
    assert share is not None
    return _mixture(share, [term for term in terms if term is not weights[0]], place, state)


def _share_of(term: Tree, state: State) -> Element | None:
    """The element of a simplex whose log a term is, the state its last index."""
    match term:
        case FunctionCall("log", (Element(name, indices) as share,)) if indices and indices[-1] == STATE:
            known = next((one for one in state.variables.values() if one.array == name), None)
            return share if known is not None and known.base == "simplex" else None
    return None


def _mixture(share: Tree, terms: list[Tree], place: Place, state: State) -> bool:
    """The draw of the hidden variable, and what its terms say."""
    if not isinstance(share, Element) or not share.indices or share.indices[-1] != STATE:
        return False
    if any(STATE in elements(part) for part in share.indices[:-1] if not isinstance(part, (Empty, Range))):
        return False
    loops = elements_of(state.loop_names, place)
    hidden = Element(state.fresh("z"), loops or None, place)
    shares = replace(share, indices=(*share.indices[:-1], Empty()))
    state.say(Draw(hidden, Density("dcat", (shares,), None, place), place))
    _say_terms(terms, hidden, place, state)
    return True


def _say_terms(terms: Sequence[Tree], hidden: Element, place: Place, state: State) -> None:
    """Log densities of data become draws, all else log factors, at the hidden state."""
    for term in terms:
        told = _with(term, STATE, hidden)
        match told:
            case FunctionCall(word, (Element() as value, *arguments)) if word.startswith("logdensity."):
                if _is_data(value, hidden, state):
                    density = Density("d" + word[len("logdensity.") :], tuple(arguments), None, place)
                    state.say(Draw(value, density, place))
                    state.instead[len(state.said) - 1] = told
                    continue
        state.say(factor(told, state.loop_names, place, state))


def _is_data(value: Element, hidden: Element, state: State) -> bool:
    known = next((one for one in state.variables.values() if one.array == value.name), None)
    return known is not None and known.role in ("data", "computed") and hidden not in elements(value)


# -- several expressions as one that hangs on the state ----------------------------------------------------------------


def _together(trees: list[Tree], place: Place, state: State) -> Element:
    """Numbers in an array, at the state."""
    used = tuple(name for name in state.loop_names if any(name == one.name for tree in trees for one in elements(tree)))
    name, loops = state.fresh("by_state"), elements_of(used, place)
    outer = state.loops
    state.loops = tuple(head for head in outer if head.variable in used)
    for k, tree in enumerate(trees):
        state.say(Assignment(Element(name, (*loops, Number(k + 1.0, place)), place), tree, None, place))
    state.loops = outer
    return Element(name, (*loops, STATE), place)


def _as_one(trees: list[Tree], place: Place, state: State) -> list[Tree]:
    """Components as terms that hang on the state, term by term where they have the same form."""
    lists = [_terms(tree) for tree in trees]
    if len({tuple(_form(term) for term in terms) for terms in lists}) == 1:
        return [_unified(list(several), place, state) for several in zip(*lists)]
    return [_together(trees, place, state)]


def _form(tree: Tree) -> str:
    match tree:
        case FunctionCall(name, arguments):
            return f"{name}/{len(arguments)}"
        case Operation(operator, operands):
            return f"{operator}/{len(operands)}"
    return type(tree).__name__


def _unified(trees: list[Tree], place: Place, state: State) -> Tree:
    """One tree that is the k-th of several at state k."""
    first = trees[0]
    if all(tree == first for tree in trees):
        return first
    if len({_form(tree) for tree in trees}) == 1:
        match first:
            case FunctionCall():
                columns = zip(*(tree.arguments for tree in trees if isinstance(tree, FunctionCall)))
                return replace(first, arguments=tuple(_unified(list(column), place, state) for column in columns))
            case Operation():
                columns = zip(*(tree.operands for tree in trees if isinstance(tree, Operation)))
                return replace(first, operands=tuple(_unified(list(column), place, state) for column in columns))
            case Element():
                found = _counting(trees)
                if found is not None:
                    return found
    return _together(trees, place, state)


def _counting(trees: list[Tree]) -> Element | None:
    """`mu[1], mu[2], ...` as `mu[state]`."""
    named = [tree for tree in trees if isinstance(tree, Element) and tree.indices]
    if len(named) != len(trees) or len({(one.name, len(one.indices or ())) for one in named}) != 1:
        return None
    indices = list(zip(*(one.indices or () for one in named)))
    moving = [axis for axis, parts in enumerate(indices) if any(part != parts[0] for part in parts)]
    steps = tuple(Number(k + 1.0) for k in range(len(trees)))
    if len(moving) != 1 or indices[moving[0]] != steps:
        return None
    chosen = tuple(STATE if axis in moving else parts[0] for axis, parts in enumerate(indices))
    return replace(named[0], indices=chosen)


# -- the forward recursion ---------------------------------------------------------------------------------------------


def _chain(tree: Tree, place: Place, state: State) -> bool:
    """`log_sum_exp(gamma[N])` of a forward recursion: the hidden chain it is the sum over."""
    if not isinstance(tree, Element) or not tree.indices or len(tree.indices) != 2 or tree.indices[1] != STATE:
        return False
    said = [flatten([one])[0] for one in state.said]
    steps = [(number, one) for number, one in enumerate(said) if one.name == tree.name]
    if len(steps) != 2 or state.loops:
        return False
    (_, first), (_, rule) = steps
    begun = _beginning(first, state)
    moved = _rule(rule, tree, state)
    if begun is None or moved is None:
        return False
    time, move, emitted = moved
    start = [term for term in begun if _share_of(term, state) is not None]
    seen_first = [term for term in begun if term not in start]
    if len(start) > 1:
        return False
    name, domain = state.fresh("z"), time.domain
    assert isinstance(domain, Range)
    hidden = Element(name, (Element(time.variable, None, place),), place)
    at_first = Element(name, (Number(1.0, place),), place)
    _begin(start, at_first, move, place, state)
    earlier = Element(name, (Operation("+", (Element(time.variable, None, place), Number(-1.0))),), place)
    row = _with(replace(move, indices=(*(move.indices or ())[:-1], Empty())), BEFORE, earlier)
    outer = state.loops
    state.loops = (time,)
    state.say(Draw(hidden, Density("dcat", (row,), None, place), place))
    alike = [_with(term, Element(time.variable), Number(1.0)) for term in emitted] == seen_first
    if alike:
        state.loops = (replace(time, domain=replace(domain, first=Number(1.0))),)
    _say_terms(emitted, hidden, place, state)
    state.loops = outer
    if not alike:
        _say_terms(seen_first, at_first, place, state)
    return True


def _begin(start: list[Tree], at_first: Element, move: Element, place: Place, state: State) -> None:
    """The first state: by its own probabilities, or any state alike, with its constant."""
    known = next(one for one in state.variables.values() if one.array == move.name)
    if start:
        share = _share_of(start[0], state)
        assert share is not None and share.indices
        shares: Tree = replace(share, indices=(*share.indices[:-1], Empty()))
    else:
        size = known.sizes[-1]
        evenly, head = state.fresh("evenly"), Head(state.fresh("i"), Range(Number(1.0), size), place)
        one = Operation("/", (Number(1.0), size), place)
        state.say(Assignment(Element(evenly, (Element(head.variable),), place), one, None, place), (head,))
        shares = Element(evenly, (Empty(),), place)
        state.say(factor(FunctionCall("log", (size,), place), (), place, state))
    state.say(Draw(at_first, Density("dcat", (shares,), None, place), place))


def _beginning(first: Relation, state: State) -> list[Tree] | None:
    """`gamma[1, k] = ...` over all k: its terms at the state."""
    statement, indices = first.statement, first.target.indices or ()
    if not isinstance(statement, Assignment) or len(indices) != 2 or indices[0] != Number(1.0):
        return None
    if len(first.loops) != 1 or indices[1] != Element(first.loops[0].variable):
        return None
    return _terms(_with(_inlined(statement.value, state), Element(first.loops[0].variable), STATE))


def _rule(rule: Relation, last: Element, state: State) -> tuple[Head, Element, list[Tree]] | None:
    """`gamma[t, k] = log_sum_exp(over j)`: the loop over time, the moves at (before, now), and what is emitted."""
    statement, indices = rule.statement, rule.target.indices or ()
    if not isinstance(statement, Assignment) or len(rule.loops) != 2 or len(indices) != 2:
        return None
    time, now = (Head(head.variable, head.domain, head.place) for head in rule.loops)
    if indices != (Element(time.variable), Element(now.variable)) or not isinstance(time.domain, Range):
        return None
    if time.domain.first != Number(2.0) or not last.indices or time.domain.last != last.indices[0]:
        return None
    match statement.value:
        case FunctionCall("log_sum_exp", (Element(_, at) as whole,)) if at and isinstance(at[-1], (Empty, Range)):
            inner = _inlined(replace(whole, indices=(*at[:-1], BEFORE)), state)
        case _:
            return None
    terms = [_with(term, Element(now.variable), STATE) for term in _terms(inner)]
    step = Operation("+", (Element(time.variable), Number(-1.0)))
    past = [term for term in terms if term == Element(last.name, (step, BEFORE))]
    moves = [term for term in terms if _move_of(term, state) is not None]
    others = [term for term in terms if term not in past and term not in moves]
    if len(past) != 1 or len(moves) != 1 or any(BEFORE in elements(term) for term in others):
        return None
    if any(one.name == last.name for term in others for one in elements(term)):
        return None
    move = _move_of(moves[0], state)
    return None if move is None else (time, move, others)


def _move_of(term: Tree, state: State) -> Element | None:
    share = _share_of(term, state)
    return share if share is not None and BEFORE in elements(share) else None


# -- trees -------------------------------------------------------------------------------------------------------------


def _terms(tree: Tree) -> list[Tree]:
    """A sum as its terms, in order."""
    found: list[Tree] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Operation) and node.operator == "+":
            waiting += reversed(node.operands)
        else:
            found.append(node)
    return found


def _inlined(tree: Tree, state: State) -> Tree:
    """The tree with local arrays replaced by what defines them."""
    budget = [MOST_INLINED]

    def opened(node: Any) -> Any:
        if isinstance(node, Element) and node.name in state.definitions and node.indices:
            names, body = state.definitions[node.name]
            if len(names) == len(node.indices) and not any(isinstance(part, (Empty, Range)) for part in node.indices):
                budget[0] -= 1
                if budget[0] > 0:
                    changes = dict(zip(names, node.indices))
                    return opened(_replaced(body, lambda one: changes.get(one.name) if one.indices is None else None))
        return _rebuilt(node, opened)

    found: Tree = opened(tree)
    return found


def _with(tree: Any, old: Element, new: Any) -> Any:
    return _replaced(tree, lambda one: new if one == old else None)


def _replaced(tree: Any, change: Callable[[Element], Any]) -> Any:
    def changed(node: Any) -> Any:
        if isinstance(node, Element) and (found := change(node)) is not None:
            return found
        return _rebuilt(node, changed)

    return changed(tree)


def _rebuilt(node: Any, change: Callable[[Any], Any]) -> Any:
    match node:
        case Element(_, indices) if indices is not None:
            return replace(node, indices=tuple(map(change, indices)))
        case Operation(_, operands):
            return replace(node, operands=tuple(map(change, operands)))
        case FunctionCall(_, arguments):
            return replace(node, arguments=tuple(map(change, arguments)))
        case Range(first, last):
            return replace(node, first=change(first), last=change(last))
    return node
