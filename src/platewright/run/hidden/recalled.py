"""What passes over batches of rows have in common: statistics that merge, expectations that are made on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

import numpy as np

from platewright.algebra.expression import Index
from platewright.family import Array
from platewright.program.program import Program
from platewright.run.exact.native import _keys
from platewright.run.execute import Statistics, loaded
from platewright.run.hidden.row_file import RowFile, Rows
from platewright.schemas.hidden import group_holding, joint_name
from platewright.schemas.latent import Latent


def merged_parts(program: Program, row: str, whole: Statistics | None, part: Statistics) -> Statistics:
    """Statistics of rows add up; those that no row has part in are the same in every batch."""
    if whole is None:
        return part
    return {**loaded(program).merged(whole, part), **{key: part[key] for key in _constant(program, row)}}


@lru_cache(maxsize=64)
def _constant(program: Program, row: str) -> tuple[str, ...]:
    """The statistics that do not run over rows."""
    keys = zip(_keys(loaded(program)), program.passes, strict=True)
    return tuple(key for key, statement in keys if row not in {index.plate for index in statement.over})


class Recalled(Mapping[str, Array]):
    """Expectations of hidden variables, made by a pass over the file for whoever asks."""

    def __init__(self, latent: Latent, file: RowFile, expected: Callable[[Rows], Mapping[str, Array]]) -> None:
        self.file, self.expected = file, expected
        self.axis = {item.probability: _position(item.axes, file.row) for item in latent.hidden}
        for names in latent.joint:
            group = group_holding(latent.groups, names)
            assert group is not None  # a statistic was made soft by it
            self.axis[joint_name(names)] = _position(group.axes, file.row)
        for cloud in latent.gaussian:
            self.axis |= {member.point: _position(cloud.axes, file.row) for member in cloud.members}

    def __getitem__(self, name: str) -> Array:
        axis = self.axis[name]
        return np.concatenate([self.expected(batch)[name] for batch in self.file], axis=axis)

    def __contains__(self, name: object) -> bool:
        return name in self.axis  # to look is not to ask for a pass

    def __iter__(self) -> Iterator[str]:
        return iter(self.axis)

    def __len__(self) -> int:
        return len(self.axis)


def _position(axes: tuple[Index, ...], row: str) -> int:
    return [axis.plate for axis in axes].index(row)
