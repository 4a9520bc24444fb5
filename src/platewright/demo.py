"""A learning job from end to end, for `make demo`: derive, learn, look, and keep what was made.

Two models: a coin, and a regression with an intercept for each group on 200,000 simulated rows. Everything printed is
computed here and now; the report and the emitted program are left in `demo_output/`.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np

from platewright.drawing.from_graph import picture_of
from platewright.drawing.svg import picture_svg
from platewright.language.constructors import Bernoulli, Beta, Gamma, Normal
from platewright.language.distribution import Input
from platewright.language.functions import dot
from platewright.pipeline import Model
from platewright.run.exact.fit import Fit
from platewright.run.results.report import report
from platewright.run.results.summary import summary
from platewright.run.results.writing import save

ROWS = 200_000
REGIONS = ("north", "east", "south", "west")
FEATURES = ("size", "age", "rooms")
TRUE_WEIGHTS = np.array([2.0, -0.7, 0.3])
TRUE_LEVELS = np.array([10.0, 11.5, 9.0, 10.5])
TRUE_SD = 1.5


def coin() -> Model:
    """The first model of the paper: a bent coin."""
    m = Model("coin")
    toss = m.plate("toss")
    m.theta = Beta(1.5, 1.5)
    m.heads = Bernoulli(m.theta, plates=toss)
    return m


def prices() -> Model:
    """House prices: regression on three features, with a level for each region around a common mean."""
    m = Model("house prices")
    house = m.plate("house")
    region = m.plate("region", labels=REGIONS)
    feature = m.plate("feature", labels=FEATURES)
    m.precision = Gamma(1.0, rate=1.0)
    m.mean = Normal(0.0, precision=0.01 * m.precision)
    m.level = Normal(m.mean, precision=m.precision, plates=region)
    m.weight = Normal(0.0, precision=0.1 * m.precision, plates=feature)
    m.where = Input(plates=house, levels=region)
    m.x = Input(plates=(house, feature))
    m.price = Normal(m.level[m.where] + dot(m.x, m.weight, over=feature), precision=m.precision, plates=house)
    return m


def simulated(rows: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Rows from the model, with weights and levels that we know."""
    generator = np.random.default_rng(seed)
    where = generator.integers(0, len(REGIONS), rows)
    x = generator.normal(size=(rows, len(FEATURES)))
    price = TRUE_LEVELS[where] + x @ TRUE_WEIGHTS + TRUE_SD * generator.normal(size=rows)
    return {"where": np.array(REGIONS)[where], "x": x, "price": price}


def exact(model: Model, data: object) -> Fit:
    """Learn in closed form."""
    fit = model.learn(data, by="exact")
    assert isinstance(fit, Fit)
    return fit


def heading(text: str) -> None:
    """A line to find one's way by."""
    print(f"\n\n-- {text} {'-' * (98 - len(text))}\n")


def main(rows: int = ROWS, folder: str = "demo_output") -> None:
    """Show both models."""
    kept = Path(folder)
    kept.mkdir(exist_ok=True)

    heading("a coin, tossed ten times")
    fit = exact(coin(), {"heads": [1, 0, 1, 1, 0, 1, 1, 1, 0, 1]})
    print(fit.explain(), end="\n\n")
    print(summary(fit))
    (kept / "coin.svg").write_text(picture_svg(picture_of(fit.derivation.graph, fit.sizes)), encoding="utf-8")
    (kept / "learned_coin.py").write_text(fit.source(), encoding="utf-8")

    heading(f"house prices: regression with groups, {rows:,} rows")
    data = simulated(rows)
    model = prices()
    start = perf_counter()
    fit = exact(model, data)
    seconds = perf_counter() - start
    print(fit.explain())

    heading("what was learned, exactly")
    print(summary(fit))
    print(f"\nsimulated with   levels {TRUE_LEVELS}, weights {TRUE_WEIGHTS}, precision {TRUE_SD**-2:.4f}")
    took = ", ".join(f"{name} {1000 * value:.0f} ms" for name, value in (fit.seconds or {}).items())
    print(f"took             {1000 * seconds:.0f} ms for {rows:,} rows ({took})")

    (kept / "house_prices.html").write_text(report(fit.derivation, fit), encoding="utf-8")
    (kept / "learned_house_prices.py").write_text(fit.source(), encoding="utf-8")
    save(fit, kept / "house_prices.fit")
    heading("kept for you")
    for path in sorted(kept.iterdir()):
        print(f"{path}   ({path.stat().st_size:,} bytes)")
    print("\nopen house_prices.html for the derivation with its pictures; the .py files need only NumPy and SciPy")


if __name__ == "__main__":
    main()
