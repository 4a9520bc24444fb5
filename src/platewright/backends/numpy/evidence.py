"""Print a plan for the evidence as a standalone NumPy program: an exact evidence with some unknowns held, summed over.

    statistics(data, size)              those that no held unknown enters, computed once
    statistics_given(data, size)        the others
    log_evidence(found, data, size)     the exact log evidence with the held unknowns among the data

What lists values or lays grids is a kernel, which the file carries along; it gives the number of the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

from platewright.algebra.expression import names
from platewright.backends.carried import definitions, names_of
from platewright.backends.hints import without_hints
from platewright.backends.kernels import coordinates, enumeration, impossible, pieces, quadrature
from platewright.backends.kernels.coordinates import coordinates_kind
from platewright.backends.layout import laid_out
from platewright.backends.numpy import evidence_support
from platewright.backends.numpy.assembling import Frame
from platewright.backends.numpy.expression import float_text
from platewright.backends.numpy.program import Emitter
from platewright.backends.numpy.pruning import pruned
from platewright.errors import PlatewrightError
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.operations.split_partly_known import observed_name, seen_name
from platewright.program.pointwise import POINT
from platewright.program.program import EVIDENCE, Program, expressions_of
from platewright.program.statements import Assign, Pool, Statistic
from platewright.schemas.evidence import EvidencePlan, exchanged_together

KERNELS = (coordinates, pieces, quadrature, enumeration, impossible, evidence_support)
RESERVED = (*names_of(KERNELS), "values", "found", "most", "listed", "surface", "statistics_given")
"""Names that mean something in such a program."""
TITLES = {"enumeration": "the evidence by enumeration", "quadrature": "the evidence by quadrature"}


def numpy_evidence_source(plan: EvidencePlan) -> str:
    """The whole program as text."""
    if plan.schema not in TITLES:
        raise PlatewrightError(f"{plan.schema} has no standalone source")
    return laid_out(EvidenceEmitter(plan).module())


class EvidenceEmitter(Emitter):
    """Prints the exact evidence, and what is done with it."""

    def __init__(self, plan: EvidencePlan, reserved: Sequence[str] = ()) -> None:
        assert plan.complete is not None
        self.plan, self.nodes = plan, plan.graph.nodes
        program = plan.complete.program
        super().__init__(replace(program, results=(EVIDENCE,)), (*RESERVED, *reserved))
        held = [name for name in plan.hidden if name not in program.columns]
        for name in held:
            self.names(name)

    def module(self) -> str:
        """Everything, in the order in which it is used."""
        by_schema = {"enumeration": self.enumeration, "quadrature": self.quadrature}
        learn = without_hints(definitions(evidence_support)[f"{self.plan.schema}_learn"])
        learn = learn.replace(f"def {self.plan.schema}_learn(", "def learn(")
        parts = [*self.given_functions(), by_schema[self.plan.schema](), learn]
        return self.around(parts, TITLES[self.plan.schema], KERNELS, STAND_INS)

    def given_functions(self) -> list[str]:
        """Statistics, and the exact log evidence with the held unknowns known."""
        whole = self.program
        held = frozenset(self.plan.hidden) | {name for name, axes in whole.columns.items() if POINT in axes}
        moving = [s for s in whole.passes if any(names(part) & held for part in expressions_of(s))]
        fixed = [s for s in whole.passes if s not in moving]
        found = self.names(EVIDENCE)
        body = [*self.found_lines(), *self.finish_body()]
        body.append(f"return {found}" if is_of_points(whole) else f"return float({found})")
        doc = "The exact log evidence with the held unknowns known."
        return [
            self._pass("statistics", "Statistics that no held unknown enters (Theorem 4.1).", fixed),
            self._pass("statistics_given", "Statistics with the held unknowns among the data.", moving),
            pruned(self._function("log_evidence(found, data, size)", doc, body)),
        ]

    def around(self, parts: Sequence[str], title: str, kernels: Sequence[ModuleType], without: Sequence[str]) -> str:
        """The program around its own functions, with the data that it reads."""
        held = frozenset(self.plan.hidden)
        columns = {name: tuple(i for i in axes if i != POINT) for name, axes in self.program.columns.items()}
        needed = {name: axes for name, axes in columns.items() if name not in held}
        for name in held:
            for own in (seen_name(name), observed_name(name)):
                needed |= {own: self.nodes[own].axes} if own in self.nodes else {}
        frame = Frame(self.plan.graph, title, self.plan.summary, needed)
        return frame.around(parts, self.support(), self.names, kernels, without)

    def _pass(self, name: str, doc: str, statements: Sequence[Statistic | Pool]) -> str:
        kept = self.program
        self.program = replace(kept, passes=tuple(statements))
        body = [line.replace(" in exact)", " in ())") for line in self.passes_body()]
        listed = ", ".join(f'"{self.names(s.name)}": {self.names(s.name)}' for s in self.program.passes)
        text = self._function(f"{name}(data, size)", doc, [*body, f"return {{{listed}}}"])
        self.program = kept
        return text

    def plates(self) -> tuple[str, ...]:
        """All plates of the model, and the values of finite integers."""
        every = (*self.program.plates, *self.plan.graph.plates, *fixed_sizes(self.plan.graph))
        return tuple(dict.fromkeys(every))

    def _shape(self, name: str) -> str:
        return "(" + "".join(f"{self.printer.size(axis.plate)}, " for axis in self.nodes[name].axes).rstrip() + ")"

    # -- what is held ---

    def enumeration(self) -> str:
        """The function `listing`."""
        hidden = self.plan.hidden
        levels = []
        for name in hidden:
            domain = self.nodes[name].domain
            size = self.printer.size(str(domain.levels))
            levels.append(size if domain.kind == "levels" else str(domain.listed))
        given = []
        for name in hidden:
            if seen_name(name) in self.nodes:
                seen, observed = self.names(seen_name(name)), self.names(observed_name(name))
                given.append(f'"{self.names(name)}": np.where(data["{observed}"] != 0, data["{seen}"], -1)')
        groups = exchanged_together(self.plan, fixed_sizes(self.plan.graph))
        together = "".join(f"({self._listed(group)}), " for group in groups).rstrip()
        arguments = [
            f"({self._listed(hidden)})",
            f"({', '.join(self._shape(name) for name in hidden)},)",
            f"({', '.join(levels)},)",
            f"({together})",
            f"{{{', '.join(given)}}}",
        ]
        body = [f"return Listing({', '.join(arguments)})"]
        doc = "The cells of discrete unknowns to fill: names, shapes, levels, labels to exchange, what is known."
        return self._function("listing(data, size)", doc, body)

    def _listed(self, group: tuple[str, ...]) -> str:
        return "".join(f'"{self.names(name)}", ' for name in group).rstrip()

    def quadrature(self) -> str:
        """The function `held`."""
        charts, ends = [], []
        for name in self.plan.hidden:
            kind, found = coordinates_kind(self.nodes[name].domain)
            more = "".join(f", {float_text(end)}" for end in found)
            charts.append(f'{kind}("{self.names(name)}", {self._shape(name)}{more})')
            low, high = self.nodes[name].domain.open_ends
            ends.append(f'"{self.names(name)}": ({float_text(low)}, {float_text(high)})')
        body = [f"return Joined([{', '.join(charts)}]), {{{', '.join(ends)}}}"]
        return self._function(
            "held(size)", "Coordinates of the numbers that are integrated over, and their ends.", body
        )


STAND_INS = ("learn", "listing", "held", "statistics", "statistics_given", "log_evidence")
"""Functions that the emitter writes or places itself."""


def is_of_points(program: Program) -> bool:
    """Whether a program finds a log evidence for each of many points."""
    return any(isinstance(one, Assign) and one.name == EVIDENCE and one.indices for one in program.body)
