"""What programs with hidden variables share, be they EM or mean field: their start, and the expectations themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import ModuleType

from platewright.algebra.expression import ONE, Index, Size, all_indices, walk
from platewright.backends.carried import names_of
from platewright.backends.kernels import gaussian, gaussian_chain, hidden_chain, impossible, starting_rows
from platewright.backends.naming import comment
from platewright.backends.numpy import em_support, gibbs_support
from platewright.backends.numpy.assembling import Frame
from platewright.backends.numpy.family_text import family_text
from platewright.backends.numpy.hidden_gaussian import GaussianText
from platewright.backends.numpy.program import Emitter
from platewright.backends.numpy.pruning import pruned
from platewright.family import Family
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.language.plate import beginning
from platewright.program.statements import Assign
from platewright.schemas.em import EMPlan
from platewright.schemas.gaussian_hidden import GaussianGroup
from platewright.schemas.hidden import Hidden
from platewright.schemas.latent import Chain
from platewright.schemas.mean_field import MeanFieldPlan

KERNELS = (gaussian_chain, gaussian, hidden_chain, impossible, starting_rows, gibbs_support)
RESERVED = (
    *names_of((*KERNELS, em_support)),
    *("expect", "generator", "values", "value", "expectations", "everything", "shape", "widths", "cloud", "root"),
    *("log_root", "pair", "now", "earlier", "across", "slope", "earlier_slope", "at", "before", "mean"),
    *("few", "chosen", "seed", "seen"),
)
"""Names that mean something in such a program."""


class HiddenEmitter(Emitter):
    """Prints all programs of a plan with one table of names."""

    title = ""

    def __init__(self, plan: EMPlan | MeanFieldPlan, reserved: Sequence[str]) -> None:
        words = [group.name for group in plan.latent.gaussian]
        own = [f"{part}_{word}" for word in words for part in ("curvature", "log_factors", "condition")]
        super().__init__(plan.latent.programs[0], [*RESERVED, *reserved, *own])
        self.plan = plan
        self.families: list[tuple[Family, str]] = []
        nodes = plan.graph.nodes
        self.data = [name for name in nodes if plan.graph.is_known(name) and self._is_read(name)]
        both = {name: axes for program in plan.latent.programs for name, axes in program.columns.items()}
        for group in plan.latent.gaussian:
            both |= {**group.curvature.columns, **group.value.columns}
        for chain in plan.latent.chains:
            both |= {**chain.weights.columns, **chain.shares.columns, **chain.start.columns}
        both |= {**plan.latent.start.columns, **plan.expect.columns}
        both |= {name: node.axes for name, node in nodes.items() if name in self.data or name in plan.learned}
        self.both = {name: axes for name, axes in both.items() if name not in plan.latent.names}
        self.clouds = [GaussianText(self, group, self.making, self.with_entropy) for group in plan.latent.gaussian]

    @property
    def with_entropy(self) -> bool:
        """Whether conditioning has to tell entropies."""
        return False

    def _is_read(self, name: str) -> bool:
        """Whether a known variable enters any step."""
        latent = self.plan.latent
        programs = [
            *latent.programs,
            latent.expect,
            latent.start,
            *(p for g in latent.gaussian for p in (g.curvature, g.value)),
        ]
        programs += [program for chain in latent.chains for program in (chain.weights, chain.shares, chain.start)]
        if any(name in program.columns for program in programs):
            return True
        factors = [*self.plan.rest, *(factor for item in self.plan.hidden for factor in item.factors)]
        starts = {beginning(chain.group.step.plate) for chain in latent.chains}
        starts |= {beginning(group.step.plate) for group in latent.gaussian if group.step is not None}
        return name in starts or any(name in factor.names for factor in factors)

    # -- the module ---

    @property
    def tools(self) -> tuple[ModuleType, ...]:
        """Where the tools stand that all programs with hidden variables share."""
        return (*KERNELS, em_support)

    def own_functions(self) -> list[str]:
        """The texts of functions of families that were called so far."""
        return list(dict.fromkeys(text for family, kind in self.families for text in family_text(family, kind)))

    def assembled(self, parts: Sequence[str], modules: Sequence[ModuleType]) -> str:
        """The parts with all that they need."""
        needed = {name: self.plan.graph.nodes[name].axes for name in self.data}
        frame = Frame(self.plan.graph, self.title, self.plan.summary, needed)
        every = [*modules, *self.tools]
        return frame.around([*parts, *self.own_functions()], self.support(), self.names, every, STAND_INS)

    def plates(self) -> tuple[str, ...]:
        """All plates but those of points, whose number follows from others."""
        found = {plate: None for program in self.plan.latent.programs for plate in program.plates}
        found |= dict.fromkeys(self.plan.expect.plates)
        for group in self.plan.latent.gaussian:
            found |= dict.fromkeys((*group.curvature.plates, *group.value.plates))
        for chain in self.plan.latent.chains:
            found |= dict.fromkeys((*chain.weights.plates, *chain.shares.plates, *chain.start.plates))
        for factor in self.plan.rest:  # what nothing hidden enters may hold a plate that no statistic runs over
            sizes = {part.plate for part in walk(factor.expression) if isinstance(part, Size)}
            indices = {*factor.axes, *all_indices(factor.expression)}
            found |= dict.fromkeys(sorted(sizes | {index.plate for index in indices}))
        found |= dict.fromkeys(fixed_sizes(self.plan.graph))
        made = {*self.plan.latent.points, *self.made_sizes()}
        return tuple(plate for plate in found if plate not in made)

    def statistics_of(self, ending: str = "") -> str:
        """The pass of the present program."""
        body = self.passes_body()
        results = [f'"{self.names(s.name)}": {self.names(s.name)}' for s in self.program.passes]
        body.append(f"return {{{', '.join(results)}}}")
        more = ", exact=()" if self.pools() else ""
        doc = "Expected statistics of all rows (Theorem 4.1)."
        return self.making([s.name for s in self.program.passes], f"statistics{ending}(data, size{more})", doc, body)

    def making(self, made: Sequence[str], signature: str, doc: str, body: list[str]) -> str:
        """A function that may read the columns of all programs, but for what it makes itself."""
        kept = self.program
        self.program = replace(kept, columns={name: axes for name, axes in self.both.items() if name not in made})
        text = "\n".join(body)
        counts = {self.printer.size(cloud.group.point.plate): cloud.points for cloud in self.clouds}
        counts |= {self.printer.size(plate): count for plate, count in self.made_sizes().items()}
        known = [f"{size} = {count}" for size, count in counts.items() if size in text]
        found = pruned(self._function(signature, doc, [*known, *body]))
        self.program = kept
        return found

    def made_sizes(self) -> dict[str, str]:
        """Plates whose sizes follow from others, with code for these."""
        return {}

    # -- expectations ---

    def hidden_functions(self) -> list[str]:
        """What conditions hidden Gaussians."""
        return [text for cloud in self.clouds for text in cloud.functions()]

    def hidden_lines(self) -> tuple[list[str], list[str]]:
        """Statements that compute all expectations, and the arrays that the statistics need of them."""
        body: list[str] = []
        results: list[str] = []
        for cloud in self.clouds:
            body += [f"# {cloud.shown}: Gaussian given the rest", cloud.call]
            results += [name for name in cloud.arrays if name.endswith((".point", ".earlier"))]
        for chain in self.plan.latent.chains:
            body += self.assigned(chain.weights.assignments) + self.recursions(chain)
        body += self.assigned(self.plan.expect.assignments)
        results += [s.name for s in self.plan.expect.body if s.name.endswith(".probability")]
        for chain in self.plan.latent.chains:
            body += self.assigned(chain.shares.assignments)
            results += chain.results
        return body, results

    def assigned(self, statements: Sequence[Assign]) -> list[str]:
        """Statements of a program, each with its reason."""
        lines = []
        reason = ""
        for statement in statements:
            lines += self._because(statement.because, reason)
            reason = statement.because
            value = self.printer.printed(statement.expression, statement.indices, full=True)
            lines.append(f"{self.names(statement.name)} = {value}")
        return lines

    def made_by_hidden(self) -> list[str]:
        """All arrays that these statements assign."""
        found = [name for cloud in self.clouds for name in cloud.arrays]
        found += [statement.name for statement in self.plan.expect.body]
        for chain in self.plan.latent.chains:
            group = chain.group
            found += [statement.name for statement in (*chain.weights.body, *chain.shares.body)]
            found += [group.single_share, group.pair_share, group.norm, *chain.results]
        return found

    def log_norms(self) -> list[str]:
        """The parts of log p(data | parameters) that hidden variables leave."""
        clouds = [cloud for cloud in self.plan.latent.gaussian if not cloud.classes]
        found = [f"np.sum({self.weight_of(cloud)}{self.names(cloud.log_norm)})" for cloud in clouds]
        found += [f"np.sum({self.names(name)})" for group in self.plan.latent.groups for name in group.log_norms]
        chains = [chain.group for chain in self.plan.latent.chains if not chain.group.classes]
        return found + [f"np.sum({self.names(group.norm)})" for group in chains]

    def weight_of(self, cloud: GaussianGroup) -> str:
        """What an element of hidden Gaussians is multiplied by, where it counts for many."""
        return "" if cloud.weight == ONE else f"{self.printer.printed(cloud.weight, cloud.batch, full=True)} * "

    def moves_of(self, chain: Chain) -> str:
        """The log weights of neighbours, with an axis for the steps and for each class."""
        group, held = chain.group, chain.move_axes
        marks = [":" if axis in held else "None" for axis in (group.step, *(item.level for item in group.classes))]
        return self.names(group.moves) + (f"[{', '.join(marks)}]" if "None" in marks else "")

    def recursions(self, chain: Chain) -> list[str]:
        """The recursions along the chains of a group, given the classes of their sequences."""
        group = chain.group
        made = ", ".join(self.names(name) for name in (group.single_share, group.pair_share, group.norm))
        given = [self.names(group.single), self.moves_of(chain), self.names(beginning(group.step.plate))]
        given += [str(len(group.states))] if len(group.states) > 1 else []
        shown = f"{', '.join(group.now)}: forward and backward along {group.step.plate}"
        shown += f", for each value of {', '.join(group.above)}" if group.classes else ""
        given = [self.quoted(item.name for item in group.members), *given]
        return [*self._because(shown), f"{made} = forward_backward({', '.join(given)})"]

    def quoted(self, names: Iterable[str]) -> str:
        """Names of the model as a string in the text."""
        listed = comment(", ".join(names)).replace('"', "'")
        return f'"{listed}"'

    # -- the start ---

    def count_of(self, axes: Sequence[Index]) -> str:
        """How many elements there are along some axes, as an expression of sizes."""
        return " * ".join(f'size["{self.names(axis.plate)}"]' for axis in axes) or "1"

    def choosing_function(self) -> list[str]:
        """What takes some rows to start from, where all unknowns can do with some."""
        plan, nodes = self.plan, self.plan.graph.nodes
        plates = {axes[0].plate for axes in plan.latent.elements}
        row = min(plates, default="")
        if len(plates) != 1 or plan.latent.gaussian:
            return []
        if any(node.domain.levels == row for node in nodes.values()):  # rows that belong to these
            return []
        if any(row in {axis.plate for axis in nodes[name].axes} for name in plan.learned):  # each row has its own
            return []
        first = f', data["{self.names(beginning(row))}"]' if any(item.chain for item in plan.hidden) else ""
        rows, few = f'size["{self.names(row)}"]', []
        for name in self.data:
            plates_of = [axis.plate for axis in nodes[name].axes]
            if row in plates_of:
                key, axis = f'"{self.names(name)}"', plates_of.index(row)
                few.append(f"{key}: np.take(data[{key}], chosen, axis={axis})")
        body = [
            f"if {rows} <= ROWS_TO_START:",
            "    return data, size",
            f"chosen = rows_to_start({rows}, seed{first})",
            f"few = {{{', '.join(few)}}}",
            f'return {{**data, **few}}, {{**size, "{self.names(row)}": len(chosen)}}',
        ]
        doc = "Some of the rows, where there are many: more of them say nothing more about where to start."
        return [self.making([], "starting_rows(data, size, seed)", doc, body)]

    def start_function(self) -> str:
        """Guesses of all expectations."""
        body: list[str] = []
        found: list[str] = []
        for item in self.plan.hidden:
            name = self.names(item.probability)
            shape = "".join(f"{self.printer.size(axis.plate)}, " for axis in item.axes)
            levels = self.printer.size(item.level.plate)
            numbers, labels = (", ".join(columns) for columns in self.features(item))
            body.append(f"{name} = soft_start([{numbers}], [{labels}], ({shape.rstrip()}), {levels}, generator)")
            found.append(item.probability)
        for chain in self.plan.latent.chains:
            body += self.assigned(chain.start.assignments)
            found += [statement.name for statement in chain.start.body]
        body += self.assigned(self.plan.latent.start.assignments)
        found += [statement.name for statement in self.plan.latent.start.body]
        for cloud in self.clouds:
            body += cloud.start(self.data)
            found += [name for name in cloud.arrays if name.endswith((".point", ".earlier"))]
        more, names = self.start_values()
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in (*found, *names))
        body += [*more, f"return {{{listed}}}"]
        doc = "Soft guesses of the hidden variables" + (", and moderate parameters." if names else ".")
        own = set(self.plan.graph.unknown)
        return self.making([*found, *names, *own], "start(data, size, generator)", doc, body)

    def start_values(self) -> tuple[list[str], list[str]]:
        """Parameters to begin with, where they are needed: statements, and names."""
        return [], []

    def features(self, item: Hidden) -> tuple[list[str], list[str]]:
        """The data on the rows of a hidden variable: numbers, and labels."""
        numbers: list[str] = []
        labels: list[str] = []
        for name in self.plan.graph.nodes:
            node = self.plan.graph.nodes[name]
            if name in self.data and node.kind == "random" and node.axes[: len(item.axes)] == item.axes:
                (labels if node.domain.kind == "levels" else numbers).append(self.names(name))
        return numbers, labels


STAND_INS = ("start", "expect", "learn", "sweep", "statistics", "parameters", "hill", "starting_points", "update")
"""Functions that an emitter writes or places itself."""
