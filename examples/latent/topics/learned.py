"""topics: collapsed Gibbs sampling, derived and written by Platewright.

z element by element, with theta, phi integrated out

The model:
    theta[doc, topic] ~ Dirichlet(concentration=0.5)
    phi[topic, term] ~ Dirichlet(concentration=0.5)
    z[word] ~ Categorical(probabilities=theta[doc@word[word], topic])
    w[word] ~ Categorical(probabilities=phi[z[word], term])

Run:  python FILE data.csv [option=value ...]

data.csv has a header and a row for each word, with these columns:
    doc  a level of doc
    w    a level of term

Options and their defaults:
    seed=0  chains=4  draws=1000  warm_up=500
"""

import csv
import inspect
import sys
from dataclasses import dataclass
from itertools import product

import numpy as np

Array = np.ndarray


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def prepared(data, size):
    """The data, with what is made of them once and for all."""
    data = dict(data)
    return data


def start(size, generator):
    """Random levels to start from."""
    size_word = size["word"]
    size_topic = size["topic"]
    z = generator.integers(0, size_topic, (size_word,))
    return {"z": z}


def tables(data, size):
    """The sums over rows that hidden variables enter, from all rows."""
    doc_of_word = data["doc_of_word"]
    w = data["w"]
    z = data["z"]
    size_doc = size["doc"]
    size_word = size["word"]
    size_topic = size["topic"]
    size_term = size["term"]
    # count_doc_of_word_z[doc@word[word], z[word]] += 1 for each word
    count_doc_of_word_z = filled((size_doc, size_topic,), [doc_of_word, z], np.broadcast_to(1, (size_word,)))
    # count_w_z[w[word], z[word]] += 1 for each word
    count_w_z = filled((size_term, size_topic,), [w, z], np.broadcast_to(1, (size_word,)))
    # count_w_z.total[z[word]] += 1 for each word
    count_w_z_total = filled((size_topic,), [z], np.broadcast_to(1, (size_word,)))
    return {"count_doc_of_word_z": count_doc_of_word_z, "count_w_z": count_w_z, "count_w_z_total": count_w_z_total}


def enter_z(sign, data, size, at_z_word, at_z_level):
    """Put an element of z into its tables at a level, or take it out (sign -1)."""
    doc_of_word = data["doc_of_word"]
    w = data["w"]
    count_doc_of_word_z = data["count_doc_of_word_z"]
    count_w_z = data["count_w_z"]
    count_w_z_total = data["count_w_z_total"]
    count_doc_of_word_z[doc_of_word[at_z_word], at_z_level] += sign
    count_w_z[w[at_z_word], at_z_level] += sign
    count_w_z_total[at_z_level] += sign


def weigh_z(data, size, at_z_word):
    """The log weight of each level of an element of z that is out of its tables."""
    doc_of_word = data["doc_of_word"]
    w = data["w"]
    count_doc_of_word_z = data["count_doc_of_word_z"]
    count_w_z = data["count_w_z"]
    count_w_z_total = data["count_w_z_total"]
    size_topic = size["topic"]
    size_term = size["term"]
    found = np.zeros(size_topic)
    found += np.log(0.5 + count_doc_of_word_z[doc_of_word[at_z_word], np.arange(size_topic)])
    found += np.log(0.5 + count_w_z[w[at_z_word], np.arange(size_topic)])
    found += -np.log(0.5 * size_term + count_w_z_total)
    return found


def sweep(hidden, data, size, random):
    """Draw every element once given all others, parameters integrated out; hidden values change in place."""
    size_word = size["word"]
    everything = {**data, **hidden, **tables({**data, **hidden}, size)}
    for element in product(range(size_word)):
        old = hidden["z"][element]
        enter_z(-1.0, everything, size, *element, old)
        with np.errstate(invalid="ignore"):  # an impossible state is refused
            log_weights = weigh_z(everything, size, *element)
        new = drawn_level(log_weights, random.uniform())
        enter_z(1.0, everything, size, *element, new)
        hidden["z"][element] = new


def draw_parameters(data, size, generator):
    """A draw of the parameters from their exact posterior given the hidden variables."""
    doc_of_word = data["doc_of_word"]
    z = data["z"]
    w = data["w"]
    size_doc = size["doc"]
    size_topic = size["topic"]
    size_term = size["term"]
    # for theta given the statistics: Dirichlet
    count_doc_of_word_z = grouped((doc_of_word, z), (size_doc, size_topic))
    # for phi given the statistics: Dirichlet
    count_w_z = grouped((w, z), (size_term, size_topic))
    # theta given the statistics: Dirichlet
    theta_concentration = 0.5 + count_doc_of_word_z
    # phi given the statistics: Dirichlet
    phi_concentration = 0.5 + count_w_z.T
    # phi: Dirichlet
    phi = draw_shares(generator, phi_concentration)
    # theta: Dirichlet
    theta = draw_shares(generator, theta_concentration)
    return {"theta": theta, "phi": phi}


