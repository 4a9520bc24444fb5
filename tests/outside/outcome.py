"""How one public case went, and the table of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

Verdict = Literal["pass", "fail", "declined", "not in class", "late", "broken"]

VERDICTS: tuple[Verdict, ...] = ("pass", "fail", "declined", "not in class", "late", "broken")
"""declined: a refusal with its reason; not in class: no schema is meant to solve it yet; late: past its time limit;
broken: an error that is not one of ours."""


@dataclass(frozen=True)
class Outcome:
    """One line of the table; `error` is in units of the tolerance of the case, at most 1 for a pass."""

    kind: str
    case: str
    verdict: Verdict
    plan: str = ""
    why: str = ""
    first: float | None = None
    total: float | None = None
    error: float | None = None
    remark: str = ""

    @property
    def json(self) -> dict[str, object]:
        """As plain data."""
        return asdict(self)


COLUMNS = ("kind", "case", "verdict", "error", "first s", "total s", "plan", "why, and remarks")


def cells(outcome: Outcome) -> tuple[str, ...]:
    """The texts of one line."""
    words = "; ".join(part for part in (outcome.why, outcome.remark) if part)
    return (
        outcome.kind,
        outcome.case,
        outcome.verdict,
        _number(outcome.error),
        _number(outcome.first),
        _number(outcome.total),
        outcome.plan,
        words,
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}" if value < 100 else f"{value:.0f}"


WIDTHS = (12, 38, 12, 8, 8, 8, 72)


def line(texts: Sequence[str]) -> str:
    """One line of the table for the eye; the last column takes what it needs."""
    shown = [_cut(text, width).ljust(width) for text, width in zip(texts, WIDTHS)]
    return " ".join([*shown, texts[-1]]).rstrip()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def tally(outcomes: Iterable[Outcome]) -> str:
    """How many cases of each kind passed, failed or were declined."""
    counts: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        kind = counts.setdefault(outcome.kind, dict.fromkeys(VERDICTS, 0))
        kind[outcome.verdict] += 1
    lines = []
    for kind, found in counts.items():
        shown = ", ".join(f"{count} {verdict}" for verdict, count in found.items() if count)
        lines.append(f"{kind}: {sum(found.values())} cases, {shown}")
    return "\n".join(lines)


def markdown(outcomes: Iterable[Outcome]) -> str:
    """The table as a page of the documentation has it."""
    rows = [COLUMNS, *(map(_escaped, cells(outcome)) for outcome in outcomes)]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(COLUMNS), *lines[1:]])


def _escaped(text: str) -> str:
    shown = _cut(text.replace("\n", " "), 200)
    for letter in "\\|{}[]<>*_`$":
        shown = shown.replace(letter, "\\" + letter)
    return shown
