"""Nothing in the package knows a public case: no name of one stands in its source, whole or without what sorts it."""

from __future__ import annotations

import re
from pathlib import Path

from outside.corpus import CORPUS, needs_corpus

SOURCE = Path(__file__).parent.parent / "src" / "platewright"
PLAIN = {
    "line": "of text",
    "child": "of a node",
    "discrete": "of a variable",
    "gaussian": "of a family",
    "building": "what a builder does",
    "seeds": "of random numbers and of clusters",
    "car": "of `car.proper`, a distribution of BUGS",
}
"""Plain words that are names of cases too, and what they mean in the source."""


def words_of(name: str) -> set[str]:
    """The name of a case without what sorts it: `rats` is the word of `jags_rats_test1`."""
    plain = re.sub(r"^(jags|gauss|nonlinear|linear|anova|univariate|scores|gobnilp|exact_posterior)_", "", name.lower())
    plain = re.sub(r"_(no)?test\d+$", "", plain)
    return {word for word in (plain, name.lower()) if word not in PLAIN}


@needs_corpus
def test_no_public_case_is_named_in_the_source() -> None:
    names = sorted({word for case in CORPUS.glob("*/*") if case.is_dir() for word in words_of(case.name)})
    assert len(names) > 150
    text = "\n".join(path.read_text().lower() for path in SOURCE.rglob("*") if path.suffix in (".py", ".lark"))
    found = [name for name in names if re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text)]
    assert found == []


def test_the_search_would_find_one() -> None:
    assert (
        "rats" in words_of("jags_rats_test1")
        and "alarm" in words_of("alarm")
        and "longley" in words_of("linear_Longley")
    )
