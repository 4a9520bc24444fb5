"""The page a Stan text is written on: names of ours in Stan, tables of constants, and local variables.

Two names never become one, and none is a word of Stan.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from platewright.algebra.expression import Index
from platewright.language.model import Model
from platewright.language.plate import beginning

Lines = list[str]

_KEYWORDS = """
    for in while repeat until if then else true false target int real complex vector row_vector matrix simplex ordered
    unit_vector positive_ordered cov_matrix corr_matrix cholesky_factor_corr cholesky_factor_cov functions model data
    parameters quantities transformed generated profile return print reject lower upper offset multiplier array tuple
    void break continue auto bool case catch char class const default delete do double enum extern float goto inline
    long new not or and operator private protected public register short signed sizeof static struct switch template
    this throw try typedef union unsigned using virtual volatile var fvar jacobian
    log exp log1p expm1 abs lgamma digamma trigamma inv_logit log_inv_logit cos sin tanh Phi std_normal_lcdf fmax fmin
    log_modified_bessel_first_kind atan2 floor square inv sqrt inv_sqrt inv_square pow lmgamma log_sum_exp min max sum
    mean pi e negative_infinity inverse_spd log_determinant quad_form_sym
"""
RESERVED = frozenset(_KEYWORDS.split())
"""Words of Stan and of C++, and functions that a variable should not shadow."""


@dataclass
class Page:
    """Names of the model in Stan, tables of constants, and a count of local variables."""

    model: Model
    tables: Lines = field(default_factory=list)
    locals: int = 0
    words: dict[tuple[str, str], str] = field(default_factory=dict)
    """By kind and name of ours: the name in Stan. Two names never become one."""

    def __post_init__(self) -> None:
        for name in self.model.variables:  # first, so that what we add for ourselves steps aside for them
            self.word(name)

    def word(self, name: str) -> str:
        """A variable of ours as Stan takes it."""
        return self._distinct("variable", name, _safe(name.replace("@", "_of_"), "x"))

    def size(self, plate: str) -> str:
        """A number, or the name that the data give; a `like` plate has the size of its root."""
        known = self.model.plates[plate]
        while known.size is None and known.like is not None:
            known = self.model.plates[known.like]
        return self._distinct("size", known.name, f"n_{_safe(known.name)}") if known.size is None else str(known.size)

    def loop(self, index: Index) -> str:
        """The loop variable of an index."""
        primes = len(index.name) - len(index.name.rstrip("'"))
        return self._distinct("loop", index.name, f"i_{_safe(index.name.rstrip(chr(39)))}" + "_too" * primes)

    def is_first(self, name: str) -> bool:
        """Whether a column only says which step of a single series is the first."""
        plate = self.model.plates.get(name.partition("@")[2])
        return plate is not None and name == beginning(plate.name) and plate.within is None

    def fresh(self, word: str) -> str:
        """A name for a local variable."""
        self.locals += 1
        return self._distinct("local", str(self.locals), f"{word}_{self.locals}")

    def _distinct(self, kind: str, name: str, wish: str) -> str:
        if (kind, name) not in self.words:
            taken = RESERVED.union(self.words.values())
            while wish in taken or not wish[0].isalpha():
                wish = f"v_{wish}"
            self.words[kind, name] = wish
        return self.words[kind, name]


def _safe(name: str, otherwise: str = "p") -> str:
    return "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name).strip("_") or otherwise
