"""Every Python block of the pages runs, and prints what the page says it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import platewright as pw
from docs.refill import refilled
from docs.samples import Run, is_excerpt, samples
from platewright import errors
from platewright.language import constructors

TOP = Path(__file__).parent.parent.parent
PAGES = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_samples_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = Run(page)
    for sample in samples(page.read_text(encoding="utf-8")):
        run.run(sample)


def test_every_family_is_on_its_page_as_it_is_called() -> None:
    page = (TOP / "docs" / "families.md").read_text(encoding="utf-8").replace("\\|", "|")
    calls = [made.usage for made in vars(constructors).values() if isinstance(made, constructors.Constructor)]
    assert len(calls) > 25
    assert [call for call in calls if f"`{call}`" not in page] == []


def test_every_public_name_is_in_the_reference() -> None:
    page = (TOP / "docs" / "api.md").read_text(encoding="utf-8")
    families = (TOP / "docs" / "families.md").read_text(encoding="utf-8")
    missing = [n for n in pw.__all__ if not re.search(rf"pw\.{n}\b", page) and f"`{n}(" not in families]
    assert missing == []


def test_every_error_is_on_its_page() -> None:
    page = (TOP / "docs" / "errors.md").read_text(encoding="utf-8")
    classes = [found for found in vars(errors).values() if isinstance(found, type)]
    made = [found.__name__ for found in classes if found.__module__ == errors.__name__]
    assert len(made) > 25
    assert [name for name in made if f"`{name}`" not in page] == []


def test_the_pictures_are_those_that_their_script_draws() -> None:
    folder = TOP / "docs" / "pictures"
    names: dict[str, object] = {"__name__": "pictures", "__file__": str(folder / "make.py")}
    exec(compile((folder / "make.py").read_text(encoding="utf-8"), str(folder / "make.py"), "exec"), names)
    for name, text in names["pictures"]().items():  # type: ignore[operator]
        assert (folder / name).read_text(encoding="utf-8") == text, f"{name}: run docs/pictures/make.py"


def test_marks_above_a_block_are_read() -> None:
    page = "<!-- not run -->\n```python\n1 / 0\n```\n\n```python\nx = 1\n```\n\n<!-- output -->\n\n```text\n\n```\n"
    assert [(s.language, s.mark, s.line) for s in samples(page)] == [
        ("python", "not run", 3),
        ("python", "", 7),
        ("text", "output", 13),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a\nb\n", "a \nb\n", True),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("...\nd\n", "d\n", True),
        ("off by ...)\n", "off by 2.7e-16)\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\ne\n", "a\nb\nc\nd\n", False),
    ],
)
def test_an_excerpt_may_leave_lines_out_where_it_says_so(shown: str, printed: str, expected: bool) -> None:
    assert is_excerpt(shown, printed) is expected


def test_a_block_that_should_fail_must_fail() -> None:
    run = Run(Path("page.md"))
    (sample,) = samples("<!-- raises -->\n```python\nx = 1\n```\n")
    with pytest.raises(AssertionError, match="nothing was raised"):
        run.run(sample)


PAGE = """\
```python
print({first})
```

<!-- output -->
```text
{shown}```

```text
same
```

```python
print("same"{end})
```

<!-- output -->
```text
{second}```
"""


@pytest.mark.parametrize("end", ["", ", end=''"])
@pytest.mark.parametrize(
    ("first", "shown", "second", "filled"),
    [
        ("'new'", "", "same\n", "new\n"),
        ("'new'", "same\n", "", "new\n"),
        ("'new'", "", "", "new\n"),
        ("end=''", "same\n", "old\n", ""),
        ("'new'", "...\nold\n", "", "...\nold\n"),
    ],
)
def test_outputs_are_filled_in_at_their_place(
    first: str, shown: str, second: str, filled: str, end: str, tmp_path: Path
) -> None:
    """Empty blocks, blocks of the same text, and blocks that are not output stand side by side."""
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(first=first, shown=shown, second=second, end=end), encoding="utf-8")
    assert refilled(page) == PAGE.format(first=first, shown=filled, second="same\n", end=end)
