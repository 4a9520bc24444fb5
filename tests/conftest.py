"""What all tests share: where things lie, and how hard Hypothesis looks.

`HYPOTHESIS_PROFILE` picks the profile: `fixed` (the default: the same examples on every run and machine),
`thorough` (the same, but more of them) or `explore` (new examples each time, failures remembered).
"""

from __future__ import annotations

import os

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
