"""Print a Gibbs plan as a standalone NumPy program: a function for each block, `sweep`, and `learn`.

Every block is drawn from its exact conditional given the newest values of the others. The file needs NumPy and SciPy
only; given the same generator it makes the same draws as the library does.
"""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np

from platewright.algebra.expression import Index
from platewright.backends.hints import functions_of, without_hints
from platewright.backends.layout import laid_out
from platewright.backends.naming import comment
from platewright.backends.numpy import gibbs_support
from platewright.backends.numpy.chain import ChainText
from platewright.backends.numpy.draws import draw_lines
from platewright.backends.numpy.main import main_text
from platewright.backends.numpy.program import Emitter
from platewright.errors import PlatewrightError
from platewright.graph.graph import topological
from platewright.language.plate import beginning
from platewright.language.variable import Variable
from platewright.program.program import Program
from platewright.schemas.exact import fixed_sizes
from platewright.schemas.gibbs import Block, ChainBlock, ExactBlock, GibbsPlan

RESERVED = (
    *(function.__name__ for function in gibbs_support.SHARED),
    *("sweep", "summary", "generator", "values", "value", "kept", "chains", "draws"),
)
"""Names that mean something in a sampler."""


def numpy_gibbs_source(plan: GibbsPlan) -> str:
    """The whole program as text."""
    return laid_out(_GibbsEmitter(plan).module())


