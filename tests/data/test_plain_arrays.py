"""Arrays that are taken as they are give the data set that the long way gives, and the same errors."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.data.bind import bind
from platewright.data.dataset import Dataset
from platewright.data.plain import bind_plain
from platewright.data.signature import Signature
from platewright.errors import PlatewrightError
from platewright.pipeline import signature

ROWS = 2**16


def regression() -> Signature:
    m = pw.Model("regression")
    n, c = m.plate("n"), m.plate("c")
    m.w = pw.Normal(0, sd=1, plates=c)
    m.X = pw.Input(plates=(n, c))
    m.y = pw.Normal(pw.dot(m.X, m.w, over=c), sd=1, plates=n)
    return signature(m)


def data() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"X": rng.normal(size=(ROWS, 2)), "y": rng.normal(size=ROWS)}


def the_long_way(wanted: Signature, given: Any) -> Dataset:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("platewright.data.bind"), "bind_plain", lambda *_: None)
        return bind(wanted, given, scan=False, partly=True, upright=True)


@pytest.mark.parametrize("order", ["C", "F"])
def test_plain_arrays_are_bound_as_by_the_long_way(order: Any) -> None:
    wanted, given = regression(), data()
    given["X"] = np.asarray(given["X"], order=order)
    quick, long = bind_plain(wanted, given, upright=True), the_long_way(wanted, given)
    assert quick is not None
    assert quick.sizes == long.sizes == {"n": ROWS, "c": 2}
    assert (quick.labels, quick.parents, quick.first, quick.missing) == (long.labels, long.parents, long.first, {})
    assert quick.known == long.known
    for name, values in quick.columns.items():
        assert np.shares_memory(values, given[name]) and np.shares_memory(long.columns[name], given[name])
        assert not values.flags.writeable and values.strides == long.columns[name].strides


CHANGES: dict[str, Any] = {
    "a list": lambda d: {**d, "y": d["y"].tolist()},
    "few rows": lambda d: {name: values[:100] for name, values in d.items()},
    "integers": lambda d: {**d, "y": d["y"].astype(int)},
    "every second row": lambda d: {**d, "y": np.repeat(d["y"], 2)[::2]},
    "an axis too many": lambda d: {**d, "y": d["y"][:, None]},
    "another name": lambda d: {**d, "z": d["y"]},
    "no input": lambda d: {"y": d["y"]},
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_not_plain_takes_the_long_way(change: str) -> None:
    assert bind_plain(regression(), CHANGES[change](data()), upright=True) is None


def test_shapes_that_disagree_are_refused_in_the_same_words() -> None:
    wanted, given = regression(), data()
    given["y"] = np.zeros(ROWS + 1)
    with pytest.raises(PlatewrightError) as quick:
        bind(wanted, given, scan=False)
    with pytest.raises(PlatewrightError) as long:
        the_long_way(wanted, given)
    assert str(quick.value) == str(long.value)


def test_plates_with_names_groups_or_an_order_are_not_plain() -> None:
    for words in ({"ordered": True}, {"labels": ["a", "b"]}):
        m = pw.Model("named")
        m.y = pw.Normal(0, sd=1, plates=m.plate("n", **words))
        assert bind_plain(signature(m), {"y": data()["y"]}, upright=True) is None


def test_a_bounded_column_is_looked_at() -> None:
    m = pw.Model("positive")
    m.y = pw.Gamma(2, rate=1, plates=m.plate("n"))
    assert bind_plain(signature(m), {"y": np.abs(data()["y"])}, upright=True) is None


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_matrix_that_lies_column_by_column_gives_the_same_bits(backend: str) -> None:
    m = pw.Model("regression")
    n, c = m.plate("n"), m.plate("c")
    m.tau = pw.Gamma(2, rate=1)
    m.w = pw.Normal(0, precision=m.tau, plates=c)
    m.X = pw.Input(plates=(n, c))
    m.y = pw.Normal(pw.dot(m.X, m.w, over=c), precision=m.tau, plates=n)
    given = data()
    upright = {**given, "X": np.asfortranarray(given["X"])}
    one, other = m.learn(given, backend=backend), m.learn(upright, backend=backend)
    assert one.log_evidence == other.log_evidence
    assert np.array_equal(one["w"].mean, other["w"].mean)
    assert np.shares_memory(other.columns["X"], upright["X"]) == (backend == "c")
