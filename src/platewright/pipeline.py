"""The whole way on one page: Model -> Graph -> Steps -> Plan -> Program -> Source -> Result."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import Any

from platewright.backends.emit import emit
from platewright.data.bind import bind
from platewright.data.signature import ColumnSpec, PlateSpec, Signature
from platewright.derive.explain import explain
from platewright.derive.planner import choose_plan
from platewright.errors import MissingColumn, ModelError, UnknownName
from platewright.graph.graph import read_graph
from platewright.language import model as language
from platewright.run.execute import arguments, columns_of, loaded
from platewright.run.fit import Fit
from platewright.schema import Goal, Plan

GOALS = ("posterior", "map", "evidence")


class Model(language.Model):
    """A graphical model with plates: write it by assignment, then derive or learn."""

    def derive(self, known: Iterable[str] = (), goal: Goal = "posterior", by: str = "auto") -> DerivedPlan:
        """The algorithm for this model with the given variables known, without any data."""
        if goal not in GOALS:
            raise UnknownName(goal, GOALS, where="goal=")
        return DerivedPlan(self, choose_plan(read_graph(self, known), goal, by))

    def learn(
        self, data: object, goal: Goal = "posterior", by: str = "auto", backend: str = "auto", seed: int = 0
    ) -> Fit:
        """Bind the data, derive the algorithm, run it."""
        start = perf_counter()
        dataset = bind(signature(self), data)
        bound = perf_counter()
        plan = self.derive(dataset.known - _inputs(self), goal, by).plan
        derived = perf_counter()
        columns = columns_of(plan.graph, dataset)
        sizes = {**plan.program.sizes, **dataset.sizes}
        _check_complete(plan, columns, sizes)
        module = loaded(plan.program)
        statistics = module.statistics(*arguments(plan.program, module, columns, sizes))
        fit = Fit(plan, statistics, columns, sizes, dataset.labels, "numpy", seed, signature=signature(self))
        fit.values  # noqa: B018 - improper posteriors are refused here, not later
        seconds = {"bind": bound - start, "derive": derived - bound, "run": perf_counter() - derived}
        object.__setattr__(fit, "seconds", seconds)
        return fit


class DerivedPlan:
    """A plan with its model: explain it, print its source, let it prove itself."""

    def __init__(self, model: Model, plan: Plan) -> None:
        self.model = model
        self.plan = plan

    def explain(self) -> str:
        """The derivation in words."""
        return explain(self.plan)

    def source(self, backend: str = "numpy") -> str:
        """Standalone source in a target language."""
        return emit(self.plan.program, backend)

    @property
    def declined(self) -> tuple[tuple[str, str], ...]:
        """Schemas that were tried before and why they do not apply."""
        return tuple((refusal.operation, refusal.reason) for refusal in self.plan.declined)

    @property
    def how(self) -> str:
        """One line: the algorithm chosen."""
        return f"{self.plan.schema}: {self.plan.summary}"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plan, name)

    def __repr__(self) -> str:
        return f"<Plan for {self.plan.graph.title}: {self.how}>"


def _inputs(model: language.Model) -> set[str]:
    return {name for name, variable in model.variables.items() if variable.kind == "input"}


def signature(model: language.Model) -> Signature:
    """What a model asks of its data."""
    plates = {
        name: PlateSpec(name, plate.size, plate.labels, plate.within, plate.like, plate.ordered)
        for name, plate in model.plates.items()
    }
    columns = {}
    for name, variable in model.variables.items():
        if "@" in name or variable.kind == "deterministic":
            continue
        axes = tuple(axis.plate for axis in variable.axes)
        columns[name] = ColumnSpec(name, axes, variable.domain, required=variable.kind == "input")
    return Signature(plates, columns)


def _check_complete(plan: Plan, columns: dict[str, Any], sizes: dict[str, int]) -> None:
    for name in plan.program.columns:
        if name not in columns:
            shown = name.split("@")[0]
            raise MissingColumn(f"the data have no `{shown}`", expected=f"a column named {shown}")
    for plate in plan.program.plates:
        if plate not in sizes:
            raise ModelError(
                f"the size of plate `{plate}` is not known", hint=f"give it in the model: m.plate('{plate}', size)"
            )
