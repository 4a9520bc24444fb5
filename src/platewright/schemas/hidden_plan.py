"""Plans that expect hidden variables row by row: EM at values of the parameters, mean field at their moments.

Both need of a pass over the rows the same things: soft statistics, and how probable the rows are.
"""

from __future__ import annotations

from platewright.schemas.em import EMPlan
from platewright.schemas.mean_field import MeanFieldPlan

HiddenPlan = EMPlan | MeanFieldPlan
