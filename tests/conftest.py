"""What all tests share: how hard Hypothesis looks, and that nothing is left lying about.

`HYPOTHESIS_PROFILE` picks the profile: `fixed` (the default: the same examples on every run and machine),
`thorough` (the same, but more of them) or `explore` (new examples each time, failures remembered).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    max_examples=100,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("fixed"), max_examples=1_000)
settings.register_profile("explore", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

TOP = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """A test that writes a file names a folder for it (`tmp_path`), not the one that it happens to run in."""
    before = set(os.listdir(TOP))
    yield
    left = sorted(name for name in set(os.listdir(TOP)) - before if not name.startswith("."))
    assert not left, f"left at the top of the repository, by this test or by one beside it: {', '.join(left)}"
