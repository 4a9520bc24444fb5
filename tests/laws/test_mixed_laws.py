"""Random models of all kinds at once, by every schema that applies, against sums and integrals; see `mixed_laws`."""

from __future__ import annotations

from collections import Counter

import pytest

from laws.mixed_laws import Judged, check, exact_law, planner_law
from laws.random_mixed import mixed_model
from platewright.derive import planner

CHUNKS, EACH = 30, 100
WANTED = (
    "continuous and discrete unknown", "Normal unknown", "Gamma unknown", "Beta unknown", "Dirichlet unknown",
    "Bernoulli unknown", "Categorical unknown", "gauss of a class", "count of a class", "answer of a class",
    "wait of a class", "level of a class", "two classes", "one switch", "switched prior", "where", "given table",
    "function as a node", "transformation", "groups", "effects of groups", "two tables", "classes known in part",
    "hole in Normal", "ordered: chain", "ordered: autoregression", "ordered: walk",
)  # fmt: skip
"""What the law would be poorer without."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_models_of_all_kinds_are_solved_right_by_every_schema(chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * EACH, (chunk + 1) * EACH):
        seen += check(seed, thoroughly=False, c=seed % 25 == 0)
    compared = sum(count for what, count in seen.items() if what.split(":")[0] not in ("posterior", "evidence", "map"))
    assert compared > 2 * EACH, f"hardly anything is compared: {seen}"
    assert seen["exact (numpy): evidence"] > EACH / 8 and seen["em (numpy)"] > EACH / 25, seen


def test_every_kind_of_model_is_drawn_often() -> None:
    drawn: Counter[str] = Counter()
    for seed in range(CHUNKS * EACH):
        drawn.update(mixed_model(seed).features)
    rare = {feature: drawn[feature] for feature in WANTED if drawn[feature] < CHUNKS * EACH / 100}
    assert not rare, f"drawn less than once in a hundred models: {rare}"
    assert drawn["continuous and discrete unknown"] > CHUNKS * EACH / 3


def test_a_failing_model_can_be_pasted() -> None:
    space: dict[str, object] = {}
    exec(str(mixed_model(3)), space)
    assert type(space["fit"]).__name__.endswith("Fit")


DEFECTS: dict[str, dict[str, object]] = {
    "another order": {"AUTOMATIC": {goal: names[::-1] for goal, names in planner.AUTOMATIC.items()}},
    "no closed forms": {"AUTOMATIC": {**planner.AUTOMATIC, "posterior": ("quadrature", "gibbs")}},
    "no lists of classes": {
        "AUTOMATIC": {**planner.AUTOMATIC, "evidence": ("exact", "quadrature", "chib", "annealed")}
    },
    "no modes": {"AUTOMATIC": {**planner.AUTOMATIC, "map": ("exact",)}},
    "a bound for an evidence": {"AUTOMATIC": {**planner.AUTOMATIC, "evidence": ("exact", "enumeration", "laplace")}},
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planner_that_is_wrong_is_noticed(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planner_law(Judged(mixed_model(0)))
    for name, value in DEFECTS[defect].items():
        monkeypatch.setattr(planner, name, value)
    with pytest.raises(AssertionError, match=r"expected|, not \w+|though"):
        for seed in range(60):
            planner_law(Judged(mixed_model(seed)))


def test_an_evidence_that_is_off_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from platewright.run.exact.fit import Fit

    right = Fit.log_evidence.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(Fit, "log_evidence", property(lambda self: right(self) + 1e-4))
    with pytest.raises(AssertionError, match="by brute force"):
        for seed in range(20):
            exact_law(Judged(mixed_model(seed)), "numpy")
