"""What every result has and can show of itself, whatever schema it came from: the plan, a table, a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platewright.errors import UnknownName
from platewright.family import Array
from platewright.operations.split_partly_known import missing_name

if TYPE_CHECKING:
    from platewright.recognition.exchangeable import Symmetry
    from platewright.run.evidence.evidence import Evidence
    from platewright.run.results.derived_plan import DerivedPlan


@dataclass(frozen=True, eq=False, repr=False)
class Shown:
    """A result: the plan that was carried out, its data and their sizes, and how it ran."""

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
    seconds: Mapping[str, float] | None = field(default=None, kw_only=True)
    """How long each part of the run took."""

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> Any:
        """What was learned about one unknown, by its name in the model."""
        raise NotImplementedError

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

    def source(self, backend: str = "numpy") -> str:
        """The emitted program, standing alone, in a target language: "numpy" or "c"."""
        return self.plan.source(backend)

    def latex(self) -> str:
        """The derivation as LaTeX: of an iterative plan, the updates of each step."""
        return self.plan.latex()

    def summary(self, most: int | None = 20) -> Any:
        """A table of what was learned: means, standard deviations, quantiles; `most=None` shows every row."""
        from platewright.run.results.summary import summary

        return summary(self, most)

    def report(self) -> str:
        """The derivation and what was learned as one HTML page with pictures."""
        from platewright.run.results.report import report

        return report(self.derivation, self)

    def save(self, path: str | Path) -> None:
        """Write the result to a file that `pw.load` reads: JSON and arrays, no code.

        Raises `FormatError` for a fit that is not saved: collapsed draws, and the evidence without a closed form.
        """
        from platewright.run.results.saving import save

        save(self, path)

    def to_arviz(self, count: int = 4000, seed: int | None = None) -> Any:
        """Draws as an ArviZ DataTree (needs the extra `arviz`): those of the chains, or `count` independent ones.

        Raises `PlatewrightError` for a fit without draws, such as a point estimate.
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
        return f"<{type(self).__name__} {self.derivation.graph.title}: {self.how}>"
