# The steps of the algorithm, to read; not one program yet: `u` is not drawn from an exact conditional, and has no standalone source yet

"""chain_graph: learning program, derived and written by Platewright.

Run: python FILE data.csv
"""


import csv
import sys

import numpy as np


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    return {}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {}


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    return {
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


if __name__ == "__main__":
    sys.exit("the data do not fit one table: import this file and call learn(data, size) with arrays")


"""chain_graph: learning program, derived and written by Platewright.

Run: python FILE data.csv
"""


import csv
import sys

import numpy as np


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    return {}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {}


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    return {
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


if __name__ == "__main__":
    sys.exit("the data do not fit one table: import this file and call learn(data, size) with arrays")
