"""The hidden part of a model: how each hidden variable is expected, and the statistics that its expectations make soft.

EM and mean field share all of it. They differ in the log factors: plain ones at given parameters, or expected ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from platewright.algebra.expression import Index
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined
from platewright.program.program import Program
from platewright.schemas.chain_group import ChainGroup, Scope, find_chain_groups, without_chains
from platewright.schemas.chain_programs import chain_shares, chain_start, chain_weights
from platewright.schemas.exact import may_be_zero, normalisers
from platewright.schemas.expectations import expectations, guesses
from platewright.schemas.gaussian_hidden import GaussianGroup, find_gaussian_groups
from platewright.schemas.hidden import Group, Hidden, find_hidden
from platewright.schemas.nested_groups import find_groups
from platewright.schemas.soft import softened

Seen = Callable[[Factor], Factor | Declined]
"""How a log factor looks to the hidden variables."""


@dataclass(frozen=True)
class Chain:
    """A group of chains with its programs: before the recursions, after them, and to begin with."""

    group: ChainGroup
    weights: Program
    shares: Program
    start: Program
    scopes: tuple[Scope, ...]
    """Sets of variables whose joint probabilities the statistics need."""

    @property
    def move_axes(self) -> tuple[Index, ...]:
        """The axes of the log weights of neighbours: steps and classes only where they matter."""
        return next(statement.indices for statement in self.weights.assignments if statement.name == self.group.moves)

    @property
    def results(self) -> tuple[str, ...]:
        """The arrays that are wanted: of single variables, of those that statistics need together, and of cliques."""
        wanted = [*((item.name,) for item in self.group.members), *self.scopes]
        cliques = [clique.probability for inner in self.group.inner for clique in inner.cliques]
        return tuple(dict.fromkeys([*(self.group.array(scope) for scope in wanted), *cliques]))


@dataclass(frozen=True)
class Latent:
    """Hidden variables, the programs of both steps, and what they exchange."""

    hidden: tuple[Hidden, ...]
    groups: tuple[Group, ...]
    chains: tuple[Chain, ...]
    gaussian: tuple[GaussianGroup, ...]
    programs: tuple[Program, ...]
    """The complete programs, one for each block of parameters, made soft."""
    expect: Program
    """Log weights and probabilities of hidden classes that are not chains."""
    start: Program
    """Joint probabilities of hidden classes to begin with, from guesses of single ones."""
    joint: tuple[tuple[str, ...], ...]
    """Sets of hidden classes whose joint probabilities the statistics need."""

    @property
    def summary(self) -> str:
        """The hidden variables, and how those that are not independent are treated."""
        shown = [item.name + (" by forward-backward" if item.chain else "") for item in self.hidden]
        for group in self.gaussian:
            how = " by filtering and smoothing" if group.step is not None else ""
            shown += [member.name + how for member in group.members]
        return ", ".join(shown)

    @property
    def elements(self) -> tuple[tuple[Index, ...], ...]:
        """The plates of each hidden variable, without the axes inside one element."""
        return (*(item.axes for item in self.hidden), *(group.batch for group in self.gaussian))

    @property
    def points(self) -> frozenset[str]:
        """The plates of points that stand for Gaussians."""
        return frozenset(group.point.plate for group in self.gaussian)

    @property
    def names(self) -> frozenset[str]:
        """All hidden variables."""
        members = {member.name for group in self.gaussian for member in group.members}
        return frozenset({item.name for item in self.hidden} | members)


def hidden_classes(graph: Graph) -> list[str]:
    """Unknown variables on plates that have finitely many values."""
    return [name for name in graph.unknown if graph.nodes[name].domain.is_finite and graph.nodes[name].axes]


def hidden_gaussians(graph: Graph) -> list[str]:
    """Unknown real variables that come anew with every row of the data: not parameters, as far as one can tell."""
    open_plates = {name for name, plate in graph.plates.items() if plate.size is None and plate.labels is None}
    named = [node for name, node in graph.nodes.items() if "@" not in name]
    used_as_levels = {node.domain.levels for node in named if node.domain.levels is not None}
    rows = open_plates - used_as_levels
    found = []
    for name in graph.unknown:
        node = graph.nodes[name]
        if node.domain.is_unbounded and any(axis.plate in rows for axis in node.axes):
            found.append(name)
    return found


def find_latent(
    graph: Graph, classes: Sequence[str], gaussians: Sequence[str], complete: Sequence[Program], seen: Seen
) -> Latent | Declined:
    """The hidden part, for classes and Gaussians that count as known in the complete programs."""
    factors: dict[Factor, Factor] = {}
    wanted = {*classes, *gaussians}
    minus = normalisers(graph)
    if isinstance(minus, Declined):
        return minus
    for factor in (*graph.factors, *minus):
        if factor.names & wanted:
            found = seen(factor)
            if isinstance(found, Declined):
                return Declined(found.operation, f"in {factor.owner}: {found.reason}")
            factors[factor] = found
    hidden: list[Hidden] = []
    for name in classes:
        item = find_hidden(graph, name)
        if isinstance(item, Declined):
            return item
        hidden.append(replace(item, factors=tuple(factors[factor] for factor in item.factors)))
    clouds = find_gaussian_groups(graph, gaussians, list(factors.values()), hidden)
    if isinstance(clouds, Declined):
        return clouds
    hidden = [_without_gaussians(item, clouds, set(gaussians)) for item in hidden]
    clouds = tuple(replace(g, classes=tuple(_same(hidden, item) for item in g.classes)) for g in clouds)
    bound = find_chain_groups(hidden)
    if isinstance(bound, Declined):
        return bound
    groups = find_groups(without_chains(hidden, bound))
    if isinstance(groups, Declined):
        return groups
    programs = []
    together = [*(tuple(item.name for item in cloud.classes) for cloud in clouds), *(chain.above for chain in bound)]
    inside = {item.name: chain for chain in bound for item in chain.members}
    joint = {names: None for names in together if len(names) > 1 and not inside.keys() & set(names)}
    along = {(inside[name], names): None for names in together for name in names if name in inside}
    for program in complete:
        soft = softened(graph.plates, program, hidden, groups, bound, clouds, may_be_zero(graph))
        if isinstance(soft, Declined):
            return soft
        programs.append(soft.program)
        joint |= dict.fromkeys(soft.joint)
        along |= dict.fromkeys(soft.along)
    chains = []
    for group in bound:
        chain = chain_programs(graph, group, tuple(scope for other, scope in along if other is group))
        if isinstance(chain, Declined):
            return chain
        chains.append(chain)
    expect, start = expectations(graph, groups, tuple(joint)), guesses(graph, groups, tuple(joint))
    return Latent(tuple(hidden), groups, tuple(chains), clouds, tuple(programs), expect, start, tuple(joint))


def chain_programs(graph: Graph, group: ChainGroup, scopes: tuple[Scope, ...]) -> Chain | Declined:
    """The programs of a group of chains, with the joint probabilities that are wanted."""
    weights = chain_weights(graph, group)
    if isinstance(weights, Declined):
        return weights
    return Chain(group, weights, chain_shares(graph, group, scopes), chain_start(graph, group, scopes), scopes)


def _without_gaussians(item: Hidden, clouds: Sequence[GaussianGroup], gaussians: set[str]) -> Hidden:
    """A class whose factors with Gaussians are replaced by what is left when these are integrated out."""
    kept = [factor for factor in item.factors if not factor.names & gaussians]
    kept += [cloud.integral for cloud in clouds if item.name in {one.name for one in cloud.classes}]
    return replace(item, factors=tuple(kept))


def _same(hidden: Sequence[Hidden], wanted: Hidden) -> Hidden:
    return next(item for item in hidden if item.name == wanted.name)
