"""A plan in the user's hands: explain it, print its source, let it prove itself."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from platewright.derive.cautions import cautions
from platewright.derive.explain import told
from platewright.derive.latex_iterated import plan_latex
from platewright.derive.planner import AnyPlan
from platewright.drawing.from_graph import picture_of
from platewright.drawing.svg import picture_svg
from platewright.run.results.report import report
from platewright.schema import Plan
from platewright.schemas.evidence import EvidencePlan

if TYPE_CHECKING:
    from platewright.run.checks.verifying import Verification


@dataclass(frozen=True, eq=False, repr=False)
class DerivedPlan:
    """What `m.derive(...)` and `fit.plan` give: explain it, print its source, let it prove itself."""

    plan: AnyPlan
    """What the schema wrote: its graph, steps, programs and refusals, which are attributes of this object too."""

    @property
    def title(self) -> str:
        """The name of the model."""
        return self.plan.graph.title

    def explain(self, full: bool = False) -> str:
        """The derivation in words; very long formulas are cut short unless `full`."""
        return told(self.plan, full)

    def source(self, backend: str = "numpy") -> str:
        """Standalone source in a target language; for an iterative plan, of each of its steps."""
        from platewright.backends.plan_source import plan_source  # loaded when somebody looks, as all below

        return plan_source(self.plan, backend)

    @property
    def declined(self) -> tuple[tuple[str, str], ...]:
        """Schemas that were tried before and why they do not apply."""
        return tuple((refusal.operation, refusal.reason) for refusal in self.plan.declined)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What can go wrong whatever the data: a likelihood without bound, a prior that is no distribution."""
        return cautions(self.plan)

    @property
    def how(self) -> str:
        """One line: the algorithm chosen."""
        return f"{self.plan.schema}: {self.plan.summary}"

    def verify(self, seed: int = 0) -> Verification:
        """Run the laws that apply to the plan on small simulated data."""
        from platewright.run.checks.verifying import verify_plan
        from platewright.run.checks.verifying_evidence import verify_evidence
        from platewright.run.checks.verifying_iterations import verify_iterations

        match self.plan:
            case Plan():
                return verify_plan(self.plan, seed)
            case EvidencePlan():
                return verify_evidence(self.plan, seed)
        return verify_iterations(self.plan, seed)

    def latex(self) -> str:
        """The derivation as LaTeX: of an iterative plan, the updates of each step."""
        return plan_latex(self.plan)

    def report(self) -> str:
        """The derivation as one HTML page with pictures."""
        return report(self.plan)

    def svg(self) -> str:
        """The plate diagram as SVG text, with what is known shaded."""
        return picture_svg(picture_of(self.plan.graph, title=self.title))

    def _repr_html_(self) -> str:
        return f"{self.svg()}<pre>{escape(self.explain())}</pre>"

    def __getattr__(self, name: str) -> Any:
        if name == "plan" or name.startswith("__"):  # a copy is asked for these before it has its plan
            raise AttributeError(name)
        return getattr(self.plan, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.plan)})

    def __repr__(self) -> str:
        return f"<Plan for {self.title}: {self.how}>"
