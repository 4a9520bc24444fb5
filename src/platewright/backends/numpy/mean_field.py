"""Print a mean-field plan as a standalone NumPy program: both distributions, each given expectations of the other.

    parameters(data, size)     the exact posterior from expected statistics: its parameters, moments, log normaliser
    expect(data, size)         expectations of the hidden variables from moments of the parameters, and their entropy

The file needs NumPy and SciPy only; given the same seed it takes the steps that the library takes.
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.expression import Expression, Index, Reference, free_indices, names
from platewright.backends.carried import definitions
from platewright.backends.hints import without_hints
from platewright.backends.layout import laid_out
from platewright.backends.naming import comment
from platewright.backends.numpy import mean_field_support
from platewright.backends.numpy.draws import single_passes
from platewright.backends.numpy.hidden_steps import HiddenEmitter
from platewright.elimination.expected import moment_name
from platewright.elimination.state import FamilyConditional
from platewright.errors import PlatewrightError
from platewright.family import EVENT, EVENT_TOO, Argument, filled
from platewright.language.plate import beginning
from platewright.program.program import EVIDENCE
from platewright.recognition.moments import expected_statistics
from platewright.schemas.hidden import Group, joint_name
from platewright.schemas.latent import Chain
from platewright.schemas.mean_field import MeanFieldPlan


def numpy_mean_field_source(plan: MeanFieldPlan) -> str:
    """The whole program as text."""
    return laid_out(_MeanFieldEmitter(plan).module())


class _MeanFieldEmitter(HiddenEmitter):
    """Prints both steps of a plan with one table of names."""

    title = "mean field"

    def __init__(self, plan: MeanFieldPlan) -> None:
        if len(plan.blocks) > 1:
            raise PlatewrightError("mean field with several blocks of parameters has no standalone source")
        super().__init__(plan, plan.blocks, [*definitions(mean_field_support), "found", "entropy", "bounds", "moments"])
        self.learned = [name for conditional in plan.blocks[0].conditionals for name in conditional.variables]
        for factor in (factor for item in plan.hidden for factor in item.factors):
            self.both |= {name: () for name in sorted(factor.names) if name not in self.both}
        self.both = {name: axes for name, axes in self.both.items() if name not in plan.latent.names}

    @property
    def with_entropy(self) -> bool:
        return True

    def module(self) -> str:
        """Everything, in the order in which it is used."""
        parts = [self.start_function(), self.parameters_function(), *self.hidden_functions(), self.expect_function()]
        texts = definitions(mean_field_support)
        parts += [without_hints(texts["raised"]), without_hints(texts["learn"])]
        return self.assembled(parts, [mean_field_support])

    # -- parameters ---

    def parameters_function(self) -> str:
        """The exact posterior with expected statistics, and what the hidden variables need of it."""
        body = [*single_passes(self), *self.finish_body()]
        moments: list[str] = []
        for conditional in self.plan.blocks[0].conditionals:
            match conditional:
                case FamilyConditional():
                    body += self.family_moments(conditional, moments)
                case _:
                    raise PlatewrightError(f"moments of `{conditional.variables[0]}` have no standalone source")
        shown = [name for name in self.program.results if name != EVIDENCE]
        body += ["found = {", *(f'    "{name}": {self.names(name)},' for name in shown), "}"]
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in moments)
        body += [f"moments = {{{listed}}}", f"return found, moments, float({self.names(EVIDENCE)})"]
        doc = "The distribution of the parameters given expected statistics, its moments, and its log normaliser."
        return self.making([*moments, *self.learned], "parameters(data, size)", doc, body)

    def family_moments(self, found: FamilyConditional, moments: list[str]) -> list[str]:
        """Expected statistics of a family, from the derivatives of its log normaliser (Lemma 4.2)."""
        node, family = self.plan.graph.nodes[found.variable], found.recognised.family
        if any(names(value) & set(self.learned) for value in found.parameters.values()):
            raise PlatewrightError(f"moments of `{found.variable}`, which depends on others, have no standalone source")
        given = {
            parameter.name: Argument(found.parameters[parameter.name], node.events[: parameter.rank])
            for parameter in family.parameters
        }
        lines = [f"# {comment(found.variable)}: expected statistics of {family.name}"]
        for number, moment in enumerate(expected_statistics(family)):
            placed = filled(moment, given, node.events)
            axes = (*node.plates, *self.moment_events(moment, node.events))
            name = moment_name(found.variable, number)
            moments.append(name)
            lines.append(f"{self.names(name)} = {self.printer.printed(placed, axes, full=True)}")
        return lines

    def moment_events(self, moment: Expression, events: tuple[Index, ...]) -> tuple[Index, ...]:
        """The event axes that a statistic has."""
        free = free_indices(moment)
        return tuple(own for own, event in zip(events, (EVENT, EVENT_TOO), strict=False) if event in free)

    # -- hidden variables ---

    def expect_function(self) -> str:
        """Expectations, and the entropy."""
        body, results = self.hidden_lines()
        body.append("# entropy of the hidden variables")
        parts = self.entropies()
        body.append(f"entropy = {parts[0]}")
        body += [f"entropy = entropy + {part}" for part in parts[1:]]
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in results)
        body.append(f"return {{{listed}}}, float(entropy)")
        doc = "Expectations of the hidden variables given moments of the parameters, and their entropy."
        quiet = ['with np.errstate(all="ignore"):', *(f"    {line}" for line in body)]
        return self.making(self.made_by_hidden(), "expect(data, size)", doc, quiet)

    def entropies(self) -> Sequence[str]:
        """The entropy, part by part."""
        found = [text for group in self.plan.latent.groups for text in self.clique_entropies(group)]
        for cloud in self.plan.latent.gaussian:
            entropy = self.names(f"{cloud.name}.entropy")
            classes = tuple(item.name for item in cloud.classes)
            found.append(f"np.sum({self.names(joint_name(classes))} * {entropy})" if classes else f"np.sum({entropy})")
        for chain in self.plan.latent.chains:
            found.append(self.chain_entropy(chain))
            found += [text for inner in chain.group.inner for text in self.clique_entropies(inner)]
        return found

    def clique_entropies(self, group: Group) -> list[str]:
        """That of each clique's first variable given the others, in turn."""
        found = []
        for clique in group.cliques:
            shown = ", ".join(self.names(n) for n in (clique.probability, clique.log_weight, clique.message))
            found.append(f"clique_entropy({shown}, {len(group.axes)})")
        return found

    def chain_entropy(self, chain: Chain) -> str:
        """That of the states given the classes of their sequences."""
        group = chain.group
        arrays = [self.names(name) for name in (group.norm, group.single_share, group.pair_share, group.single)]
        arrays += [self.moves_of(chain), self.names(beginning(group.step.plate)), str(len(group.states))]
        if group.classes:
            levels = tuple(item.level for item in group.classes)
            weight = Reference(joint_name(group.above), (*group.place, *levels))
            arrays.append(self.printer.printed(weight, (group.step, *levels), full=True))
        return f"chain_entropy({', '.join(arrays)})"
