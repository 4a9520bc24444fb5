"""Points of a few numbers in a saved fit: coordinates, shares and cells, as many as the plan holds numbers.

    points/0.npy ...   by the names that the lattice gives them      options/0.npy   how many draws are made unless told

What the rows say is not saved: one pass over the columns has it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from platewright.backends.kernels.held_density import Unsettled
from platewright.errors import FormatError
from platewright.family import Array
from platewright.run.door import LARGEST_WHOLE, Expected, all_admitted
from platewright.run.points.fit import COUNT, OPTIONS, POINTS, QuadratureFit
from platewright.schemas.few_numbers import QuadraturePlan


def points_of_file(
    plan: QuadraturePlan, arrays: Mapping[str, Mapping[str, Array]], sizes: Mapping[str, int], told: Mapping[str, Any]
) -> QuadratureFit:
    """The fit that stands on the points of a file, each array looked at."""
    written = arrays[POINTS]
    if "cell_mode" not in written:  # as files were before modes had widths of their own
        written = {**written, "cell_mode": np.zeros(len(written.get("cell_share", ())), dtype=np.int64)}
    if "freedom" not in written:  # nor points that were drawn
        written = {**written, "freedom": np.array(0.0)}
    held = len(plan.held)
    points, cells, modes = (np.shape(written.get(name, ()))[:1] for name in ("u", "cell_mean", "modes"))
    if not all(points + cells + modes) or len(points + cells + modes) < 3:
        raise FormatError("there are no points")
    wanted = {
        "u": Expected((*points, held)),
        "share": Expected(points, lower=0.0, upper=1.0 + 1e-9),
        "log_evidence": Expected(()),
        "error": Expected((), lower=0.0, finite=False),
        "step": Expected((), lower=0.0),
        "freedom": Expected((), lower=0.0),
        "is_line": Expected((held,), "whole", lower=0, upper=1),
        "modes": Expected((*modes, held)),
        "roots": Expected((*modes, held, held)),
        "cell_share": Expected(cells, lower=0.0, upper=1.0 + 1e-9),
        "cell_mean": Expected((*cells, held)),
        "cell_variance": Expected((*cells, held), lower=0.0),
        "cell_mode": Expected(cells, "whole", lower=0, upper=modes[0] - 1),
    }
    found = all_admitted(written, wanted)
    for name in ("share", "cell_share"):
        if abs(float(found[name].sum()) - 1.0) > 1e-6:
            raise FormatError(f"`{name}` adds up to {float(found[name].sum()):.6g}", expected="1")
    means = found["share"] @ found["u"], found["cell_share"] @ found["cell_mean"]
    if not np.allclose(*means, rtol=1e-6, atol=1e-9):
        raise FormatError("the points have another mean than their cells")
    found["is_line"] = found["is_line"].astype(bool)
    count = all_admitted(arrays[OPTIONS], {COUNT: Expected((), "whole", lower=1, upper=LARGEST_WHOLE)})[COUNT]
    fit = QuadratureFit(plan, arrays["columns"], sizes, found, count=int(count), **told)
    try:
        fit.draws(3)  # points of other data are refused here, not at first use
    except (Unsettled, np.linalg.LinAlgError) as error:
        raise FormatError(f"the points are not those of the saved data: {error}") from error
    return fit
