"""Learning from more rows equals learning from all rows at once."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.errors import DataError, PlatewrightError
from run.row_examples import ONE_PLATE_OF_ROWS, chosen, example, same_posterior


@pytest.mark.parametrize("name", ONE_PLATE_OF_ROWS)
def test_updating_equals_learning_from_scratch(name: str) -> None:
    model, data = example(name)
    first = model.learn(chosen(data, slice(0, 18)))
    same_posterior(first.update(chosen(data, slice(18, None))), model.learn(data))


@pytest.mark.parametrize("name", ONE_PLATE_OF_ROWS)
def test_updating_row_by_row_equals_learning_from_scratch(name: str) -> None:
    model, data = example(name, rows=14)
    fit = model.learn(chosen(data, slice(0, 11)))
    for row in range(11, 14):
        fit = fit.update(chosen(data, slice(row, row + 1)))
    same_posterior(fit, model.learn(data))


@pytest.mark.parametrize("name", ONE_PLATE_OF_ROWS)
def test_an_update_with_no_rows_changes_nothing(name: str) -> None:
    model, data = example(name)
    fit = model.learn(data)
    same_posterior(fit.update(chosen(data, slice(0, 0))), fit)


def test_the_old_fit_is_left_alone() -> None:
    model, data = example("regression")
    fit = model.learn(chosen(data, slice(0, 20)))
    before = fit.log_evidence, dict(fit.sizes), {name: values.copy() for name, values in fit.columns.items()}
    fit.update(chosen(data, slice(20, None)))
    assert before[:2] == (fit.log_evidence, dict(fit.sizes))
    for name, values in before[2].items():
        np.testing.assert_array_equal(values, fit.columns[name])


def test_an_update_can_raise_a_maximum() -> None:
    m = pw.Model("bound")
    n = m.plate("n")
    m.top = pw.Pareto(2, scale=1)
    m.y = pw.Uniform(0, m.top, plates=n)
    fit = m.learn({"y": [0.5, 2.0]}).update({"y": [3.5, 0.1]})
    assert fit["top"].parameters["scale"] == 3.5
    assert fit["top"].parameters["shape"] == 6.0


def test_from_nothing_an_update_is_learning() -> None:
    model, data = example("coin")
    same_posterior(model.learn(chosen(data, slice(0, 0))).update(data), model.learn(data))


def test_the_prior_is_the_posterior_of_no_rows() -> None:
    model, data = example("normal_gamma")
    fit = model.learn(chosen(data, slice(0, 0)))
    assert fit.log_evidence == 0.0
    tau = fit["tau"]
    assert (float(tau.parameters["shape"]), float(tau.parameters["rate"])) == (2.0, 3.0)
    assert float(fit["mu"].mean) == 1.0


def test_rows_in_another_order_give_the_same_fit() -> None:
    model, data = example("groups")
    order = np.random.default_rng(0).permutation(30)
    fit = model.learn(chosen(data, order[:10])).update(chosen(data, order[10:]))
    same_posterior(fit, model.learn(data))


def test_labels_of_the_update_mean_what_they_meant_before() -> None:
    m = pw.Model("labels")
    n = m.plate("n")
    k = m.plate("k", labels=["a", "b", "c"])
    m.t = pw.Dirichlet(1, over=k)
    m.x = pw.Categorical(m.t, plates=n)
    fit = m.learn({"x": list("cba")}).update({"x": list("bb")})
    np.testing.assert_allclose(fit["t"].parameters["concentration"], [2, 4, 2])


def test_data_on_several_plates_cannot_be_extended() -> None:
    m = pw.Model("two plates")
    a, b = m.plate("a"), m.plate("b")
    m.mu = pw.Normal(0, sd=1)
    m.y, m.z = pw.Normal(m.mu, sd=1, plates=a), pw.Normal(m.mu, sd=1, plates=b)
    fit = m.learn({"y": [1.0, 2.0], "z": [3.0]})
    with pytest.raises(DataError, match="several plates"):
        fit.update({"y": [1.0], "z": [2.0]})


def _pilot() -> pw.Model:
    m = pw.Model("a pilot beside rows")
    row = m.plate("row")
    m.unit = pw.Input()
    m.rate = pw.Gamma(2.0, rate=1.0)
    m.pilot = pw.Poisson(10 * m.rate)
    m.y = pw.Poisson(m.rate * m.unit, plates=row)
    return m


def test_what_lies_beside_the_rows_stays_as_it_was_learned_from() -> None:
    m = _pilot()
    fit = m.learn({"y": [1, 2, 3], "pilot": 12, "unit": 2.0})
    whole = m.learn({"y": [1, 2, 3, 2], "pilot": 12, "unit": 2.0})
    assert fit.update({"y": [2], "unit": 2.0, "pilot": 12}).log_evidence == pytest.approx(whole.log_evidence, rel=1e-12)
    assert fit.update({"y": [2], "unit": 2.0}).log_evidence == pytest.approx(whole.log_evidence, rel=1e-12)
    for name, other in (("unit", {"unit": 3.0}), ("pilot", {"unit": 2.0, "pilot": 13})):
        for ask in (fit.update, fit.log_predictive):
            with pytest.raises(DataError, match=f"`{name}` is not on the rows"):
                ask({"y": [2], **other})


def test_scores_of_rows_add_up_to_the_evidence_less_what_is_known_beside_them() -> None:
    m = _pilot()
    beside = {"pilot": 12, "unit": 2.0}
    fit = m.learn({"y": [1, 2, 3], **beside})
    alone = m.learn({"y": [], **beside})
    assert fit.prequential().sum() == pytest.approx(fit.log_evidence - alone.log_evidence, rel=1e-12)


def test_a_density_at_values_of_another_shape_is_refused() -> None:
    new = _pilot().learn({"y": [1, 2, 3], "pilot": 12, "unit": 2.0}).predict(2)["y"]
    assert new.log_density([1, 2]).shape == (2,) and new.log_density(1).shape == (2,)
    for wrong in ([1, 2, 3], "a", [[1], [1, 2]]):
        with pytest.raises(PlatewrightError, match=r"shape \(2,\), the shape of `y`"):
            new.log_density(wrong)
