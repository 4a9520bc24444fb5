"""Random mixed models by the thousand, with new seeds each time: the command behind `make random-models`.

    python -m laws.many_models [--count 20000] [--first SEED] [--workers 2]

Prints what was drawn and what was compared; a model that fails is printed as text that can be pasted.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from laws.mixed_laws import check
from laws.random_mixed import mixed_model

EACH = 25


def compared(first: int) -> tuple[Counter[str], Counter[str], list[str]]:
    """What was drawn and compared in some models, and those that failed."""
    drawn: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    failed = []
    for seed in range(first, first + EACH):
        drawn.update(mixed_model(seed).features)
        try:
            seen += check(seed, thoroughly=False, c=seed % 50 == 0)
        except AssertionError as error:
            failed.append(str(error))
    return drawn, seen, failed


def census(title: str, counts: Counter[str]) -> Iterator[str]:
    """A list of what there was, the most often first."""
    yield f"\n{title}:"
    for what, count in counts.most_common():
        yield f"{count:8,}  {what}"


def main() -> int:
    """The command."""
    words = argparse.ArgumentParser(prog="python -m laws.many_models", description=__doc__)
    words.add_argument("--count", type=int, default=20_000)
    words.add_argument("--first", type=int, help="the first seed; drawn anew if not given")
    words.add_argument("--workers", type=int, default=2)
    asked = words.parse_args()
    first = random.SystemRandom().randrange(10**6, 10**9) if asked.first is None else asked.first
    start, drawn, seen, failures = time.monotonic(), Counter[str](), Counter[str](), 0
    with ProcessPoolExecutor(asked.workers) as pool:
        for number, (some, more, failed) in enumerate(pool.map(compared, range(first, first + asked.count, EACH))):
            drawn += some
            seen += more
            failures += len(failed)
            for text in failed:
                print(f"\n{text}", flush=True)
            if number % 40 == 39:
                print(f"{(number + 1) * EACH:,} models, {failures} failures", flush=True)
    print("\n".join([*census("drawn", drawn), *census("compared", seen)]))
    minutes = (time.monotonic() - start) / 60
    print(f"\n{asked.count:,} models from seed {first}, {failures} failures, {minutes:.1f} minutes")
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
