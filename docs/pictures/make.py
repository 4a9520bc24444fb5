"""Draw the pictures of the pages anew: each model before and after its plate is removed.

    python docs/pictures/make.py

A test compares the files with what this draws.
"""

from __future__ import annotations

from pathlib import Path

import platewright as pw
from platewright.derive.statistics_picture import statistics_picture
from platewright.drawing.from_graph import picture_of
from platewright.drawing.svg import picture_svg
from platewright.schema import Plan

HERE = Path(__file__).parent


def coin() -> pw.Model:
    """One proportion and its tosses."""
    m = pw.Model("coin")
    toss = m.plate("toss")
    m.theta = pw.Beta(1.5, 1.5)
    m.heads = pw.Bernoulli(m.theta, plates=toss)
    return m


def line() -> pw.Model:
    """Regression on one input, with an unknown precision."""
    m = pw.Model("line")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.precision = pw.Gamma(2.0, rate=1.0)
    m.a = pw.Normal(0.0, precision=0.1 * m.precision)
    m.b = pw.Normal(0.0, precision=0.1 * m.precision)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.precision, plates=row)
    return m


def trial() -> pw.Model:
    """Two arms with an effect each and a common precision."""
    m = pw.Model("trial")
    arm = m.plate("arm", labels=["placebo", "drug"])
    patient = m.plate("patient")
    m.given = pw.Categorical([0.5, 0.5], over=arm, plates=patient)
    m.precision = pw.Gamma(2.0, rate=2.0)
    m.effect = pw.Normal(0.0, precision=0.1 * m.precision, plates=arm)
    m.change = pw.Normal(m.effect[m.given], precision=m.precision, plates=patient)
    return m


MODELS = ((coin, ["heads"]), (line, ["y"]), (trial, ["given", "change"]))


def pictures() -> dict[str, str]:
    """The text of every picture, by the name of its file."""
    found = {}
    for make, known in MODELS:
        plan = make().derive(known).plan
        assert isinstance(plan, Plan)
        found[f"{plan.graph.title}_before.svg"] = picture_svg(picture_of(plan.graph))
        found[f"{plan.graph.title}_after.svg"] = picture_svg(statistics_picture(plan))
    return found


if __name__ == "__main__":
    for name, text in pictures().items():
        (HERE / name).write_text(text, encoding="utf-8")
        print(HERE / name)
