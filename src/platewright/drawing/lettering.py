"""How wide text is, without asking a font.

Widths are in ems and lean to the wide side (DejaVu Sans is the widest face that browsers fall back to), so that a label
that fits here fits everywhere.
"""

from __future__ import annotations

import unicodedata

LONGEST_LABEL = 28
NARROW = frozenset("iljtfrI.,:;'|!()[]{}/\\ -`\"")
BROAD = frozenset("mwMW@%&")


def text_width(text: str, size: float) -> float:
    """An upper estimate of the width of `text` set in `size` pixels."""
    return size * sum(letter_width(letter) for letter in text)


def letter_width(letter: str) -> float:
    """The width of one letter in ems."""
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in NARROW:
        return 0.42
    if letter in BROAD:
        return 0.98
    return 0.78 if letter.isupper() else 0.63


def clean_text(text: str) -> str:
    """The text on one line, without the control characters that XML forbids."""
    return "".join(letter if is_printable(letter) else " " for letter in text)


def is_printable(letter: str) -> bool:
    """Whether XML and a single line of text both allow this letter."""
    return unicodedata.category(letter) not in ("Cc", "Cs", "Cn", "Zl", "Zp")


def shortened(text: str, longest: int = LONGEST_LABEL) -> str:
    """The text, cut with an ellipsis when it is longer than a node can hold."""
    text = clean_text(text)
    if len(text) <= longest:
        return text
    return text[: longest - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
