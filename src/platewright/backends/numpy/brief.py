"""The algorithm of an emitted program alone, for a paper or a lecture: what was derived, without tools and table.

docstring        the model, and the algorithm in words
the algorithm    derived from the model; the functions that it calls and does not hold are those of the whole program
"""

from __future__ import annotations

import re

from platewright.backends.carried import head

ALGORITHM = re.compile(r"(?m)^# -- the algorithm, as derived from the model -+\n")
NEXT = re.compile(r"(?m)^# -- (?:tools that it uses|the table and the command line) -+\n")
HOW_TO_RUN = re.compile(r"\n\n(?:Run:  python FILE|The data do not fit one table).*", re.DOTALL)


def algorithm_of(source: str) -> str:
    """The docstring without how to run it, the imports, and the algorithm; a text without sections as it is."""
    begins = ALGORITHM.search(source)
    if begins is None:
        return source
    ends = NEXT.search(source, begins.end())
    algorithm = source[begins.end() : ends.start() if ends else len(source)].strip("\n")
    told = source.split('"""')[1]
    return f'"""{HOW_TO_RUN.sub("", told).rstrip()}\n"""\n\n{head(algorithm)}\n\n\n{algorithm}\n'
