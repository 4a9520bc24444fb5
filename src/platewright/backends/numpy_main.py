"""The `main` of an emitted module: read a CSV file, learn, print. Labels become codes in sorted order."""

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
    lines = [
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
            lines.append(f'    levels = sorted({{r["{header}"] for r in table}})')
            lines.append(f'    data["{key}"] = np.array([levels.index(r["{header}"]) for r in table])')
            lines.append(f'    size.setdefault("{plate}", len(levels))')
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


def program_sizes(program: Program) -> dict[str, int]:
    """Sizes that the model fixes."""
    return dict(program.sizes)
