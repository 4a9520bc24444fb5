"""Print a mean-field plan as a standalone NumPy program: both distributions, each given expectations of the other.

    parameters(data, size)     the exact posterior from expected statistics: its parameters, moments, log normaliser;
                               where blocks of parameters take turns, that of each given moments of the others
    expect(data, size)         expectations of the hidden variables from moments of the parameters, and their entropy

The library runs these functions; a file has them with the tools that they call, and gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

from platewright.algebra.build import substitute
from platewright.algebra.expression import Expression, Index, Reference, free_indices, names
from platewright.backends.carried import definitions, names_of
from platewright.backends.hints import without_hints
from platewright.backends.kernels import accelerated, bound, few_rows, search
from platewright.backends.layout import laid_out
from platewright.backends.naming import comment
from platewright.backends.numpy import mean_field_support
from platewright.backends.numpy.few_rows import RESERVED as GATHERING
from platewright.backends.numpy.few_rows import gather_function, gathering_first
from platewright.backends.numpy.field_moments import moment_lines
from platewright.backends.numpy.hidden_steps import HiddenEmitter
from platewright.backends.numpy.learning import DEFAULTS, Options, learn_text
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

SEARCH = (bound, search, accelerated)
"""What every program carries along for its search."""


def numpy_mean_field_source(plan: MeanFieldPlan, options: Options = DEFAULTS, gathered: bool = True) -> str:
    """The whole program as text; on few rows where these can stand for all, unless it is said that they did not."""
    return laid_out(mean_field_emitter(plan, gathered).module(options))


def mean_field_emitter(plan: MeanFieldPlan, gathered: bool = True) -> MeanFieldEmitter:
    """What prints a plan."""
    few = find_few_rows(plan) if gathered else None
    return MeanFieldEmitter(plan) if few is None or isinstance(few, Declined) else MeanFieldEmitter(few.plan, few)


class MeanFieldEmitter(HiddenEmitter):
    """Prints both steps of a plan with one table of names."""

    title = "mean field"
    plan: MeanFieldPlan

    def __init__(self, plan: MeanFieldPlan, few: FewRows[MeanFieldPlan] | None = None) -> None:
        words = ["found", "values", "entropy", "moments", "evidence", "starting_points", "statistics", "settled"]
        words += [f"{word}_{k}" for k in range(len(plan.fields)) for word in ("statistics", "settled")]
        words += names_of(SEARCH)
        words += [] if few is None else [*GATHERING, *names_of((few_rows,))]
        super().__init__(plan, [*names_of((mean_field_support,)), *words])
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

    def module(self, options: Options = DEFAULTS) -> str:
        """A file: the algorithm, and all that it needs."""
        learn = learn_text(mean_field_support, options)
        parts = [*self.algorithm(), learn if self.few is None else gathering_first(learn)]
        if self.few is not None:
            parts = [gather_function(self, self.few), *parts]
        return self.assembled(parts, self.modules)

    @property
    def modules(self) -> tuple[ModuleType, ...]:
        """Where the tools of the algorithm stand."""
        return (mean_field_support, few_rows, *SEARCH)

    def algorithm(self) -> list[str]:
        """The functions that are derived from the model, in the order in which they are used."""
        parts = [self.start_function(), *self.choosing_function(), self.starting_points_function()]
        for number, block in enumerate(self.plan.fields):
            parts += self.block_functions(number, block)
        parts += [self.parameters_function(), *self.hidden_functions(), self.expect_function()]
        return [*parts, without_hints(definitions(mean_field_support)["update"])]

    def starting_points_function(self) -> str:
        """What makes moments to start from."""
        begin = ["data, size = starting_rows(data, size, seed)"] if self.choosing_function() else []
        body = [*begin, "return lambda generator: parameters({**data, **start(data, size, generator)}, size)[1]"]
        doc = "What makes moments to start from, given a generator: those that follow from soft guesses."
        return self.making([], "starting_points(data, size, seed)", doc, body)

    # -- parameters ---

    def block_functions(self, number: int, block: FieldBlock) -> list[str]:
        """The exact posterior of a block with expected statistics, and what the other updates need of it."""
        self.program = self.plan.latent.programs[number]
        ending = f"_{number}" if len(self.plan.fields) > 1 else ""
        # Means that shrink to nothing leave columns that follow from others: then every digit of a pool counts.
        passes = self.passes_body(careful=True)
        results = [f'"{self.names(s.name)}": {self.names(s.name)}' for s in self.program.passes]
        passes.append(f"return {{{', '.join(results)}}}")
        told = "Expected statistics of all rows (Theorem 4.1)."
        summing = self.making([s.name for s in self.program.passes], f"statistics{ending}(data, size)", told, passes)
        body = [*self.found_lines(), *self.finish_body()]
        shown = [name for name in self.program.results if name != EVIDENCE]
        body += ["values = {", *(f'    "{name}": {self.names(name)},' for name in shown), "}"]
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
        body += [f"moments = {{{listed}}}", f"return values, moments, float({part})"]
        given = "expected statistics" if self.plan.latent.names else "moments of the others"
        of = "the parameters" if len(self.plan.fields) == 1 else comment(", ".join(block.variables))
        doc = f"The distribution of {of} given {given}, its moments, and its {'log normaliser' if last else 'entropy'}."
        made = [*moments, *block.variables]
        return [summing, self.making(made, f"settled{ending}(found, data, size)", doc, body)]

    def parameters_function(self) -> str:
        """All blocks, one after another."""
        if len(self.plan.fields) == 1:
            doc = "The distribution of the parameters given expectations of the hidden variables, and its moments."
            lines = ["return settled(statistics(data, size), data, size)"]
        else:
            doc = "The distribution of each block in turn, given expectations and the newest moments of the others."
            lines = ["values, moments, evidence = {}, {}, 0.0"]
            for number in range(len(self.plan.fields)):
                given = f"statistics_{number}(everything, size), everything, size"
                lines += [
                    "everything = {**data, **moments}",
                    f"found = settled_{number}({given})",
                    "values, moments, evidence = {**values, **found[0]}, {**moments, **found[1]}, evidence + found[2]",
                ]
            lines.append("return values, moments, evidence")
        return "\n".join(["def parameters(data, size):", f'    """{doc}"""', *(f"    {line}" for line in lines)])

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
