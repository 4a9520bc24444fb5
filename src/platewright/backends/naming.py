"""Names in emitted code, made by us: letters, digits and underscores, and never a word that means something."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

_RESERVED = frozenset(
    [
        "np",
        "special",
        "math",
        "sys",
        "csv",
        "json",
        "main",
        "learn",
        "statistics",
        "finish",
        "add",
        "data",
        "grouped",
        "pooled",
        "placed",
        "edges_of",
        "stacked",
        "triangularised",
        "triangularised_along",
        "solved_along",
        "double",
        "int",
        "long",
        "float",
        "char",
        "if",
        "else",
        "for",
        "while",
        "return",
        "void",
        "static",
        "const",
        "struct",
        "union",
        "enum",
        "sizeof",
        "switch",
        "case",
        "break",
        "continue",
        "default",
        "do",
        "goto",
        "register",
        "restrict",
        "short",
        "signed",
        "typedef",
        "unsigned",
        "volatile",
        "inline",
        "auto",
        "extern",
        "exp",
        "log",
        "lgamma",
        "sqrt",
        "pow",
        "fabs",
        "sin",
        "cos",
        "tanh",
        "floor",
        "memset",
        "malloc",
        "free",
        "size_t",
        "int64_t",
        "rows",
        "size",
        "found",
        "exact",
        "edges",
        "well_pooled",
        "ill_conditioned",
        "merged",
        "table",
        "path",
        "coded",
        "read",
        "levels",
        "columns",
        "count",
        "groups",
        "begins",
        "start",
        "stop",
        "isnan",
        "INFINITY",
        "NAN",
        "previous",
        "less",
        "trigamma",
        "log_bessel0",
        "multivariate_lgamma",
        "scaled_lgamma",
        "log_beta",
        "multivariate_digamma",
        "bessel_ratio",
        "log_determinant",
        "merged_pools",
        "rows_of_pool",
        "weighted_rows",
        "rotated_rows",
        "root_of_scatter",
        "print",
        "range",
        "len",
        "min",
        "max",
        "sum",
        "abs",
        "any",
        "all",
        "zip",
        "dict",
        "list",
        "tuple",
        "set",
        "open",
        "type",
        "id",
        "input",
        "object",
        "str",
        "bool",
    ]
)


LONGEST = 50
"""Letters of a name: a line that hands it on as `"name": name,` stays within the width."""


class Names:
    """One safe name for each thing, the same for the same thing, never shared by two."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self.given: dict[str, str] = {}
        self.taken = set(_RESERVED) | set(reserved)

    def __call__(self, thing: str) -> str:
        """The safe name of a thing."""
        if thing not in self.given:
            self.given[thing] = self._fresh(thing)
        return self.given[thing]

    def _fresh(self, thing: str) -> str:
        plain = re.sub(r"[^0-9A-Za-z_]", "_", thing.replace("'", "_too").replace("@", "_of_")).strip("_") or "value"
        if not plain[0].isalpha() or not plain.isascii():
            plain = "v_" + plain
        plain = plain[:LONGEST].rstrip("_")
        name, number = plain, 1
        while name in self.taken or keyword.iskeyword(name) or keyword.issoftkeyword(name):
            number += 1
            name = f"{plain}_{number}"
        self.taken.add(name)
        return name


def comment(text: str) -> str:
    """User text made safe for a comment: one line, printable, no way out of it."""
    flat = text
    if not text.isprintable():
        flat = "".join(character if character.isprintable() else " " for character in text)
    return flat.replace("\\", "/").replace("*/", "* /").replace(chr(34) * 3, "...")
