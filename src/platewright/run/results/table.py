"""The table that a summary is: frozen rows, aligned text, HTML, a dict or a pandas frame."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from math import isfinite
from typing import Any

from platewright.errors import MissingExtra, shown_name
from platewright.run.results.significance import alike

HEADINGS = ("name", "family", "mean", "sd", "5%", "50%", "95%", "effective", "R-hat")
_CELL = "padding:.15rem .7rem;text-align:"


@dataclass(frozen=True)
class Row:
    """One element of one unknown; a number that does not exist is NaN."""

    name: str
    family: str
    mean: float
    sd: float = float("nan")
    low: float = float("nan")
    middle: float = float("nan")
    high: float = float("nan")
    effective: float = float("nan")
    """How many independent draws the draws of chains are worth."""
    r_hat: float = float("nan")

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers of the row, from left to right."""
        return self.mean, self.sd, self.low, self.middle, self.high

    @property
    def of_chains(self) -> tuple[str, str]:
        """What the chains say of themselves: whole draws, and R-hat to its third place."""
        return (
            f"{self.effective:.0f}" if isfinite(self.effective) else "",
            f"{self.r_hat:.3f}" if isfinite(self.r_hat) else "",
        )


GAP = Row("...", "", *(float("nan"),) * 5)


@dataclass(frozen=True)
class Summary:
    """The table. `print` it, look at `.rows`, or turn it into a dict or a pandas frame."""

    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """Headings and rows as text, without empty columns; elements of one unknown have the digits of its spread."""
        spreads: dict[str, list[float]] = {}
        for row in self.rows:
            spreads.setdefault(row.name.partition("[")[0], []).append(row.sd)
        typical = {name: sorted(found)[len(found) // 2] for name, found in spreads.items()}
        lines = [
            (shown_name(row.name), row.family, *alike(row.numbers, typical[row.name.partition("[")[0]]), *row.of_chains)
            for row in self.rows
        ]
        every = [HEADINGS, *lines]
        used = [place for place in range(len(HEADINGS)) if place < 3 or any(line[place] for line in lines)]
        return tuple(tuple(line[place] for place in used) for line in every)

    def __str__(self) -> str:
        cells = self.cells
        widths = [max(len(line[place]) for line in cells) for place in range(len(cells[0]))]
        lines = [shown_name(self.title), ""]
        for line in cells:
            words = [cell.ljust(width) for cell, width in zip(line[:2], widths[:2])]
            words += [cell.rjust(width) for cell, width in zip(line[2:], widths[2:])]
            lines.append("  ".join(words).rstrip())
        return "\n".join([*lines, *(["", *self.notes] if self.notes else [])])

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: numbers that do not exist are None."""
        rows = [
            {key: None if value != value else value for key, value in asdict(row).items()}
            for row in self.rows
            if row != GAP
        ]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}

    def to_pandas(self) -> Any:
        """The rows as a pandas frame, indexed by name."""
        try:
            import pandas  # an extra, and slow to load
        except ImportError as error:
            raise MissingExtra("pandas is not installed", hint="pip install 'platewright[data]'") from error
        of_chains = ("effective", "r_hat") if any(any(row.of_chains) for row in self.rows) else ()
        keys = ("name", "family", "mean", "sd", "low", "middle", "high", *of_chains)
        table = [[getattr(row, key) for key in keys] for row in self.rows if row.name != GAP.name]
        return pandas.DataFrame(table, columns=list(HEADINGS[: len(keys)])).set_index("name")

    def _repr_html_(self) -> str:
        return table_html(self)


def table_html(found: Summary) -> str:
    """The table as HTML; names are escaped."""
    parts = [
        f'<table style="border-collapse:collapse"><caption style="text-align:left">{escape(found.title)}</caption>'
    ]
    for number, line in enumerate(found.cells):
        tag = "td" if number else "th"
        cells = "".join(
            f'<{tag} style="{_CELL}{"left" if place < 2 else "right"}">{escape(cell)}</{tag}>'
            for place, cell in enumerate(line)
        )
        parts.append(f"<tr>{cells}</tr>")
    notes = "".join(f"<div><small>{escape(note)}</small></div>" for note in found.notes)
    return "".join(parts) + f"</table>{notes}"
