"""What every result can show of itself, whatever schema it came from: the derivation, a table, a page."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from platewright.errors import UnknownName

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

    def absent(self, name: str, able: Iterable[str]) -> UnknownName:
        """The refusal of `fit[name]`: why this name has no answer, and what to ask instead."""
        graph = self.plan.graph
        if name in graph.nodes and graph.is_known(name):
            return UnknownName(
                name,
                able,
                where="fit[...]",
                found=f"`{name}` is known, so it has no posterior",
                hint="fit.predict(...)",
            )
        latent = getattr(self.plan, "latent", None)
        if latent is not None and name in latent.names:
            asked = "probabilities" if graph.nodes[name].domain.is_finite else "expected"
            found = f"`{name}` is hidden: {self.plan.schema} integrates it out"
            return UnknownName(name, able, where="fit[...]", found=found, hint=f'fit.{asked}("{name}")')
        return UnknownName(name, able, where="fit[...]")

    def _repr_html_(self) -> str:
        from platewright.run.results.summary import summary_html

        return summary_html(self)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.plan.graph.title}: {self.how}>"
