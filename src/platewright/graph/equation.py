"""Read the joint density off the graph  (Equations 1, 2, 6, 7 and 12).

    Age -> Dis <- Occ, Dis -> Symp      reads      p(Age) p(Occ) p(Dis | Age, Occ) p(Symp | Dis)

Each chain component is one factor, each plate a product, and a potential on random variables alone a factor `f`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from platewright.algebra.expression import Constant, Expression, Index, Lag, Reference, walk
from platewright.algebra.text import text
from platewright.graph.blanket import loose_ties
from platewright.graph.components import Component, chain_components
from platewright.graph.graph import Graph
from platewright.graph.normaliser import potentials_of

_GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split()
)


@dataclass(frozen=True)
class Shown:
    """A variable as it appears in an equation: its name and the places it is taken at."""

    name: str
    at: tuple[str, ...] = ()

    @property
    def plain(self) -> str:
        """`theta1[i]`."""
        return f"{self.name}[{', '.join(self.at)}]" if self.at else self.name

    @property
    def latex(self) -> str:
        r"""`\theta_{1,i}`."""
        stem = self.name.rstrip("0123456789")
        below = [part for part in (self.name[len(stem) :], *self.at) if part]
        if not stem.isalpha():
            stem, below = self.name, list(self.at)
        letter = f"\\{stem}" if stem in _GREEK else stem if len(stem) == 1 else f"\\mathit{{{_escaped(stem)}}}"
        return f"{letter}_{{{','.join(_escaped(part) for part in below)}}}" if below else letter


@dataclass(frozen=True)
class Term:
    """One factor of the joint: `p(left | right)` or `f_name(left)`, repeated over plates."""

    symbol: str
    left: tuple[Shown, ...]
    right: tuple[Shown, ...]
    plates: tuple[str, ...]

    @property
    def plain(self) -> str:
        """The factor as text."""
        left = ", ".join(part.plain for part in self.left)
        right = ", ".join(part.plain for part in self.right)
        return f"{self.symbol}({left} | {right})" if right else f"{self.symbol}({left})"

    @property
    def latex(self) -> str:
        """The factor as LaTeX."""
        head, _, below = self.symbol.partition("_")
        symbol = f"{head}_{{\\mathrm{{{_escaped(below)}}}}}" if below else head
        left = ", ".join(part.latex for part in self.left)
        right = ", ".join(part.latex for part in self.right)
        return f"{symbol}({left} \\mid {right})" if right else f"{symbol}({left})"


def joint_equation(graph: Graph, *, context: str = "") -> str:
    """The joint density as one line of text; `context` is put behind every bar, like the M of Equation 1."""
    groups = _grouped(joint_terms(graph, context))
    shown = []
    for plates, terms in groups.items():
        factors = " ".join(term.plain for term in terms)
        last = plates == next(reversed(groups))
        shown.append(f"prod_{','.join(plates)} {_bracketed(factors, terms, last)}" if plates else factors)
    return " ".join(shown)


def joint_latex(graph: Graph, *, context: str = "") -> str:
    """The joint density as one line of LaTeX."""
    groups = _grouped(joint_terms(graph, context))
    shown = []
    for plates, terms in groups.items():
        factors = " \\, ".join(term.latex for term in terms)
        last = plates == next(reversed(groups))
        below = ", ".join(_escaped(plate) for plate in plates)
        shown.append(f"\\prod_{{{below}}} {_bracketed(factors, terms, last)}" if plates else factors)
    return " \\, ".join(shown)


def component_equation(graph: Graph, component: Component) -> str:
    """The inside of an undirected component: its potentials over their normaliser  (Equation 4)."""
    found = potentials_of(graph, component)
    order = list(graph.nodes)
    factors = []
    above: dict[str, None] = {}
    for potential in found:
        members = _conditions(graph, potential.expression, set(potential.axes))
        above |= {part.plain: None for part in members if part.name not in component}
        inside = sorted(members, key=lambda part: (part.name not in component, order.index(part.name)))
        factors.append(f"f_{potential.name}({', '.join(part.plain for part in inside)})")
    return f"{' '.join(factors)} / Z({', '.join(above)})" if above else f"{' '.join(factors)} / Z"


def joint_terms(graph: Graph, context: str = "") -> tuple[Term, ...]:
    """The factors of the joint, parents first; functions and inputs have none."""
    terms = []
    extra = (Shown(context),) if context else ()
    for component in chain_components(graph):
        members = [graph.nodes[name] for name in graph.nodes if name in component] if len(component) > 1 else []
        members = members or [graph.nodes[next(iter(component))]]
        if members[0].kind not in ("random", "undirected"):
            continue
        plates = members[0].plates
        sources = [members[0].log_density]
        if members[0].kind == "undirected":
            sources = [potential.expression for potential in potentials_of(graph, component)]
        left = tuple(Shown(node.name, tuple(axis.name for axis in node.plates)) for node in members)
        found = dict.fromkeys(part for source in sources for part in _conditions(graph, source, set(plates)))
        right = [part for part in found if part not in left and (part.name not in component or part.at)]
        right.sort(key=list(graph.nodes).index if False else _written(graph))
        terms.append(Term("p", left, (*right, *extra), tuple(axis.name for axis in plates)))
    for name in loose_ties(graph):
        potential = graph.potentials[name]
        members_shown = sorted(_conditions(graph, potential.expression, set(potential.axes)), key=_written(graph))
        terms.append(Term(f"f_{name}", tuple(members_shown), extra, tuple(axis.name for axis in potential.axes)))
    return tuple(terms)
