"""The shared functions of emitted samplers as an object of their own, so that a model compiles only its own lines.

    static int cholesky(int64_t count, double *matrix) { ... }     in the text that a user reads, which stands alone

    int cholesky(int64_t count, double *matrix);                   in the text that is compiled for a model
    int cholesky(int64_t count, double *matrix) { ... }            in the object, compiled once for all models

Inline functions stay where they are. Symbols are hidden: no other library can put its own in their place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from platewright.backends.c.support import BLOCK
from platewright.backends.c_gibbs.support import SHARED, shared_text

MOST_STEPS = 60
"""Steps out of a slice, as in `kernels/slices.py`."""

PREAMBLE = f"""\
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Rows worked on at once; most steps out of a slice. */
#define BLOCK {BLOCK}
#define MOST_STEPS {MOST_STEPS}

/* A chain: its arrays, sizes of plates, four words of randomness, and working space. */
struct chain {{
    void *const *array;
    const int64_t *size;
    uint64_t *random;
    double *work;
    int64_t room;
    int64_t missing; /* independent rows that a Gaussian block would need more */
}};"""

_HIDDEN = '#define HIDDEN __attribute__((visibility("hidden")))'
_FUNCTION = re.compile(r"^static (?!inline\b)(?P<head>[^;{}]*\))\n(?P<body>\{\n.*?^\})$", re.MULTILINE | re.DOTALL)


def declared_text(body: str) -> list[str]:
    """What the body needs of the shared functions, those of the object by their heads alone."""
    return [_HIDDEN, *shared_text(body, _declared())]


@cache
def object_text() -> str:
    """The text of the object."""
    every = " ".join(f"{name}()" for name in SHARED)
    return "\n\n".join([PREAMBLE, _HIDDEN, *shared_text(every, _opened())]) + "\n"


@cache
def _declared() -> Mapping[str, str]:
    return {name: _FUNCTION.sub(r"HIDDEN \g<head>;", text) for name, text in SHARED.items()}


@cache
def _opened() -> Mapping[str, str]:
    return {name: _FUNCTION.sub(r"HIDDEN \g<head>\n\g<body>", text) for name, text in SHARED.items()}
