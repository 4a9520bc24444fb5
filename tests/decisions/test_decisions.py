"""Expected utilities, policies and values of information are those of enumeration, what was learned integrated out."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.errors import MissingColumn, ModelError, NotLearned, NotSolvable, ParameterError, UnknownName

WORTH = np.array([[[3.0, -1.0], [0.5, 2.0], [-4.0, 1.0]], [[-2.0, 5.0], [1.0, -3.0], [0.0, 4.0]]])


def clinic(knows: str = "sign") -> pw.Model:
    """ill -> sign; ill and the treatment -> outcome (three levels); worth by illness, outcome and treatment."""
    m = pw.Model("clinic")
    row, state, way, end = (
        m.plate("row"),
        m.plate("state", 2),
        m.plate("way", labels=["wait", "cut"]),
        m.plate("end", 3),
    )
    m.p_ill, m.p_sign = pw.Beta(1, 2), pw.Beta(1, 1, plates=state)
    m.ill = pw.Bernoulli(m.p_ill, plates=row)
    m.sign = pw.Bernoulli(m.p_sign[m.ill], plates=row)
    m.treat = pw.Action(levels=way, knows=[getattr(m, knows)] if knows else [], plates=row)
    m.p_end = pw.Dirichlet(0.5, over=end, plates=(state, way))
    m.end = pw.Categorical(m.p_end[m.ill, m.treat], plates=row)
    m.gain = pw.Utility(pw.array(WORTH, over=(state, end, way))[m.ill, m.end, m.treat])
    return m


def rows(seed: int, count: int = 40) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    ill = generator.integers(0, 2, count)
    treat = generator.integers(0, 2, count)
    end = (generator.integers(0, 3, count) + ill * treat) % 3
    sign = np.where(generator.random(count) < 0.8, ill, 1 - ill)
    return {"ill": ill, "sign": sign, "treat": np.array(["wait", "cut"])[treat], "end": end}


def by_hand(data: dict[str, np.ndarray]) -> np.ndarray:
    """`p(ill, sign, end | treat, data)` as a table: each parameter meets a new row once, so its mean stands for it."""
    treat = 1 * (data["treat"] == "cut")
    ill = np.bincount(data["ill"], minlength=2) + np.array([2.0, 1.0])
    found = np.empty((2, 2, 3, 2))
    for i, s, e, a in np.ndindex(found.shape):
        mine = data["ill"] == i
        sign = (np.sum(mine & (data["sign"] == s)) + 1) / (mine.sum() + 2)
        here = mine & (treat == a)
        found[i, s, e, a] = ill[i] / ill.sum() * sign * (np.sum(here & (data["end"] == e)) + 0.5) / (here.sum() + 1.5)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_expected_utilities_of_what_was_learned(seed: int) -> None:
    data = rows(seed)
    table = by_hand(data)
    worth = WORTH[:, None]
    fit = clinic().learn(data)
    for sign in (0, 1):
        one = table[:, [sign]]
        wanted = (one * worth).sum(axis=(0, 1, 2)) / one.sum(axis=(0, 1, 2))
        found = fit.decide({"sign": sign})
        assert list(found.expected().values()) == pytest.approx(wanted, abs=1e-9)
        assert found.best == ["wait", "cut"][int(wanted.argmax())] and found.value == pytest.approx(wanted.max())
        assert found.error == 0.0 and found.value_of("sign") == 0.0
        known = fit.decide({"sign": sign, "treat": "cut", "end": 2})
        assert known.value == pytest.approx((one[..., 2, 1] * WORTH[:, None, 2, 1]).sum() / one[..., 2, 1].sum())


@pytest.mark.parametrize("seed", range(3))
def test_policies_and_values_of_information(seed: int) -> None:
    data = rows(seed + 10)
    joint = by_hand(data) * WORTH[:, None]
    worth_of = joint.sum(axis=2)
    best = {policy: sum(worth_of[:, s, policy[s]].sum() for s in (0, 1)) for policy in product((0, 1), repeat=2)}
    fit = clinic().learn(data)
    found = fit.decide()
    policy = max(best, key=lambda one: best[one])
    assert found.value == pytest.approx(best[policy], abs=1e-9)
    assert found.policy() == {s: ["wait", "cut"][policy[s]] for s in (0, 1)}
    blind = clinic("").learn(data).decide()
    alone = worth_of.sum(axis=(0, 1))
    assert blind.value == pytest.approx(alone.max(), abs=1e-9)
    assert blind.value_of("sign") == pytest.approx(best[policy] - alone.max(), abs=1e-9)
    assert blind.value_of("ill") == pytest.approx(worth_of.sum(axis=1).max(axis=1).sum() - alone.max(), abs=1e-9)
    assert found.value_of("ill") == pytest.approx(worth_of.max(axis=2).sum() - best[policy], abs=1e-9)
    assert all(blind.value_of(name) >= -1e-12 for name in ("sign", "ill"))
    with pytest.raises(NotLearned, match="depends on `sign`"):
        found.best  # noqa: B018


def test_other_results_decide_too(tmp_path: Path) -> None:
    data = rows(20)
    exact = clinic().learn(data)
    wanted = exact.decide({"sign": 1}).expected()
    exact.save(tmp_path / "fit")
    assert pw.load(tmp_path / "fit").decide({"sign": 1}).expected() == pytest.approx(wanted)
    sampled = clinic().learn(data, by="gibbs", chains=2, draws=800, seed=1).decide({"sign": 1})
    assert sampled.expected() == pytest.approx(wanted, abs=0.15)


def test_utilities_may_look_at_what_was_learned() -> None:
    """Drawn, with an error: the same problem, told so that nothing else will do."""
    data = rows(30)
    m = clinic()
    m.more = pw.Utility(2.0 * m.p_ill + 0.0 * pw.equal(m.treat, 0))
    fit = m.learn(data)
    found = fit.decide({"sign": 1})
    plain = clinic().learn(data).decide({"sign": 1})
    assert 0 < found.error < 0.1
    assert found.value == pytest.approx(plain.value + 2 * float(fit["p_ill"].mean), abs=6 * found.error + 0.02)
    arms = pw.Model("arms")
    row, arm = arms.plate("row"), arms.plate("arm", labels=["a", "b", "c"])
    arms.p = pw.Beta(1, 1, plates=arm)
    arms.which = pw.Input(plates=row, levels=arm)
    arms.won = pw.Bernoulli(arms.p[arms.which], plates=row)
    arms.pull = pw.Action(levels=arm)
    arms.gain = pw.Utility(arms.p[arms.pull])
    fit = arms.learn({"which": ["a", "b", "c"] * 20, "won": [1, 0, 0] * 10 + [1, 1, 0] * 10})
    found = fit.decide()
    assert found.best == "a"
    assert list(found.expected().values()) == pytest.approx(np.asarray(fit["p"].mean), abs=6 * found.error)


def test_the_error_is_that_of_other_draws() -> None:
    m = clinic()
    m.more = pw.Utility(5.0 * m.p_ill)
    data = rows(31, 12)
    decisions = [m.learn(data, seed=seed).decide({"sign": 1, "treat": "cut"}) for seed in range(30)]
    with pytest.raises(ModelError, match="nothing is to be decided"):
        decisions[0].policy()
    told = np.mean([one.error for one in decisions])
    spread = np.std([one.value for one in decisions], ddof=1)
    assert 0.5 < spread / told < 2


def test_open_numbers_are_drawn_for_the_utilities() -> None:
    generator = np.random.default_rng(40)
    m = pw.Model("doses")
    row, dose = m.plate("row"), m.plate("dose", labels=["low", "high"])
    m.tau = pw.Gamma(2, rate=2)
    m.mu = pw.Normal(0, precision=0.1 * m.tau, plates=dose)
    m.given = pw.Action(levels=dose, plates=row)
    m.y = pw.Normal(m.mu[m.given], precision=m.tau, plates=row)
    m.gain = pw.Utility(m.y - 0.3 * m.y * m.y)
    given = np.array(["low", "high"] * 30)
    y = np.where(given == "high", 1.5, 0.2) + 0.5 * generator.normal(size=60)
    fit = m.learn({"given": given, "y": y})
    found = fit.decide(seed=3)
    new = fit.predict({"given": ["low", "high"]})["y"]
    mean, spread = np.asarray(new.mean), np.asarray(new.variance)
    assert list(found.expected().values()) == pytest.approx(mean - 0.3 * (mean**2 + spread), abs=6 * found.error)
    assert fit.decide(seed=3).expected() == found.expected()
    m = pw.Model("seen through")
    row, act = m.plate("row"), m.plate("act", 2)
    m.mu = pw.Normal(0, sd=1)
    m.x = pw.Normal(m.mu, sd=1, plates=row)
    m.sign = pw.Bernoulli(pw.where(pw.less(m.x, 0), 0.2, 0.7), plates=row)
    m.do = pw.Action(levels=act, knows=m.sign, plates=row)
    m.gain = pw.Utility(m.x * pw.equal(m.do, 1))
    fit = m.learn({"x": [1.0, -2.0, 0.3], "sign": [1, 0, 1]})
    with pytest.raises(NotSolvable, match="`sign` depends on it"):
        fit.decide()


@pytest.mark.parametrize("by", ["em", "gibbs"])
def test_what_is_hidden_in_every_row_is_summed_out(by: str) -> None:
    generator = np.random.default_rng(70)
    m = pw.Model("kinds")
    row, kind, act = m.plate("row"), m.plate("kind", 2), m.plate("act", labels=["keep", "sell"])
    m.share = pw.Dirichlet(2, over=kind)
    m.mu = pw.Normal(pw.array([-2.0, 2.0], over=kind), sd=1, plates=kind)
    m.z = pw.Categorical(m.share, plates=row)
    m.x = pw.Normal(m.mu[m.z], sd=1, plates=row)
    m.do = pw.Action(levels=act, plates=row)
    worth = np.array([[1.0, 3.0], [2.0, -4.0]])
    m.gain = pw.Utility(pw.array(worth, over=(kind, act))[m.z, m.do])
    x = np.where(generator.random(300) < 0.3, -2.0, 2.0) + generator.normal(size=300)
    fit = m.learn({"x": x}, "map" if by == "em" else "posterior", by=by, **({"chains": 2} if by == "gibbs" else {}))
    point = fit.point
    weight = np.asarray(point["share"]) * np.exp(-0.5 * (0.1 - np.asarray(point["mu"])) ** 2)
    wanted = weight @ worth / weight.sum()
    found = fit.decide({"x": 0.1})
    assert list(found.expected().values()) == pytest.approx(wanted, abs=1e-9 if by == "em" else 0.1)
    assert found.value_of("z") >= 0


def drilling(rng: np.random.Generator) -> tuple[pw.Model, np.ndarray, np.ndarray, np.ndarray]:
    """Whether to test, then whether to drill knowing the result."""
    m = pw.Model("drilling")
    oil, test, result = m.plate("oil_", 3), m.plate("test_", labels=["skip", "do"]), m.plate("result_", 3)
    drill = m.plate("drill_", labels=["no", "yes"])
    prior, likely = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), size=(2, 3))
    likely[0] = [1.0, 0.0, 0.0]
    worth = rng.normal(size=(3, 2))
    m.oil = pw.Categorical(pw.array(prior, over=oil), over=oil)
    m.test = pw.Action(levels=test)
    m.result = pw.Categorical(pw.array(likely, over=(test, oil, result))[m.test, m.oil], over=result)
    m.drill = pw.Action(levels=drill, knows=m.result)
    m.pay = pw.Utility(pw.array(worth, over=(oil, drill))[m.oil, m.drill])
    m.cost = pw.Utility(-0.05 * pw.equal(m.test, 1))
    return m, prior, likely, worth


@pytest.mark.parametrize("seed", range(5))
def test_two_actions_in_a_network_against_all_policies(seed: int) -> None:
    m, prior, likely, worth = drilling(np.random.default_rng(seed))
    scores = {}
    for test, rule in product((0, 1), product((0, 1), repeat=3)):
        paid = sum(prior[oil] * likely[test, oil, r] * worth[oil, rule[r]] for oil in range(3) for r in range(3))
        scores[test, rule] = paid - 0.05 * test
    found = m.decide()
    assert found.value == pytest.approx(max(scores.values()), abs=1e-12)
    first = {label: max(s for (t, _), s in scores.items() if t == k) for k, label in enumerate(("skip", "do"))}
    assert found.expected() == pytest.approx(first, abs=1e-12)
    rule = max((r for t, r in scores if t == 1), key=lambda r: scores[1, r])
    assert {key[1]: label for key, label in found.policy("drill").items() if key[0] == "do"} == {
        r: ["no", "yes"][rule[r]] for r in range(3)
    }
    perfect = (prior[:, None] * worth).max(axis=1).sum()
    assert found.value_of("oil") == pytest.approx(perfect - found.value, abs=1e-12)
    assert m.decide({"test": "skip"}).value == pytest.approx(first["skip"], abs=1e-12)
    assert "drill, knowing test, result" in str(found)


def test_squares_and_diamonds() -> None:
    picture = drilling(np.random.default_rng(0))[0].svg()
    assert picture.count("<polygon") >= 2 + 6 and picture.count("<rect") == 1 + 2
    assert "treat[row]: to be decided, knowing sign" in str(clinic())
    from platewright.graph.graph import read_graph
    from platewright.operations.remove_barren import remove_barren

    assert "is a utility" in str(remove_barren(read_graph(clinic()), "gain"))


def test_rows_to_learn_from_need_no_actions_that_change_nothing() -> None:
    m = pw.Model("sign")
    row, state = m.plate("row"), m.plate("state", 2)
    m.p = pw.Beta(1, 1)
    m.ill = pw.Bernoulli(m.p, plates=row)
    m.treat = pw.Action(levels=["wait", "cut"], plates=row)
    m.cost = pw.Input(plates=row)
    m.gain = pw.Utility(pw.where(pw.equal(m.treat, 1), 10 * m.ill - m.cost, 0))
    fit = m.learn({"ill": [1, 0, 0, 1, 1]})
    chance = float(fit["p"].mean)
    assert fit.decide({"cost": 2.5}).expected() == pytest.approx({"wait": 0.0, "cut": 10 * chance - 2.5})
    with pytest.raises(MissingColumn, match="the input `cost` has no value"):
        fit.decide()
    assert state.size == 2


def test_what_cannot_be_decided_is_said_in_words() -> None:
    data = rows(50)
    fit = clinic().learn(data)
    with pytest.raises(ModelError, match=r"`end` is given, and depends on the action `treat`"):
        fit.decide({"end": 1})
    with pytest.raises(UnknownName, match="sings"):
        fit.decide({"sings": 1})
    with pytest.raises(UnknownName):
        fit.decide({"sign": 1}).policy("cure")
    with pytest.raises(ModelError, match="cannot be seen before the action `treat`"):
        clinic("").learn(data).decide().value_of("end")
    m = clinic()
    m.other = pw.Action(levels=2, plates=m.plates["row"])
    with pytest.raises(ModelError, match="no utility depends on the action `other`"):
        m.learn(data).decide()
    bare = pw.Model("bare")
    bare.act = pw.Action(levels=["a", "b"])
    with pytest.raises(ModelError, match="the model has no utility"):
        bare.decide()
    with pytest.raises(NotSolvable, match="is on plate") as said:
        clinic().decide()
    assert "m.learn(data).decide(evidence)" in str(said.value)
    with pytest.raises(ParameterError, match="at least two"):
        pw.Action(levels=["only"])
    with pytest.raises(ParameterError, match="each level once"):
        pw.Action(levels=["wait", "wait"])
    with pytest.raises(ParameterError, match="levels of an action"):
        pw.Action(levels="wait")
    late = pw.Model("late")
    row = late.plate("row")
    late.mu = pw.Normal(0, sd=1)
    late.x = pw.Normal(late.mu, sd=1, plates=row)
    late.act = pw.Action(levels=2, knows=late.x, plates=row)
    late.gain = pw.Utility(late.x * pw.equal(late.act, 1))
    with pytest.raises(NotSolvable, match="a policy lists what to do for each value"):
        late.learn({"x": [1.0, 2.0]}).decide()
    assert late.learn({"x": [1.0, 2.0]}).decide({"x": 0.7}).expected() == pytest.approx({0: 0.0, 1: 0.7})


def test_words(capsys: Any) -> None:
    print(clinic().learn(rows(60)).decide())
    said = capsys.readouterr().out
    assert said.startswith("expected utility") and "treat, knowing sign" in said and "->" in said


def test_a_decision_on_draws_says_how_far_they_may_be_off() -> None:
    """Where cells were missing, the expected utility is a mean over draws; the fillings one by one say what it is."""
    rng = np.random.default_rng(3)
    ill, treated = rng.random(40) < 0.4, rng.random(40) < 0.5
    well = rng.random(40) < np.where(ill, np.where(treated, 0.8, 0.3), np.where(treated, 0.9, 0.97))
    holes = [1, 5, 9, 14, 20, 33]

    def learned(column: np.ndarray) -> Any:
        m = pw.Model("treatment")
        patient, state = m.plate("patient"), m.plate("state", 2)
        choice = m.plate("choice", labels=["wait", "treat"])
        m.share = pw.Beta(1, 1)
        m.ill = pw.Bernoulli(m.share, plates=patient)
        m.act = pw.Action(levels=choice, plates=patient)
        m.cure = pw.Beta(1, 1, plates=(state, choice))
        m.well = pw.Bernoulli(m.cure[m.ill, m.act], plates=patient)
        m.gain = pw.Utility(100 * m.well - 12 * pw.equal(m.act, 1))
        return m.learn({"ill": column, "act": np.where(treated, "treat", "wait"), "well": well})

    logs, values = [], []
    for levels in product((0, 1), repeat=len(holes)):
        filled = ill.astype(int)
        filled[holes] = levels
        fit = learned(filled)
        logs.append(fit.log_evidence)
        values.append(fit.decide().expected()["treat"])
    wanted = float(np.exp(np.array(logs) - np.logaddexp.reduce(logs)) @ np.array(values))
    decision = learned(np.where(np.isin(np.arange(40), holes), np.nan, ill)).decide()
    assert 0.0 < decision.error < 0.5
    assert decision.expected()["treat"] == pytest.approx(wanted, abs=4 * decision.error)
