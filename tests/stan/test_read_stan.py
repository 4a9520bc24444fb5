"""A Stan text that is read has the log density of the text, up to a constant: snippets with their densities by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import platewright as pw
from bugs.evaluated import log_joint
from platewright.errors import StanError
from stan.snippets import SNIPPETS, Named, Snippet


def density_of(snippet: Snippet, point: dict[str, object]) -> float:
    """Our log joint at a point; what was put back is summed out over all its values."""
    read = pw.read_stan(snippet.text, snippet.data).read_from
    arrays = {name: np.asarray(value, dtype=float) for name, value in {**snippet.data, **point}.items()}
    if snippet.hidden is None:
        return log_joint(read, arrays)
    (name,) = (name for name in read.draft.blocks if name.startswith("z."))
    shape, states = read.draft.blocks[name].shape, snippet.hidden[1]
    paths = itertools.product(range(1, states + 1), repeat=int(np.prod(shape)))
    each = [log_joint(read, {**arrays, name: np.array(path, dtype=float).reshape(shape)}) for path in paths]
    return float(np.logaddexp.reduce(each))


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_text_has_its_density(name: str) -> None:
    snippet = SNIPPETS[name]
    one, two = snippet.points
    wanted = [float(snippet.density(Named(snippet.data), Named(point))) for point in (one, two)]
    assert np.isfinite(wanted).all()
    found = [density_of(snippet, point) for point in (one, two)]
    assert found[1] - found[0] == pytest.approx(wanted[1] - wanted[0], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "kind", ["unit_vector", "sum_to_zero_vector", "corr_matrix", "cholesky_factor_corr", "cholesky_factor_cov"]
)
def test_a_parameter_whose_constraint_has_no_form_here_is_refused(kind: str) -> None:
    text = f"data {{ real y; }} parameters {{ {kind}[2] a; }} model {{ y ~ normal(0, 1); }}"
    with pytest.raises(StanError, match=f"a parameter of the type `{kind}` is not supported"):
        pw.read_stan(text, {"y": 1.0})
