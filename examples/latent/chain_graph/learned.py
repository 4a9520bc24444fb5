"""chain_graph: Gibbs sampling, derived and written by Platewright.

2 blocks: {u} slice; {x1, x2} exact

The model:
    u ~ Normal(mean=0, precision=1)
    x1[n]: a level of two, tied by log factors
    x2[n]: a level of two, tied by log factors
    y[n] ~ Normal(mean=x2[n], precision=2.0408163265306123)
    pair[n]: a log factor u [x1[n] = x2[n]] + 0.5 x1[n]

Run:  python FILE data.csv [option=value ...]

data.csv has a header and a row for each n, with these columns:
    y  a real number

Options and their defaults:
    seed=0  chains=4  draws=1000  warm_up=500
"""

import csv
import inspect
import sys

import numpy as np


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def start(data, size, generator):
    """Values to start from, jittered."""
    size_n = size["n"]
    size_two = size["two"]
    u = 0.5 * generator.standard_normal(())
    x1 = generator.integers(0, size_two, (size_n,))
    x2 = generator.integers(0, size_two, (size_n,))
    return {"u": u, "x1": x1, "x2": x2}


def log_factors_0(data, size):
    """The log density of each element of u, given all else."""
    u = data["u"]
    x1 = data["x1"]
    x2 = data["x2"]
    size_n = size["n"]
    size_two = size["two"]
    total = np.zeros(())
    # u
    total = total + -0.5 * u ** 2 - 0.9189385332046727
    # pair
    total = total + np.sum(u * 1.0 * (x1 == x2) + 0.5 * x1)
    # normaliser of x1
    total = (
        total
        + -size_n * log_sum_exp(
            log_sum_exp(u * 1.0 * (np.arange(size_two) == np.arange(size_two)[:, None]) + 0.5 * np.arange(size_two))
        )
    )
    return total


def draw_1(data, size, generator):
    """Draw x1, x2 given all else."""
    u = data["u"]
    y = data["y"]
    size_two = size["two"]
    # x2: a log weight for each of its values
    x2_log_weight = (
        -1.0204081632653061 * (y[:, None] - np.arange(size_two)) ** 2
        - 0.5622635892659402
        + log_sum_exp(u * 1.0 * (np.arange(size_two)[:, None] == np.arange(size_two)) + 0.5 * np.arange(size_two))
    )
    x2 = draw_levels(generator, x2_log_weight)
    # x1: a log weight for each of its values
    x1_log_weight = u * 1.0 * (x2[:, None] == np.arange(size_two)) + 0.5 * np.arange(size_two)
    x1 = draw_levels(generator, x1_log_weight)
    return {"x1": x1, "x2": x2}


def movers(size):
    """What moves the blocks without an exact conditional, by their number."""
    return {
        0: SliceMover("u", -np.inf, np.inf, lambda values: log_factors_0(values, size)),
    }


def sweep(values, data, size, generator, movers):
    """Draw every block once, in order, each given the newest values of the others."""
    values = dict(values)
    with np.errstate(all="ignore"):
        values |= movers[0].move({**data, **values}, generator)
        values |= draw_1({**data, **values}, size, generator)
    return values


def height_of(data, size):
    """The log density of the unknowns and the data, up to what no unknown enters."""
    u = data["u"]
    x1 = data["x1"]
    x2 = data["x2"]
    y = data["y"]
    size_n = size["n"]
    size_two = size["two"]
    total = 0.0
    with np.errstate(all="ignore"):
        # u
        total = total + np.sum(-0.5 * u ** 2 - 0.9189385332046727)
        # y
        total = total + np.sum(-1.0204081632653061 * (y - x2) ** 2 - 0.5622635892659402)
        # pair
        total = total + np.sum(u * 1.0 * (x1 == x2) + 0.5 * x1)
        # normaliser of x1
        total = (
            total
            + np.sum(
                np.broadcast_to(
                    -log_sum_exp(
                        log_sum_exp(
                            u * 1.0 * (np.arange(size_two) == np.arange(size_two)[:, None]) + 0.5 * np.arange(size_two)
                        )
                    ),
                    (size_n,),
                )
            )
        )
    return float(total)


