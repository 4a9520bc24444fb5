"""The plans that schemas write."""

from __future__ import annotations

from platewright.schema import Plan
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.em import EMPlan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.mean_field import MeanFieldPlan

AnyPlan = Plan | CollapsedPlan | EMPlan | GibbsPlan | MeanFieldPlan | EvidencePlan | QuadraturePlan
