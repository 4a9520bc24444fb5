"""Write what the samples print now into the pages, for a change that was meant; then read the difference.

    PYTHONPATH=src:tests python tests/docs/refill.py

A block with `...` in it is not touched: where it no longer fits, it is printed, to be mended by hand.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from docs.samples import Run, is_excerpt, samples

TOP = Path(__file__).parent.parent.parent


def refilled(page: Path) -> str:
    """The text of a page with its output blocks as they should be; each is found by its place, not by its text."""
    text = page.read_text(encoding="utf-8")
    run = Run(page)
    kept, parts = 0, []
    for sample in samples(text):
        if sample.mark != "output":
            run.run(sample)
        elif not is_excerpt(sample.text, run.printed):
            if "..." in sample.text:
                print(f"{page.name}, line {sample.line}: mend by hand; printed was\n{run.printed}")
                continue
            parts += [text[kept : sample.start], _whole_lines(run.printed)]
            kept = sample.start + len(sample.text)
    return "".join([*parts, text[kept:]])


def _whole_lines(printed: str) -> str:
    """What was printed, with an end to its last line, so that the fence stays on a line of its own."""
    return printed if not printed or printed.endswith("\n") else printed + "\n"


if __name__ == "__main__":
    for page in (TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page.write_text(refilled(page), encoding="utf-8")
