"""The report of a plan or a fit: whole, safe, the same each time."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import platewright as pw
from platewright.run.results.report import report
from shown_models import MAKERS, NAMES, groups, known_in, made, pieces


class Tags(HTMLParser):
    """Checks that tags are closed in the order in which they were opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags(page: str) -> list[str]:
    found = Tags()
    found.feed(page)
    found.close()
    assert not found.open
    return found.seen


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
def test_a_report_is_whole_with_and_without_data(maker: object) -> None:
    model, data = made(maker)  # type: ignore[arg-type]
    fit = model.learn(data)
    page = report(fit.derivation, fit)
    seen = tags(page)
    assert {"svg", "table", "details", "pre"} <= set(seen) and "script" not in seen
    plan = model.derive(known_in(model, data)).plan
    bare = report(plan)
    assert "table" not in tags(bare)
    assert report(plan) == bare


def test_each_unknown_has_its_section() -> None:
    model, data = made(groups)
    page = report(model.derive(known_in(model, data)).plan)
    for heading in ("The model", "Replace the rows by their statistics", "Eliminate th", "Eliminate mu", "The program"):
        assert f"</span>{heading}</h2>" in page


def test_a_step_shows_only_its_own_piece() -> None:
    model, data = made(pieces)
    page = report(model.derive(known_in(model, data)).plan)
    section = page.split("</span>Eliminate theta1</h2>")[1].split("</section>")[0]
    assert "theta1" in section and "sigma1" not in section


def test_user_text_stays_text() -> None:
    m = pw.Model("</style><script>alert(1)</script>")
    m.x = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.x, sd=1)
    assert "<script>" not in report(m.derive(["y"]).plan)
