"""Read the joint density off the graph  (Equations 1, 2, 6, 7 and 12).

    Age -> Dis <- Occ, Dis -> Symp      reads      p(Age) p(Occ) p(Dis | Age, Occ) p(Symp | Dis)

Each chain component is one factor, each plate a product, and a potential on random variables alone a factor `f`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from platewright.algebra.build import substitute
from platewright.algebra.expression import Constant, Expression, Index, Lag, Reference, walk
from platewright.algebra.text import text
from platewright.graph.blanket import loose_ties
from platewright.graph.components import Component, chain_components
from platewright.graph.graph import Graph
from platewright.graph.normaliser import potentials_of

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_GREEK_NAMES = frozenset(_GREEK.split())


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
        letter = f"\\{stem}" if stem in _GREEK_NAMES else stem if len(stem) == 1 else f"\\mathit{{{_escaped(stem)}}}"
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
    factors = []
    above: dict[str, None] = {}
    for potential in potentials_of(graph, component):
        members = _in_order(graph, _shown(graph, potential.expression, potential.axes))
        above |= {part.plain: None for part in members if part.name not in component}
        listed = [part for part in members if part.name in component]
        listed += [part for part in members if part.name not in component]
        factors.append(f"f_{potential.name}({', '.join(part.plain for part in listed)})")
    return f"{' '.join(factors)} / Z({', '.join(above)})" if above else f"{' '.join(factors)} / Z"


def joint_terms(graph: Graph, context: str = "") -> tuple[Term, ...]:
    """The factors of the joint, parents first; functions and inputs have none."""
    extra = (Shown(context),) if context else ()
    terms = []
    for component in chain_components(graph):
        if graph.nodes[next(iter(component))].kind in ("random", "undirected"):
            terms.append(_component_term(graph, component, extra))
    for name in loose_ties(graph):
        potential = graph.potentials[name]
        members = _in_order(graph, _shown(graph, potential.expression, potential.axes))
        terms.append(Term(f"f_{name}", tuple(members), (), tuple(axis.name for axis in potential.axes)))
    return tuple(terms)


def _component_term(graph: Graph, component: Component, extra: tuple[Shown, ...]) -> Term:
    """`p(members | parents)`."""
    left = _in_order(graph, (Shown(n, tuple(axis.name for axis in graph.nodes[n].plates)) for n in component))
    first = graph.nodes[left[0].name]
    sources = [(first.log_density, first.plates)]
    if first.kind == "undirected":
        sources = [(found.expression, found.axes) for found in potentials_of(graph, component)]
    right = [part for source, axes in sources for part in _shown(graph, source, axes)]
    if first.kind == "undirected":
        right = [part for part in right if part.name not in component]
    right = [part for part in _in_order(graph, dict.fromkeys(right)) if part not in left]
    return Term("p", tuple(left), (*right, *extra), tuple(axis.name for axis in first.plates))


def _shown(graph: Graph, source: Expression, axes: tuple[Index, ...]) -> list[Shown]:
    """The variables of an expression, each at its place where that is one element of the plates, else as a whole.

    Functions are looked through: the density of a node whose mean is `m = w x` is p(y | w, x).
    """
    found: dict[Shown, None] = {}
    sources = [source]
    while sources:
        for part in walk(sources.pop()):
            if not isinstance(part, Reference):
                continue
            node = graph.nodes[part.name]
            if "@" in part.name:
                continue  # memberships and beginnings follow from the plates; pictures leave them out too
            if node.definition is not None:
                sources.append(substitute(node.definition, dict(zip(node.axes, part.indices, strict=True))))
                continue
            at = part.indices[: len(node.plates)]
            single = all(_is_single(position, axes) for position in at)
            found[Shown(part.name, tuple(text(position) for position in at) if single else ())] = None
    return list(found)


def _is_single(position: Expression, axes: tuple[Index, ...]) -> bool:
    match position:
        case Index():
            return position in axes
        case Lag(index):
            return index in axes
        case Constant():
            return True
    return False


def _in_order(graph: Graph, parts: Iterable[Shown]) -> list[Shown]:
    """In the order of writing."""
    listed = list(parts)
    if len(listed) < 2:
        return listed
    wanted = {part.name for part in listed}
    place = {name: at for at, name in enumerate(graph.nodes) if name in wanted}
    return sorted(listed, key=lambda part: (place[part.name], part.at))


def _grouped(terms: tuple[Term, ...]) -> dict[tuple[str, ...], list[Term]]:
    """Factors by their plates, those without plates first."""
    groups: dict[tuple[str, ...], list[Term]] = {(): []}
    for term in terms:
        groups.setdefault(term.plates, []).append(term)
    return {plates: found for plates, found in groups.items() if found}


def _bracketed(factors: str, terms: list[Term], last: bool) -> str:
    """A product reaches to the end of the line, so only an inner one needs brackets."""
    return factors if last or len(terms) == 1 else f"({factors})"


def _escaped(name: str) -> str:
    return name.replace("_", r"\_")