def learn(data, size, seed=0, chains=4, draws=1000, warm_up=500):
    """Draws from the posterior by name: chain, draw, then the axes of the variable."""
    generators = np.random.default_rng(seed).spawn(chains)
    starts = chain_starts(data, size, generators, warm_up)
    kept = [chain_draws(starts[k], data, size, generators[k], warm_up, draws) for k in range(chains)]
    return {name: np.array([found[name] for found in kept]) for name in kept[0]}


def chain_starts(data, size, generators, warm_up):
    """Where each chain starts: in a mode that matters, which short trials found."""

    def trial(number, values):
        try:
            return chain_draws(values, data, size, generators[number], SETTLING, WEIGHED)
        except ArithmeticError:  # the chain itself would tell
            return stayed(values)

    def heights(found):
        count = len(next(iter(found.values())))
        return np.array([height_of({**data, **{name: found[name][k] for name in found}}, size) for k in range(count)])

    def made(number):
        return start(data, size, generators[number])

    return trial_starts(len(generators), warm_up, made, trial, heights)


def chain_draws(values, data, size, generator, warm_up, draws):
    """The draws of one chain from given values on."""
    moving = movers(size)
    for mover in moving.values():
        mover.begin_warm_up(warm_up)
        if warm_up and hasattr(mover, "climb"):  # only along a gradient there is a way up
            values = {**values, **mover.climb({**data, **values}, generator)}
    for _ in range(warm_up):
        values = sweep(values, data, size, generator, moving)
    for mover in moving.values():
        if warm_up and hasattr(mover, "is_lost") and mover.is_lost({**data, **values}):
            raise ArithmeticError("a chain stands where its log density has no finite slope, and would stay there")
    for mover in moving.values():  # from now on nothing is learned, so that draws keep their distribution
        mover.end_warm_up()
    kept = {name: [] for name in values}
    for _ in range(draws):
        values = sweep(values, data, size, generator, moving)
        for name, value in values.items():
            kept[name].append(value)
    return {name: np.array(found) for name, found in kept.items()}


# -- tools that it uses ------------------------------------------------------------------------------------------------


SETTLING = 8
"""Sweeps of a trial before its draws are weighed."""
WEIGHED = 16
"""Draws of a trial that are weighed."""
LEAST_TRIALS = 8
"""Trials of all chains together."""
MOST_TRIALS = 8
"""Trials of a chain that has found but negligible modes."""
LEAST_WARM_UP = 100
"""Sweeps of warm-up below which there are no trials: they would cost more than the run."""
MOST_ELEMENTS = 100_000
"""Elements of unknowns above which there are none: their draws would not fit."""
MOST_SHARED = 2
"""Movements shared by the elements of an unknown that are not counted as their spread."""
NEGLIGIBLE = 6.0
"""The log of how much less weight than the best a mode has that does not matter."""
SURE = 2.5
"""Standard errors beyond which a difference is believed."""
NARROW = 1e-3
"""A spread below this part of that of all trials counts as this: draws that did not move say nothing about it."""
MOST_STEPS = 60


def log_sum_exp(logs):
    """The log of a sum along the last axis, from the logs of its terms; minus infinity where nothing is possible."""
    top = np.max(logs, axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)  # an infinity less itself is no number
    with np.errstate(over="ignore", divide="ignore"):
        return top + np.log(np.sum(np.exp(logs - top[..., None]), axis=-1))


def draw_levels(generator, log_weights):
    """A value for each row of log weights, which need no normalisation: the largest after Gumbel noise."""
    return np.argmax(log_weights + generator.gumbel(size=log_weights.shape), axis=-1)


def summary(drawn):
    """Means and standard deviations over all draws. Hidden labels may differ from draw to draw."""
    found = {}
    for name, values in drawn.items():
        if np.issubdtype(values.dtype, np.floating):
            found[f"{name} mean"] = values.mean(axis=(0, 1))
            found[f"{name} sd"] = values.std(axis=(0, 1))
    return found


