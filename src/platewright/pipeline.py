"""The whole way on one page: Model -> Graph -> Steps -> Plan -> Program -> Source -> Result."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any

from platewright.algebra.depth import with_room
from platewright.data.bind import bind
from platewright.data.dataset import Dataset
from platewright.data.signature import Signature
from platewright.data.stream import batches
from platewright.data.support import are_finite
from platewright.derive.planner import choose_plan
from platewright.drawing.from_graph import picture_of
from platewright.drawing.svg import picture_svg
from platewright.errors import MissingValue, SupportError, UnknownName
from platewright.graph.declarations import declarations
from platewright.graph.graph import Graph, read_graph
from platewright.inference.infer import Inference, infer
from platewright.language import model as language
from platewright.operation import Declined, Step
from platewright.operations.split_partly_known import split_partly_known
from platewright.run.checks.allocation import that_fits
from platewright.run.checks.given import Checks, check_given, checks_of
from platewright.run.checks.sizing import check_complete
from platewright.run.evidence.evidence_fit import EvidenceFit, settled
from platewright.run.exact.changing import needs_rows
from platewright.run.exact.fit import Fit
from platewright.run.exact.row_batches import ROWS_IN_A_BATCH, Rows, batch_plate
from platewright.run.exact.runner import Passed, Runner, choose_runner, most_rows
from platewright.run.execute import all_in_rows, columns_of
from platewright.run.hidden.em_batches import learn_in_batches
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.mean_field_batches import bound_in_batches
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.iterating import check_options, no_option, run_iterated
from platewright.run.results.derived_plan import DerivedPlan
from platewright.run.results.signature_of import signature_of
from platewright.run.samplers.sampling import SampledFit
from platewright.schema import Goal, Plan
from platewright.schemas.em import EMPlan
from platewright.schemas.exact import fixed_sizes
from platewright.schemas.mean_field import MeanFieldPlan
from platewright.structure.instances import Arc, instances, optional_arcs

GOALS = ("posterior", "map", "evidence")
AnyFit = Fit | EstimatedFit | MeanFieldFit | SampledFit | EvidenceFit


class Model(language.Model):
    """A graphical model with plates: write it by assignment, then derive or learn."""

    _plans: dict[tuple[object, ...], Any]
    _read_from: Any

    def __init__(self, name: str = "model") -> None:
        super().__init__(name)
        self._set("_plans", {})
        self._set("_read_from", None)

    @property
    def read_from(self) -> Any:
        """For a model read from BUGS text: its report, and the way from BUGS data to ours."""
        return self._read_from

    @with_room
    def derive(
        self, known: Iterable[str] = (), goal: Goal = "posterior", by: str = "auto", partly: Iterable[str] = ()
    ) -> DerivedPlan:
        """The algorithm for this model with the given variables known, without any data.

        `known` are names of variables; inputs are known anyway. `partly` names those that will have missing cells.
        `goal` is "posterior", "map" (the mode) or "evidence". `by` is a schema: "exact", "em", "mean-field", "gibbs",
        "collapsed-gibbs", for the evidence also "enumeration", "quadrature", "chib", "annealed" and "laplace"; "auto"
        takes the first that applies. Raises `NotSolvable`, with the reason of every schema tried, where none does.
        """
        if goal not in GOALS:
            raise UnknownName(goal, GOALS, where="goal=")
        holed = tuple(sorted({partly} if isinstance(partly, str) else set(partly)))
        names = frozenset([known] if isinstance(known, str) else known) | set(holed)
        # Variables are written once and never change, so their numbers tell whether a plan is still good.
        key = (names, holed, goal, by, len(self.plates), len(self.variables), len(self.potentials))
        if key not in self._plans:
            splits = split_all(read_graph(self, names), holed)
            graph = splits[-1].after if splits else read_graph(self, names)
            found = choose_plan(graph, goal, by)
            self._plans[key] = replace(found, steps=(*splits, *found.steps))
        return DerivedPlan(self._plans[key])

    @with_room
    def learn(
        self,
        data: object,
        goal: Goal = "posterior",
        by: str = "auto",
        backend: str = "auto",
        seed: int = 0,
        **options: Any,
    ) -> AnyFit:
        """Bind the data, derive the algorithm, run it.

        `data` is a dict of arrays, a pandas, polars or Arrow table, an xarray Dataset, or the path of a CSV or Parquet
        file, which is read in batches. What is in the data is known, the rest unknown; arrays have one axis for each
        plate of their variable, in the order of `plates=`. `goal` and `by` are those of `derive`. `backend` is "numpy",
        "c", or "auto", which takes C where it pays. `seed` fixes all random numbers.

        Options, with their defaults, of samplers: `chains` 4, `draws` 1000 of each, `warm_up` 500 sweeps before them,
        `thin` 1 sweep for each, `initial` values by name; of EM and mean field: `restarts` 5, `iterations` 1000,
        `tolerance` 1e-10; of both: `checkpoint`, the path of a file from which a run goes on.

        Raises `DataError` (with row and column) where data do not fit the model, `NotSolvable` where no schema applies,
        `ImproperPosterior` where prior and data make no distribution, `UnknownName` for an option of another schema.
        """
        if isinstance(data, (str, Path)):
            return self._learn_from_file(data, goal, by, backend, seed, options)
        return self._learn_whole(data, goal, by, backend, seed, options)

    def svg(self, known: Iterable[str] = ()) -> str:
        """The plate diagram as SVG text; the variables named in `known` are shaded. Notebooks show it by themselves."""
        names = [known] if isinstance(known, str) else known
        return picture_svg(picture_of(read_graph(self, names), title=self.title))

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        plates = [f"{plate}" for name, plate in self.plates.items() if not name.endswith(".levels")]
        return "\n  ".join((f"model {self.title}", *plates, *declarations(read_graph(self))))

    def instances(self) -> Iterator[tuple[frozenset[Arc], Model]]:
        """Every model that the optional arcs stand for, with the arcs that it has, the fullest first."""
        every = frozenset(optional_arcs(read_graph(self)))
        for present, graph in instances(read_graph(self)):
            cut = ", ".join(f"{parent} -> {child}" for parent, child in sorted(every - present))
            model = Model(f"{self.title} without {cut}" if cut else self.title)
            model._plates.update(graph.plates)
            model._variables.update(graph.nodes)
            model._potentials.update(graph.potentials)
            model._around.update(self._around)
            yield present, model

    def _signature(self) -> Signature:
        """What the model asks of its data, made once for what is written so far."""
        key = ("signature", len(self.plates), len(self.variables))
        if key not in self._plans:
            self._plans[key] = signature(self)
        found: Signature = self._plans[key]
        return found

    def _checks(self, known: frozenset[str]) -> Checks:
        """What to look for in columns that parameters come from, found once for each set of known variables."""
        key = ("given", known, len(self.plates), len(self.variables))
        if key not in self._plans:
            self._plans[key] = checks_of(read_graph(self, known - _inputs(self)), known)
        found: Checks = self._plans[key]
        return found

    def infer(
        self,
        evidence: Mapping[str, object] | None = None,
        about: Iterable[str] | None = None,
        most_bytes: int | None = None,
    ) -> Inference:
        """Exact answers about the unknowns of a graph without plates: marginals, joints, the most probable state."""
        return infer(self, evidence, about, most_bytes)

    def _learn_whole(
        self,
        data: object,
        goal: Goal,
        by: str,
        backend: str,
        seed: int,
        options: Mapping[str, Any],
        scan: bool = False,
    ) -> AnyFit:
        """All data in memory at once. Large columns are searched for missing and infinite cells only with `scan`."""
        start = perf_counter()
        wanted = self._signature()
        dataset = bind(wanted, data, scan=scan, partly=True, upright=True)
        bound = perf_counter()
        plan = self.derive(dataset.known - _inputs(self), goal, by, dataset.missing).plan
        columns = columns_of(plan.graph, dataset)
        sizes = {**fixed_sizes(plan.graph), **dataset.sizes}
        check_given(self._checks(dataset.known), columns, sizes, dataset.missing)
        plan = settled(plan, by, columns, sizes)
        derived = perf_counter()
        if not isinstance(plan, Plan):
            columns = all_in_rows(columns)
            if not scan and not are_finite(dataset.columns.values()):
                return self._learn_whole(data, goal, by, backend, seed, options, scan=True)
            if not isinstance(data, (str, Path)) and not dataset.missing and isinstance(plan, EMPlan | MeanFieldPlan):
                cut = _in_batches(plan, (wanted, data, dataset, ROWS_IN_A_BATCH), seed, backend, options, columns)
                if not isinstance(cut, Declined):
                    return cut
            return run_iterated(
                plan, columns, dataset, seed, backend, options, {"bind": bound - start, "derive": derived - bound}
            )
        if options:
            raise no_option(min(options), plan.schema)
        sizes = {**plan.program.sizes, **dataset.sizes}
        check_complete(plan, columns, sizes)
        plan = that_fits(plan, sizes)
        runner = choose_runner(plan.program, backend, most_rows(plan.program, sizes))
        columns = columns if runner.compiled is not None else all_in_rows(columns)
        found = runner.passed(columns, sizes)
        lost = not found.is_finite or (needs_rows(plan.program) and not are_finite(dataset.columns.values()))
        if lost and not scan:  # finds missing cells, or names the cell that is not finite
            return self._learn_whole(data, goal, by, backend, seed, options, scan=True)
        if again := found.ill_conditioned:
            found = runner.passed(columns, sizes, again)
        fit = Fit(
            plan, columns, sizes, found.statistics, wanted, labels=dataset.labels, seed=seed, backend=runner.backend
        )
        return _finished(fit, {"bind": bound - start, "derive": derived - bound}, derived)

    def _learn_from_file(
        self, path: str | Path, goal: Goal, by: str, backend: str, seed: int, options: Mapping[str, Any]
    ) -> AnyFit:
        """One pass over a file, batch by batch, so that memory stays flat; a second where digits were lost."""
        # A thread reads ahead: it must not go on with the file after an error.
        with closing(batches(self._signature(), path, rows=ROWS_IN_A_BATCH, scan=False)) as pieces:
            return self._learn_from_pieces(pieces, path, goal, by, backend, seed, options)

    def _learn_from_pieces(
        self,
        pieces: Generator[Dataset, None, None],
        path: str | Path,
        goal: Goal,
        by: str,
        backend: str,
        seed: int,
        options: Mapping[str, Any],
    ) -> AnyFit:
        start, wanted = perf_counter(), self._signature()
        try:
            first = next(pieces)
        except MissingValue:
            return self._learn_whole(path, goal, by, backend, seed, options)
        plan = self.derive(first.known - _inputs(self), goal, by).plan
        if isinstance(plan, EMPlan | MeanFieldPlan):
            pieces.close()  # the thread that reads ahead would wait for us to the end of the run
            return self._iterate_over_file(plan, path, first, goal, by, backend, seed, options)
        row = batch_plate(plan.program, columns_of(plan.graph, first)) if isinstance(plan, Plan) else None
        if not isinstance(plan, Plan) or row is None or not plan.program.columns:
            return self._learn_whole(path, goal, by, backend, seed, options)
        derived = perf_counter()
        runner = choose_runner(plan.program, backend, most_rows(plan.program, {**plan.program.sizes, **first.sizes}))
        try:
            found, sizes, labels = _passed(plan, runner, chain((first,), pieces), row, (), self._checks(first.known))
        except MissingValue:
            return self._learn_whole(path, goal, by, backend, seed, options)
        if not found.is_finite:  # finds missing cells, or names the cell that is not finite
            return self._learn_whole(path, goal, by, backend, seed, options, scan=True)
        if again := found.ill_conditioned:
            with closing(batches(wanted, path, rows=ROWS_IN_A_BATCH)) as pieces:
                found, sizes, labels = _passed(plan, runner, pieces, row, again)
        fit = Fit(plan, {}, sizes, found.statistics, wanted, labels=labels, seed=seed, backend=runner.backend)
        try:
            return _finished(fit, {"derive": derived - start}, derived)
        except SupportError:  # data that cannot be: with all rows at hand, the guilty one is named
            return self._learn_whole(path, goal, by, backend, seed, options)

    def _iterate_over_file(
        self,
        plan: EMPlan | MeanFieldPlan,
        path: str | Path,
        first: Dataset,
        goal: Goal,
        by: str,
        backend: str,
        seed: int,
        options: Mapping[str, Any],
    ) -> AnyFit:
        """A pass over the file in each iteration, where batches will do; else all rows are read first."""
        known = (self._signature(), path, first, ROWS_IN_A_BATCH)
        try:
            found = _in_batches(plan, known, seed, backend, options)
        except MissingValue:
            return self._learn_whole(path, goal, by, backend, seed, options)
        if isinstance(found, Declined):
            return self._learn_whole(path, goal, by, backend, seed, options)
        return found


def _in_batches(
    plan: EMPlan | MeanFieldPlan,
    rows: tuple[Signature, object, Dataset, int],
    seed: int,
    backend: str,
    options: Mapping[str, Any],
    columns: Mapping[str, Any] | None = None,
) -> EstimatedFit | MeanFieldFit | Declined:
    """An iterative plan over rows in batches, from a file or from memory: cut alike, they give the same bits."""
    check_options(plan, options)
    if isinstance(plan, EMPlan):
        return learn_in_batches(plan, *rows, seed=seed, backend=backend, options=options, columns=columns)
    return bound_in_batches(plan, *rows, seed=seed, backend=backend, options=options, columns=columns)


def _passed(
    plan: Plan, runner: Runner, rows: Iterable[Dataset], row: str, exact: Collection[str], checks: Checks | None = None
) -> tuple[Passed, dict[str, int], Mapping[str, tuple[object, ...]]]:
    """What all batches leave together."""
    total: dict[str, int] = {}
    labels: Mapping[str, tuple[object, ...]] = {}

    def checked() -> Iterator[Rows]:
        nonlocal total, labels
        for batch in rows:
            columns = columns_of(plan.graph, batch)
            sizes = {**plan.program.sizes, **batch.sizes}
            check_complete(plan, columns, sizes)
            if checks is not None:
                check_given(checks, columns, sizes, (), {row: total.get(row, 0)})
            total = {**sizes, row: total.get(row, 0) + sizes[row]}
            labels = batch.labels
            yield columns, sizes

    found = runner.gathered(checked(), row, exact)
    return found, total, labels


def _finished(fit: Fit, seconds: dict[str, float], since: float) -> Fit:
    """Compute at once, so that an improper posterior is refused here and not at first use."""
    fit.values  # noqa: B018
    # A copy would compute again; the times are the last thing to be known about the fit.
    object.__setattr__(fit, "seconds", {**seconds, "run": perf_counter() - since})
    return fit


def split_all(graph: Graph, partly: Iterable[str]) -> tuple[Step, ...]:
    """One step for each variable with missing cells."""
    steps: list[Step] = []
    for name in partly:
        found = split_partly_known(steps[-1].after if steps else graph, name)
        if isinstance(found, Declined):
            raise MissingValue(f"`{name}` has missing cells: {found.reason}", hint="drop these rows or fill them")
        steps.append(found)
    return tuple(steps)


def _inputs(model: language.Model) -> set[str]:
    return {name for name, variable in model.variables.items() if variable.kind == "input"}


def signature(model: language.Model) -> Signature:
    """What a model asks of its data."""
    return signature_of(read_graph(model))
