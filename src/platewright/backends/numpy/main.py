"""The `main` of an emitted module: read a CSV file, learn, print. Labels become codes in declared or sorted order."""

from __future__ import annotations

from platewright.backends.naming import Names
from platewright.language.plate import beginning
from platewright.operations.split_partly_known import observed_name, seen_name
from platewright.program.program import Program


def main_text(program: Program, names: Names, with_means: bool = False, learned: str = "learn(data, size)") -> str:
    """Code that reads the columns of the program from a CSV file, or says that they do not fit one table."""
    rows = {axes[0].plate for axes in program.columns.values() if axes}
    deep = [name for name, axes in program.columns.items() if len(axes) > 2]
    if len(rows) != 1 or deep:
        return SEVERAL.strip("\n")
    lines: list[str] = []
    holes = [name for name in program.columns if observed_of(name) in program.columns]
    helpers = ((CODED, program.codes), (WHOLE, _plain_whole(program)), (HOLES, holes))
    for helper, names_of in helpers:
        if any(name in names_of for name in program.columns):
            lines += [*helper.strip("\n").splitlines(), "", ""]
    if OPTIONS_OF in learned:
        lines += [*OPTIONS.strip("\n").splitlines(), "", ""]
    lines += [
        "def read(path):",
        '    """Columns of a CSV file with a header, and the sizes of the plates."""',
        '    with open(path, newline="") as file:',
        "        table = list(csv.DictReader(file))",
        f'    data, size = {{}}, {{"{names(rows.pop())}": len(table)}}',
    ]
    for name in program.columns:
        lines += [f"    {line}" for line in _column(name, program, names)]
    for plate, number in program_sizes(program).items():
        lines.append(f'    size["{names(plate)}"] = {number}')
    lines += [
        "    return data, size",
        "",
        "",
        'if __name__ == "__main__":',
        '    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it',
        "        data, size = read(sys.argv[1])",
        f"        results = {learned}",
        *(["        results.update(means(results, data, size))"] if with_means else []),
        "    for name, value in results.items():",
        '        print(f"{name} = {np.asarray(value).tolist()}")',
    ]
    return "\n".join(lines)


def observed_of(name: str) -> str:
    """The column that tells which cells of a column were seen."""
    return observed_name(name.removesuffix(SEEN))


def _column(name: str, program: Program, names: Names) -> list[str]:
    """Statements that read one column of the program."""
    key, axes = names(name), program.columns[name]
    header = name.split("@")[0].removesuffix(SEEN)
    if name.endswith(OBSERVED):
        return []  # read with the column itself
    if header == "first" and "@" in name:
        return _beginnings(name, key, program)
    lines: list[str] = []
    cells = f'[r["{header}"] for r in table]'
    if len(axes) == 2:
        lines.append(f'columns = [c for c in table[0] if c.startswith("{header}[")]')
        cells = "[r[c] for r in table for c in columns]"
    shaped = ".reshape(len(table), -1)" if len(axes) == 2 else ""
    if observed_of(name) in program.columns:
        observed = names(observed_of(name))
        lines.append(f"cells, seen = with_holes({cells})")
        lines.append(f'data["{observed}"] = seen{shaped}')
        cells = "cells"
    if name in program.codes:
        plate = names(program.codes[name])
        count = program_sizes(program).get(program.codes[name])
        labels = program.labels.get(program.codes[name])
        known = f", {[str(label) for label in labels]!r}" if labels else ""
        lines.append(f'data["{key}"], count = coded({cells}, {count}{known})')
        if shaped:
            lines.append(f'data["{key}"] = data["{key}"]{shaped}')
        lines.append(f'size.setdefault("{plate}", count)')
    elif not axes:
        lines.append(f'data["{key}"] = {_reader(name, program)}(table[0]["{header}"])')
    elif shaped and cells != "cells":
        lines.append(f'data["{key}"] = np.array([[float(r[c]) for c in columns] for r in table])')
    else:
        each = f"{_reader(name, program)}(text)" if cells == "cells" else f'{_reader(name, program)}(r["{header}"])'
        source = "text in cells" if cells == "cells" else "r in table"
        lines.append(f'data["{key}"] = np.array([{each} for {source}]){shaped}')
    if shaped:
        lines.append(f'size["{names(axes[1].plate)}"] = len(columns)')
    return lines


def _plain_whole(program: Program) -> list[str]:
    """Whole numbers that are read as such, one a row."""
    return [name for name in program.whole if len(program.columns[name]) < 2 and not name.startswith(beginning(""))]


def _reader(name: str, program: Program) -> str:
    return "whole" if name in _plain_whole(program) else "float"


def _beginnings(name: str, key: str, program: Program) -> list[str]:
    """A sequence begins where its group changes; without groups the rows are one, unless a column says otherwise."""
    plate = name.split("@")[1]
    outer = program.within.get(plate)
    if outer is not None:
        return [
            f'groups = [r["{outer}"] for r in table]',
            "begins = [k == 0 or groups[k] != groups[k - 1] for k in range(len(groups))]",
            "if sum(begins) != len(set(groups)):",
            f'    raise ValueError("the rows of one {outer} are not together")',
            f'data["{key}"] = np.array(begins, dtype=int)',
        ]
    return [
        "# one sequence; for several, a column that is 1 where one begins",
        f'data["{key}"] = np.array([int(r.get("{name}", k == 0)) for k, r in enumerate(table)])',
    ]


def program_sizes(program: Program) -> dict[str, int]:
    """Sizes that the model fixes."""
    return dict(program.sizes)


RUN = "Run: python FILE data.csv        (then options of `learn`, such as seed=1)"
SEEN, OBSERVED = seen_name(""), observed_name("")
OPTIONS_OF = "**options(sys.argv[2:])"
"""How the words behind the file become options of `learn`."""

SEVERAL = """
if __name__ == "__main__":
    sys.exit("the data do not fit one table: import this file and call learn(data, size) with arrays")
"""

WHOLE = '''
def whole(text):
    """A whole number or a truth value."""
    if text[:1].isalpha():
        return {"true": 1, "false": 0}[text.lower()]
    return int(text) if text.isdigit() else int(float(text))
'''

CODED = '''
def coded(values, count, labels=None):
    """Codes of labels: in the order given, else numbers from 0 on stand for themselves and others are sorted."""
    levels = labels
    if labels is None and all(value.lstrip("+-").isdigit() for value in values):
        values = [str(int(value)) for value in values]
        numbers = sorted(set(map(int, values)))
        is_codes = count is not None or numbers[:1] == [0]
        levels = [str(k) for k in (range(numbers[-1] + 1 if count is None else count) if is_codes else numbers)]
    elif labels is None:
        levels = sorted(set(values))
    return np.array([levels.index(value) for value in values], dtype=int), len(levels)
'''

HOLES = '''
def with_holes(cells):
    """Cells with the first value seen in every hole, where nobody reads it, and which of them were seen."""
    seen = [cell.strip().lower() not in ("", "na", "nan", "null", "none") for cell in cells]
    first = cells[seen.index(True)]
    return [cell if is_seen else first for cell, is_seen in zip(cells, seen)], np.array(seen, dtype=float)
'''

OPTIONS = '''
def options(words):
    """Options of `learn`, from words such as seed=1."""
    pairs = (word.split("=", 1) for word in words)
    return {name: float(value) if name == "tolerance" else int(value) for name, value in pairs}
'''