class _GibbsEmitter(Emitter):
    """Prints the programs of all blocks with one table of names."""

    def __init__(self, plan: GibbsPlan) -> None:
        self.plan = plan
        self.nodes = dict(plan.graph.nodes)
        self.unknown = list(dict.fromkeys(name for block in plan.blocks for name in block.variables))
        used = {name for factor in plan.factors for name in factor.names} - set(self.unknown)
        used |= {beginning(self.nodes[b.variables[0]].axes[0].plate) for b in plan.blocks if isinstance(b, ChainBlock)}
        for block in plan.blocks:
            if isinstance(block, ExactBlock):
                used |= {name for name in block.plan.program.columns if name not in self.unknown}
        self.data = [name for name in self.nodes if name in used]
        labels = {name: plate.labels for name, plate in plan.graph.plates.items() if plate.labels is not None}
        columns = {name: self.nodes[name].axes for name in self.data}
        codes = {n: str(self.nodes[n].domain.levels) for n in self.data if self.nodes[n].domain.kind == "levels"}
        self.plain = Program(plan.graph.title, columns, (), (), (), codes, fixed_sizes(plan.graph), labels)
        super().__init__(self.plain, [*RESERVED, *(f"draw_{number}" for number in range(len(plan.blocks)))])

    def module(self) -> str:
        """Blocks, the sweep over them, and the loop around it."""
        parts = [self.start_function(), *(self.block(n, b) for n, b in enumerate(self.plan.blocks)), self.sweep()]
        shared = self.support(self._with_dependencies(self.printer.used))
        texts = gibbs_texts()
        shared += [text for name, text in texts.items() if name in self.printer.used]
        body = [*shared, *parts, texts["learn"], texts["summary"]]
        lines = ["import csv", "import sys", "", "import numpy as np"]
        if "special." in "".join(body):
            lines.append("from scipy import special")
        main = main_text(self.plain, self.names, False)
        main = main.replace("results = learn(data, size)", "results = summary(learn(data, size))")
        return "\n\n\n".join(part.strip("\n") for part in (self.header(), "\n".join(lines), *body, main) if part) + "\n"

    def header(self) -> str:
        title, summary = comment(self.plan.graph.title), comment(self.plan.summary)
        first = f'"""{title}: Gibbs sampling, derived and written by Platewright.'
        return "\n".join([first, "", summary, "", "Run: python FILE data.csv", '"""'])

    def plates(self) -> tuple[str, ...]:
        """All plates of the model, and the values of finite integers."""
        return tuple(dict.fromkeys((*self.plan.graph.plates, *fixed_sizes(self.plan.graph))))

    # -- blocks ---

    def block(self, number: int, block: Block) -> str:
        """A function that draws one block given all else."""
        match block:
            case ExactBlock():
                self.program = block.plan.program
                body = [line.replace('" in exact)', '" in ())') for line in self.passes_body()]
                body += self.finish_body()
                for conditional in reversed(block.plan.conditionals):
                    body += draw_lines(self, conditional, self.nodes)
            case ChainBlock():
                body = self.chain(block)
            case _:
                raise PlatewrightError(
                    f"`{block.variables[0]}` is not drawn from an exact conditional, and has no standalone source yet"
                )
        shown = [self.names(name) for name in block.variables]
        body.append(f"return {{{', '.join(f'{chr(34)}{name}{chr(34)}: {name}' for name in shown)}}}")
        doc = f"Draw {comment(', '.join(block.variables))} given all else."
        return self._making(block.variables, f"draw_{number}(data, size, generator)", doc, body)

    def chain(self, block: ChainBlock) -> list[str]:
        """A hidden chain, drawn as a whole."""
        self.printer.used.add("draw_chain")
        node = self.nodes[block.variables[0]]
        plate = str(node.domain.levels) if node.domain.kind == "levels" else f"{node.name}.levels"
        now = Index(f"{node.name}.level", plate)
        weights = ChainText(self, node.name, node.axes[0], now, Index(f"{node.name}.level'", plate))
        lines = weights.lines(block.factors)
        return [*lines, f"{self.names(node.name)} = draw_chain(generator, {weights.arguments})"]

    def sweep(self) -> str:
        lines = ["def sweep(values, data, size, generator):"]
        lines.append('    """Draw every block once, in order, each given the newest values of the others."""')
        lines += ["    values = dict(values)", '    with np.errstate(all="ignore"):']
        for number, _ in enumerate(self.plan.blocks):
            lines.append(f"        values |= draw_{number}({{**data, **values}}, size, generator)")
        return "\n".join([*lines, "    return values"])

    # -- the start ---

    def start_function(self) -> str:
        wanted = [name for name in topological(self.plan.graph) if name in self.unknown]
        body = [f"{self.names(name)} = {self.started(self.nodes[name])}" for name in wanted]
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in wanted)
        body.append(f"return {{{listed}}}")
        return self._making(wanted, "start(data, size, generator)", "Values to start from, jittered.", body)

    def started(self, node: Variable) -> str:
        """A value of the right kind, as the library starts from."""
        shape = "(" + "".join(f"{self.printer.size(axis.plate)}, " for axis in node.axes).rstrip() + ")"
        domain = node.domain
        match domain.kind:
            case "levels":
                return f"generator.integers(0, {self.printer.size(str(domain.levels))}, {shape})"
            case "integer":
                upper = int(domain.upper) if np.isfinite(domain.upper) else int(domain.lower) + 3
                return f"generator.integers({int(domain.lower)}, {upper + 1}, {shape})"
            case "simplex":
                self.printer.used.add("draw_shares")
                return f"draw_shares(generator, np.full({shape}, 5.0))"
            case "matrix":
                self.printer.used.add("near_identity")
                return f"near_identity(generator, {shape})"
            case "circle":
                return f"generator.uniform(-np.pi, np.pi, {shape})"
        if np.isfinite(domain.lower) and np.isfinite(domain.upper):
            return f"{domain.lower!r} + {domain.upper - domain.lower!r} * generator.beta(4.0, 4.0, {shape})"
        if np.isfinite(domain.lower):
            return f"{domain.lower!r} + np.exp(0.3 * generator.standard_normal({shape}))"
        if np.isfinite(domain.upper):
            return f"{domain.upper!r} - np.exp(0.3 * generator.standard_normal({shape}))"
        return f"0.5 * generator.standard_normal({shape})"

    def _making(self, made: tuple[str, ...] | list[str], signature: str, doc: str, body: list[str]) -> str:
        """A function that may read all data and unknowns, but for what it makes itself."""
        kept = self.program
        columns = {name: node.axes for name, node in self.nodes.items() if name not in made}
        self.program = replace(kept, columns=columns)
        text = self._function(signature, doc, body)
        self.program = self.plain
        return text


def gibbs_texts() -> dict[str, str]:
    """The functions that samplers share, as emitted, by name."""
    texts = functions_of(inspect.getsource(gibbs_support))
    wanted = (*gibbs_support.SHARED, gibbs_support.learn, gibbs_support.summary)
    return {function.__name__: without_hints(texts[function.__name__]) for function in wanted}
