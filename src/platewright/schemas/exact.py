"""Exact posterior and evidence: eliminate until every unknown has been integrated out, then read the posterior off.

Applies when each unknown, given the statistics and those not yet eliminated, is recognised (Theorem 4.1, Lemma 4.1).
One pass over the data; nothing to iterate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from platewright.algebra.build import add
from platewright.algebra.expression import ZERO, Expression, Reference, names
from platewright.algebra.kept import kept, kept_for
from platewright.algebra.scaled_lgamma import coefficients_gathered
from platewright.algebra.zero_times_log import zero_wins
from platewright.elimination.search import Search
from platewright.elimination.state import State
from platewright.elimination.stepping import steps_of
from platewright.elimination.tables import tied_sums
from platewright.graph.components import undirected_components
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Factor, Graph
from platewright.graph.normaliser import log_normaliser
from platewright.operation import Declined, Step
from platewright.operations.decompose import decompose
from platewright.operations.remove_barren import remove_barren
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.program.program import EVIDENCE, Hoister, Program
from platewright.program.statements import Assign, Pool, Statistic, Triangularise
from platewright.schema import Goal, Plan

NAME = "exact"


@dataclass(frozen=True)
class Prepared:
    """A graph after the operations that every schema starts with."""

    graph: Graph
    steps: tuple[Step, ...]
    barren: tuple[str, ...]


@kept
def prepare(graph: Graph) -> Prepared:
    """Write functions out, drop what nobody depends on."""
    steps: list[Step] = []
    if any(node.kind == "deterministic" for node in graph.nodes.values()):
        step = remove_deterministic(graph)
        if isinstance(step, Step):
            steps.append(step)
            graph = step.after
    barren: list[str] = []
    changed = True
    while changed:
        changed = False
        for name in reversed(graph.unknown):
            if graph.children[name] - {name}:
                continue
            if not graph.known and not set(graph.nodes[name].parents) & set(graph.unknown):
                continue  # without data all is barren, but a prior is still worth reading off
            found = remove_barren(graph, name)
            if isinstance(found, Step):
                steps.append(found)
                barren += [node for node in found.before.nodes if node not in found.after.nodes]
                graph = found.after
                changed = True
                break
    return Prepared(graph, tuple(steps), tuple(reversed(barren)))


def plan_exact(
    graph: Graph,
    goal: Goal,
    with_evidence: bool = True,
    blocks: int = 0,
    about: Collection[str] = (),
    chains: bool = True,
) -> Plan | Declined:
    """The closed-form plan, or which unknown stands in its way and why; `blocks` were named before, in other plans.

    With `about`, the evidence leaves out what is known throughout and holds none of these. Without `chains`, Gaussian
    chains have one triangle for all their steps, as mean field needs it.
    """
    prepared = prepare(graph)
    steps = list(prepared.steps)
    graph_now = prepared.graph
    minus = normalisers(graph_now)
    if isinstance(minus, Declined):
        return minus
    pieces: list[Graph] = []
    rest: list[Factor] = []
    pulled = decompose(graph_now)
    if isinstance(pulled, Declined):
        rest = list(graph_now.factors)
    else:
        pieces, rest = list(pulled.pieces), list(pulled.rest.factors)
        if len(pieces) > 1:
            steps.append(Step("decompose", graph_now, graph_now, pulled.because, pulled.reference, pulled.formulas))
    solved: list[State] = []
    for piece in pieces:
        extra = tuple(factor for factor in minus if factor.names & set(piece.unknown))
        done = _solved(piece, extra, blocks, goal == "map", chains)
        if isinstance(done, Declined):
            return done
        blocks = done.blocks
        solved.append(done)
        steps += steps_of(done)
    rest += [factor for factor in minus if not any(factor.names & set(piece.unknown) for piece in pieces)]
    if about:
        rest = [factor for factor in rest if factor.names & set(about)]
    evidence = {
        piece.unknown: add(*(factor.summed for factor in state.factors))
        for piece, state in zip(pieces, solved, strict=True)
    }
    evidence[()] = add(*(factor.summed for factor in rest))
    if not with_evidence:
        evidence = {}
    program = build_program(graph_now, solved, evidence)
    conditionals = tuple(conditional for state in solved for conditional in state.conditionals)
    factors = (*graph_now.factors, *minus)
    proper = all(node.family is None or node.family.proper for node in graph_now.nodes.values())
    return Plan(
        graph,
        goal,
        NAME,
        _summary(program, conditionals),
        tuple(steps),
        program,
        conditionals,
        factors,
        prepared.barren,
        proper=proper,
        pieces=tuple(piece.unknown for piece in pieces),
    )


@kept_for
def _solved(piece: Graph, extra: tuple[Factor, ...], blocks: int, maximise: bool, chains: bool) -> State | Declined:
    """A piece, with factors that its own arcs do not show, without unknowns; or why every order gets stuck."""
    search = Search()
    start = State(piece, piece.factors + extra, piece.unknown, blocks=blocks, maximise=maximise, chains=chains)
    if tied := tied_sums(start):
        return Declined(NAME, tied)
    done = search.solve(start)
    return Declined(NAME, _stuck(search, start)) if done is None else done


def normalisers(graph: Graph) -> tuple[Factor, ...] | Declined:
    """Minus the log normaliser of each undirected component."""
    found = []
    for component in undirected_components(graph):
        factor = log_normaliser(graph, component)
        if isinstance(factor, str):
            return Declined(NAME, f"the normaliser of an undirected component has no closed form: {factor}")
        found.append(Factor(f"normaliser of {factor.owner}", factor.axes, -factor.expression))
    return tuple(found)


def _stuck(search: Search, state: State) -> str:
    why = search.reasons
    reasons = [why[name] for name in state.unknown if name in why]
    return "; ".join(dict.fromkeys(reasons)) or "no elimination applies"


def build_program(graph: Graph, solved: list[State], evidence: Mapping[tuple[str, ...], Expression]) -> Program:
    """Statements of all pieces in order, with every sum over data hoisted into a statistic."""
    data = frozenset(name for name in graph.nodes if graph.is_known(name))
    taken = [name for state in solved for name in state.computed]
    hoister = Hoister(data, [*graph.nodes, *taken, EVIDENCE])
    passes: list[Pool] = []
    body: list[Assign | Pool | Triangularise] = []
    for state in solved:
        for statement in state.statements:
            match statement:
                case Pool() if _is_pass(statement, data):
                    passes.append(statement)
                case Assign(name, indices, expression, because):
                    body.append(Assign(name, indices, hoister.hoist(expression, because), because))
                case _:
                    body.append(statement)
    body += _evidence(evidence, hoister)
    is_open = may_be_zero(graph)
    body = [replace(s, expression=zero_wins(s.expression, is_open)) if isinstance(s, Assign) else s for s in body]
    sums = [replace(s, summand=zero_wins(s.summand, is_open)) for s in hoister.statistics.values()]
    return program_of(graph, (*sums, *passes), body)


def program_of(
    graph: Graph, passes: tuple[Statistic | Pool, ...], body: Sequence[Assign | Pool | Triangularise]
) -> Program:
    """The statements with what they read of the known, and what the model says about it."""
    used = _references(passes, body)
    columns = {name: node.axes for name, node in graph.nodes.items() if graph.is_known(name) and name in used}
    codes = {
        name: str(graph.nodes[name].domain.levels) for name in columns if graph.nodes[name].domain.kind == "levels"
    }
    labels = {name: plate.labels for name, plate in graph.plates.items() if plate.labels is not None}
    within = {name: plate.within for name, plate in graph.plates.items() if plate.within is not None}
    whole = tuple(name for name in columns if graph.nodes[name].domain.kind == "integer")
    results, sizes = _results(body), fixed_sizes(graph)
    return Program(graph.title, columns, passes, tuple(body), results, codes, sizes, labels, within, whole)


def may_be_zero(graph: Graph) -> Callable[[Reference], bool]:
    """Which references are to data that may be exactly zero, such as exposures."""
    facts = graph.facts
    return lambda part: part.name in graph.nodes and graph.is_known(part.name) and not facts.is_positive(part)


def _evidence(evidence: Mapping[tuple[str, ...], Expression], hoister: Hoister) -> list[Assign]:
    """The log evidence, piece by piece where there are several (Theorem 6.1), then their sum."""
    parts = [(names_of, part) for names_of, part in evidence.items() if part != ZERO]
    if not evidence:
        return []
    if len(parts) == 1:
        return [
            Assign(EVIDENCE, (), hoister.hoist(coefficients_gathered(parts[0][1]), "evidence"), "evidence (Lemma 6.4)")
        ]
    statements = []
    total: list[Expression] = []
    for names_of, part in parts:
        label = hoister.fresh(local_name(names_of))
        shown = ", ".join(names_of) or "what is known throughout"
        why = f"evidence of the piece with {shown} (Lemma 6.4)"
        statements.append(Assign(label, (), hoister.hoist(coefficients_gathered(part), "evidence"), why))
        total.append(Reference(label))
    return [*statements, Assign(EVIDENCE, (), add(*total), "evidence is the product over pieces (Corollary 6.1.2)")]


def local_name(names_of: tuple[str, ...]) -> str:
    """The name of a piece's own log evidence in the program."""
    return ".".join([EVIDENCE, *names_of[:3]]) if names_of else f"{EVIDENCE}.of_known"


