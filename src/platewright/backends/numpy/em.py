"""Print an EM plan as a standalone NumPy program: `start`, `expect`, `statistics`, `maximise` and `learn`.

    statistics(data, size)        expected statistics: the exact plan's pass, with probabilities in place of values
    maximise(found, data, size)   the closed-form mode of the parameters
    expect(data, size)            probabilities of the hidden variables, and log p(data, parameters)

The file needs NumPy and SciPy only. Given the same seed it starts where the library starts, and takes the same steps;
the library takes longer ones as well where EM is slow.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace

from platewright.backends.hints import functions_of, without_hints
from platewright.backends.layout import laid_out
from platewright.backends.naming import comment
from platewright.backends.numpy import em_support
from platewright.backends.numpy.main import main_text
from platewright.backends.numpy.modes import mode_lines
from platewright.backends.numpy.program import Emitter
from platewright.errors import PlatewrightError
from platewright.language.plate import beginning
from platewright.program.statements import Assign
from platewright.schemas.em import EMPlan
from platewright.schemas.hidden import Hidden, joint_name
from platewright.schemas.latent import Chain

RESERVED = (
    *(function.__name__ for function in (*em_support.SHARED, em_support.climbed)),
    *("expect", "maximise", "objective", "generator", "values", "value", "history", "everything", "expectations"),
)
"""Names that mean something in an EM program."""


def numpy_em_source(plan: EMPlan) -> str:
    """The whole program as text."""
    return laid_out(_EMEmitter(plan).module())


class _EMEmitter(Emitter):
    """Prints both programs of a plan with one table of names."""

    def __init__(self, plan: EMPlan) -> None:
        if odd := sorted(plan.latent.names - {item.name for item in plan.hidden}):
            raise PlatewrightError(f"`{odd[0]}` is hidden and not discrete: EM for it has no standalone source yet")
        if len(plan.blocks) > 1:
            raise PlatewrightError("parameters that take turns have no standalone source yet")
        super().__init__(plan.maximise, RESERVED)
        self.plan = plan
        nodes = plan.graph.nodes
        self.data = [name for name in nodes if plan.graph.is_known(name) and self._is_read(name)]
        self.expected = expected_statements(plan)
        both = {**plan.maximise.columns, **plan.expect.columns}
        for chain in plan.latent.chains:
            both |= {**chain.weights.columns, **chain.shares.columns, **chain.start.columns}
        learned = [name for conditional in plan.complete.conditionals for name in conditional.variables]
        both |= {name: node.axes for name, node in nodes.items() if name in self.data or name in learned}
        self.both = both

    def _is_read(self, name: str) -> bool:
        """Whether a known variable enters either step."""
        if name in self.plan.maximise.columns or name in self.plan.expect.columns:
            return True
        factors = [*self.plan.rest, *(factor for item in self.plan.hidden for factor in item.factors)]
        starts = {beginning(item.axes[0].plate) for item in self.plan.hidden if item.chain}
        return name in starts or any(name in factor.names for factor in factors)

    # -- the module ---

    def module(self) -> str:
        parts = [self.start_function(), self.statistics_function(), self.maximise_function(), self.expect_function()]
        used = self._with_dependencies(self.printer.used)
        own = [text for name, text in em_texts().items() if name in self.printer.used]
        plain = replace(
            self.program,
            columns={name: self.both[name] for name in self.data},
            codes={name: plate for name, plate in self._codes().items() if name in self.data},
            sizes={**self.plan.expect.sizes, **self.program.sizes},
        )
        shared = [*self.support(used), *own]
        loop = [em_texts()["climbed"], em_texts()["learn"]]
        text = [self.header(), self.imports_of("".join([*shared, *parts])), *shared, *parts, *loop]
        text.append(main_text(plain, self.names, False))
        return "\n\n\n".join(part.strip("\n") for part in text if part) + "\n"

    def _codes(self) -> dict[str, str]:
        nodes = self.plan.graph.nodes
        return {name: str(nodes[name].domain.levels) for name in self.data if nodes[name].domain.kind == "levels"}

    def header(self) -> str:
        title = comment(self.plan.graph.title)
        lines = [
            f'"""{title}: expectation maximisation, derived and written by Platewright.',
            "",
            comment(self.plan.summary),
            "",
            "Run: python FILE data.csv",
            '"""',
        ]
        return "\n".join(lines)

    def imports_of(self, text: str) -> str:
        lines = ["import csv", "import sys", "", "import numpy as np"]
        return "\n".join([*lines, "from scipy import special"] if "special." in text else lines)

    # -- maximisation ---

    def maximise_function(self) -> str:
        body = self.found_lines() + self.finish_body()
        body += mode_lines(self, self.plan)
        found = [name for conditional in self.plan.complete.conditionals for name in conditional.variables]
        shown = [self.names(name) for name in found]
        body.append(f"if not all(np.isfinite(value).all() for value in ({', '.join(shown)},)):")
        body.append('    raise ArithmeticError("the objective has no upper bound from here")')
        body.append(f"return {{{', '.join(f'{chr(34)}{name}{chr(34)}: {name}' for name in shown)}}}")
        doc = "The mode of the parameters given statistics."
        return self._making(found, "maximise(found, data, size)", doc, body)

    # -- expectation ---

    def expect_function(self) -> str:
        body: list[str] = []
        for chain in self.plan.latent.chains:
            body += self.assigned(chain.weights.body) + self.recursions(chain)
        body += self.assigned(self.plan.expect.body)
        results = [s.name for s in self.plan.expect.body if s.name.endswith(".probability")]
        totals_of = [f"np.sum({self.names(name)})" for group in self.plan.latent.groups for name in group.log_norms]
        for chain in self.plan.latent.chains:
            body += self.assigned(chain.shares.body)
            results += chain.results
            totals_of += [] if chain.group.classes else [f"np.sum({self.names(chain.group.norm)})"]
        body.append("# log p(data, parameters)")
        for factor in self.plan.rest:
            totals_of.append(f"np.sum({self.printer.printed(factor.expression, factor.axes, full=True)})")
        body.append(f"objective = {totals_of[0] if totals_of else '0.0'}")
        body += [f"objective = objective + {part}" for part in totals_of[1:]]
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in results)
        body.append(f"return {{{listed}}}, float(objective)")
        doc = "Probabilities of the hidden variables given parameters, and log p(data, parameters)."
        made = [*self.expected, *results]
        return self._making(made, "expect(data, size)", doc, ['with np.errstate(all="ignore"):', *_indented(body)])

    def assigned(self, statements: Sequence[Assign]) -> list[str]:
        """Statements of a program, each with its reason."""
        lines = []
        for statement in statements:
            lines += self._because(statement.because)
            value = self.printer.printed(statement.expression, statement.indices, full=True)
            lines.append(f"{self.names(statement.name)} = {value}")
        return lines

    def recursions(self, chain: Chain) -> list[str]:
        """The recursions along the chains of a group, given the classes of their sequences."""
        self.printer.used |= {"forward_backward", "relative_to"}
        group = chain.group
        held = chain.move_axes
        outside = (group.step, *(item.level for item in group.classes))
        marks = [":" if axis in held else "None" for axis in outside]
        moves = self.names(group.moves)
        if "None" in marks:
            moves += f"[{', '.join(marks)}]"
        made = ", ".join(self.names(name) for name in (group.single_share, group.pair_share, group.norm))
        given = [self.names(group.single), moves, self.names(beginning(group.step.plate))]
        given += [str(len(group.states))] if len(group.states) > 1 else []
        shown = f"{', '.join(group.now)}: forward and backward along {group.step.plate}"
        shown += f", for each value of {', '.join(group.above)}" if group.classes else ""
        return [*self._because(shown), f"{made} = forward_backward({', '.join(given)})"]

    # -- the start ---

    def start_function(self) -> str:
        body: list[str] = []
        found: list[str] = []
        for item in self.plan.hidden:
            self.printer.used.add("soft_start")
            name = self.names(item.probability)
            shape = "".join(f"{self.printer.size(axis.plate)}, " for axis in item.axes)
            levels = self.printer.size(item.level.plate)
            columns = ", ".join(self.features(item))
            body.append(f"{name} = soft_start([{columns}], ({shape.rstrip()}), {levels}, generator)")
            found.append(item.probability)
        for chain in self.plan.latent.chains:
            body += self.assigned(chain.start.body)
            found += [statement.name for statement in chain.start.body]
        for joint in self.plan.latent.joint:
            if joint_name(joint) not in found:
                body.append(self.independent(joint))
                found.append(joint_name(joint))
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in found)
        body.append(f"return {{{listed}}}")
        return self._making(found, "start(data, size, generator)", "Soft guesses of the hidden variables.", body)

    def features(self, item: Hidden) -> list[str]:
        """The data on the rows of a hidden variable; labels become zeros and ones."""
        found = []
        for name in self.plan.graph.nodes:
            node = self.plan.graph.nodes[name]
            if name not in self.data or node.kind != "random" or node.axes[: len(item.axes)] != item.axes:
                continue
            text = self.names(name)
            if node.domain.kind == "levels":
                self.printer.used.add("levels_apart")
                text = f"levels_apart({text})"
            found.append(text)
        return found

    def independent(self, joint: tuple[str, ...]) -> str:
        """Joint probabilities of several variables, each on its own so far."""
        parts = []
        for number, name in enumerate(joint):
            marks = ", ".join(":" if k == number else "None" for k in range(len(joint)))
            parts.append(f"{self.names(f'{name}.probability')}[..., {marks}]")
        return f"{self.names(joint_name(joint))} = {' * '.join(parts)}"

    def _making(self, made: list[str], signature: str, doc: str, body: list[str]) -> str:
        """A function that may read the columns of both programs, but for what it makes itself."""
        kept = self.program
        columns = {name: axes for name, axes in self.both.items() if name not in made}
        self.program = replace(kept, columns=columns, sizes={**self.plan.expect.sizes, **kept.sizes})
        text = self._function(signature, doc, body)
        self.program = kept
        return text


def expected_statements(plan: EMPlan) -> list[str]:
    """What the expectation makes on its way."""
    found = [statement.name for statement in plan.expect.body]
    for chain in plan.latent.chains:
        group = chain.group
        found += [statement.name for statement in (*chain.weights.body, *chain.shares.body)]
        found += [group.single_share, group.pair_share, group.norm]
    return found


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def em_texts() -> dict[str, str]:
    """The functions that EM programs share, as emitted, by name."""
    texts = functions_of(inspect.getsource(em_support))
    wanted = (*em_support.SHARED, em_support.climbed, em_support.learn)
    return {function.__name__: without_hints(texts[function.__name__]) for function in wanted}
