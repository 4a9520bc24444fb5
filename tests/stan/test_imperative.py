"""Programs that assign, carry and overwrite have the target that their lines compute, one after another."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from bugs.evaluated import log_joint
from stan.imperative import data, program

POINTS = [
    {"p": np.array([0.4, -0.9, 0.2, 0.7]), "a": np.array(0.3)},
    {"p": np.array([-0.1, 0.5, -0.6, 0.3]), "a": np.array(-0.6)},
    {"p": np.array([0.8, 0.1, 0.9, -0.4]), "a": np.array(1.1)},
]


def check(text: str, target: object) -> None:
    """Differences of the log joint between points are those of the target."""
    known = data()
    wanted = [target(known["y"], known["W"], point["p"], float(point["a"])) for point in POINTS]  # type: ignore[operator]
    read = pw.read_stan(text, known).read_from
    found = [log_joint(read, {**known, **point}) for point in POINTS]
    assert np.diff(found) == pytest.approx(np.diff(wanted), rel=1e-8, abs=1e-8), text


@pytest.mark.parametrize("seed", range(40))
def test_a_random_program_has_its_target(seed: int) -> None:
    with np.errstate(all="ignore"):
        check(*program(seed))


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(20))
def test_many_random_programs_have_their_targets(batch: int) -> None:
    with np.errstate(all="ignore"):
        for seed in range(1000 + 100 * batch, 1100 + 100 * batch):
            check(*program(seed))


LOOPS = {
    "target += -square(s * y[i]); s = p[i];": lambda y, p, a: -sum((s * one) ** 2 for s, one in zip([a, *p], y)),
    "target += -square(x[1] * y[i]); x[1] = p[i];": lambda y, p, a: (
        -sum((s * one) ** 2 for s, one in zip([p[0], *p], y))
    ),
    "target += -square(s * y[i]); if (y[i] > 0) s = p[i];": lambda y, p, a: (
        -sum((one * next((p[j] for j in reversed(range(i)) if y[j] > 0), a)) ** 2 for i, one in enumerate(y))
    ),
}


@pytest.mark.parametrize("body", LOOPS)
def test_a_round_sees_what_the_round_before_left(body: str) -> None:
    text = (
        "data { int N; vector[N] y; matrix[N, N] W; } parameters { vector[N] p; real a; } "
        f"model {{ real s = a; vector[N] x = p; for (i in 1:N) {{ {body} }} }}"
    )
    check(text, lambda y, w, p, a: LOOPS[body](y, p, a))
