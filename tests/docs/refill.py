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
    """The text of a page with its output blocks as they should be."""
    text = page.read_text(encoding="utf-8")
    run = Run(page)
    for sample in samples(text):
        if sample.mark != "output":
            run.run(sample)
        elif not is_excerpt(sample.text, run.printed):
            if "..." in sample.text:
                print(f"{page.name}, line {sample.line}: mend by hand; printed was\n{run.printed}")
            else:
                text = text.replace(f"\n{sample.text}```", f"\n{run.printed}```", 1)
    return text


if __name__ == "__main__":
    for page in (TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page.write_text(refilled(page), encoding="utf-8")
