"""Print a collapsed Gibbs plan as a standalone NumPy program: tables, the move of one element, the sweep and `learn`.

    tables(data, size)                        the sums over rows that hidden variables enter
    enter_z(sign, data, size, *element)       put an element of z into its tables, or take it out
    weigh_z(data, size, *element)             the log weight of each of its levels, the element being out

It is written to be read, and the library runs it; the same plan has C for speed. The file needs NumPy and SciPy only.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from platewright.algebra.expression import Index
from platewright.backends.carried import definitions, names_of
from platewright.backends.kernels import collapsed, xoshiro
from platewright.backends.layout import laid_out
from platewright.backends.naming import comment
from platewright.backends.numpy import collapsed_support, gibbs_support
from platewright.backends.numpy.assembling import Frame
from platewright.backends.numpy.draws import draw_lines, single_passes
from platewright.backends.numpy.family_text import family_text
from platewright.backends.numpy.learning import DEFAULTS, Options, learn_text, nested
from platewright.backends.numpy.main import OPTIONS_OF
from platewright.backends.numpy.program import Emitter
from platewright.backends.numpy.pruning import pruned
from platewright.backends.numpy.starting import started
from platewright.family import Family
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import topological
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.collapsed_move import Change, Entry, Members, Move, Stage, at_positions

KERNELS = (xoshiro, collapsed, gibbs_support)
RESERVED = (
    *names_of(KERNELS),
    *definitions(collapsed_support),
    *(
        "tables",
        "generator",
        "values",
        "kept",
        "log_weights",
        "chains",
        "draws",
        "hidden",
        "sign",
        "found",
        "random",
        "element",
        "old",
    ),
    *("new", "everything", "members", "entered"),
)
"""Names that mean something in such a program."""
LEARNED = f"summary(learn(data, size, {OPTIONS_OF}))"
STAND_INS = ("learn", "prepared", "start", "sweep")


def numpy_collapsed_source(plan: CollapsedPlan, options: Options = DEFAULTS) -> str:
    """The whole program as text, with the options of a run as its defaults."""
    return laid_out(CollapsedEmitter(plan, options).module())


class CollapsedEmitter(Emitter):
    """Prints tables and moves with one table of names."""

    def __init__(self, plan: CollapsedPlan, options: Options = DEFAULTS) -> None:
        self.plan, self.options = plan, options
        self.nodes = dict(plan.graph.nodes)
        program = plan.complete.program
        self.data = [name for name in self.nodes if name in program.columns and name not in plan.hidden]
        columns = {name: self.nodes[name].axes for name in self.data}
        codes = {n: str(self.nodes[n].domain.levels) for n in self.data if self.nodes[n].domain.kind == "levels"}
        whole = tuple(name for name in program.whole if name in columns)
        self.plain = replace(program, columns=columns, codes=codes, sizes=fixed_sizes(plan.graph), whole=whole)
        words = [f"{word}_{name}" for name in plan.hidden for word in ("enter", "weigh", "stages")]
        super().__init__(self.plain, [*RESERVED, *words])
        self.families: list[tuple[Family, str]] = []
        entries = [entry for move in plan.moves for entry in (*move.entries, *_staged(move))]
        self.members = list(dict.fromkeys(entry.members for entry in entries if entry.members is not None))

    tools = KERNELS

    def sweeping(self) -> list[str]:
        """The functions of a sweep, in the order in which they are used."""
        parts = [self.prepared_function(), self.tables_function()]
        for move in self.plan.moves:
            parts += [self.enter_function(move), self.weigh_function(move)]
        return [*parts, self.sweep_function()]

    def module(self) -> str:
        """Everything, in the order in which it is used."""
        first, *others = self.sweeping()
        parts = [first, self.start_function(), *others, self.parameters_function()]
        parts.append(learn_text(collapsed_support, self.options))
        needed = {name: self.nodes[name].axes for name in self.data}
        frame = Frame(self.plan.graph, "collapsed Gibbs sampling", self.plan.summary, needed, LEARNED)
        own = [text for family, kind in self.families for text in family_text(family, kind)]
        return frame.around([*parts, *dict.fromkeys(own)], self.support(), self.names, KERNELS, STAND_INS)

    def plates(self) -> tuple[str, ...]:
        """All plates of the model, and the values of finite integers."""
        program = self.plan.complete.program
        return tuple(dict.fromkeys((*self.plan.graph.plates, *program.plates, *fixed_sizes(self.plan.graph))))

    def making(self, made: Collection[str], signature: str, doc: str, body: list[str]) -> str:
        """A function that may read data, hidden variables and tables, but for what it makes itself."""
        kept = self.program
        columns = {name: axes for name, axes in self.plan.columns.items() if name not in made}
        columns |= {name: self.nodes[name].axes for name in self.plan.hidden}
        columns |= {table.name: () for table in self.plan.tables if table.name not in made}
        self.program = replace(kept, columns=columns)
        text = self._function(signature, doc, body)
        self.program = kept
        return text

    # -- before the first sweep ---

    def prepared_function(self) -> str:
        """Right-hand sides about their pilot fit, and lists of the rows of each element."""
        body = ["data = dict(data)"]
        blocks = dict.fromkeys(column.block for column in self.plan.centred)
        for block in blocks:
            parts = [column for column in self.plan.centred if column.block == block]
            for part in parts:
                left = ", ".join(self.printer.printed(feature, part.rows, full=True) for feature in part.features)
                right = self.printer.printed(part.right, part.axes, full=True)
                body.append(f"{self.names(part.name + '.design')} = np.stack([{left}], axis=-1), np.asarray({right})")
            pooled = ", ".join(self.names(part.name + ".design") for part in parts if part.pooled)
            pilot = self.names(f"{block}.pilot")
            body.append(f"{pilot} = pilot_fit([{pooled}])")
            for part in parts:
                name = self.names(part.name)
                body.append(f'data["{name}"] = about_pilot(*{self.names(part.name + ".design")}, {pilot})')
        for number, members in enumerate(self.members):
            codes = self.printer.printed(members.code, (members.row,), full=True)
            body.append(f'data["rows_{number}"] = dealt({codes}, {self.printer.size(members.axis.plate)})')
        for plate, (axis, keys) in self.options.visited.items():
            listed = ", ".join(self.printer.printed(key, (axis,), full=True) for key in reversed(keys))
            body.append(f'data["{self.order(plate)}"] = np.lexsort([{listed}])')
        doc = "The data, with what is made of them once and for all."
        made = [column.name for column in self.plan.centred]
        return self.making(made, "prepared(data, size)", doc, [*body, "return data"])

    def start_function(self) -> str:
        wanted = [name for name in topological(self.plan.graph) if name in self.plan.hidden]
        given = {name: f"np.array({nested(value)})" for name, value in self.options.initial.items()}
        body = [f"{self.names(name)} = {given.get(name) or started(self, self.nodes[name])}" for name in wanted]
        listed = ", ".join(f'"{self.names(name)}": {self.names(name)}' for name in wanted)
        kept = self.program
        self.program = replace(kept, columns={})
        doc = "Random levels to start from."
        text = self._function("start(size, generator)", doc, [*body, f"return {{{listed}}}"])
        self.program = kept
        return text

    def tables_function(self) -> str:
        """All tables, filled from scratch."""
        body = []
        for table in self.plan.tables:
            shape = "(" + "".join(f"{self.printer.size(plate)}, " for plate in table.plates).rstrip() + ")"
            codes = ", ".join(self.printer.printed(code, table.over, full=True) for code in table.codes)
            value = self.printer.printed(table.value, table.over, full=True)
            body += [f"# {comment(str(table))}", f"{self.names(table.name)} = filled({shape}, [{codes}], {value})"]
        listed = ", ".join(f'"{self.names(table.name)}": {self.names(table.name)}' for table in self.plan.tables)
        body.append(f"return {{{listed}}}")
        doc = "The sums over rows that hidden variables enter, from all rows."
        return self.making([table.name for table in self.plan.tables], "tables(data, size)", doc, body)

    # -- one element ---

    def positions(self, indices: Sequence[Index]) -> list[str]:
        """The names of positions."""
        return [self.names(f"at {index.name}") for index in indices]

    def enter_function(self, move: Move) -> str:
        """Put an element into its tables, or take it out."""
        body: list[str] = []
        for entry in move.entries:
            body += self.each_row(entry.rows, entry.members, self.entered(entry, "sign", self.at(move, entry.rows)))
        at = ", ".join(self.positions((*move.axes, move.level)))
        word = self.names(move.hidden)
        doc = f"Put an element of {comment(move.hidden)} into its tables at a level, or take it out (sign -1)."
        return self.making((), f"enter_{word}(sign, data, size, {at})", doc, body or ["pass"])

    def at(self, move: Move, rows: Sequence[Index] = (), level: bool = True) -> set[str]:
        """Names of the indices that stand for one position each."""
        return {index.name for index in (*move.axes, *rows, *([move.level] if level else []))}

    def entered(self, entry: Entry, sign: str, at: set[str]) -> list[str]:
        """One row of an element."""
        cell = ", ".join(self.printer.printed(at_positions(code, at), ()) for code in entry.codes) or "()"
        value = self.printer.printed(at_positions(entry.value, at), ())
        amount = sign if value == "1" else f"{sign} * {_wrapped(value)}"
        return [f"{self.names(entry.table)}[{cell}] += {amount}"]

    def each_row(self, rows: Sequence[Index], members: Members | None, inner: list[str]) -> list[str]:
        """Statements for all rows of an element."""
        lines = inner
        for index in reversed(rows):
            name = self.names(f"at {index.name}")
            head_line = f"for {name} in range({self.printer.size(index.plate)}):"
            before: list[str] = []
            if members is not None and index == members.row:
                number = self.members.index(members)
                element = self.names(f"at {members.axis.name}")
                before = [f'starts, listed = data["rows_{number}"]']
                head_line = f"for {name} in listed[starts[{element}] : starts[{element} + 1]]:"
            lines = [*before, head_line, *(f"    {line}" for line in lines)]
        return lines

    def weigh_function(self, move: Move) -> str:
        """The log weight of each level, the element being out of its tables."""
        levels = self.printer.size(move.level.plate)
        body = [f"found = np.zeros({levels})"]
        for change in move.changes:
            body.append(f"found += {self.changed(change, self.at(move, level=False), (move.level,))}")
        if move.stages:
            level = self.names(f"at {move.level.name}")
            inside: list[str] = []
            outside: list[str] = []
            for stage in move.stages:
                inside += self.each_row(stage.rows, stage.members, self.stage(move, stage, level))
                undone = [
                    line for entry in stage.entries for line in self.entered(entry, "-1", self.at(move, stage.rows))
                ]
                outside = [*self.each_row(stage.rows, stage.members, undone), *outside] if undone else outside
            body += ["# rows enter one after another, each weighed with those before it in place; then all leave again"]
            body += [f"for {level} in range({levels}):", *(f"    {line}" for line in (*inside, *outside))]
        given = ", ".join(self.positions(move.axes))
        word = self.names(move.hidden)
        doc = f"The log weight of each level of an element of {comment(move.hidden)} that is out of its tables."
        return self.making((), f"weigh_{word}(data, size, {given})", doc, [*body, "return found"])

    def stage(self, move: Move, stage: Stage, level: str) -> list[str]:
        """One row: weighed, then in place."""
        at = self.at(move, stage.rows)
        lines = [f"found[{level}] += {self.changed(change, at, ())}" for change in stage.changes]
        return [*lines, *(line for entry in stage.entries for line in self.entered(entry, "1", at))]

    def changed(self, change: Change, at: set[str], axes: tuple[Index, ...]) -> str:
        """The change of a term, summed over the cells that it runs over."""
        text = self.printer.printed(at_positions(change.expression, at), (*axes, *change.loops), full=True)
        if not change.loops:
            return text
        where = ", ".join(str(number) for number in range(len(axes), len(axes) + len(change.loops)))
        return f"np.sum({text}, axis=({where},))" if axes else f"np.sum({text})"

    # -- sweeps ---

    def order(self, plate: str) -> str:
        """The name of the order in which the elements of a plate are visited."""
        return self.names(f"order of {plate}")

    def visits(self, axis: Index) -> str:
        """The elements of a plate in the order of the visit."""
        is_sorted = axis.plate in self.options.visited
        return f'data["{self.order(axis.plate)}"]' if is_sorted else f"range({self.printer.size(axis.plate)})"

    def sweep_function(self) -> str:
        """Every element of every hidden variable once."""
        body = ["everything = {**data, **hidden, **tables({**data, **hidden}, size)}"]
        for move in self.plan.moves:
            word = self.names(move.hidden)
            ranges = ", ".join(map(self.visits, move.axes))
            lines = [
                f'old = hidden["{word}"][element]',
                f"enter_{word}(-1.0, everything, size, *element, old)",
                'with np.errstate(invalid="ignore"):  # an impossible state is refused',
                f"    log_weights = weigh_{word}(everything, size, *element)",
                f'new = drawn_level(log_weights, random.uniform(), "{word}", element)',
                f"enter_{word}(1.0, everything, size, *element, new)",
                f'hidden["{word}"][element] = new',
            ]
            body += [f"for element in product({ranges}):", *(f"    {line}" for line in lines)]
        kept = self.program
        self.program = replace(kept, columns={})
        doc = "Draw every element once given all others, parameters integrated out; hidden values change in place."
        text = self._function("sweep(hidden, data, size, random)", doc, body)
        self.program = kept
        return text

    def parameters_function(self) -> str:
        """Parameters given the hidden variables."""
        kept, program = self.program, self.plan.complete.program
        self.program = program
        body = [*single_passes(self), *self.finish_body()]
        for conditional in reversed(self.plan.complete.conditionals):
            body += draw_lines(self, conditional, self.nodes, self.families)
        found = [name for c in self.plan.complete.conditionals for name in c.variables]
        ordered = [self.names(name) for name in self.nodes if name in found]
        body.append(f"return {{{', '.join(f'{chr(34)}{name}{chr(34)}: {name}' for name in ordered)}}}")
        doc = "A draw of the parameters from their exact posterior given the hidden variables."
        columns = {name: axes for name, axes in program.columns.items() if name not in found}
        self.program = replace(program, columns=columns)
        text = pruned(self._function("draw_parameters(data, size, generator)", doc, body))
        self.program = kept
        return text


def _staged(move: Move) -> list[Entry]:
    return [entry for stage in move.stages for entry in stage.entries]


def _wrapped(text: str) -> str:
    return text if text.replace("_", "").replace(".", "").isalnum() else f"({text})"
