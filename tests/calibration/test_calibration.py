"""Calibration in short: right posteriors and evidence pass, wrong ones are caught. `make calibrate` runs all of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import platewright as pw
from calibration import evidence, posteriors, seeds
from calibration.models import CLOSED_FORMS
from platewright.run.samplers.monitoring import Drawn
from schemas.small_instance import Instance


def test_closed_forms_are_calibrated() -> None:
    case = next(case for case in CLOSED_FORMS if case.name == "mean_and_precision")
    verdict = posteriors.check("exact", case, replications=60)
    assert verdict.passed and verdict.quantities == 3


def test_a_posterior_that_ignores_the_data_is_caught_by_the_log_likelihood() -> None:
    """Its ranks are uniform for every unknown: only a quantity that looks at the data too can tell."""
    case = next(case for case in CLOSED_FORMS if case.name == "coin")

    def prior(small: Instance, seed: int) -> Drawn:
        drawn = posteriors.by_schema("exact")(small, seed)
        values = np.random.default_rng(seed).beta(2, 3, (1, posteriors.DRAWS))
        return replace(drawn, chains={"p": values})

    found = posteriors.ranks(case, prior, 100)
    assert posteriors.chance(found["mean of p"]) > 1e-3
    assert posteriors.chance(found["log likelihood"]) < posteriors.LEVEL / 2
    assert not posteriors.check("wrong", case, 100, prior).passed


def test_bayes_factors_are_calibrated_and_bold_ones_are_caught() -> None:
    pair = next(pair for pair in evidence.PAIRS if pair.name == "coin")
    assert evidence.check(pair, 150).passed

    def bold(model: pw.Model, data: dict[str, np.ndarray]) -> float:
        return 4 * evidence.exact(model, data)

    assert not evidence.check(pair, 400, evidence=bold).passed


def test_a_declined_schema_is_told_with_its_reason() -> None:
    case = next(case for case in posteriors.HIERARCHIES if case.name == "mean_and_scale")
    verdict = posteriors.check("exact", case, 5)
    assert verdict.why.startswith("exact declined") and not verdict.passed


@pytest.mark.slow
@pytest.mark.parametrize("case", posteriors.SCHEMAS["exact"], ids=str)
def test_every_closed_form_is_calibrated(case: posteriors.Case) -> None:
    assert posteriors.check("exact", case).passed


@pytest.mark.slow
@pytest.mark.parametrize("pair", evidence.PAIRS, ids=lambda pair: pair.name)
def test_every_pair_of_models_is_calibrated(pair: evidence.Pair) -> None:
    assert evidence.check(pair).passed


def test_a_seed_that_is_off_in_silence_is_told() -> None:
    right = seeds.Told({"a": 1.0}, {"a": 0.01}, {"a": 0.5}, {"a": True}, False)
    wrong = replace(right, means={"a": 1.2})
    assert not list(seeds.silent([right, right, right], "data"))
    assert [line.partition(":")[0] for line in seeds.silent([right, wrong, right], "data")] == ["data, seed 1"]
    assert not list(seeds.silent([right, replace(wrong, warned=True), right], "data"))


def test_signs_that_priors_tell_are_right_with_every_seed() -> None:
    verdict = seeds.check("square", sets=2, seeds=3)
    assert verdict.fits == 6 and not verdict.silent and verdict.held[1] == 4