def _is_pass(pool: Pool, data: frozenset[str]) -> bool:
    used = names(pool.weight)
    for feature in pool.features:
        used |= names(feature.expression)
    for cell in pool.cells:
        used |= names(cell.code)
    return bool(used) and used <= data


def _references(passes: tuple[object, ...], body: Sequence[Assign | Pool | Triangularise]) -> set[str]:
    from platewright.program.program import expressions_of

    found: set[str] = set()
    for statement in (*passes, *body):
        for expression in expressions_of(statement):  # type: ignore[arg-type]
            found |= names(expression)
    return found


def _results(body: Sequence[Assign | Pool | Triangularise]) -> tuple[str, ...]:
    found = []
    for statement in body:
        match statement:
            case Assign():
                found.append(statement.name)
            case Triangularise():
                found += [f"{statement.name}.{part}" for part in ("root", "log_root", "right")]
                if statement.along is not None:
                    found += [f"{statement.name}.before", f"{statement.name}.after"]
                if statement.outer:
                    found += [f"{statement.name}.cross_{k}" for k in range(len(statement.outer))]
                else:
                    found.append(f"{statement.name}.residual")
    return tuple(found)


def _summary(program: Program, conditionals: tuple[object, ...]) -> str:
    count = len(program.passes)
    word = "statistic" if count == 1 else "statistics"
    steps = len(conditionals)
    then = f"then {steps} exact elimination{'' if steps == 1 else 's'}"
    return f"closed form: one pass over the data for {count} {word}, {then}"
