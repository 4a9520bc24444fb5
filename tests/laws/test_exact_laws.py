"""Laws of exact learning on random small models: right, or declined with a reason; never wrong.

A model is solved and log joint - log posterior = log evidence at posterior draws, and where the unknowns can be summed
or integrated directly the evidence is that sum; or it is refused, and the refusal names an unknown.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import platewright as pw
from laws.identity import check_identity
from laws.integration import brute_evidence
from laws.random_models import Sample, random_model
from platewright.errors import ImproperPosterior, NotSolvable

CHUNKS, EACH = 42, 50


def learned(sample: Sample) -> Any:
    """The fit, or None when the model is refused with a reason."""
    try:
        return sample.model.learn(dict(sample.data), by="exact", backend="numpy")
    except NotSolvable as refusal:
        unknown = [name for name, node in sample.model.variables.items() if node.kind == "random"]
        reason = str(refusal).split("declined:")[-1].strip()
        assert any(f"`{name}`" in reason for name in unknown), f"a refusal that names no unknown: {reason}"
        assert "block1" not in reason and ": normaliser" not in reason, f"internal names in a refusal: {reason}"
        return None


def check(seed: int) -> str:
    """One random model: `solved`, `integrated` or `declined`."""
    sample = random_model(seed)
    try:
        fit = learned(sample)
        if fit is None:
            return "declined"
        check_identity(fit)
        brute = brute_evidence(fit, 161)
        if brute is None:
            return "solved"
        if abs(brute - fit.log_evidence) > 1e-6 * (1 + abs(brute)):
            brute = brute_evidence(fit, 345) or brute
        assert abs(brute - fit.log_evidence) <= 1e-5 * (1 + abs(brute)), f"evidence {fit.log_evidence}, summed {brute}"
        return "integrated"
    except Exception as error:
        raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}\n\n{sample}") from error


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_models_are_solved_right_or_declined_with_a_reason(chunk: int) -> None:
    outcomes = [check(seed) for seed in range(chunk * EACH, (chunk + 1) * EACH)]
    assert outcomes.count("declined") < EACH * 0.7, "the generator should mostly write models that can be solved"


def same(one: Any, two: Any, names: dict[str, str], order: dict[str, Any]) -> None:
    """Two fits of one model say the same."""
    np.testing.assert_allclose(one.log_evidence, two.log_evidence, rtol=1e-9, atol=1e-9)
    for name in one.posterior.unknown:
        first, second = one.posterior.marginal(name), two.posterior.marginal(names.get(name, name))
        if first is None or second is None or first.family.mean is None:
            continue
        left, right = np.asarray(first.mean), np.asarray(second.mean)
        if name in order:
            left = left[order[name]]
        finite = np.isfinite(left)
        np.testing.assert_allclose(left[finite], right[finite], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", range(0, 200, 2))
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    sample = random_model(seed)
    if sample.kind == "sequence" or "n" not in sample.sizes:
        return
    fit = learned(sample)
    if fit is None:
        return
    turned = np.random.default_rng(seed).permutation(sample.sizes["n"])
    data, order = {}, {}
    for name, value in sample.data.items():
        plates = sample.plates_of(name)
        data[name] = np.asarray(value)[turned] if plates[:1] == ("n",) else value
    for name in fit.posterior.unknown:
        if sample.plates_of(name)[:1] == ("n",):
            order[name] = turned
    same(fit, sample.model.learn(data, by="exact"), {}, order)


@pytest.mark.parametrize("seed", range(1, 200, 2))
def test_names_do_not_matter(seed: int) -> None:
    sample = random_model(seed)
    fit = learned(sample)
    if fit is None:
        return
    variables = [name for name in sample.model.variables if "@" not in name]
    # The order of the alphabet is turned round.
    renamed = {name: f"v{99 - number}_{name[::-1]}" for number, name in enumerate(sorted(variables))}
    space: dict[str, Any] = {"pw": pw, "np": np, "m": pw.Model("renamed")}
    for line in sample.lines:
        line = re.sub(r"\bm\.(\w+)", lambda found: f"m.{renamed.get(found[1], found[1])}", line)
        exec(re.sub(r'm\.lag\("(\w+)"\)', lambda found: f'm.lag("{renamed[found[1]]}")', line), space)
    data = {renamed.get(name, name): value for name, value in sample.data.items()}
    same(fit, space["m"].learn(data, by="exact"), renamed, {})


@pytest.mark.parametrize("seed", range(200, 260))
def test_statistics_of_parts_merge_to_those_of_the_whole(seed: int) -> None:
    """Pools and sums are monoids: rows split anywhere give the same evidence (through `fit.update`)."""
    sample = random_model(seed)
    if sample.kind not in ("gaussian", "scalar", "vector") or sample.sizes.get("n", 0) < 2:
        return
    fit = learned(sample)
    rows = [name for name in sample.data if sample.plates_of(name)[:1] == ("n",)]
    if fit is None or any("n" in sample.plates_of(name) for name in fit.posterior.unknown) or not rows:
        return
    if len({sample.plates_of(name)[0] for name in sample.data if sample.plates_of(name)}) > 1 or sample.inner:
        return  # only a plain table of rows can be split; a part may lack a group whose size the data give
    first = {name: np.asarray(v)[:1] if name in rows else v for name, v in sample.data.items()}
    rest = {name: np.asarray(v)[1:] if name in rows else v for name, v in sample.data.items()}
    try:
        begun = sample.model.learn(first, by="exact")
    except ImproperPosterior:
        return
    np.testing.assert_allclose(begun.update(rest).log_evidence, fit.log_evidence, rtol=1e-9, atol=1e-9)
    continued = begun.log_evidence + _rest_given(begun, fit)
    np.testing.assert_allclose(continued, fit.log_evidence, rtol=1e-8, atol=1e-8)


def _rest_given(begun: Any, whole: Any) -> float:
    """log p(rest | first rows): likelihood times prior over posterior at one point of the parameters."""
    drawn = begun.draws(1, seed=5)
    point = {name: drawn[name][0] for name in begun.posterior.unknown}
    rest = whole.log_joint_at(point) - begun.log_joint_at(point)
    return rest + begun.posterior.log_density(point) - whole.posterior.log_density(point)
