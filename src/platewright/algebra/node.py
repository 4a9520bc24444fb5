"""What every node of an expression is: a frozen value with arithmetic.

    mu + 2 * x        builds        Add((mu, Multiply((2, x))))

Arithmetic goes through `algebra/build.py`, which keeps expressions tidy; a node knows nothing else about others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Protocol, TypeVar, dataclass_transform


class Expression:
    """A scalar with free indices. Arithmetic on expressions builds larger ones."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: object, **options: object) -> object:
        """NumPy hands `array * expression` over as a whole, instead of looping over the elements of the array."""
        if ufunc.__name__ in EQUALITY:
            return EQUALITY[ufunc.__name__]
        if ufunc.__name__ in ORDER:
            return self < operands[0]  # which says what to write instead
        name = ARITHMETIC.get(ufunc.__name__)
        if method != "__call__" or name is None:
            raise TypeError(f"np.{ufunc.__name__} is for numbers, which an expression is not yet; {OURS}")
        if isinstance(operands[0], Expression):
            return getattr(operands[0], f"__{name}__")(operands[1])
        return getattr(operands[1], f"__r{name}__")(operands[0])

    def __add__(self, other: object) -> Expression:
        return builders().add(self, other)

    __radd__ = __add__

    def __sub__(self, other: object) -> Expression:
        return builders().add(self, builders().multiply(-1.0, other))

    def __rsub__(self, other: object) -> Expression:
        return builders().add(other, builders().multiply(-1.0, self))

    def __mul__(self, other: object) -> Expression:
        return builders().multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Expression:
        return builders().multiply(self, builders().power(other, -1.0))

    def __rtruediv__(self, other: object) -> Expression:
        return builders().multiply(other, builders().power(self, -1.0))

    def __pow__(self, other: object) -> Expression:
        return builders().power(self, other)

    def __rpow__(self, other: object) -> Expression:
        return builders().power(other, self)

    def __neg__(self) -> Expression:
        return builders().multiply(-1.0, self)

    def __getitem__(self, at: object) -> Expression:
        from platewright.algebra.indexing import indexed  # late, as all builders

        return indexed(self, at)

    def __iter__(self) -> Iterator[Expression]:
        # Without this Python would try self[0], self[1], ... for ever.
        raise TypeError("an expression cannot be looped over; reduce it over a plate with pw.sum(..., over=plate)")

    def __abs__(self) -> Expression:
        return builders().call("absolute", self)

    def __lt__(self, other: object) -> Expression:
        raise TypeError("an expression is not compared by < or >; use pw.less(a, b), and pw.where(condition, a, b)")

    __gt__ = __le__ = __ge__ = __lt__

    def __matmul__(self, other: object) -> Expression:
        raise TypeError("an expression has no @; use pw.dot(a, b, over=plate)")

    __rmatmul__ = __matmul__

    def __float__(self) -> float:
        raise TypeError(f"an expression has no value yet; {OURS}")

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value; use pw.equal(a, b) and pw.where(condition, a, b)")

    def __str__(self) -> str:
        from platewright.algebra.text import text  # printing is needed only when somebody looks

        return text(self)


OURS = "use pw.exp, pw.log, pw.sqrt ... in place of math and NumPy"
ARITHMETIC = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
    "power": "pow",
    "matmul": "matmul",
}
"""NumPy's name of what a number or array of its own calls for an operator of Python, and Python's name of it."""
ORDER = ("less", "less_equal", "greater", "greater_equal")
EQUALITY = {"equal": False, "not_equal": True}
"""No number of NumPy is an expression."""

Node = TypeVar("Node")


class Builders(Protocol):
    """What operators ask of `algebra/build.py`."""

    def add(self, *terms: object) -> Expression: ...
    def multiply(self, *factors: object) -> Expression: ...
    def power(self, base: object, exponent: object) -> Expression: ...
    def call(self, function: str, *arguments: object) -> Expression: ...
    def total(self, body: object, index: Any) -> Expression: ...
    def equal(self, left: object, right: object) -> Expression: ...
    def where(self, condition: object, then: object, otherwise: object) -> Expression: ...
    def lag(self, index: Expression) -> Expression: ...
    def quadratic(self, residual: Expression, matrix: Expression, row: Any, column: Any) -> Expression: ...
    def log_determinant(self, matrix: Expression, row: Any, column: Any) -> Expression: ...
    def inverse(
        self, matrix: Expression, row: Any, column: Any, at_row: Expression, at_column: Expression
    ) -> Expression: ...


@lru_cache(maxsize=1)
def builders() -> Builders:
    """The module of builders, imported late: the operators and the builders need each other."""
    from platewright.algebra import build

    return build


@dataclass_transform(frozen_default=True)
def node(cls: type[Node]) -> type[Node]:
    """A frozen dataclass whose hash is computed once: expressions are hashed far more often than made.

    Nodes of unequal hash are told apart without a look at their parts, and a node is equal to itself.
    """
    cls = dataclass(frozen=True, eq=False, repr=False)(cls)
    made: Any = cls
    names = tuple(field.name for field in fields(made))
    label = cls.__name__

    def __hash__(self: Any) -> int:
        own = self.__dict__
        value: int | None = own.get("_hash")
        if value is None:
            value = own["_hash"] = hash((label, *[own[name] for name in names]))
        return value

    def __eq__(self: Any, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        return hash(self) == hash(other) and all(getattr(self, name) == getattr(other, name) for name in names)

    def __reduce__(self: Any) -> tuple[Any, tuple[Any, ...]]:
        # What was found about a node stays behind: the hash of a text differs from process to process.
        return made, tuple(self.__dict__[name] for name in names)

    cls.__eq__ = __eq__  # type: ignore[method-assign]
    cls.__reduce__ = __reduce__  # type: ignore[method-assign]
    cls.__hash__ = __hash__  # type: ignore[method-assign]
    cls.__repr__ = lambda self: f"<{self}>"  # type: ignore[method-assign]
    return cls
