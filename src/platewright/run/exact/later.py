"""Values by name, each computed when it is first asked for: who wants a mean need not pay for a covariance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from platewright.family import Array


class Later(Mapping[str, Array]):
    """A mapping of values that are still to be computed."""

    def __init__(self, computations: Mapping[str, Callable[[], Array]]) -> None:
        self._computations = computations
        self._found: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name not in self._found:
            self._found[name] = self._computations[name]()
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._computations)

    def __len__(self) -> int:
        return len(self._computations)
