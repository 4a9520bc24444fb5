"""Print a plan of quadrature over a few numbers as a standalone NumPy program; the kernels are carried along.

Where each point runs a program of its own, it is that of the exact evidence with the held numbers among the data, and
the file has the posterior of these; that of all others given them is the source of the plan with them known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from platewright.backends.carried import definitions, names_of
from platewright.backends.hints import without_hints
from platewright.backends.kernels import eliminated, fitted, held_density, impossible, lattice, modes
from platewright.backends.layout import laid_out
from platewright.backends.naming import Names
from platewright.backends.numpy import evidence_support, points_support
from platewright.backends.numpy.assembling import Frame
from platewright.backends.numpy.evidence import EvidenceEmitter
from platewright.backends.numpy.expression import float_text
from platewright.backends.numpy.pointwise import PointwiseEmitter
from platewright.program.pointwise import POINT
from platewright.program.program import Program
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.repeated import copies

TITLE = "the posterior by quadrature"
KERNELS = (eliminated, held_density, modes, fitted, lattice, points_support)
APART = (held_density, modes, fitted, lattice, evidence_support, impossible, points_support)
"""Kernels where each point runs a program of its own."""
STAND_INS = ("learn", "held", "copied", "statistics", "scales", "log_density")
"""Functions that the emitter writes or places itself."""


def numpy_points_source(plan: QuadraturePlan) -> str:
    """The whole program as text."""
    if plan.pointwise is None:
        return laid_out(_apart(plan))
    emitter = PointwiseEmitter(plan.pointwise, (*names_of(KERNELS), "most", "tolerance"))
    functions = list(emitter.pointwise_functions())
    held, learn = _held(plan, emitter.names), _learn(plan, "points_learn")
    frame = Frame(plan.graph, TITLE, plan.summary, plan.pointwise.columns)
    text = frame.around([*functions, held, learn], emitter.support(), emitter.names, KERNELS, STAND_INS)
    return laid_out(text)


def _apart(plan: QuadraturePlan) -> str:
    """The program that runs the exact evidence at one point after another."""
    emitter = EvidenceEmitter(plan.of_evidence, names_of(APART))
    word = "apart_learn" if plan.together is None else "together_learn"
    parts = [*emitter.given_functions(), _held(plan, emitter.names), _learn(plan, word)]
    if plan.together is not None:
        parts.insert(-1, _copied(plan.together, plan.held, emitter.names))
    return emitter.around(parts, TITLE, APART, (*STAND_INS, "statistics_given", "log_evidence", "listing"))


def _held(plan: QuadraturePlan, named: Names) -> str:
    """The function that names the held numbers."""
    nodes = plan.graph.nodes
    names = ", ".join(f'"{named(name)}"' for name in plan.held)
    ends = (nodes[name].domain.open_ends for name in plan.held)
    listed = ", ".join(f"({float_text(low)}, {float_text(high)})" for low, high in ends)
    doc = "The numbers that are held at points, and their ends."
    return f'def held():\n    """{doc}"""\n    return [{names}], [{listed}]'


def _copied(program: Program, held: Sequence[str], named: Names) -> str:
    """The function that names the data of which each point has a copy, and the number of points."""
    listed = ", ".join(f'"{named(name)}"' for name in copies(program, held))
    doc = "The data that each point has a copy of, and the name of the number of points."
    return f'def copied():\n    """{doc}"""\n    return [{listed}], "{named(POINT.plate)}"'


def _learn(plan: QuadraturePlan, word: str) -> str:
    """The function `learn`, which refines as far as the library does."""
    text = without_hints(definitions(points_support)[word]).replace(f"def {word}(", "def learn(")
    text = re.sub(r"most=[\d_]+", f"most={plan.most}", text)
    return text.replace("tolerance=1e-4", f"tolerance={float_text(plan.tolerance)}")
