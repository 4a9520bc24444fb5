"""What a result is, whatever schema it came from: what was learned by name, how, and what follows from it.

A result is a Mapping from names to what is known of them. Its members are the same for all schemas, so that whoever
lets `auto` choose need not ask what he got; what a schema cannot give it declines with `NotLearned` and a way to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from platewright.errors import NotLearned, PlatewrightError, UnknownName, shown_name
from platewright.family import Array
from platewright.operations.split_partly_known import missing_name, observed_name
from platewright.run.results.followers import plates_without_size
from platewright.run.results.quantity import Draws, Numbers, Predictions, Quantities, Quantity

if TYPE_CHECKING:
    from xarray import DataTree

    from platewright.backends.numpy.learning import Options
    from platewright.inference.answers import MostProbable
    from platewright.recognition.exchangeable import Symmetry
    from platewright.run.evidence.evidence import Evidence
    from platewright.run.results.decision import Decision
    from platewright.run.results.derived_plan import DerivedPlan
    from platewright.run.results.table import Summary
    from platewright.run.whole_density import PointDerivatives


@dataclass(frozen=True, eq=False, repr=False)
class Result(Quantities):
    """What `m.learn(data)` returns: `fit[name]`, `name in fit`, `list(fit)`, and all that follows from it."""

    derivation: Any
    """The plan as its schema wrote it; `plan` wraps it for the user."""
    columns: Mapping[str, Array]
    """The data by name; none where they came from a file in batches."""
    sizes: Mapping[str, int]
    """How many elements each plate has."""
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict, kw_only=True)
    """By plate the names of its elements, where the data had names."""
    seed: int = field(default=0, kw_only=True)
    backend: str = field(default="numpy", kw_only=True)
    made_by: str = field(default="", kw_only=True)
    """Who compiled what ran, and with which flags, where it was C."""
    seconds: Mapping[str, float] | None = field(default=None, kw_only=True)
    """How long each part of the run took."""

    # -- by name ---

    @property
    def learned(self) -> tuple[str, ...]:
        """The unknowns about which something was learned."""
        raise NotImplementedError

    @property
    def functions(self) -> tuple[str, ...]:
        """The nodes that follow from what was learned: functions of it, and what is predicted."""
        return ()

    @cached_property
    def _names(self) -> tuple[str, ...]:
        able = {*self.learned, *self.functions}
        return tuple(name for name in self.derivation.graph.nodes if name in able)

    def __getitem__(self, name: str) -> Quantity:
        """What was learned about one unknown, or follows for one function, by its name in the model."""
        raise NotImplementedError

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def expected(self, name: str) -> Numbers:
        """The mean of an unknown, of a discrete one the probabilities; of a variable with missing cells all cells."""
        twin, seen = missing_name(name), observed_name(name)
        if twin in self.derivation.graph.nodes and seen in self.columns:
            whole = np.asarray(self.columns[name], dtype=float)
            return np.where(self.columns[seen] != 0, whole, self.expected(twin))
        return self._mean(name)

    def _mean(self, name: str) -> Numbers:
        """The mean of an unknown or of what follows, element by element; of a discrete one the probabilities."""
        return np.asarray(self[name].mean)

    def probabilities(self, name: str) -> Numbers:
        """For a discrete unknown the probability of each of its values, along the last axis."""
        raise self._lacks(f"probabilities of `{name}`")

    @property
    def point(self) -> Mapping[str, Numbers]:
        """A point estimate of every unknown: the joint mode for goal `map`, else what stands for its posterior."""
        return {name: np.asarray(self[name].value) for name in self.learned}

    def draws(self, count: int = 1000, seed: int | None = None) -> Draws:
        """Joint draws of what was learned, by name; the first axis numbers them."""
        raise self._lacks("draws")

    # -- scores ---

    @property
    def log_evidence(self) -> float:
        """`log p(data | model)`."""
        raise self._lacks("evidence", 'learn(data, goal="evidence")')

    @property
    def lower_bound(self) -> float:
        """A lower bound of the log evidence."""
        raise self._lacks("lower bound", 'by="mean-field" gives one')

    @property
    def log_joint(self) -> float:
        """`log p(data, estimate)`."""
        raise self._lacks("log joint", 'learn(data, goal="map")')

    @property
    def log_likelihood(self) -> float:
        """`log p(data | estimate)`."""
        raise self._lacks("log likelihood of an estimate", 'learn(data, goal="map"), or fit.to_arviz().log_likelihood')

    def log_predictive(self, new: object) -> Numbers:
        """For each complete new row its log predictive density."""
        from platewright.run.results.pointwise import log_predictive

        return log_predictive(self, new)

    def leave_one_out(self) -> Numbers:
        """For each row its log predictive density given all others."""
        from platewright.run.results.pointwise import leave_one_out

        return leave_one_out(self)

    # -- derivatives ---

    def gradient(self, point: Mapping[str, Any]) -> dict[str, Numbers]:
        """The slopes of `log p(data, point)` by name, at a value for each real unknown.

        What has finitely many values is held where the point gives one, else summed out.
        """
        return self._derivatives(point).gradient()

    def hessian(self, point: Mapping[str, Any]) -> dict[tuple[str, str], Numbers]:
        """The second derivatives by pairs of names: the axes of the one, then those of the other."""
        return self._derivatives(point).hessian()

    def _derivatives(self, point: Mapping[str, Any]) -> PointDerivatives:
        from platewright.run.whole_density import point_derivatives

        graph = self.derivation.graph
        if lost := [n for n, node in graph.nodes.items() if n in graph.known and n not in self.columns and node.axes]:
            found = f"the rows of `{lost[0]}` were read from a file and not kept"
            raise PlatewrightError(found, hint="learn from data in memory")
        return point_derivatives(graph, self.columns, self.sizes, point)

    # -- new rows ---

    def predict(self, new: object, count: int = 1000, seed: int | None = None) -> Predictions:
        """Predictive of what `new` leaves open; `new` gives values of new rows, or just their number."""
        raise self._lacks("predictions")

    def decide(self, evidence: Mapping[str, object] | None = None, seed: int | None = None) -> Decision:
        """The best actions for a new case of which `evidence` is known, all that was learned integrated out."""
        from platewright.run.results.deciding import decide

        return decide(self, evidence, seed)

    def update(self, more: object) -> Result:
        """The fit after more rows, exactly as if all had been there from the start."""
        raise self._lacks("statistics to add rows to", "learn again from all rows")

    def forget(self, rows: object) -> Result:
        """The fit without some of its rows, exactly as if they had never been there."""
        raise self._lacks("statistics to take rows from", "learn again from the other rows")

    def prequential(self) -> Numbers:
        """For each row its log predictive density given those before it; all rows add up to the log evidence."""
        raise self._lacks("prequential scores", 'by="exact", where the model has a closed form')

    @property
    def local_evidence(self) -> Mapping[tuple[str, ...], float]:
        """The log evidence of each independent piece, by its unknowns (Lemma 6.4); the sum is the log evidence."""
        raise self._lacks("evidence of pieces", 'by="exact", where the model has a closed form')

    def most_probable(self) -> MostProbable:
        """The values of all hidden variables together that are most probable."""
        raise self._lacks("most probable state", 'learn(data, goal="map", by="em")')

    def diagnostics(self) -> dict[str, dict[str, NDArray[Any]]]:
        """R-hat and effective sample size of every quantity."""
        raise self._lacks("chains", 'by="gibbs" has them')

    def _lacks(self, what: str, hint: str = 'learn(data, goal="posterior")') -> NotLearned:
        return NotLearned(f"a fit of `{self.title}` by {self.derivation.schema} has no {what}", hint=hint)

    # -- how it was found ---

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        raise NotImplementedError

    @property
    def ran_by(self) -> str:
        """The backend, and who compiled its C."""
        return f"{self.backend}: {self.made_by}" if self.made_by else self.backend

    @property
    def title(self) -> str:
        """The name of the model."""
        return str(self.derivation.graph.title)

    @property
    def plan(self) -> DerivedPlan:
        """The plan that was carried out, as `m.derive` gives it: explain it, verify it, see what was declined."""
        from platewright.run.results.derived_plan import DerivedPlan  # words and pages load when somebody looks

        return DerivedPlan(self.derivation)

    def explain(self, full: bool = False) -> str:
        """The derivation in words; very long formulas are cut short unless `full`."""
        return self.plan.explain(full)

    def source(self, backend: str = "numpy", brief: bool = False) -> str:
        """The emitted program, standing alone, in a target language: "numpy" or "c".

        `brief` is the algorithm alone, for a paper or a lecture: without the tools that it calls, the table and the
        command line. What a run was told are the defaults of the program. The first line of C that ran names compiler
        and flags.
        """
        from platewright.backends.numpy.brief import algorithm_of
        from platewright.backends.plan_source import plan_source  # all emitters: loaded when somebody looks

        gathered = "rows stand for" in self.backend
        source = plan_source(self.derivation, backend, self.options, gathered)
        return self._signed(algorithm_of(source) if brief else source, backend)

    @property
    def options(self) -> Options:
        """What the run was told, as the emitted program names it."""
        from platewright.backends.numpy.learning import DEFAULTS

        return DEFAULTS

    def _signed(self, text: str, backend: str) -> str:
        """C with a first line that says who compiled it."""
        from platewright.backends.c.support import c_comment  # loads when somebody looks

        return f"/* {c_comment(self.made_by)} */\n{text}" if backend == "c" and self.made_by else text

    def latex(self) -> str:
        """The derivation as LaTeX: of an iterative plan, the updates of each step."""
        return self.plan.latex()

    def summary(self, most: int | None = 20) -> Summary:
        """A table of what was learned: means, standard deviations, quantiles; `most=None` shows every row."""
        from platewright.run.results.summary import summary

        return summary(self, most)

    def report(self) -> str:
        """The derivation and what was learned as one HTML page with pictures."""
        from platewright.run.results.report import report

        return report(self.derivation, self)

    def save(self, path: str | Path) -> None:
        """Write the result to a file that `pw.load` reads: JSON and arrays, no code."""
        from platewright.run.results.saving import save

        save(self, path)

    def to_arviz(self, count: int = 4000, seed: int | None = None) -> DataTree:
        """The result as an ArviZ DataTree (needs the extra `arviz`), with the labels of the data.

        Groups: `posterior`, `prior`, `posterior_predictive`, `log_likelihood`, `sample_stats`, `observed_data` and
        `constant_data`. Draws are those of the chains, or `count` independent ones; of an estimate there is one value,
        `count` times.
        """
        from platewright.run.results.arviz import to_arviz

        return to_arviz(self, count, seed)

    @cached_property
    def evidence(self) -> Evidence:
        """The log evidence that this fit can give, with the method and its Monte Carlo error."""
        from platewright.run.evidence.evidence_of import evidence_of

        return evidence_of(self)

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The labels that the model cannot tell apart; every mode of the posterior comes once for each relabelling."""
        from platewright.recognition.exchangeable import find_symmetries

        return find_symmetries(self.derivation.graph, self.derivation.factors, self.sizes)

    def absent(self, name: str, able: Iterable[str]) -> UnknownName:
        """The refusal of `fit[name]`: why this name has no answer, and what to ask instead."""
        graph = self.derivation.graph
        if missing_name(name) in graph.nodes:
            found = f"`{name}` is known in part"
            return UnknownName(name, able, where="fit[...]", found=found, hint=f'fit.expected("{name}")')
        if name in graph.nodes and graph.is_known(name):
            return UnknownName(
                name,
                able,
                where="fit[...]",
                found=f"`{name}` is known, so it has no posterior",
                hint="fit.predict(...)",
            )
        if without := [f"`{plate}`" for plate in plates_without_size(graph, name, self.sizes)]:
            found = f"`{name}` has its prior, but nobody said how large {' and '.join(without)} is"
            return UnknownName(name, able, where="fit[...]", found=found, hint='m.plate("name", 3) gives it a size')
        latent = getattr(self.derivation, "latent", None)
        if latent is not None and name in latent.names:
            asked = "probabilities" if graph.nodes[name].domain.is_finite else "expected"
            found = f"`{name}` is hidden: {self.derivation.schema} integrates it out"
            return UnknownName(name, able, where="fit[...]", found=found, hint=f'fit.{asked}("{name}")')
        return UnknownName(name, able, where="fit[...]")

    def _repr_html_(self) -> str:
        from platewright.run.results.summary import summary_html

        return summary_html(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {shown_name(self.title)}: {self.how}>"
