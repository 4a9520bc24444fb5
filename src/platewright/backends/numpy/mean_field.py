"""Print a mean-field plan as a standalone NumPy program: both distributions, each given expectations of the other.

    parameters(data, size)     the exact posterior from expected statistics: its parameters, moments, log normaliser;
                               where blocks of parameters take turns, that of each given moments of the others
    expect(data, size)         expectations of the hidden variables from moments of the parameters, and their entropy

The file needs NumPy and SciPy only; given the same seed it takes the steps that the library takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from platewright.algebra.build import substitute
from platewright.algebra.expression import Expression, Index, Reference, free_indices, names
from platewright.backends.carried import definitions, names_of
from platewright.backends.hints import without_hints
from platewright.backends.kernels import few_rows
from platewright.backends.layout import laid_out
from platewright.backends.naming import comment
from platewright.backends.numpy import mean_field_support
from platewright.backends.numpy.few_rows import RESERVED as GATHERING
from platewright.backends.numpy.few_rows import gather_function, gathering_first
from platewright.backends.numpy.field_moments import moment_lines
from platewright.backends.numpy.hidden_steps import HiddenEmitter
from platewright.backends.numpy.starting import started
from platewright.elimination.expected import moment_name
from platewright.elimination.loadings import direction, mean_name, source_name
from platewright.elimination.state import FamilyConditional, GaussianConditional
from platewright.errors import PlatewrightError
from platewright.family import EVENT, EVENT_TOO, Argument, X, filled
from platewright.graph.graph import topological
from platewright.language.plate import beginning
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.program.program import EVIDENCE
from platewright.program.statements import Assign
from platewright.recognition.moments import expected_statistics
from platewright.recognition.transform import IDENTITY
from platewright.schemas.few_rows import FewRows, find_few_rows
from platewright.schemas.field_blocks import ENTROPY, FieldBlock
from platewright.schemas.hidden import Group, joint_name
from platewright.schemas.latent import Chain
from platewright.schemas.mean_field import MeanFieldPlan


def numpy_mean_field_source(plan: MeanFieldPlan) -> str:
    """The whole program as text."""
    return laid_out(mean_field_emitter(plan).module())


def mean_field_emitter(plan: MeanFieldPlan) -> _MeanFieldEmitter:
    """What prints a plan: on the few rows that stand for all, where moments of rows are enough."""
    few = find_few_rows(plan)
    return _MeanFieldEmitter(plan) if isinstance(few, Declined) else _MeanFieldEmitter(few.plan, few)


class _MeanFieldEmitter(HiddenEmitter):
    """Prints both steps of a plan with one table of names."""

    title = "mean field"
    plan: MeanFieldPlan

    def __init__(self, plan: MeanFieldPlan, few: FewRows[MeanFieldPlan] | None = None) -> None:
        words = ["found", "entropy", "bounds", "moments", "evidence", *(f"block_{k}" for k in range(len(plan.fields)))]
        words += [] if few is None else [*GATHERING, *names_of((few_rows,))]
        super().__init__(plan, [*definitions(mean_field_support), *words])
        self.few = few
        self.learned = [name for block in plan.fields for name in block.variables]
        for block in plan.fields:
            self.both |= block.expecter.arrays
        for factor in (factor for item in plan.hidden for factor in item.factors):
            self.both |= {name: () for name in sorted(factor.names) if name not in self.both}
        self.both = {name: axes for name, axes in self.both.items() if name not in plan.latent.names}
        if few is not None:
            self.both = {name: few.weigher.axes(axes) for name, axes in self.both.items()}

    @property
    def with_entropy(self) -> bool:
        return True

    def made_sizes(self) -> dict[str, str]:
        """The noises of Gaussian blocks have as many directions as these have unknowns."""
        found = {}
        for conditional in self.plan.complete.conditionals:
            if isinstance(conditional, GaussianConditional):
                columns = conditional.statement.columns[: conditional.statement.eliminated]
                found[direction(source_name(conditional)).plate] = " + ".join(
                    self.printer.width(c.dense) for c in columns
                )
        return found

    def module(self) -> str:
        """Everything, in the order in which it is used."""
        blocks = [self.block_function(number, block) for number, block in enumerate(self.plan.fields)]
        parts = [] if self.few is None else [gather_function(self, self.few)]
        parts += [self.start_function(), *blocks]
        if len(blocks) > 1:
            parts.append(in_turn(len(blocks)))
        parts += [*self.hidden_functions(), self.expect_function()]
        texts = definitions(mean_field_support)
        learn = without_hints(texts["learn"])
        parts += [without_hints(texts["raised"]), learn if self.few is None else gathering_first(learn)]
        return self.assembled(parts, [mean_field_support, few_rows])

    # -- parameters ---

    def block_function(self, number: int, block: FieldBlock) -> str:
        """The exact posterior of a block with expected statistics, and what the other updates need of it."""
        self.program = self.plan.latent.programs[number]
        body = [*self.passes_body(careful=True), *self.finish_body()]
        shown = [name for name in self.program.results if name != EVIDENCE]
        body += ["found = {", *(f'    "{name}": {self.names(name)},' for name in shown), "}"]
        moments: list[str] = []
        for conditional in reversed(block.plan.conditionals):
            match conditional:
                case FamilyConditional():
                    body += self.family_moments(conditional, moments)
                case GaussianConditional():
                    body += moment_lines(self, conditional, block.plan.conditionals, moments)
                case _:
                    raise PlatewrightError(f"moments of `{conditional.variables[0]}` have no standalone source")
        last = block is self.plan.fields[-1]
        part = self.names(EVIDENCE)
        if not last:
            assert block.entropy is not None
            body += self.assigned([s for s in block.entropy.body if isinstance(s, Assign)])
            part = self.names(ENTROPY)
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in moments)
        body += [f"moments = {{{listed}}}", f"return found, moments, float({part})"]
        given = "expected statistics" if self.plan.latent.names else "moments of the others"
        of = "the parameters" if len(self.plan.fields) == 1 else comment(", ".join(block.variables))
        doc = f"The distribution of {of} given {given}, its moments, and its {'log normaliser' if last else 'entropy'}."
        name = "parameters" if len(self.plan.fields) == 1 else f"block_{number}"
        return self.making([*moments, *block.variables], f"{name}(data, size)", doc, body)

    def family_moments(self, found: FamilyConditional, moments: list[str]) -> list[str]:
        """Expected statistics of a family, from the derivatives of its log normaliser (Lemma 4.2)."""
        node, family = self.plan.graph.nodes[found.variable], found.recognised.family
        if any(names(value) & set(self.learned) for value in found.parameters.values()):
            raise PlatewrightError(f"moments of `{found.variable}`, which depends on others, have no standalone source")
        given = {
            parameter.name: Argument(found.parameters[parameter.name], node.events[: parameter.rank])
            for parameter in family.parameters
        }
        return [
            f"# {comment(found.variable)}: expected statistics of {family.name}",
            *self.statistics_lines(node, expected_statistics(family), given, moments),
        ]

    def statistics_lines(
        self, node: Variable, templates: Sequence[Expression], given: Mapping[str, Argument], moments: list[str]
    ) -> list[str]:
        """One array for each statistic of a family."""
        lines = []
        for number, template in enumerate(templates):
            axes = (*node.plates, *self.moment_events(template, node.events))
            name = moment_name(node.name, number)
            moments.append(name)
            value = self.printer.printed(filled(template, given, node.events), axes, full=True)
            lines.append(f"{self.names(name)} = {value}")
        return lines

    # -- the start ---

    def start_values(self) -> tuple[list[str], list[str]]:
        """Where blocks take turns, the moments of moderate values."""
        if len(self.plan.fields) == 1:
            return [], []
        nodes = self.plan.graph.nodes
        wanted = [name for name in topological(self.plan.graph) if name in self.learned]
        lines = [f"{self.names(name)} = {started(self, nodes[name])}" for name in wanted]
        lines.append("# moments of single values")
        moments: list[str] = []
        for conditional in self.plan.complete.conditionals:
            match conditional:
                case FamilyConditional(variable, recognised, _):
                    node = nodes[variable]
                    value: Expression = node.symbol
                    if recognised.transform is not IDENTITY:
                        value = substitute(recognised.transform.forward, {X: value})
                    given = {"x": Argument(value, node.events)}
                    lines += self.statistics_lines(node, recognised.family.statistics, given, moments)
                case GaussianConditional():
                    lines += [f"{self.names(mean_name(v))} = {self.names(v)}" for v in conditional.variables]
                    moments += [mean_name(v) for v in conditional.variables]
        arrays = {name: axes for block in self.plan.fields for name, axes in block.expecter.arrays.items()}
        for name in (name for name in arrays if name not in moments):
            shape = ", ".join(self.printer.size(axis.plate) for axis in arrays[name])
            lines.append(f"{self.names(name)} = np.zeros(({shape}{',' if len(arrays[name]) == 1 else ''}))")
            moments.append(name)
        return lines, moments

    def moment_events(self, moment: Expression, events: tuple[Index, ...]) -> tuple[Index, ...]:
        """The event axes that a statistic has."""
        free = free_indices(moment)
        return tuple(own for own, event in zip(events, (EVENT, EVENT_TOO), strict=False) if event in free)

    # -- hidden variables ---

    def expect_function(self) -> str:
        """Expectations, and the entropy."""
        body, results = self.hidden_lines()
        body.append("# entropy of the hidden variables")
        parts = self.entropies() or ["0.0"]
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
            share = f"{self.printer.printed(cloud.share, cloud.axes, full=True)} * " if cloud.classes else ""
            found.append(f"np.sum({share}{self.weight_of(cloud)}{entropy})")
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


def in_turn(count: int) -> str:
    """The function that updates blocks of parameters one after another."""
    blocks = ", ".join(f"block_{number}" for number in range(count))
    return f'''
def parameters(data, size):
    """The distribution of each block in turn, given expectations and the newest moments of the others."""
    found, moments, evidence = {{}}, {{}}, 0.0
    for block in ({blocks}):
        own, its_moments, part = block({{**data, **moments}}, size)
        found |= own
        moments |= its_moments
        evidence += part
    return found, moments, evidence
'''
