"""The `main` of an emitted module: read a CSV file, learn, print. Labels become codes in declared or sorted order."""

from __future__ import annotations

from platewright.backends.naming import Names
from platewright.program.program import Program


def main_text(program: Program, names: Names) -> str:
    """Code that reads the columns of the program from a CSV file, or nothing when they do not fit one table."""
    rows = {axes[0].plate for axes in program.columns.values() if axes}
    deep = [name for name, axes in program.columns.items() if len(axes) > 2]
    if len(rows) != 1 or deep:
        return ""
    row = rows.pop()
    lines = CODED.strip("\n").splitlines() + ["", ""] if any(name in program.codes for name in program.columns) else []
    lines += [
        "def read(path):",
        '    """Columns of a CSV file with a header, and the sizes of the plates."""',
        '    with open(path, newline="") as file:',
        "        table = list(csv.DictReader(file))",
        f'    data, size = {{}}, {{"{names(row)}": len(table)}}',
    ]
    for name, axes in program.columns.items():
        key = names(name)
        header = name.split("@")[0]
        if len(axes) == 2:
            plate = names(axes[1].plate)
            lines.append(f'    columns = [c for c in table[0] if c.startswith("{header}[")]')
            lines.append(f'    data["{key}"] = np.array([[float(r[c]) for c in columns] for r in table])')
            lines.append(f'    size["{plate}"] = len(columns)')
        elif name in program.codes:
            plate = names(program.codes[name])
            count = program_sizes(program).get(program.codes[name])
            labels = program.labels.get(program.codes[name])
            known = f", {[str(label) for label in labels]!r}" if labels else ""
            lines.append(f'    data["{key}"], count = coded([r["{header}"] for r in table], {count}{known})')
            lines.append(f'    size.setdefault("{plate}", count)')
        elif header == "first" and "@" in name:
            lines += _beginnings(name, key, program)
        elif not axes:
            lines.append(f'    data["{key}"] = float(table[0]["{header}"])')
        else:
            lines.append(f'    data["{key}"] = np.array([float(r["{header}"]) for r in table])')
    for plate, number in program_sizes(program).items():
        lines.append(f'    size["{names(plate)}"] = {number}')
    lines += [
        "    return data, size",
        "",
        "",
        'if __name__ == "__main__":',
        "    for name, value in learn(*read(sys.argv[1])).items():",
        '        print(f"{name} = {np.asarray(value).tolist()}")',
    ]
    return "\n".join(lines)


def _beginnings(name: str, key: str, program: Program) -> list[str]:
    """A sequence begins where its group changes; without groups the rows are one, unless a column says otherwise."""
    plate = name.split("@")[1]
    groups = [column for column in program.columns if column.endswith(f"@{plate}") and column != name]
    if groups:
        return [
            f'    groups = [r["{groups[0].split("@")[0]}"] for r in table]',
            "    begins = [k == 0 or groups[k] != groups[k - 1] for k in range(len(groups))]",
            f'    data["{key}"] = np.array(begins, dtype=int)',
        ]
    return [
        "    # one sequence; for several, a column that is 1 where one begins",
        f'    data["{key}"] = np.array([int(r.get("{name}", k == 0)) for k, r in enumerate(table)])',
    ]


def program_sizes(program: Program) -> dict[str, int]:
    """Sizes that the model fixes."""
    return dict(program.sizes)


CODED = '''
def coded(values, count, labels=None):
    """Codes of labels: in the order given, else numbers stand for themselves and other labels are sorted."""
    if labels is not None:
        levels = labels
    elif all(value.isdigit() for value in values):
        levels = sorted(set(values), key=int) if count is None else [str(k) for k in range(count)]
    else:
        levels = sorted(set(values))
    return np.array([levels.index(value) for value in values], dtype=int), len(levels)
'''
