"""The report page: whole, safe and without anything to load."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as some

from platewright.drawing.picture import Picture, PictureNode
from platewright.drawing.report import ReportSection, report_html

DOT = Picture((PictureNode("x", "x", "random", True, ()),))


class Tags(HTMLParser):
    """Collects the tags of a page, and those not yet closed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    return tags


def test_a_step_shows_both_pictures_side_by_side_and_folds_its_code() -> None:
    page = report_html("coin", [ReportSection("remove the plate", "Theorem 4.1", DOT, DOT, "total = 3", r"\theta")])
    assert page.count("<svg") == 2 and page.count("<figcaption>") == 2
    assert "<details>" in page and "total = 3" in page and r"\theta" in page


def test_what_is_absent_is_left_out() -> None:
    page = report_html("coin", [ReportSection("only words", "first\n\nsecond")])
    assert page.count("<p>") == 2
    assert "<svg" not in page and "<details>" not in page and "<figure>" not in page


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    page = report_html("coin", [ReportSection("step", "text", DOT, None, "code")])
    assert not read(page).seen & {"script", "link", "iframe", "img", "object"}
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


@settings(max_examples=50, deadline=None)
@given(some.text(), some.text(), some.text(), some.text())
def test_any_text_keeps_the_page_whole(title: str, heading: str, text: str, code: str) -> None:
    hostile = "</pre></details><script>alert(1)</script>"
    page = report_html(title + hostile, [ReportSection(heading + hostile, text + hostile, DOT, DOT, code + hostile)])
    tags = read(page)
    assert not tags.open
    assert "script" not in tags.seen


def test_the_same_sections_give_the_same_bytes() -> None:
    sections = [ReportSection("step", "text", DOT, DOT)]
    assert report_html("coin", sections) == report_html("coin", sections)
