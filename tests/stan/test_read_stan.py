"""A Stan text that is read has the log density of the text, up to a constant: snippets with their densities by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

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


@pytest.mark.parametrize("kind", ["unit_vector", "sum_to_zero_vector", "cholesky_factor_cov"])
def test_a_parameter_whose_constraint_has_no_form_here_is_refused(kind: str) -> None:
    text = f"data {{ real y; }} parameters {{ {kind}[2] a; }} model {{ y ~ normal(0, 1); }}"
    with pytest.raises(StanError, match=f"a parameter of the type `{kind}` is not supported"):
        pw.read_stan(text, {"y": 1.0})


def factor_of(shares: dict[tuple[int, int], float], size: int) -> np.ndarray:
    """The Cholesky factor of a correlation matrix by its partial correlations."""
    found = np.zeros((size, size))
    for i in range(size):
        left = 1.0
        for j in range(i):
            z = 2 * shares[i, j] - 1
            found[i, j], left = z * np.sqrt(left), left * (1 - z * z)
        found[i, i] = np.sqrt(left)
    return found


@pytest.mark.parametrize("kind", ["cholesky_factor_corr", "corr_matrix"])
@pytest.mark.parametrize("eta", [None, 2.5])
def test_a_correlation_matrix_has_the_density_of_its_free_cells(kind: str, eta: float | None) -> None:
    is_factor, size = kind == "cholesky_factor_corr", 3
    prior = "" if eta is None else f"A ~ lkj_corr{'_cholesky' if is_factor else ''}({eta});"
    read = pw.read_stan(f"data {{ real y; }} parameters {{ {kind}[3] A; }} model {{ {prior} y ~ normal(A[2, 1], 1); }}",
                        {"y": 0.3}).read_from  # fmt: skip
    below = [(i, j) for i in range(size) for j in range(i)]
    (name,) = (name for name in read.draft.blocks if "_share" in name)

    def free(values: np.ndarray) -> np.ndarray:
        factor = factor_of(dict(zip(below, values)), size)
        whole = factor if is_factor else factor @ factor.T
        return np.array([whole[at] for at in below])

    def wanted(values: np.ndarray) -> float:
        slopes = np.array([(free(values + step) - free(values - step)) / 2e-5 for step in 1e-5 * np.eye(3)])
        factor = factor_of(dict(zip(below, values)), size)
        log_diagonal = np.log(np.diag(factor))
        power = 0.0 if eta is None else eta - 1
        own = 2 * power * log_diagonal.sum()
        if is_factor and eta is not None:
            own += log_diagonal @ (size - 1 - np.arange(size))
        seen = stats.norm.logpdf(0.3, factor[1, 0])
        return float(own + seen + np.linalg.slogdet(slopes)[1])

    def found(values: np.ndarray) -> float:
        table = np.full((size, size - 1), np.nan)
        for at, value in zip(below, values):
            table[at] = value
        return log_joint(read, {"y": np.array(0.3), name: table})

    points = [np.array(point) for point in ([0.3, 0.6, 0.7], [0.8, 0.4, 0.55], [0.2, 0.35, 0.9])]
    assert np.diff([found(one) for one in points]) == pytest.approx(np.diff([wanted(one) for one in points]), abs=1e-6)
