"""A network from a BIF file with unknown tables: its evidence is the BDeu score, its posteriors are counts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import gammaln

import platewright as pw
from platewright.errors import ModelError

TEXT = """
network lungs { }
variable smoke { type discrete [ 2 ] { no, yes }; }
variable air { type discrete [ 3 ] { good, fair, bad }; }
variable lung { type discrete [ 2 ] { well, ill }; }
probability ( smoke ) { table 0.7, 0.3; }
probability ( air ) { table 0.5, 0.25, 0.25; }
probability ( lung | smoke, air ) {
  (no, good) 0.9, 0.1; (no, fair) 0.8, 0.2; (no, bad) 0.7, 0.3;
  (yes, good) 0.6, 0.4; (yes, fair) 0.5, 0.5; (yes, bad) 0.25, 0.75;
}
"""
LEVELS = {"smoke": ("no", "yes"), "air": ("good", "fair", "bad"), "lung": ("well", "ill")}


def rows(count: int = 40) -> dict[str, list[str]]:
    generator = np.random.default_rng(4)
    return {name: [str(label) for label in generator.choice(labels, count)] for name, labels in LEVELS.items()}


def family_score(data: dict[str, list[str]], child: str, parents: tuple[str, ...], size: float) -> float:
    """The BDeu score of one variable, from its counts."""
    combinations = list(itertools.product(*(LEVELS[parent] for parent in parents)))
    each = size / len(combinations)
    total = 0.0
    for held in combinations:
        kept = [k for k in range(len(data[child])) if all(data[p][k] == value for p, value in zip(parents, held))]
        counts = np.array([sum(data[child][k] == label for k in kept) for label in LEVELS[child]])
        a = each / len(LEVELS[child])
        total += gammaln(each) - gammaln(each + counts.sum()) + (gammaln(a + counts) - gammaln(a)).sum()
    return float(total)


@pytest.mark.parametrize("size", [1.0, 10.0])
def test_the_evidence_is_the_bdeu_score(size: float) -> None:
    data = rows()
    fit = pw.read_bif(TEXT, learnable=True, sample_size=size).learn(data)
    wanted = sum(family_score(data, child, parents, size)
                 for child, parents in (("smoke", ()), ("air", ()), ("lung", ("smoke", "air"))))  # fmt: skip
    assert fit.how.startswith("exact")
    assert fit.log_evidence == pytest.approx(wanted, rel=1e-10)


def test_a_posterior_is_prior_plus_counts() -> None:
    data = rows()
    fit = pw.read_bif(TEXT, learnable=True, sample_size=12.0).learn(data)
    ill = [k for k in range(40) if data["smoke"][k] == "yes" and data["air"][k] == "bad"]
    count = sum(data["lung"][k] == "ill" for k in ill)
    assert fit["lung_table"].mean[1, 2, 1] == pytest.approx((1 + count) / (2 + len(ill)), rel=1e-12)


def test_a_prior_can_be_centred_on_the_tables_of_the_file() -> None:
    data = {name: values[:1] for name, values in rows().items()}
    fit = pw.read_bif(TEXT, learnable=True, sample_size=6e6, around_tables=True).learn(data)
    assert fit["lung_table"].mean[1, 2, 1] == pytest.approx(0.75, abs=1e-5)


def test_a_prior_of_no_size_is_refused() -> None:
    with pytest.raises(ModelError, match="prior worth 0 rows"):
        pw.read_bif(TEXT, learnable=True, sample_size=0)


def test_zeros_of_a_table_are_no_prior_means() -> None:
    with pytest.raises(ModelError, match="table of `smoke` has zeros"):
        pw.read_bif(TEXT.replace("0.7, 0.3; }\nprob", "1.0, 0.0; }\nprob"), learnable=True, around_tables=True)
