"""Print how hidden Gaussians are conditioned on the data: their curvature and slope, and what the kernel makes of them.

curvature_z(data, size)     P and the gradient of the log factors that hold z, element by element
log_factors_z(data, size)   these log factors
condition_z(data, size)     points with the mean and covariance of z, and the log integral over it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from platewright.algebra.expression import Index
from platewright.backends.layout import called
from platewright.backends.naming import comment
from platewright.backends.numpy.program import Emitter
from platewright.language.plate import beginning
from platewright.operations.split_partly_known import observed_name
from platewright.program.statements import Assign
from platewright.schemas.gaussian_hidden import (
    GaussianGroup,
    GaussianMember,
    block_name,
    gradient_name,
)
from platewright.schemas.hidden import earlier_name

Function = Callable[[Sequence[str], str, str, list[str]], str]


class GaussianText:
    """The functions of one group of hidden Gaussians."""

    def __init__(self, emitter: Emitter, group: GaussianGroup, function: Function, with_entropy: bool = False) -> None:
        self.emitter, self.group, self.function = emitter, group, function
        self.printer, self.names = emitter.printer, emitter.names
        self.with_entropy = with_entropy
        self.word = self.names(group.name)
        self.shown = comment(", ".join(member.name for member in group.members))

    @property
    def arrays(self) -> list[str]:
        """What conditioning gives: points, log integrals, and entropies where they are asked for."""
        found = [member.point for member in self.group.members]
        if self.group.step is not None:
            found += [member.earlier for member in self.group.members]
        return [*found, self.group.log_norm, *([f"{self.group.name}.entropy"] if self.with_entropy else [])]

    @property
    def call(self) -> str:
        """The statement that conditions the group."""
        return f"{', '.join(self.names(name) for name in self.arrays)} = condition_{self.word}(data, size)"

    @property
    def points(self) -> str:
        """How many points stand for the group, as an expression of sizes."""
        return f"{2 if self.group.step is None else 4} * {_atom(self.width)}"

    # -- sizes ---

    def tuple_of(self, axes: Sequence[Index]) -> str:
        """Sizes of axes."""
        return "(" + "".join(f"{self.printer.size(axis.plate)}, " for axis in axes).rstrip() + ")"

    def one_width(self, member: GaussianMember) -> str:
        """How many numbers a member has in an element."""
        return self.printer.width(member.inner)

    @property
    def width(self) -> str:
        """How many numbers all members have in an element."""
        return " + ".join(self.one_width(member) for member in self.group.members)

    @property
    def shapes(self) -> str:
        """The shapes of the members in an element."""
        return f"[{', '.join(self.tuple_of(member.inner) for member in self.group.members)}]"

    def parted(self, ending: str, flat: str) -> str:
        """The statement that parts an array over all numbers of an element into the members."""
        listed = ", ".join(self.names(member.name + ending) for member in self.group.members)
        return f"[{listed}] = parted({flat}, {self.shapes})"

    @property
    def given(self) -> str:
        """The values at which functions of the group are evaluated, as arguments."""
        return "at" if self.group.step is None else "at, before"

    def at_given(self, word: str, doc: str, lines: list[str]) -> str:
        """A function of values of the members."""
        begin = [self.parted(".at", "at")]
        if self.group.step is not None:
            begin.append(self.parted(".at.before", "before"))
        signature = f"{word}_{self.word}(data, size, {self.given})"
        return self.function(self.own, signature, doc, [*begin, *lines])

    @property
    def own(self) -> list[str]:
        """Arrays that the functions make themselves."""
        members = self.group.members
        return [*self.arrays, *(m.at for m in members), *(f"{m.at}.before" for m in members)]

    # -- functions ---

    def functions(self) -> list[str]:
        """All of them, each after those it calls."""
        return [self.curvature(), self.log_factors(), self.condition()]

    def body(self, statements: Sequence[object]) -> list[str]:
        """Assignments of a program of the group."""
        lines = []
        for statement in statements:
            assert isinstance(statement, Assign)
            value = self.printer.printed(statement.expression, statement.indices, full=True)
            lines.append(f"{self.names(statement.name)} = {value}")
        return lines

    def curvature(self) -> str:
        """P and the gradient at the values that the data hold for the members."""
        group = self.group
        now = [member.name for member in group.members]
        earlier = [earlier_name(name) for name in now]
        lines = self.body(group.curvature.body)
        lines.append(f"shape, widths = {self.tuple_of(group.axes)}, [{', '.join(map(self.one_width, group.members))}]")
        parts = {"now": self.blocks(now, now)}
        if group.step is not None:
            parts |= {"earlier": self.blocks(earlier, earlier), "across": self.blocks(earlier, now)}
        parts["slope"] = self.slopes(now)
        if group.step is not None:
            parts["earlier_slope"] = self.slopes(earlier)
        lines += [f"{word} = {text}" for word, text in parts.items()]
        doc = f"Curvature and slope of the log factors of {self.shown}, element by element."
        if group.step is not None:
            doc = f"Curvature about a step of {self.shown}, about the one before, and across; slopes of both."
        return self.at_given("curvature", doc, [*lines, f"return {', '.join(parts)}"])

    def blocks(self, rows: Sequence[str], columns: Sequence[str]) -> str:
        """A matrix from the blocks of members against members."""
        title = self.group.name
        shown = (f"[{', '.join(self.names(block_name(title, one, two)) for two in columns)}]" for one in rows)
        return f"blocks_joined([{', '.join(shown)}], shape, widths)"

    def slopes(self, versions: Sequence[str]) -> str:
        """A gradient from those of the members."""
        listed = ", ".join(self.names(gradient_name(self.group.name, name)) for name in versions)
        return f"members_joined([{listed}], shape, widths)"

    def log_factors(self) -> str:
        """The log factors at the values that the data hold for the members."""
        lines = self.body(self.group.value.body)
        doc = f"The log factors of {self.shown}, element by element."
        value = self.names(f"{self.group.name}.value")
        return self.at_given("log_factors", doc, [*lines, f"return {value}"])

    def condition(self) -> str:
        """Points, log integrals and entropies given everything else."""
        group, integral = self.group, self.names(self.group.log_norm)
        words = (f"curvature_{self.word}", f"log_factors_{self.word}")
        calls = [f"lambda {self.given}: {word}(data, size, {self.given})" for word in words]
        if group.step is not None:
            first = self.names(beginning(group.step.plate))
            lines = [f"_, pair, root, {integral}, log_root = {called('smoothed_gaussians', *calls, first, self.width)}"]
            lines += ["cloud = points(pair, root)", *self.both_parts()]
        else:
            shape = self.tuple_of(group.axes)
            lines = [f"mean, root, {integral}, log_root = {called('conditioned', *calls, shape, self.width)}"]
            lines.append(self.parted(".point", "points(mean, root)"))
        results = [self.names(name) for name in self.arrays if not name.endswith(".entropy")]
        if self.with_entropy:
            results.append(f"0.5 * {_atom(self.width)} * (1 + np.log(2 * np.pi)) - log_root")
        lines = "\n".join([*lines, f"return {', '.join(results)}"]).splitlines()
        doc = f"Points with the mean and covariance of {self.shown} given all else, and the log integral over it."
        return self.function(self.own, f"condition_{self.word}(data, size)", doc, lines)

    def both_parts(self) -> list[str]:
        """Points of a step, and of the one before."""
        return [
            self.parted(".point", f"cloud[..., : {self.width}]"),
            self.parted(".earlier", f"cloud[..., {self.width} :]"),
        ]

    # -- the start ---

    def start(self, columns: Sequence[str]) -> list[str]:
        """Points about random values; about the mean of the cells that were seen, where some were."""
        group = self.group
        widths = ", ".join(map(self.one_width, group.members))
        parts = ", ".join(self.guess(member, columns) for member in group.members)
        flat = f"members_joined([{parts}], {self.tuple_of(group.axes)}, [{widths}])"
        if group.step is None:
            return [self.parted(".point", f"points_about({flat})")]
        return [f"cloud = points_about(paired({flat}))", *self.both_parts()]

    def guess(self, member: GaussianMember, columns: Sequence[str]) -> str:
        """Random values of a member."""
        noise = f"generator.normal(size={self.tuple_of((*self.group.axes, *member.inner))})"
        name = member.name.removesuffix(".missing")
        if name == member.name or name not in columns:
            return noise
        rows = tuple(number for number, axis in enumerate(member.axes) if axis in self.group.batch)
        return f"about_the_seen({noise}, {self.names(name)}, {self.names(observed_name(name))}, {rows})"


def _atom(text: str) -> str:
    return text if text.replace("_", "").isalnum() else f"({text})"
