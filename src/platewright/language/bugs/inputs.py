"""Constants as inputs: declared at first use, with levels and counted from 0 where they serve as an index."""

from __future__ import annotations

import numpy as np

from platewright.errors import BugsError, PlatewrightError
from platewright.language.bugs.draft import Draft, Source
from platewright.language.distribution import Input


def declare_input(draft: Draft, name: str) -> str:
    """The input variable of a constant, made at first use; an index vector gets its levels and counts from 0."""
    label = draft.identifier(name)
    if label in draft.model.variables:
        return label
    plates = draft.axes(name)
    levels = None
    values = draft.folded.constants.get(name)
    for token in draft.levels.get(name, ()):
        plate = draft.plate(token)
        fits = values is None or (np.isfinite(values).all() and values.min() >= 1 and plate.size and
                                  values.max() <= plate.size and (values == np.floor(values)).all())  # fmt: skip
        if fits:
            levels = plate
            break
    try:
        setattr(draft.model, label, Input(plates=plates, levels=levels))
    except PlatewrightError as trouble:
        raise BugsError(f"`{name}` cannot be an input: {trouble}") from None
    draft.sources[label] = Source(name, None, 1.0 if levels is not None else 0.0)
    return label
