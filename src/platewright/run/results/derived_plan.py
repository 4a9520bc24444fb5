"""A plan in the user's hands: explain it, print its source, let it prove itself."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from platewright.derive.cautions import cautions
from platewright.derive.cost import Cost, cost_of
from platewright.derive.explain import told
from platewright.derive.latex_iterated import plan_latex
from platewright.derive.plans import AnyPlan
from platewright.drawing.from_graph import picture_of
from platewright.drawing.svg import picture_svg
from platewright.errors import shown_name, shown_text
from platewright.run.results.report import report
from platewright.schema import Plan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.few_numbers import QuadraturePlan

if TYPE_CHECKING:
    from platewright.run.checks.verifying import Verification
    from platewright.run.whole_density import LogDensity


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
        return shown_text(told(self.plan, full))

    def source(self, backend: str = "numpy", brief: bool = False) -> str:
        """Standalone source in a target language; `brief` is the algorithm alone, without the tools that it calls."""
        from platewright.backends.numpy.brief import algorithm_of
        from platewright.run.plan_source import plan_source  # loaded when somebody looks, as all below

        source = plan_source(self.plan, backend)
        return algorithm_of(source) if brief else source

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

    @property
    def cost(self) -> Cost:
        """How often rows are touched, the densest block, and what exact elimination leaves."""
        return cost_of(self.plan)

    def verify(self, seed: int = 0) -> Verification:
        """Run the laws that apply to the plan on small simulated data."""
        from platewright.run.checks.verifying import Verification, verify_plan
        from platewright.run.checks.verifying_computed import verify_computed
        from platewright.run.checks.verifying_evidence import verify_evidence
        from platewright.run.checks.verifying_iterations import verify_iterations
        from platewright.run.checks.verifying_points import verify_points

        match self.plan:
            case Plan():
                found = verify_plan(self.plan, seed)
            case EvidencePlan():
                found = verify_evidence(self.plan, seed)
            case QuadraturePlan():
                found = verify_points(self.plan, seed)
            case _:
                found = verify_iterations(self.plan, seed)
        return Verification((*verify_computed(self.plan.graph, seed), *found.laws))

    def log_density(self, data: object, backend: str = "auto") -> LogDensity:
        """The log density of data and unknowns at coordinates without constraints, compiled, with its gradient.

        It serves SciPy, nutpie, blackjax and whoever else moves along a gradient.
        """
        from platewright.data.bind import bind
        from platewright.graph.fixed_sizes import fixed_sizes
        from platewright.operations.split_partly_known import as_written
        from platewright.run.execute import columns_of
        from platewright.run.results.signature_of import signature_of
        from platewright.run.whole_density import log_density_of

        graph = self.plan.graph
        dataset = bind(signature_of(as_written(graph, self.plan.steps)), data, scan=True, partly=True)
        sizes = {**fixed_sizes(graph), **dataset.sizes}
        return log_density_of(graph, columns_of(graph, dataset), sizes, backend)

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
        return f"<Plan for {shown_name(self.title)}: {self.how}>"
