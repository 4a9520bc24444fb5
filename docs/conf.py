"""How the pages are built: Markdown through MyST, in the Furo theme. `make docs` treats a warning as an error."""

from __future__ import annotations

import re
from pathlib import Path

TOP = Path(__file__).parent.parent


def version_in(text: str) -> str:
    """The version that the package states, read without importing it."""
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise ValueError("src/platewright/__init__.py states no __version__")
    return found.group(1)


project = "Platewright"
author = "The Platewright authors"
copyright = "The Platewright authors"
release = version_in((TOP / "src" / "platewright" / "__init__.py").read_text(encoding="utf-8"))
version = release

extensions = ["myst_parser"]
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
nitpicky = True

html_theme = "furo"
html_title = f"Platewright {release}"
html_copy_source = False
html_show_sourcelink = False
