"""Where the public reference cases are, and how one is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the reference cases are not here: {CORPUS}")


def cases(kind: str, beginning: str = "") -> list[str]:
    """Names of the cases of one kind; none where the corpus is absent."""
    folder = CORPUS / kind
    return sorted(path.name for path in folder.iterdir() if path.name.startswith(beginning)) if folder.is_dir() else []


def read_case(kind: str, name: str) -> tuple[Any, dict[str, Any]]:
    """Data and reference of a case."""
    folder = CORPUS / kind / name
    return json.loads((folder / "data.json").read_text()), json.loads((folder / "reference.json").read_text())
