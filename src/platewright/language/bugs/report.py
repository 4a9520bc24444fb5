"""What the reader did: what became a plate, what was unrolled and why, what was computed, dropped or is missing."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Report:
    """Plain lists of sentences and names; `text()` shows them."""

    plates: dict[str, str] = field(default_factory=dict)
    """Plate -> the loops and dimensions that run over it."""
    unrolled: list[str] = field(default_factory=list)
    computed: list[str] = field(default_factory=list)
    pieces: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Array -> the variables that hold its parts."""
    missing: dict[str, int] = field(default_factory=dict)
    """Random variable -> how many of its cells the data leave open (NA)."""
    bounds: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Variable -> (T, C or I; lower; upper) as written."""
    dropped: dict[str, str] = field(default_factory=dict)
    """Derived quantities that were left out -> why."""
    notes: list[str] = field(default_factory=list)

    @property
    def is_plated(self) -> bool:
        """Whether no loop had to be unrolled."""
        return not self.unrolled

    def text(self) -> str:
        """All of it, one line each."""
        lines = [f"plate {name}: {what}" for name, what in self.plates.items()]
        lines += [f"unrolled: {line}" for line in self.unrolled]
        if self.computed:
            lines.append(f"computed from data: {', '.join(self.computed)}")
        lines += [f"{name} is made of {', '.join(parts)}" for name, parts in self.pieces.items()]
        lines += [f"{name} has {count} missing cells" for name, count in self.missing.items()]
        lines += [f"{name} is bounded by {kind}({low}, {high})" for name, (kind, low, high) in self.bounds.items()]
        lines += [f"left out: {name}: {why}" for name, why in self.dropped.items()]
        return "\n".join([*lines, *self.notes])

    __str__ = text