def trial_starts(chains, warm_up, start, trial, heights):
    """Values for each chain to start from: where one of its trials ended.

    `start` makes a start of a chain, `trial` the draws of a trial of it; `heights` are log densities of draws, without
    which there are no trials.
    """
    starts = [start(number) for number in range(chains)]
    elements = sum(np.size(values) for values in starts[0].values())
    if heights is None or warm_up < LEAST_WARM_UP or elements > MOST_ELEMENTS:
        return starts
    tried = [[] for _ in range(chains)]
    high = [[] for _ in range(chains)]
    waiting = [number for number in range(chains) for _ in range(-(-LEAST_TRIALS // chains))]
    while waiting:
        made = []
        for number in waiting:
            made.append(trial(number, start(number) if tried[number] else starts[number]))
            tried[number].append(made[-1])
        for number, height in zip(waiting, np.split(heights(joined(made)), len(made)), strict=True):
            high[number].append(height)
        every = [draws for mine in tried for draws in mine], [part for mine in high for part in mine]
        weights, ends = log_weights(*every), np.cumsum([len(draws) for draws in tried])[:-1]
        good = np.split(matter(weights, errors_of(*every)), ends)
        waiting = [n for n in range(chains) if not good[n].any() and len(good[n]) < MOST_TRIALS]
    return [{name: values[-1] for name, values in tried[n][k].items()} for n, k in taken(good)]


def taken(good):
    """For each chain whose trial it starts from, and which: its own first good one, else one that others can spare."""
    mine = [np.flatnonzero(own).tolist() for own in good]
    spare = [(n, k) for n, own in enumerate(mine) for k in own[1:]] + [(n, own[0]) for n, own in enumerate(mine) if own]
    found = []
    for n, own in enumerate(mine):
        found.append((n, own[0]) if own else spare[0])
        spare = spare if own else [*spare[1:], spare[0]]
    return found


def stayed(values):
    """Draws of a trial that did not get anywhere."""
    return {name: np.repeat(np.asarray(found)[None], WEIGHED, axis=0) for name, found in values.items()}


def joined(trials):
    """The draws of all trials one after another."""
    return {name: np.concatenate([draws[name] for draws in trials]) for name in trials[0]}


def matter(weights, errors):
    """Which modes matter: all but those whose log weight is surely below the best by more than `NEGLIGIBLE`."""
    best = int(np.argmax(weights))
    return weights >= weights[best] - NEGLIGIBLE - SURE * np.hypot(errors, errors[best])


def errors_of(trials, heights):
    """Standard errors of log weights: heights vary, draws come in runs, and few of them know spreads roughly."""
    numbers = [sum(v[0].size for v in draws.values() if v.dtype.kind == "f") for draws in trials]
    with np.errstate(invalid="ignore"):
        of_means = np.nan_to_num([2 * np.var(high) / len(high) for high in heights])
    return np.sqrt(of_means + np.array(numbers) / (2 * (WEIGHED - 1)))


def log_weights(trials, heights):
    """The log weight of the mode in which each trial ended."""
    every = joined(trials)
    least = {name: NARROW * values.std(axis=0) for name, values in every.items() if values.dtype.kind == "f"}
    found = [float(np.mean(h)) + entropy(draws, least) for draws, h in zip(trials, heights, strict=True)]
    return np.where(np.isfinite(found), found, -np.inf)


def entropy(draws, least):
    """The entropy of draws: of a normal with the own spread of each element, and of the shares of levels."""
    total = 0.0
    for name, values in draws.items():
        rows = values.reshape(len(values), -1)
        if name in least:
            spread = np.maximum(own_spread(rows), least[name].ravel())
            total += float(np.log(spread[spread > 0]).sum())
            continue
        same = (rows[:, None, :] == rows[None, :, :]).sum(axis=0)
        total -= float(np.log(same / len(rows)).mean(axis=0).sum())
    return total


def own_spread(rows):
    """The spread of each column without what many of them share: all follow their common mean, or a slow drift.

    Counted in each of many elements, such a movement would make a narrow place among them look wide.
    """
    spread = rows.std(axis=0)
    shared = min(MOST_SHARED, rows.shape[1] // 5)
    if not shared:
        return spread
    moves = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    courses = np.linalg.eigh(moves @ moves.T)[1][:, -shared:]  # draws are few, elements may be many
    left = moves - courses @ (courses.T @ moves)
    return spread * np.sqrt((left**2).mean(axis=0))


class SliceMover:
    """One unknown of one chain; the width of its brackets follows the spread of its draws during warm-up.

    `log_factors` gives, as a function of all values, the log density of each element, up to a constant. Of whole
    numbers (`counts`), k is the interval from k to k + 1, all of one height.
    """

    def __init__(self, name, lower, upper, log_factors, counts=False):
        self.name, self.lower, self.upper, self.log_factors = name, lower, upper, log_factors
        self.counts = counts
        self.width = None
        self.recent = []
        self.looks = ()

    def begin_warm_up(self, sweeps):
        """Learn the width from draws, at a quarter of these sweeps, at half of them and at their end."""
        self.looks = tuple(look for look in (sweeps // 4, sweeps // 2, sweeps - 1) if look > 4)
        self.recent = []

    def end_warm_up(self):
        """Keep the width as it is."""
        self.looks, self.recent = (), []

    def density(self, values):
        """The log density of each element as a function of all elements at once."""

        def log_factors(value):
            return self.log_factors({**values, self.name: value})

        return within(log_factors, self.lower, self.upper, self.counts)

    def move(self, values, generator):
        """A slice step of every element."""
        value = np.asarray(values[self.name], dtype=float)
        if self.counts:
            value = value + generator.random(value.shape)
        if self.width is None:
            self.width = np.maximum(np.abs(value), 1.0)
        moved = slice_step(self.density(values), value, self.width, generator)
        if self.counts:
            moved = np.floor(moved).astype(np.int64)
        if self.looks:
            self.recent.append(moved)
            if len(self.recent) - 1 in self.looks:
                spread = np.std(self.recent[len(self.recent) // 2 :], axis=0)
                self.width = slice_widths(spread, moved, self.counts)
        return {self.name: moved}


def slice_widths(spread, value, counts):
    """Widths of brackets from the spread of recent draws: no smaller than rounding, or than one count."""
    return np.maximum(3.0 * spread, 1.0 if counts else 1e-8 * (1 + np.abs(value)))


def within(log_factors, lower, upper, counts=False):
    """A log density that is minus infinity outside a domain, where its formula need not make sense."""
    if np.isfinite(lower) and np.isfinite(upper):
        inside = (lower + upper) / 2
    else:
        inside = lower + 1.0 if np.isfinite(lower) else (upper - 1.0 if np.isfinite(upper) else 0.0)

    def density(value):
        value = np.floor(value) if counts else value
        outside = (value < lower) | (value > upper)
        if lower == 0.0 and not counts:
            outside |= value <= 0.0
        safe = np.where(outside, inside, value)
        with np.errstate(all="ignore"):
            found = log_factors(safe.astype(np.int64) if counts else safe)
        return np.where(outside | np.isnan(found), -np.inf, found)

    return density


def slice_step(density, value, width, generator):
    """One update of every element."""
    value = possible_start(density, np.asarray(value, dtype=float), width, generator)
    level = density(value) - generator.exponential(size=value.shape)
    low = np.array(value - width * generator.random(value.shape))
    high = np.array(low + width)
    for side, sign in ((low, -1.0), (high, 1.0)):
        for _ in range(MOST_STEPS):
            out = density(side) > level
            if not out.any():
                break
            side += np.where(out, sign * width, 0.0)
    result = np.array(value)
    waiting = np.ones(value.shape, dtype=bool)
    for _ in range(10 * MOST_STEPS):
        trial = low + (high - low) * generator.random(value.shape)
        trial = np.where(waiting, trial, result)
        height = density(trial)
        good = waiting & (height >= level) & (height > -np.inf)  # a start of density zero must not leave the domain
        result = np.where(good, trial, result)
        waiting &= ~good
        if not waiting.any():
            return result
        low = np.where(waiting & (trial < value), trial, low)
        high = np.where(waiting & (trial >= value), trial, high)
    return result


def possible_start(density, value, width, generator):
    """Elements of density zero are left for a possible place, looked for further and further away."""
    lost = ~(density(value) > -np.inf)
    for tries in range(2 * MOST_STEPS):
        if not lost.any():
            break
        reach = width * 2.0 ** (tries // 4)
        trial = np.where(lost, value + reach * (2.0 * generator.random(value.shape) - 1.0), value)
        found = lost & (density(trial) > -np.inf)
        value = np.where(found, trial, value)
        lost &= ~found
    return value


# -- the table and the command line ------------------------------------------------------------------------------------


MISSING = ("", "na", "n/a", "nan", "null", "none")
"""What a cell holds when nothing is known."""
TRUTH = {"true": 1, "false": 0}


def table_of(path):
    """The columns of a CSV file as texts, by the names in its header."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    if not lines:
        raise ValueError("the file is empty; expected a header with the names of columns, then rows")
    header, *rows = lines
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {number} (the first is 0) has {len(row)} cells, the header {len(header)}")
    return {name: [row[k].strip() for row in rows] for k, name in enumerate(header)}


def count_rows(table, expected=None):
    """The number of rows, which the model may fix."""
    found = len(next(iter(table.values())))
    if expected is not None and found != expected:
        raise ValueError(f"the file has {found} rows; expected {expected}")
    return found


def cells(table, names):
    """Column, row and text of every cell of some columns, row by row."""
    for name in names:
        if name not in table:
            raise ValueError(f"there is no column {name!r}; the file has {', '.join(table)}")
    for row in range(count_rows(table)):
        for name in names:
            yield name, row, table[name][row]


def misfit(name, row, text, expected):
    """The error for a cell that is not what the model needs."""
    found = "nothing" if text.lower() in MISSING else repr(text)
    return ValueError(f"column {name!r}, row {row} (the first is 0): found {found}, expected {expected}")


def numbers(table, names, expected, lower=-np.inf, upper=np.inf, above=-np.inf, whole=False):
    """Some columns side by side as numbers in their range; true and false are 1 and 0."""
    found = []
    for name, row, text in cells(table, names):
        try:
            value = TRUTH[text.lower()] if text.lower() in TRUTH else int(text) if text.isdigit() else float(text)
        except ValueError:
            raise misfit(name, row, text, expected) from None
        is_inside = np.isfinite(value) and lower <= value <= upper and above < value
        if not is_inside or (whole and value != int(value)):
            raise misfit(name, row, text, expected)
        found.append(int(value) if whole else float(value))
    return np.array(found, dtype=int if whole else float).reshape(-1, len(names))


def options(words):
    """The options of `learn` from words such as seed=1."""
    parameters = inspect.signature(learn).parameters.values()
    known = {given.name: given.default for given in parameters if given.default != given.empty}
    found = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            found[name] = type(known[name])(value)
        except (KeyError, ValueError):
            shown = " ".join(f"{option}={default}" for option, default in known.items())
            raise ValueError(f"{word!r} is not an option; expected some of {shown}") from None
    return found


def read(path):
    """The columns that the model needs, and the sizes of its plates."""
    table = table_of(path)
    data, size = {}, {"n": count_rows(table), "two": 2}
    data["y"] = numbers(table, ["y"], "a real number")[:, 0]
    return data, size


def main(words):
    """Learn from the file that the first word names, and print what was learned."""
    if words and words[0] in ("-h", "--help"):
        print(__doc__)
        return
    if not words:
        sys.exit(__doc__)
    try:
        with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
            data, size = read(words[0])
            results = summary(learn(data, size, **options(words[1:])))
    except (OSError, ValueError, ArithmeticError) as error:
        sys.exit(f"{words[0]}: {error}")
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")


if __name__ == "__main__":
    main(sys.argv[1:])
