"""Turn a prior and the factors below it into a posterior of the same family  (Lemma 4.1, Lemma 6.4).

    theta ~ prior(tau),  log factors in theta          becomes          theta ~ posterior(tau'),  evidence

The evidence of the factors, `log Z(tau') - log Z(tau) + ...`, stays behind as a log factor without theta.
"""

from __future__ import annotations

from dataclasses import replace

from platewright.algebra.build import add, multiply, substitute, totals
from platewright.algebra.expression import ZERO, Expression
from platewright.family import Argument, filled
from platewright.graph.determinism import det_children
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Potential, Variable
from platewright.operation import Declined, Step
from platewright.recognition.recognise import Recognised, recognise
from platewright.recognition.transform import IDENTITY

NAME = "conjugate_update"


def conjugate_update(graph: Graph, node: str) -> Step | Declined:
    """Give a node its posterior, given everything else; its children lose their factors to the evidence."""
    found = _recognised(graph, node)
    if isinstance(found, Declined):
        return found
    touching = _touching(graph, node)
    posterior = replace(graph.nodes[node], log_density=posterior_density(found), family=found.family)
    evidence = add(found.rest, totals(found.log_normaliser, found.target.plates))
    after = _replaced(graph, [factor.owner for factor in touching], [posterior], evidence, f"evidence_{node}")
    shown = tuple(f"{node}_{name} = {value}" for name, value in found.parameters.items())
    return Step(NAME, graph, after, f"the terms in {node} are those of a {found.family.name}", "Lemma 4.1", shown)


def _touching(graph: Graph, node: str) -> list[Factor]:
    """The factors that hold a node, and its own: a uniform prior is a constant, but its constant counts."""
    return [factor for factor in graph.factors if node in factor.names or factor.owner == node]


def _recognised(graph: Graph, node: str) -> Recognised | Declined:
    if node not in graph.nodes:
        return Declined(NAME, f"there is no node {node}")
    if graph.is_known(node) or graph.nodes[node].kind != "random":
        return Declined(NAME, f"{node} is known or not random")
    if functions := det_children(graph, node):
        return Declined(NAME, f"{node} is looked at through {min(functions)}: remove deterministic nodes first")
    found = recognise(_touching(graph, node), graph.nodes[node], graph.facts)
    return Declined(NAME, found.reason) if isinstance(found, Declined) else found


def posterior_density(found: Recognised) -> Expression:
    """The log density of the target itself under its recognised conditional, change of variable included."""
    target, axes = found.target, found.target.events
    arguments = {
        name: Argument(value, axes[: found.family.parameter(name).rank]) for name, value in found.parameters.items()
    }
    if found.transform is IDENTITY:
        return filled(found.family.log_density, {**arguments, "x": Argument(target.symbol, axes)}, axes)
    from platewright.recognition.transform import X, Y

    value = substitute(found.transform.forward, {X: target.symbol})
    density = filled(found.family.log_density, {**arguments, "x": Argument(value, axes)}, axes)
    jacobian = substitute(found.transform.log_jacobian, {Y: value})
    return add(density, multiply(-1.0, jacobian))


def _replaced(graph: Graph, owners: list[str], changed: list[Variable], evidence: Expression, label: str) -> Graph:
    """Factors of the owners go; changed nodes and the evidence come."""
    emptied = {
        name: replace(node, log_density=ZERO, kind="input" if graph.is_known(name) else node.kind)
        for name, node in graph.nodes.items()
        if name in owners and name not in {new.name for new in changed}
    }
    nodes = {**graph.nodes, **emptied, **{node.name: node for node in changed}}
    potentials = {name: found for name, found in graph.potentials.items() if name not in owners}
    if evidence != ZERO:
        potentials[label] = Potential(label, (), evidence)
    return replace(graph, nodes=nodes, potentials=potentials)
