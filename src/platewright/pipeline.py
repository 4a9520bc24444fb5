"""The whole way on one page: Model -> Graph -> Steps -> Plan -> Program -> Source -> Result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar, overload
from typing import Literal as OneOf

from platewright.algebra.depth import with_room
from platewright.data.bind import bind
from platewright.data.dataset import Dataset
from platewright.data.signature import Signature
from platewright.data.stream import batches
from platewright.data.support import are_finite
from platewright.derive.planner import choose_plan
from platewright.derive.plans import AnyPlan
from platewright.derive.question import question
from platewright.drawing.from_graph import picture_of
from platewright.drawing.svg import picture_svg
from platewright.errors import MissingValue, SupportError, shown_text
from platewright.graph.declarations import declarations
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Graph, read_graph
from platewright.inference.infer import Inference
from platewright.language import model as language
from platewright.operable import OperableGraph, operable
from platewright.operation import Declined
from platewright.operations.split_partly_known import split_all
from platewright.run.checks.allocation import that_fits
from platewright.run.checks.computed import check_computed
from platewright.run.checks.given import Checks, check_given, checks_of
from platewright.run.checks.room import in_our_words
from platewright.run.checks.sizing import check_complete
from platewright.run.evidence.evidence_fit import EvidenceFit, settled
from platewright.run.exact.changing import needs_rows
from platewright.run.exact.fit import Fit, finished
from platewright.run.exact.row_batches import ROWS_IN_A_BATCH, batch_plate
from platewright.run.exact.runner import choose_runner, most_rows
from platewright.run.execute import all_in_rows, columns_of
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.laplace_fit import LaplaceFit
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.in_batches import in_batches, passed
from platewright.run.iterating import no_option, run_iterated
from platewright.run.networks.network import InferenceByRow, Network
from platewright.run.points.fit import QuadratureFit
from platewright.run.results.deciding_network import decide_network
from platewright.run.results.decision import Decision
from platewright.run.results.derived_plan import DerivedPlan
from platewright.run.results.result import Result
from platewright.run.results.signature_of import signature_of
from platewright.run.samplers.collapsed_fit import CollapsedFit
from platewright.run.samplers.sampling import SampledFit
from platewright.schema import Goal, Plan, Question
from platewright.schemas.em import EMPlan
from platewright.schemas.mean_field import MeanFieldPlan
from platewright.structure.instances import Arc, choices, instance, instances
from platewright.structure.optional_family import Learned, OptionalFamily
from platewright.structure.rules import ArcPrior
from platewright.trees.grown import Grown, check_grown, grow, open_trees
from platewright.trees.search import check_search

EvidenceMethod = OneOf["enumeration", "chib", "annealed", "laplace"]
Usual = OneOf["posterior"]
T = TypeVar("T")


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
        self,
        known: Iterable[str] = (),
        goal: Goal = "posterior",
        by: str = "auto",
        partly: Iterable[str] = (),
        integrate: Iterable[str] | None = None,
    ) -> DerivedPlan:
        """The algorithm for this model with the given variables known, without any data.

        `known` are names of variables; inputs are known anyway. `partly` names those that will have missing cells.
        `goal` is "posterior", "map" (the mode) or "evidence". `by` is a schema: "exact", "em", "mean-field", "gibbs",
        "collapsed-gibbs", for the evidence also "enumeration", "quadrature", "chib", "annealed" and "laplace"; "auto"
        takes the cheapest that applies. A mode is of what is left when hidden unknowns are integrated out; `integrate`
        names these instead. Raises `NotSolvable`, with the reason of every schema tried, where none does.
        """
        holed = tuple(sorted({partly} if isinstance(partly, str) else set(partly)))
        names = frozenset([known] if isinstance(known, str) else known) | set(holed)
        return DerivedPlan(self._plan(names, holed, question(self, goal, by, integrate), {}))

    def _plan(
        self, known: frozenset[str], holed: tuple[str, ...], asked: Question, sizes: Mapping[str, int]
    ) -> AnyPlan:
        """The plan, for data of such sizes where they are at hand; made once for sizes that are about the same."""
        check_grown(self)
        # Variables are written once and never change, so their numbers tell whether a plan is still good.
        what = (known, holed, asked, len(self.plates), len(self.variables), len(self.potentials))
        if ("read", *what) not in self._plans:
            splits = split_all(read_graph(self, known), holed)
            found = splits[-1].after if splits else read_graph(self, known)
            self._plans["read", *what] = splits, replace(found, integrate=asked.integrate)
        splits, plain = self._plans["read", *what]
        graph = plain.with_sizes_about(sizes) if sizes else plain
        key = (*what, *sorted(graph.about.items()))
        if key not in self._plans:
            chosen = choose_plan(graph, asked.goal, asked.by)
            self._plans[key] = replace(chosen, steps=(*splits, *chosen.steps))
        return self._plans[key]

    @overload
    def learn(self, data: object, goal: Goal = ..., *, by: OneOf["exact"], seed: int = ..., **options: Any) -> Fit: ...
    @overload
    def learn(
        self, data: object, goal: Goal = ..., *, by: OneOf["em"], seed: int = ..., **options: Any
    ) -> EstimatedFit: ...
    @overload
    def learn(
        self, data: object, goal: Goal = ..., *, by: OneOf["mean-field"], seed: int = ..., **options: Any
    ) -> MeanFieldFit: ...
    @overload
    def learn(
        self, data: object, goal: Goal = ..., *, by: OneOf["gibbs"], seed: int = ..., **options: Any
    ) -> SampledFit: ...
    @overload
    def learn(
        self, data: object, goal: Goal = ..., *, by: OneOf["collapsed-gibbs"], seed: int = ..., **options: Any
    ) -> CollapsedFit: ...
    @overload
    def learn(
        self, data: object, goal: OneOf["evidence"], *, by: EvidenceMethod, seed: int = ..., **options: Any
    ) -> EvidenceFit: ...
    @overload
    def learn(
        self, data: object, goal: Usual = ..., *, by: OneOf["quadrature"], seed: int = ..., **options: Any
    ) -> QuadratureFit: ...
    @overload
    def learn(
        self, data: object, goal: Usual = ..., *, by: OneOf["laplace"], seed: int = ..., **options: Any
    ) -> LaplaceFit: ...
    @overload
    def learn(
        self, data: object, goal: Goal = ..., by: str = ..., backend: str = ..., seed: int = ..., **options: Any
    ) -> Result: ...
    @in_our_words
    @with_room
    def learn(
        self,
        data: object,
        goal: Goal = "posterior",
        by: str = "auto",
        backend: str = "auto",
        seed: int = 0,
        *,
        integrate: Iterable[str] | None = None,
        **options: Any,
    ) -> Result:
        """Bind the data, derive the algorithm, run it.

        `data` is a dict of arrays, a pandas, polars or Arrow table, an xarray Dataset, or the path of a CSV or Parquet
        file, which is read in batches. What is in the data is known, the rest unknown; arrays have one axis for each
        plate of their variable, in the order of `plates=`. `goal` and `by` are those of `derive`. `backend` is "numpy",
        "c", or "auto", which takes C where it pays. `seed` fixes all random numbers. With `goal="map"`, `integrate`
        names the unknowns that are integrated out; none, `integrate=[]`, asks for the joint mode.

        Options, with their defaults, of samplers: `chains` 4, `draws` 1000 of each, `warm_up` 500 sweeps before them,
        `thin` 1 sweep for each, `initial` values by name, `keep` the names of unknowns whose draws are kept (of all
        others there are sums: mean, spread, shares of levels); of EM and mean field: `restarts` 5, `iterations` 1000,
        `tolerance` 1e-10; of both: `checkpoint`, the path of a file from which a run goes on.

        Raises `DataError` (with row and column) where data do not fit the model, `NotSolvable` where no schema applies,
        `ImproperPosterior` where prior and data make no distribution, `UnknownName` for an option of another schema.
        """
        if open_trees(self):
            return self.grow(data).model.learn(data, goal, by, backend, seed, integrate=integrate, **options)
        asked = question(self, goal, by, integrate)
        if isinstance(data, (str, Path)):
            return self._learn_from_file(data, asked, backend, seed, options)
        return self._learn_whole(data, asked, backend, seed, options)

    @in_our_words
    def grow(self, data: object, **search: Any) -> Grown:
        """Grow the trees of the model from data; options are those of a search, such as `options=3, width=64`."""
        told, dataset = check_search(search), bind(self._signature(), data, partly=True)
        return grow(self, lambda: Model(self.title), dataset, lambda grown: grown.learn(data), told)

    def graph(self, known: Iterable[str] = ()) -> OperableGraph:
        """The chain graph with the named variables known, to operate on and to ask: `g.eliminate("theta")`."""
        return operable(read_graph(self, [known] if isinstance(known, str) else known))

    def svg(self, known: Iterable[str] = ()) -> str:
        """The plate diagram as SVG text; the variables named in `known` are shaded. Notebooks show it by themselves."""
        names = [known] if isinstance(known, str) else known
        return picture_svg(picture_of(read_graph(self, names), title=self.title))

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        plates = [f"{plate}" for name, plate in self.plates.items() if not name.endswith(".levels")]
        return shown_text("\n  ".join((f"model {self.title}", *plates, *declarations(read_graph(self)))))

    def instances(self) -> Iterator[tuple[frozenset[Arc], Model]]:
        """Every model that the optional arcs stand for, with the arcs that it has, the fullest first."""
        for present, graph in instances(read_graph(self)):
            yield present, self._instance(present, graph)

    def structures(self, prior: ArcPrior | None = None) -> OptionalFamily:
        """The family of models that the optional arcs and potentials stand for: search, sample, go over all of it.

        `prior` is `pw.uniform_dags()`, every model as probable as any other, or `pw.arcs(p)`.
        """

        def read(data: object) -> Learned:
            known = bind(self._signature(), data, scan=True, partly=True).known
            return Learned(read_graph(self, known - _inputs(self)), lambda present: self._instance(present).learn(data))

        return OptionalFamily(read_graph(self), read, prior)

    def _instance(self, present: frozenset[Arc], graph: Graph | None = None) -> Model:
        """The model with just these of its optional arcs."""
        graph = instance(read_graph(self), present) if graph is None else graph
        gone = sorted(frozenset[Arc]().union(*choices(read_graph(self))) - present)
        cut = ", ".join(f"{parent} -> {child}" for parent, child in gone)
        model = Model(f"{self.title} without {cut}" if cut else self.title)
        model._plates.update(graph.plates)
        model._variables.update(graph.nodes)
        model._potentials.update(graph.potentials)
        model._around.update(self._around)
        return model

    def _signature(self) -> Signature:
        """What the model asks of its data."""
        return self._once("signature", lambda: signature(self))

    def _checks(self, known: frozenset[str]) -> Checks:
        """What to look for in columns that parameters come from, for each set of known variables."""
        return self._once(("given", known), lambda: checks_of(read_graph(self, known - _inputs(self)), known))

    @in_our_words
    def decide(self, evidence: Mapping[str, object] | None = None) -> Decision:
        """The best actions in an influence diagram without plates, whose numbers are all known: by exact inference."""
        return decide_network(read_graph(self), evidence)

    @overload
    def infer(self, evidence: Mapping[str, Any] | None = ..., about: Any = ..., most_bytes: Any = ...) -> Inference: ...
    @overload
    def infer(self, evidence: Any) -> InferenceByRow: ...
    @in_our_words
    def infer(self, evidence: Any = None, about: Iterable[str] | None = None, most_bytes: int | None = None) -> Any:
        """Exact answers about the unknowns of a graph without plates: marginals, joints, the most probable state.

        `evidence` holds values by name; of a frame (or columns by name), each row is a set of evidence.
        """
        return self._once("network", lambda: Network(read_graph(self))).infer(evidence, about, most_bytes)

    def _once(self, what: object, make: Callable[[], T]) -> T:
        """What was made for what is written so far; it is made now where it was not."""
        key = (what, len(self.plates), len(self.variables), len(self.potentials))
        if key not in self._plans:
            self._plans[key] = make()
        found: T = self._plans[key]
        return found

    def _learn_whole(
        self, data: object, asked: Question, backend: str, seed: int, options: Mapping[str, Any], scan: bool = False
    ) -> Result:
        """All data in memory at once. Large columns are searched for missing and infinite cells only with `scan`."""
        start, wanted = perf_counter(), self._signature()
        dataset = bind(wanted, data, scan=scan, partly=True, upright=True)
        bound = perf_counter()
        holed = tuple(sorted(dataset.missing))
        plan = self._plan(dataset.known - _inputs(self) | set(holed), holed, asked, dataset.sizes)
        columns = columns_of(plan.graph, dataset)
        sizes = {**fixed_sizes(plan.graph), **dataset.sizes}
        check_given(self._checks(dataset.known), columns, sizes, dataset.missing)
        check_computed(plan.graph, columns, sizes)
        plan = settled(plan, asked.by, columns, sizes)
        derived = perf_counter()
        if not isinstance(plan, Plan):
            columns = all_in_rows(columns)
            if not scan and not are_finite(dataset.columns.values()):
                return self._learn_whole(data, asked, backend, seed, options, scan=True)
            if not isinstance(data, (str, Path)) and not dataset.missing and isinstance(plan, EMPlan | MeanFieldPlan):
                cut = in_batches(plan, (wanted, data, dataset, ROWS_IN_A_BATCH), seed, backend, options, columns)
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
            return self._learn_whole(data, asked, backend, seed, options, scan=True)
        if again := found.ill_conditioned:
            found = runner.passed(columns, sizes, again)
        fit = Fit(plan, columns, sizes, found.statistics, wanted, labels=dataset.labels, seed=seed, **runner.told)
        return finished(fit, {"bind": bound - start, "derive": derived - bound}, derived)

    def _learn_from_file(
        self, path: str | Path, asked: Question, backend: str, seed: int, options: Mapping[str, Any]
    ) -> Result:
        """One pass over a file, batch by batch, so that memory stays flat; a second where digits were lost."""
        # A thread reads ahead: it must not go on with the file after an error.
        with closing(batches(self._signature(), path, rows=ROWS_IN_A_BATCH, scan=False)) as pieces:
            return self._learn_from_pieces(pieces, path, asked, backend, seed, options)

    def _learn_from_pieces(
        self,
        pieces: Generator[Dataset, None, None],
        path: str | Path,
        asked: Question,
        backend: str,
        seed: int,
        options: Mapping[str, Any],
    ) -> Result:
        start, wanted = perf_counter(), self._signature()
        try:
            first = next(pieces)
        except MissingValue:
            return self._learn_whole(path, asked, backend, seed, options)
        plan = self._plan(first.known - _inputs(self), (), asked, {})
        check_computed(plan.graph, columns_of(plan.graph, first), {**fixed_sizes(plan.graph), **first.sizes})
        if isinstance(plan, EMPlan | MeanFieldPlan):
            pieces.close()  # the thread that reads ahead would wait for us to the end of the run
            return self._iterate_over_file(plan, path, first, asked, backend, seed, options)
        row = batch_plate(plan.program, columns_of(plan.graph, first)) if isinstance(plan, Plan) else None
        if not isinstance(plan, Plan) or row is None or not plan.program.columns:
            return self._learn_whole(path, asked, backend, seed, options)
        derived = perf_counter()
        runner = choose_runner(plan.program, backend, most_rows(plan.program, {**plan.program.sizes, **first.sizes}))
        try:
            found, sizes, labels = passed(plan, runner, chain((first,), pieces), row, (), self._checks(first.known))
        except MissingValue:
            return self._learn_whole(path, asked, backend, seed, options)
        if not found.is_finite:  # finds missing cells, or names the cell that is not finite
            return self._learn_whole(path, asked, backend, seed, options, scan=True)
        if again := found.ill_conditioned:
            with closing(batches(wanted, path, rows=ROWS_IN_A_BATCH)) as pieces:
                found, sizes, labels = passed(plan, runner, pieces, row, again)
        fit = Fit(plan, {}, sizes, found.statistics, wanted, labels=labels, seed=seed, **runner.told)
        try:
            return finished(fit, {"derive": derived - start}, derived)
        except SupportError:  # data that cannot be: with all rows at hand, the guilty one is named
            return self._learn_whole(path, asked, backend, seed, options)

    def _iterate_over_file(
        self,
        plan: EMPlan | MeanFieldPlan,
        path: str | Path,
        first: Dataset,
        asked: Question,
        backend: str,
        seed: int,
        options: Mapping[str, Any],
    ) -> Result:
        """A pass over the file in each iteration, where batches will do; else all rows are read first."""
        known = (self._signature(), path, first, ROWS_IN_A_BATCH)
        try:
            found = in_batches(plan, known, seed, backend, options)
        except MissingValue:
            return self._learn_whole(path, asked, backend, seed, options)
        if isinstance(found, Declined):
            return self._learn_whole(path, asked, backend, seed, options)
        return found


def _inputs(model: language.Model) -> set[str]:
    return {name for name, variable in model.variables.items() if variable.kind == "input"}


def signature(model: language.Model) -> Signature:
    """What a model asks of its data."""
    return signature_of(read_graph(model))
