"""The printed functions of an iterative plan, loaded: what the library runs is the text that an emitted file holds.

The tools that a file carries along are at hand here, so only what is derived from the model is printed and compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np

from platewright.algebra.expression import Expression, Index
from platewright.algebra.lazy import special
from platewright.backends.layout import laid_out
from platewright.backends.numpy.annealed import AnnealedEmitter
from platewright.backends.numpy.collapsed import CollapsedEmitter
from platewright.backends.numpy.em import EMEmitter
from platewright.backends.numpy.family_text import family_name
from platewright.backends.numpy.gibbs import GibbsEmitter
from platewright.backends.numpy.hidden_steps import HiddenEmitter
from platewright.backends.numpy.laplace import LaplaceEmitter
from platewright.backends.numpy.learning import Options, Visited
from platewright.backends.numpy.mean_field import MeanFieldEmitter
from platewright.family import Array
from platewright.program.program import Program
from platewright.run.exact.native import _keys
from platewright.run.execute import CARRIED, Statistics, loaded
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.em import EMPlan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.few_rows import FewRows
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.mean_field import MeanFieldPlan

Values = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Printed:
    """The functions of a plan, and how things are named in them."""

    space: Mapping[str, Any]
    names: Mapping[str, str]
    """By thing of the plan its name in the text."""
    programs: tuple[Program, ...]
    text: str

    def __call__(self, function: str) -> Any:
        """A function by its name."""
        return self.space[function]

    def __contains__(self, function: str) -> bool:
        return function in self.space

    @cached_property
    def things(self) -> dict[str, str]:
        """By name in the text the thing of the plan."""
        return {name: thing for thing, name in self.names.items()}

    def named(self, values: Values) -> dict[str, Any]:
        """Values under the names of the text; what it never mentions is left out."""
        return {self.names[thing]: value for thing, value in values.items() if thing in self.names}

    def sized(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """How many elements each plate has, under their names in the text."""
        return {self.names[plate]: int(count) for plate, count in sizes.items() if plate in self.names}

    def back(self, values: Values) -> dict[str, Any]:
        """Values of the text under the names of the plan."""
        return {self.things[name]: value for name, value in values.items()}

    def statistics(self, number: int, found: Statistics) -> Statistics:
        """Statistics of a block that was passed on its own, as the text names them."""
        return dict(zip(self.keys(number), (found[key] for key in own_keys(self.programs[number])), strict=True))

    def alone(self, number: int, found: Statistics) -> Statistics:
        """Statistics of the text, as the program of the block alone names them."""
        return dict(zip(own_keys(self.programs[number]), (found[key] for key in self.keys(number)), strict=True))

    def keys(self, number: int) -> list[str]:
        """The names of the statistics of a block in the text."""
        return [self.names[statement.name] for statement in self.programs[number].passes]


@lru_cache(maxsize=256)
def own_keys(program: Program) -> tuple[str, ...]:
    """The names of statistics in the module of a program alone."""
    return _keys(loaded(program))


class Same:
    """A plan as a key: it is the same as itself, whatever it holds."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


def printed_em(plan: EMPlan, few: FewRows[EMPlan] | None = None) -> Printed:
    """The functions of EM, on few rows where these stand for all."""
    return _em(Same(plan), Same(few))


@lru_cache(maxsize=64)
def _em(plan: Same, few: Same) -> Printed:
    emitter = EMEmitter(plan.thing, few.thing)
    return load(emitter, emitter.algorithm(), (*emitter.modules, *emitter.tools), plan.thing.latent.programs)


def printed_field(plan: MeanFieldPlan, few: FewRows[MeanFieldPlan] | None = None) -> Printed:
    """The functions of mean field, on few rows where these stand for all."""
    return _field(Same(plan), Same(few))


@lru_cache(maxsize=64)
def _field(plan: Same, few: Same) -> Printed:
    emitter = MeanFieldEmitter(plan.thing, few.thing)
    return load(emitter, emitter.algorithm(), (*emitter.modules, *emitter.tools), plan.thing.latent.programs)


def printed_gibbs(plan: GibbsPlan, held: frozenset[str] = frozenset()) -> Printed:
    """The functions of a sweep of a sampler; numbers that are `held` may change."""
    return _gibbs(Same(plan), held)


@lru_cache(maxsize=64)
def _gibbs(plan: Same, held: frozenset[str]) -> Printed:
    emitter = GibbsEmitter(plan.thing, held=held)
    return load(emitter, emitter.sweeping(), emitter.tools, plan.thing.programs)


def printed_annealed(plan: EvidencePlan) -> Printed:
    """The functions of a particle on its way from the prior to the posterior."""
    return _annealed(Same(plan))


@lru_cache(maxsize=64)
def _annealed(plan: Same) -> Printed:
    emitter = AnnealedEmitter(plan.thing)
    return load(emitter, emitter.weighing(), emitter.tools, emitter.plan.programs)


def printed_laplace(plan: EvidencePlan, sizes: Mapping[str, int]) -> Printed:
    """The objective of Laplace's method, where climbs start, and the labels that may be exchanged."""
    return _laplace(Same(plan), tuple(sizes.items()))


@lru_cache(maxsize=64)
def _laplace(plan: Same, sizes: tuple[tuple[str, int], ...]) -> Printed:
    emitter = LaplaceEmitter(plan.thing, Options(sizes=dict(sizes)))
    return load(emitter, emitter.climbing(), emitter.tools, ())


def printed_collapsed(plan: CollapsedPlan, visited: Visited) -> Printed:
    """The functions of a sweep over the elements of a plan, those of some plates sorted by what they share."""
    return _collapsed(Same(plan), tuple(visited.items()))


@lru_cache(maxsize=64)
def _collapsed(plan: Same, visited: tuple[tuple[str, tuple[Index, tuple[Expression, ...]]], ...]) -> Printed:
    emitter = CollapsedEmitter(plan.thing, Options(visited=dict(visited)))
    return load(emitter, emitter.sweeping(), emitter.tools, (plan.thing.complete.program,))


def load(
    emitter: HiddenEmitter | GibbsEmitter | CollapsedEmitter,
    parts: Sequence[str],
    modules: Sequence[ModuleType],
    programs: tuple[Program, ...],
) -> Printed:
    """Compile the parts of a program. The text is ours: names in it are made by `backends/naming.py`."""
    text = laid_out("\n\n\n".join(parts) + "\n")
    space: dict[str, Any] = {}
    for module in modules:
        space |= {name: value for name, value in vars(module).items() if not name.startswith("__")}
    space |= {family_name(family, kind): getattr(family, kind) for family, kind in emitter.families}
    space |= {"__name__": "learned", "np": np, "special": special, "product": product, **CARRIED}
    exec(compile(text, "<platewright>", "exec"), space)
    return Printed(space, dict(emitter.names.given), programs, text)
