"""A derivation as one page: each step with its picture before and after, why it holds, and the code it made.

The page stands alone: styles are inside, there is no script, nothing is loaded, and every text is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from platewright.drawing.lettering import is_printable
from platewright.drawing.picture import Picture
from platewright.drawing.svg import picture_svg

STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 68rem; padding: 2.5rem 1.5rem 4rem; background: #fff; color: #1f2933;
  font: 16px/1.55 'Source Sans 3', 'Helvetica Neue', Helvetica, Arial, sans-serif; }
h1 { font-size: 1.7rem; font-weight: 600; line-height: 1.25; margin: 0 0 1.5rem; }
h2 { font-size: 1.15rem; font-weight: 600; margin: 0 0 .4rem; }
h2 .number { color: #8292a2; font-weight: 400; margin-right: .5em; }
section { border-top: 1px solid #dde2e7; padding: 1.5rem 0; }
p { max-width: 46rem; margin: .4rem 0 .8rem; white-space: pre-line; }
.pictures { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start; margin: 1rem 0; }
figure { flex: 1 1 18rem; min-width: 0; margin: 0; }
figcaption { color: #5b6b7b; font-size: .8rem; letter-spacing: .04em; margin-bottom: .3rem; }
svg { display: block; max-width: 100%; height: auto; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: #4a6785; font-size: .9rem; }
pre { background: #f6f7f8; border-radius: 5px; margin: .5rem 0; overflow-x: auto; padding: .8rem 1rem;
  font: 13px/1.5 'Source Code Pro', Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
@media print { body { max-width: none; padding: 0; } section { break-inside: avoid; } pre { white-space: pre-wrap; } }
""".strip()


@dataclass(frozen=True)
class ReportSection:
    """One step of the page; `code` and `latex` are folded away, and pictures that are `None` are left out."""

    heading: str
    text: str
    before: Picture | None = None
    after: Picture | None = None
    code: str = ""
    latex: str = ""


def report_html(title: str, sections: Sequence[ReportSection]) -> str:
    """The whole page as text, the same bytes for the same sections."""
    name = page_text(title)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{name}</title>",
        f"<style>\n{STYLE}\n</style>",
        "</head>",
        "<body>",
        f"<h1>{name}</h1>",
    ]
    for place, section in enumerate(sections, start=1):
        parts += section_html(place, section)
    return "\n".join([*parts, "</body>", "</html>"]) + "\n"


def section_html(place: int, section: ReportSection) -> list[str]:
    """One step: heading, text, pictures side by side, and what is folded away."""
    parts = ["<section>", f'<h2><span class="number">{place}</span>{page_text(section.heading)}</h2>']
    parts += [f"<p>{page_text(part.strip())}</p>" for part in section.text.split("\n\n") if part.strip()]
    both = section.before is not None and section.after is not None
    figures = [
        *figure_html("before" if both else "", section.before),
        *figure_html("after" if both else "", section.after),
    ]
    if figures:
        parts += ['<div class="pictures">', *figures, "</div>"]
    return [*parts, *folded_html("Code", section.code), *folded_html("LaTeX", section.latex), "</section>"]


def figure_html(caption: str, picture: Picture | None) -> list[str]:
    """One picture; a caption only where two stand side by side."""
    if picture is None:
        return []
    words = [f"<figcaption>{caption}</figcaption>"] if caption else []
    return ["<figure>", *words, picture_svg(picture).rstrip("\n"), "</figure>"]


def folded_html(summary: str, text: str) -> list[str]:
    """Text that opens on a click, without a script."""
    if not text:
        return []
    return ["<details>", f"<summary>{summary}</summary>", f"<pre><code>{page_text(text)}</code></pre>", "</details>"]


def page_text(text: str) -> str:
    """Text made safe for the page: escaped, and without control characters other than line ends and tabs."""
    return escape("".join(letter if letter in "\n\t" or is_printable(letter) else " " for letter in text))
