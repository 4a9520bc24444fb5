"""The end of an emitted module: read a CSV file, learn, print. Labels become codes in declared or sorted order.

def read(path)       the columns that the model needs, and the sizes of its plates
def main(words)      the file and the options on the command line; --help tells about them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from platewright.algebra.expression import Index
from platewright.backends.naming import Names
from platewright.backends.numpy.about import TableColumn, holds
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Graph
from platewright.language.plate import beginning
from platewright.language.variable import Variable
from platewright.operations.split_partly_known import observed_name, seen_name

SEEN, OBSERVED = seen_name(""), observed_name("")
OPTIONS_OF = "**options(words[1:])"
"""How the words behind the file become options of `learn`."""


@dataclass(frozen=True)
class Reading:
    """How the data of a program are read from a table: by the columns that it needs, as its graph knows them."""

    graph: Graph
    needed: Mapping[str, tuple[Index, ...]]
    names: Names

    @property
    def rows(self) -> str | None:
        """The plate that the rows of a table stand for, or none where the data do not fit one table."""
        plates = {axes[0].plate for axes in self.needed.values() if axes}
        deep = any(len(axes) > 2 for axes in self.needed.values())
        return next(iter(plates)) if len(plates) == 1 and not deep else None

    @property
    def labels(self) -> dict[str, tuple[object, ...]]:
        """Labels that the model gives to elements of plates."""
        return {name: plate.labels for name, plate in self.graph.plates.items() if plate.labels is not None}

    @property
    def columns(self) -> list[TableColumn] | None:
        """What a reader of the program is told about its table."""
        if self.rows is None:
            return None
        found = []
        for name, axes in self.needed.items():
            if name.endswith(OBSERVED):
                continue
            header = _header(name)
            if name == beginning(self.rows):
                header = self.graph.plates[self.rows].within or name
                told = f"the {header} of each row, whose rows are together"
                found.append(
                    TableColumn(header, told if header != name else "1 where a sequence begins; may be left out")
                )
                continue
            shown = f"{header}[0], {header}[1], ..." if len(axes) == 2 else header
            if len(axes) == 2 and (labels := self.labels.get(axes[1].plate)):
                shown = ", ".join(f"{header}[{label}]" for label in labels)
            found.append(TableColumn(shown, holds(self.graph.nodes.get(name), self.labels, self.has_holes(name))))
        return list({column.name: column for column in found}.values())

    def has_holes(self, name: str) -> bool:
        """Whether cells of a column may be missing."""
        return _observed_of(name) in self.needed

    def text(self, functions: str) -> str:
        """The function `read`, with the sizes that the functions of a program ask for."""
        rows = self.rows
        if rows is None:
            return ""
        sizes = fixed_sizes(self.graph)
        expected = f", {sizes[rows]}" if rows in sizes else ""
        listed = [f'"{self.names(rows)}": count_rows(table{expected})']
        asked = {plate: number for plate, number in sizes.items() if f'size["{self.names(plate)}"]' in functions}
        listed += [f'"{self.names(plate)}": {number}' for plate, number in asked.items() if plate != rows]
        lines = ["table = table_of(path)", f"data, size = {{}}, {{{', '.join(listed)}}}"]
        told: set[str] = set()
        for name in self.needed:
            lines += self.column(name, sizes, told)
        shown = '"""The columns that the model needs, and the sizes of its plates."""'
        return "\n".join(["def read(path):", *(f"    {line}" for line in (shown, *lines, "return data, size"))])

    def column(self, name: str, sizes: Mapping[str, int], told: set[str]) -> list[str]:
        """Statements that read one column; `told` are the plates whose labels are there already."""
        axes = self.needed[name]
        if name.endswith(OBSERVED):
            return []  # read with the column itself
        if name.startswith(beginning("")):
            return self.beginnings(name)
        lines: list[str] = []
        where, part = f'["{_header(name)}"]', "[:, 0]" if axes else "[0, 0]"
        if len(axes) == 2:
            where, part = f"{self.names(_header(name) + '.columns')}", ""
            lines.append(f"{where} = {self.indexed(name, axes[1].plate, sizes)}")
            if axes[1].plate not in sizes:
                lines.append(f'size["{self.names(axes[1].plate)}"] = len({where})')
        if self.has_holes(name):
            lines.append(f'data["{self.names(_observed_of(name))}"] = observed(table, {where}){part}')
            lines.append(f"table = gaps_filled(table, {where})")
        node = self.graph.nodes[name]
        if node.domain.kind == "levels":
            lines += self.coded(name, node, where, part, sizes, told)
        else:
            lines.append(f'data["{self.names(name)}"] = numbers(table, {where}, {_range(node)}){part}')
        return lines

    def indexed(self, name: str, plate: str, sizes: Mapping[str, int]) -> str:
        """The call that finds columns side by side."""
        labels = self.labels.get(plate)
        more = f", {sizes[plate]}" if plate in sizes else ""
        more += f", labels={[str(label) for label in labels]!r}" if labels else ""
        return f'indexed(table, "{_header(name)}"{more})'

    def coded(
        self, name: str, node: Variable, where: str, part: str, sizes: Mapping[str, int], told: set[str]
    ) -> list[str]:
        """Statements that make codes of labels; all columns with values in one plate share its labels."""
        plate = str(node.domain.levels)
        shown = self.names(f"{plate}.labels")
        lines = []
        if plate not in told:
            told.add(plate)
            labels = self.labels.get(plate)
            count = f", {sizes[plate]}" if plate in sizes else ""
            shared = self.sharing(plate)
            columns = where if len(shared) == 1 else f"[{', '.join(shared)}]"
            found = f"{[str(label) for label in labels]!r}" if labels else f"levels(table, {columns}{count})"
            lines.append(f"{shown} = {found}")
            if plate not in sizes:
                lines.append(f'size["{self.names(plate)}"] = len({shown})')
        return [*lines, f'data["{self.names(name)}"] = codes(table, {where}, {shown}){part}']

    def sharing(self, plate: str) -> list[str]:
        """All columns whose values are elements of a plate."""
        single, several = [], []
        for name, axes in self.needed.items():
            node = self.graph.nodes.get(name)
            if node is None or node.domain.kind != "levels" or str(node.domain.levels) != plate:
                continue
            if len(axes) == 2:
                several.append(f"*{self.indexed(name, axes[1].plate, fixed_sizes(self.graph))}")
            else:
                single.append(f'"{_header(name)}"')
        return list(dict.fromkeys([*single, *several]))

    def beginnings(self, name: str) -> list[str]:
        """A sequence begins where its group changes; without groups rows are one, unless a column says otherwise."""
        plate = name.removeprefix(beginning(""))
        outer = self.graph.plates[plate].within
        key = f'data["{self.names(name)}"]'
        if outer is not None:
            return [f'{key} = beginnings([text for _, _, text in cells(table, ["{outer}"])])']
        count = f'size["{self.names(plate)}"]'
        return [
            f'if "{name}" in table:  # a column that is 1 where a sequence begins',
            f'    {key} = numbers(table, ["{name}"], "0 or 1", lower=0, upper=1, whole=True)[:, 0]',
            "else:",
            f"    {key} = np.array([int(k == 0) for k in range({count})])",
        ]


def _header(name: str) -> str:
    """The column of a table that a variable is read from."""
    return name.split("@")[0].removesuffix(SEEN)


def _observed_of(name: str) -> str:
    """The column that tells which cells of a column were seen."""
    return observed_name(name.removesuffix(SEEN))


def _range(node: Variable) -> str:
    """The arguments of `numbers` that say which numbers are possible."""
    domain = node.domain
    parts = [f'"{domain}"']
    is_whole = domain.kind == "integer"
    if domain.kind == "real" and (domain.lower, domain.upper) == (0.0, inf):
        parts.append("above=0")
    elif domain.kind in ("real", "integer"):
        ends = (("lower", domain.lower), ("upper", domain.upper))
        parts += [f"{word}={int(end) if is_whole else repr(end)}" for word, end in ends if abs(end) < inf]
    return ", ".join([*parts, "whole=True"] if is_whole else parts)


def main_text(reading: Reading, functions: str, learned: str, with_means: bool) -> str:
    """Code that reads the columns of the program from a CSV file, or says that they do not fit one table."""
    if reading.rows is None:
        return 'if __name__ == "__main__":\n    sys.exit(__doc__)'
    has_options = OPTIONS_OF in learned
    lines = [
        "def main(words):",
        '    """Learn from the file that the first word names, and print what was learned."""',
        '    if words and words[0] in ("-h", "--help"):',
        "        print(__doc__)",
        "        return",
        f"    if {'not words' if has_options else 'len(words) != 1'}:",
        "        sys.exit(__doc__)",
        "    try:",
        '        with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it',
        "            data, size = read(words[0])",
        f"            results = {learned}",
        *(["            results.update(means(results, data, size))"] if with_means else []),
        "    except (OSError, ValueError, ArithmeticError) as error:",
        '        sys.exit(f"{words[0]}: {error}")',
        "    for name, value in results.items():",
        '        print(f"{name} = {np.asarray(value).tolist()}")',
    ]
    return "\n\n\n".join(
        [reading.text(functions), "\n".join(lines), 'if __name__ == "__main__":\n    main(sys.argv[1:])']
    )
