"""What every result can show of itself, whatever schema it came from: the derivation, a table, a page."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from platewright.recognition.exchangeable import Symmetry
    from platewright.run.evidence.evidence import Evidence


class Shown:
    """A result with a `plan`, sizes of plates and a line `how`."""

    plan: Any
    sizes: Any
    how: Any

    def explain(self, full: bool = False) -> str:
        """The derivation in words; very long formulas are cut short unless `full`."""
        from platewright.derive.explain import told  # words and pages are needed only when somebody looks

        return told(self.plan, full)

    def summary(self, most: int | None = 20) -> Any:
        """A table of what was learned: means, standard deviations, quantiles; `most=None` shows every row."""
        from platewright.run.results.summary import summary

        return summary(self, most)  # type: ignore[arg-type]

    def report(self) -> str:
        """The derivation as one HTML page with pictures."""
        from platewright.run.results.report import report

        return report(self.plan, self)  # type: ignore[arg-type]

    def source(self, backend: str = "numpy") -> str:
        """The emitted program."""
        from platewright.backends.plan_source import plan_source

        return plan_source(self.plan, backend)

    @cached_property
    def evidence(self) -> Evidence:
        """The log evidence that this fit can give, with the method and its Monte Carlo error."""
        from platewright.run.evidence.evidence_of import evidence_of

        return evidence_of(self)

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The labels that the model cannot tell apart; every mode of the posterior comes once for each relabelling."""
        from platewright.recognition.exchangeable import find_symmetries

        return find_symmetries(self.plan.graph, self.plan.factors, self.sizes)

    def _repr_html_(self) -> str:
        from platewright.run.results.summary import summary_html

        return summary_html(self)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.plan.graph.title}: {self.how}>"
