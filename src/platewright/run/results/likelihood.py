"""The log density of what was seen, row by row, given draws: hidden variables are integrated out where that has a form.

    log p(y_n | theta_s) = log sum_k p(z_n = k | theta_s) p(y_n | z_n = k, theta_s)

What a schema integrates out is integrated out here too, and classes of rows are summed out even where they were drawn:
their draws would only add noise. What else was drawn (the effects of groups, say) is conditioned on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index, Lag, names, walk
from platewright.errors import DataError, NotLearned
from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined
from platewright.run.checks.sizing import check_sizes
from platewright.run.exact.posterior import lift
from platewright.run.execute import finish, loaded
from platewright.run.forward import DRAW
from platewright.run.hidden.chain_group import recursed
from platewright.run.hidden.conditioned_gaussians import condition, expectation_plan, weighed
from platewright.run.hidden.gaussian_hidden import with_points
from platewright.run.ticking import progress
from platewright.schemas.em import EMPlan
from platewright.schemas.exact import prepare
from platewright.schemas.latent import Latent, find_latent

MOST_CELLS = 2_000_000
"""Numbers that are looked at together."""

Values = Mapping[str, Array]
Axes = tuple[Index, ...]


@dataclass(frozen=True, eq=False)
class Piece:
    """Hidden variables that meet in factors, and what was seen of them."""

    hidden: tuple[str, ...]
    seen: tuple[str, ...]

    @property
    def label(self) -> str:
        """What their density is called."""
        return "_and_".join(self.seen)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """How the density of what was seen is computed from draws of all that is not hidden."""

    graph: Graph
    """With functions written out, and without what nobody depends on."""
    pieces: tuple[Piece, ...]
    latent: Latent | None

    @cached_property
    def expectation(self) -> EMPlan:
        """The expectation of what is integrated out."""
        assert self.latent is not None
        return expectation_plan(self.graph, self.latent)

    @cached_property
    def hidden(self) -> frozenset[str]:
        """What is integrated out."""
        return frozenset(name for piece in self.pieces for name in piece.hidden)

    @cached_property
    def seen(self) -> tuple[Factor, ...]:
        """The factors of what was seen without hidden variables, for each variable its own."""
        owned = [f for f in self.graph.factors if f.owner in self.graph.known and f.owner in self.graph.nodes]
        return tuple(factor for factor in owned if not factor.names & self.hidden)

    @cached_property
    def given(self) -> tuple[str, ...]:
        """Drawn variables with an element for each row: the densities are those given them."""
        rows = row_plates(self.graph)
        needed = {name for factor in self.seen for name in factor.names} - self.graph.known - self.hidden
        nodes = self.graph.nodes
        return tuple(n for n in self.graph.unknown if n in needed and {a.plate for a in nodes[n].axes[:1]} & rows)

    @cached_property
    def axes(self) -> Mapping[str, Axes]:
        """By label the plates of the densities."""
        found = {factor.owner: factor.axes for factor in self.seen}
        return found | {piece.label: self._element(piece) for piece in self.pieces}

    def _element(self, piece: Piece) -> Axes:
        """The plates of the largest element of a piece: those that all of its variables share."""
        return min((self.graph.nodes[name].plates for name in piece.hidden), key=len)

    def per_draw(self, draws: Values, columns: Values, sizes: Mapping[str, int]) -> dict[str, Array]:
        """By label the log densities: draw, then the plates."""
        found = {factor.owner: self._evaluated(factor, draws, columns, sizes) for factor in self.seen}
        return found | self._integrated(draws, columns, sizes) if self.pieces else found

    def log_joint(self, densities: Values, draws: Values, columns: Values, sizes: Mapping[str, int]) -> Array:
        """`log p(data, draw)` of each draw: the densities of what was seen, and those of what was drawn."""
        count = len(next(iter(draws.values()))) if draws else 1
        total = np.zeros(count)
        for values in densities.values():
            total = total + values.reshape(count, -1).sum(axis=1)
        for factor in self.graph.factors:
            if factor not in self.seen and not factor.names & self.hidden:
                found = self._evaluated(factor, draws, columns, sizes)
                total = total + found.reshape(count, -1).sum(axis=1)
        return total

    def _evaluated(self, factor: Factor, draws: Values, columns: Values, sizes: Mapping[str, int]) -> Array:
        drawn = {name: values for name, values in draws.items() if name in factor.names}
        count = len(next(iter(draws.values()))) if draws else 1
        axes = (DRAW, *factor.axes)
        shape = tuple(sizes[axis.plate] for axis in factor.axes)
        lifted = lift(factor.expression, frozenset(drawn), DRAW)
        parts = []
        for some in _portions(count, prod(shape)):
            values = {name: array[some] for name, array in drawn.items()}
            environment = Environment({**columns, **values}, {**sizes, DRAW.plate: some.stop - some.start})
            with np.errstate(all="ignore"):
                parts.append(np.array(evaluate(lifted, environment, axes), dtype=float))
        return np.concatenate(parts)

    def _integrated(self, draws: Values, columns: Values, sizes: Mapping[str, int]) -> dict[str, Array]:
        """Draw by draw the log integrals over hidden variables; draws that are all alike are looked at once."""
        assert self.latent is not None
        check_sizes(self.latent.expect, with_points(self.latent, sizes), self.latent.points)
        count = len(next(iter(draws.values()))) if draws else 1
        same = all(not np.ptp(values, axis=0).any() for values in draws.values() if values.size)
        parts: dict[str, list[Array]] = {piece.label: [] for piece in self.pieces}
        for draw in progress(range(1 if same else count), "log likelihood"):
            values = {name: array[draw] for name, array in draws.items() if name not in self.hidden}
            norms = log_norms(self.expectation, {**columns, **values}, sizes)
            for piece in self.pieces:
                parts[piece.label].append(sum((norms[n] for n in piece.hidden if n in norms), np.zeros(())))
        stacked = {label: np.array(found, dtype=float) for label, found in parts.items()}
        return {label: np.broadcast_to(found, (count, *found.shape[1:])) for label, found in stacked.items()}


def _portions(count: int, cells: int) -> Iterator[slice]:
    step = max(1, MOST_CELLS // max(cells, 1))
    for start in range(0, count, step):
        yield slice(start, min(count, start + step))


def log_norms(plan: EMPlan, everything: Values, sizes: Mapping[str, int]) -> dict[str, Array]:
    """The log integral over each group of hidden variables, element by element, under the name of one of them."""
    latent = plan.latent
    known = dict(everything)
    all_sizes = with_points(latent, sizes)
    found: dict[str, Array] = {}
    for cloud in latent.gaussian:
        about = condition(plan, cloud, known, all_sizes)
        known |= about
        if not cloud.classes:
            found[cloud.members[0].name] = weighed(cloud, about[cloud.log_norm], known, all_sizes)
    for chain in latent.chains:
        passed = recursed(chain, known, all_sizes)
        known |= passed.arrays
        if not chain.group.classes:
            found[chain.group.members[0].name] = passed.arrays[chain.group.norm]
    if latent.expect.body:
        computed = finish(latent.expect, loaded(latent.expect), {}, known, all_sizes)
        for group in latent.groups:
            for name in group.log_norms:
                label = group.members[0].name
                found[label] = found.get(label, 0.0) + computed[name]
    return found


def row_plates(graph: Graph) -> frozenset[str]:
    """The plates of the data: the first of every variable that was seen."""
    nodes = graph.nodes
    kinds = ("random", "undirected")
    return frozenset(nodes[n].axes[0].plate for n in graph.known if nodes[n].axes and nodes[n].kind in kinds)


def likelihood_given(
    graph: Graph, drawn: Collection[str], hidden: Collection[str] = (), gaussians: bool = False
) -> Likelihood:
    """The likelihood given draws: `hidden` has to be integrated out, classes of rows are; Gaussians if that is asked.

    Raises `NotLearned` where the factors of what was seen have no density row by row.
    """
    now = prepare(graph).graph
    for name, potential in now.potentials.items():
        if tied := names(potential.expression) & now.known - {n for n in now.known if now.nodes[n].kind == "input"}:
            raise NotLearned(f"potential `{name}` ties `{min(tied)}` to others, so it has no density row by row")
    needed = [name for name in now.unknown if name in hidden or name not in drawn]
    forced = _pieces(now, needed)
    able = [name for name in now.unknown if name not in needed and _is_of_rows(now, name, gaussians)]
    free = [piece for piece in _pieces(now, able) if _is_row_by_row(now, piece)]
    free = [piece for piece in free if not isinstance(_latent(now, piece.hidden), Declined)]
    pieces = (*forced, *free)
    if not pieces:
        return Likelihood(now, (), None)
    latent = _latent(now, [name for piece in pieces for name in piece.hidden])
    if isinstance(latent, Declined):
        raise NotLearned(f"{', '.join(needed)} cannot be integrated out: {latent.reason}", hint="learn with by='gibbs'")
    for piece in pieces:
        _check_owners(now, piece)
    return Likelihood(now, pieces, latent)


def _latent(graph: Graph, hidden: Sequence[str]) -> Latent | Declined:
    classes = [name for name in hidden if graph.nodes[name].domain.is_finite]
    others = [name for name in hidden if name not in classes]
    if odd := [name for name in others if not graph.nodes[name].domain.is_unbounded]:
        return Declined("integrate out", f"`{odd[0]}` is neither Gaussian nor a class")
    return find_latent(graph, classes, others, (), lambda factor: factor)


def _pieces(graph: Graph, wanted: Sequence[str]) -> tuple[Piece, ...]:
    """Hidden variables that meet in factors, each with what was seen of them."""
    groups: list[set[str]] = []
    for factor in graph.factors:
        met = factor.names & set(wanted)
        if not met:
            continue
        near = [group for group in groups if group & met]
        groups = [group for group in groups if not group & met] + [set(met).union(*near)]
    found = []
    for group in groups:
        seen = tuple(f.owner for f in graph.factors if f.names & group and f.owner in graph.known)
        if seen:
            found.append(Piece(tuple(name for name in wanted if name in group), seen))
    return tuple(sorted(found, key=lambda piece: wanted.index(piece.hidden[0])))


def _is_of_rows(graph: Graph, name: str, gaussians: bool) -> bool:
    """Whether an unknown comes anew with every row, and is a class, or a Gaussian where these are asked for."""
    node = graph.nodes[name]
    if not node.axes or node.axes[0].plate not in row_plates(graph):
        return False
    return node.domain.is_finite or (gaussians and node.domain.is_unbounded)


def _is_row_by_row(graph: Graph, piece: Piece) -> bool:
    """Whether hidden variables and what was seen of them have the rows of one plate, none of which looks at another."""
    parts = [graph.nodes[name] for name in (*piece.hidden, *piece.seen)]
    looks_back = any(isinstance(node, Lag) for part in parts for node in walk(part.log_density))
    owners = {f.owner for f in graph.factors if f.names & set(piece.hidden)}
    same = len({part.plates for part in parts}) == 1
    return same and not looks_back and owners <= {*piece.hidden, *piece.seen}


def _check_owners(graph: Graph, piece: Piece) -> None:
    """What is integrated over must be the density of what was seen, and of nothing that was drawn."""
    owners = {f.owner for f in graph.factors if f.names & set(piece.hidden)} - {*piece.hidden, *piece.seen}
    if owners:
        raise NotLearned(f"`{min(owners)}` depends on `{piece.hidden[0]}`, which was integrated out")


def check_rows(graph: Graph, columns: Collection[str]) -> None:
    """The rows must be in memory."""
    now = prepare(graph).graph
    for factor in now.factors:
        if factor.owner in now.known and (lacking := (factor.names & now.known) - set(columns)):
            raise DataError(
                f"`{min(lacking)}` was not kept: the rows were read from a file, or the fit was",
                hint="learn from data in memory",
            )