def learn(data, size, seed=0, chains=4, draws=1000, warm_up=500):
    """Draws from the posterior by name: chain, draw, then the axes of the variable.

    Parameters are integrated out while a chain runs, and drawn given the hidden variables when a draw is kept.
    """
    data = prepared(data, size)
    kept = {}
    for source in np.random.SeedSequence(seed).spawn(chains):
        for_start, for_sweeps, for_parameters = source.spawn(3)
        hidden = start(size, np.random.default_rng(for_start))
        random, generator = Xoshiro.seeded(for_sweeps), np.random.default_rng(for_parameters)
        for _ in range(warm_up):
            sweep(hidden, data, size, random)
        for number in range(draws):
            sweep(hidden, data, size, random)
            values = {**hidden, **draw_parameters({**data, **hidden}, size, generator)}
            for name, value in values.items():
                if number == 0:
                    kept.setdefault(name, []).append([])
                kept[name][-1].append(np.array(value))
    return {name: np.array(found) for name, found in kept.items()}


# -- tools that it uses ------------------------------------------------------------------------------------------------


MASK = (1 << 64) - 1
LANES = 8
"""Levels are drawn lane by lane, as vector code adds them up: level 0, 8, 16, ... then 1, 9, 17, ..."""


def grouped(codes, shape, weights=None):
    """Sums of weights (or counts) of rows in each group; `codes` say for each row its position on each group axis."""
    cell = np.ravel_multi_index([np.ravel(code) for code in np.broadcast_arrays(*codes)], shape)
    size = int(np.prod(shape))
    if weights is None:
        return np.bincount(cell, minlength=size).reshape(shape)
    weights = np.asarray(weights, dtype=float)
    others = weights.shape[np.broadcast(*codes).ndim :]
    columns = weights.reshape(len(cell), int(np.prod(others)))
    sums = [np.bincount(cell, columns[:, j], minlength=size) for j in range(columns.shape[1])]
    return np.stack(sums, axis=-1).reshape(*shape, *others)


def rolled(x, by):
    """The bits of a word of 64, turned to the left."""
    return ((x << by) | (x >> (64 - by))) & MASK


@dataclass(eq=False)
class Xoshiro:
    """Four words of state, changed by every number that is taken."""

    state: Array

    @classmethod
    def seeded(cls, seed):
        """A stream of its own for each seed; the state is never all zero."""
        state = seed.generate_state(4, np.uint64)
        state[0] |= np.uint64(1)
        return cls(state)

    def uniform(self):
        """A number in [0, 1): the upper 53 bits."""
        a, b, c, d = (int(word) for word in self.state)
        result = (rolled((a + d) & MASK, 23) + a) & MASK
        shifted = (b << 17) & MASK
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = rolled(d, 45)
        self.state[:] = np.array([a, b, c, d], dtype=np.uint64)
        return (result >> 11) * 2.0**-53


def drawn_level(log_weights, uniform):
    """A level with its probability, from a number between 0 and 1."""
    top = log_weights.max()
    if not np.isfinite(top):
        raise ArithmeticError("no level has a positive probability: the state or the data are impossible")
    weights = np.exp(log_weights - top)
    order = sorted(range(len(weights)), key=lambda level: (level % LANES, level // LANES))
    running = np.cumsum(weights[order])
    return order[int(np.searchsorted(running[:-1], uniform * running[-1], side="right"))]


def filled(shape, codes, value):
    """A table from all its rows: each adds its value at the cell that its codes name."""
    if not codes:
        return np.asarray(np.sum(value))
    table = np.zeros(shape)
    np.add.at(table, tuple(np.asarray(code, dtype=np.intp) for code in codes), value)
    return table


def draw_shares(generator, concentration):
    """Dirichlet, as gammas over their sum."""
    gammas = generator.standard_gamma(concentration)
    return gammas / gammas.sum(axis=-1, keepdims=True)


def summary(drawn):
    """Means and standard deviations over all draws. Hidden labels may differ from draw to draw."""
    found = {}
    for name, values in drawn.items():
        if np.issubdtype(values.dtype, np.floating):
            found[f"{name} mean"] = values.mean(axis=(0, 1))
            found[f"{name} sd"] = values.std(axis=(0, 1))
    return found


# -- the table and the command line ------------------------------------------------------------------------------------


MISSING = ("", "na", "n/a", "nan", "null", "none")
"""What a cell holds when nothing is known."""


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


def levels(table, names, count=None):
    """The labels in some columns: numbers are codes if there is a 0 or a known count; all else is sorted."""
    texts = {text for _, _, text in cells(table, names) if text.lower() not in MISSING}
    if not texts or not all(text.lstrip("+-").isdigit() for text in texts):
        if count is not None and texts and len(texts) != count:
            raise ValueError(f"columns {', '.join(names)} show {len(texts)} labels; expected {count}")
        return sorted(texts)
    values = sorted({int(text) for text in texts})
    if count is None and values[0] != 0:
        return [str(value) for value in values]
    return [str(code) for code in range(values[-1] + 1 if count is None else count)]


def codes(table, names, labels):
    """Some columns side by side as the positions of their labels."""
    position = {label: code for code, label in enumerate(labels)}
    found = []
    for name, row, text in cells(table, names):
        label = str(int(text)) if text.lstrip("+-").isdigit() and text not in position else text
        if label not in position:
            raise misfit(name, row, text, f"one of {', '.join(labels)}")
        found.append(position[label])
    return np.array(found, dtype=int).reshape(-1, len(names))


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
    data, size = {}, {"word": count_rows(table), "topic": 3, "term": 8}
    doc_labels = levels(table, ["doc"])
    size["doc"] = len(doc_labels)
    data["doc_of_word"] = codes(table, ["doc"], doc_labels)[:, 0]
    term_labels = levels(table, ["w"], 8)
    data["w"] = codes(table, ["w"], term_labels)[:, 0]
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
