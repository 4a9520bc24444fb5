"""Eliminations as steps: the graph whose density is the joint under derivation, before and after each  (Lemma 6.4).

    theta -> [ x (known) ]          eliminate theta          f(x):  log normaliser of theta | x

What an elimination leaves behind stands in the graph after it: its log normaliser, the squares that remain and the
volume are potentials; the arrays in them that are computed from the known are statistics, with their statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import pairwise

from platewright.algebra.domain import REAL
from platewright.algebra.expression import ZERO, Index, names
from platewright.algebra.kept import kept
from platewright.elimination.gaussian import gaussian_block, gaussian_move, squares_of
from platewright.elimination.search import family_move
from platewright.elimination.state import FamilyConditional, GaussianConditional, State
from platewright.elimination.tables import table_move
from platewright.graph.computed import computed_from, with_functions
from platewright.graph.determinism import functions_of
from platewright.graph.graph import Factor, Graph
from platewright.language.plate import Plate
from platewright.language.variable import Potential, Variable
from platewright.operation import Declined, Step
from platewright.operations.drop_settled_arcs import without_density
from platewright.operations.remove_deterministic import remove_deterministic

NAME = "eliminate"


def eliminate(graph: Graph, name: str) -> Step | Declined:
    """Integrate an unknown out, or sum over it; of a Gaussian chain the whole state goes at once."""
    return _moved(graph, name, maximise=False)


def maximise(graph: Graph, name: str) -> Step | Declined:
    """Put the best value of an unknown in, as a function of the others."""
    return _moved(graph, name, maximise=True)


def _moved(graph: Graph, name: str, maximise: bool) -> Step | Declined:
    word = "maximise" if maximise else NAME
    if name not in graph.nodes:
        return Declined(word, f"there is no node {name}")
    if name not in graph.unknown:
        return Declined(word, f"{name} is {'known' if graph.is_known(name) else graph.nodes[name].kind}")
    if maximise and not graph.nodes[name].domain.is_unbounded:
        return Declined(word, f"the best value of {name}, {graph.nodes[name].domain}, is not linear in the rest")
    if array := computed_from(graph, name):
        return Declined(word, f"{array} is computed from {name} where the program runs, not by a formula")
    if functions := functions_of(graph, name):
        return _through_functions(graph, functions, name, maximise)
    begun = replace(state_of(graph), maximise=maximise)
    reasons: list[str] = []
    for move in _ways(begun, name):
        after = move()
        if isinstance(after, State):
            return step_between(begun, after)
        reasons.append(after.reason)
    if others := _tied_beside(begun, name):
        return _given(graph, others, name, maximise)
    return Declined(word, "; else: ".join(dict.fromkeys(reasons)))


def _through_functions(graph: Graph, functions: tuple[str, ...], name: str, maximise: bool) -> Step | Declined:
    """Functions are written out before an unknown goes: they cannot stay without it, nor hide what it is tied to."""
    flat = remove_deterministic(graph, functions)
    found = _moved(flat.after, name, maximise) if isinstance(flat, Step) else flat
    if isinstance(flat, Declined) or isinstance(found, Declined):
        return found
    return replace(found, before=graph, formulas=(*flat.formulas, *found.formulas))


def _tied_beside(state: State, name: str) -> tuple[str, ...]:
    """The unknowns beside which a real one is Gaussian, though it has no scale in common with them, if it is."""
    if not state.nodes[name].domain.is_unbounded or isinstance(squares_of(state, [name]), Declined):
        return ()
    block = [name]
    near = [other for other in state.unknown if any(other in factor.names for factor in state.touching(name))]
    for other in near:
        is_line = other != name and state.nodes[other].domain.is_unbounded
        if is_line and not isinstance(squares_of(state, [*block, other]), Declined):
            block.append(other)
    return tuple(other for other in near if other not in block)


def _given(graph: Graph, others: tuple[str, ...], name: str, maximise: bool) -> Step | Declined:
    """An unknown goes as if others were known: what it leaves is computed from their values  (Figure 33)."""
    found = _moved(replace(graph, known=graph.known.union(others)), name, maximise)
    if isinstance(found, Declined):
        return found
    after = with_functions(replace(found.after, known=found.after.known.difference(others)))
    return replace(found, before=graph, after=after, because=f"{found.because}; given {', '.join(others)}")


def _ways(state: State, name: str) -> Iterable[Callable[[], State | Declined]]:
    """The eliminations that may apply to an unknown, the most special first."""
    if state.nodes[name].domain.is_finite:
        return (partial(table_move, state, name),)
    family = partial(family_move, state, name, in_any_order=True)
    block, refused = gaussian_block(state)
    if name in block:
        return (partial(gaussian_move, state, block, name), *([] if state.maximise else [family]))
    if name in refused:
        return (family, partial(Declined, NAME, refused[name]))
    return (family,)


def state_of(graph: Graph) -> State:
    """The joint of a graph as eliminations work on it; what earlier ones computed is there."""
    computed = {name: node.axes for name, node in graph.nodes.items() if node.kind == "statistic" or node.reads}
    blocks = sum(name.startswith("block") and name.endswith(".log_root") for name in computed)
    return State(graph, graph.factors, graph.unknown, computed, graph.statements, blocks=blocks)


def steps_of(done: State) -> list[Step]:
    """The eliminations that led to a state, each as a step."""
    history = done.history
    return [step_between(before, after) for before, after in pairwise(history)]


def step_between(before: State, after: State) -> Step:
    """One elimination: what went, and what it left."""
    conditional = after.conditionals[-1]
    old = {id(factor) for factor in before.factors}
    # Beside what an elimination leaves, factors that it looked at stand anew in parts; only the former have a colon.
    new = [f for f in after.factors if id(f) not in old and f.expression != ZERO and ": " in f.owner]
    # Where the best value is wanted, others than Gaussians go last, and their mode is read off their integral.
    word = "maximise" if before.maximise and isinstance(conditional, GaussianConditional) else NAME
    return Step(
        f"{word} {', '.join(conditional.variables)}",
        graph_of(before),
        graph_of(after),
        after.log[-1],
        _place(after),
        tuple(f"leaves {factor.owner}{_axes(factor.axes)}: {factor.expression}" for factor in new),
        conditional.variables,
    )


def _place(state: State) -> str:
    match state.conditionals[-1]:
        case GaussianConditional():
            return "Theorem 4.1, Lemma 4.1; rows of squares"
        case FamilyConditional():
            return "Theorem 4.1, Lemma 4.1, Lemma 6.4"
    return "Section 4.1"


def _axes(axes: tuple[Index, ...]) -> str:
    return f" over {', '.join(axis.name for axis in axes)}" if axes else ""


@kept
def graph_of(state: State) -> Graph:
    """The graph whose log density is the sum of the state's factors."""
    graph = state.graph
    gone = set(graph.unknown) - set(state.unknown)
    written = {id(factor): factor.owner for factor in graph.factors if factor.owner not in gone}
    kept = {written[id(factor)] for factor in state.factors if id(factor) in written}
    nodes = {name: _node(graph, name, name in kept) for name in graph.nodes if name not in gone}
    potentials = {name: potential for name, potential in graph.potentials.items() if name in kept}
    for factor in state.factors:
        if id(factor) not in written and factor.expression != ZERO:
            label = _label(factor, (*nodes, *potentials))
            potentials[label] = Potential(label, factor.axes, factor.expression)
    used = frozenset().union(*(names(potential.expression) for potential in potentials.values()))
    arrays = {name: axes for name, axes in state.computed.items() if name in used and name not in nodes}
    nodes |= {name: Variable(name, "statistic", axes, REAL) for name, axes in arrays.items()}
    hidden = {axis.plate for axes in arrays.values() for axis in axes} - set(graph.plates)
    plates = {**graph.plates, **{name: Plate(name) for name in sorted(hidden)}}
    after = replace(graph, plates=plates, nodes=nodes, potentials=potentials, statements=state.statements)
    return with_functions(after) if any(node.reads for node in graph.nodes.values()) else after


def _node(graph: Graph, name: str, keeps_density: bool) -> Variable:
    """A node as it was, or without its density where an elimination took that in."""
    node = graph.nodes[name]
    if keeps_density or node.kind != "random":
        return node
    bare = without_density(graph, name)
    return bare if graph.is_known(name) else replace(bare, kind="random")


def _label(factor: Factor, taken: tuple[str, ...]) -> str:
    """A name for what is left: whose it is, with a number where that is taken."""
    owner = factor.owner.replace(": ", "_").replace(" ", "_")
    label, number = owner, 1
    while label in taken:
        number += 1
        label = f"{owner}_{number}"
    return label
