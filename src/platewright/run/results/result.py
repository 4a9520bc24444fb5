"""What `m.learn(data)` returns, whatever schema it came from: what a run leaves, and all that can be asked of it.

A result is a Mapping from names to what is known of them. Its members are the same for all schemas, so that whoever
lets `auto` choose need not ask what he got. What answers loads when somebody asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from platewright.run.results.outcome import Outcome
from platewright.run.results.quantity import Numbers

if TYPE_CHECKING:
    from xarray import DataTree

    from platewright.run.results.decision import Decision
    from platewright.run.results.derived_plan import DerivedPlan
    from platewright.run.results.table import Summary


@dataclass(frozen=True, eq=False, repr=False)
class Result(Outcome):
    """What `m.learn(data)` returns: `fit[name]`, `name in fit`, `list(fit)`, and all that follows from it."""

    def log_predictive(self, new: object) -> Numbers:
        """For each complete new row its log predictive density."""
        from platewright.run.results.pointwise import log_predictive

        return log_predictive(self, new)

    def leave_one_out(self) -> Numbers:
        """For each row its log predictive density given all others."""
        from platewright.run.results.pointwise import leave_one_out

        return leave_one_out(self)

    def decide(self, evidence: Mapping[str, object] | None = None, seed: int | None = None) -> Decision:
        """The best actions for a new case of which `evidence` is known, all that was learned integrated out."""
        from platewright.run.results.deciding import decide

        return decide(self, evidence, seed)

    @property
    def plan(self) -> DerivedPlan:
        """The plan that was carried out, as `m.derive` gives it: explain it, verify it, see what was declined."""
        from platewright.run.results.derived_plan import DerivedPlan  # words and pages load when somebody looks

        return DerivedPlan(self.derivation)

    def explain(self, full: bool = False) -> str:
        """The derivation in words; very long formulas are cut short unless `full`."""
        return self.plan.explain(full)

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
        from platewright.run.results.writing import save

        save(self, path)

    def to_arviz(self, count: int = 4000, seed: int | None = None) -> DataTree:
        """The result as an ArviZ DataTree (needs the extra `arviz`), with the labels of the data.

        Groups: `posterior`, `prior`, `posterior_predictive`, `log_likelihood`, `sample_stats`, `observed_data` and
        `constant_data`. Draws are those of the chains, or `count` independent ones; of an estimate there is one value,
        `count` times.
        """
        from platewright.run.results.arviz import to_arviz

        return to_arviz(self, count, seed)

    def _repr_html_(self) -> str:
        from platewright.run.results.summary import summary_html

        return summary_html(self)
