"""Write a result to one file: a zip of JSON text and plain arrays, never code.

    fit.json         format, version, the graph, nodes that were split, goal, schema, what ran, sizes, labels, seed
    GROUP/0.npy ...  arrays by group: statistics, values, chains, points, columns ...

Each kind of result says by `written()` what its file keeps; `saving.py` reads them.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from platewright.backends.numpy.learning import Options
from platewright.derive.explain import explain_plan
from platewright.derive.plans import AnyPlan
from platewright.errors import FormatError, SourceError
from platewright.family import Array
from platewright.graph.serial import graph_json
from platewright.language.serial import label_json
from platewright.operations.split_partly_known import as_written
from platewright.program.pointwise import pointwise_text
from platewright.run.results.array_file import write_array
from platewright.run.results.outcome import Outcome, Written
from platewright.run.results.saving_splits import names_split
from platewright.schemas.em import EMPlan
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.mean_field import MeanFieldPlan

TEXT = "fit.json"
VERSION = 1
EXACT = "platewright fit"
ITERATED = "platewright iterated fit"
COLLAPSED = "platewright draws and evidence"
Groups = Mapping[str, Mapping[str, Array]]


def save(fit: Outcome, path: str | Path) -> None:
    """Write a fit to a file; an existing file is replaced only when all is written."""
    target = Path(path)
    unfinished = target.with_name(target.name + ".part")
    try:
        written = fit.written()
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(TEXT, json.dumps(written.text, allow_nan=False), zipfile.ZIP_DEFLATED)
            for group, arrays in written.groups.items():
                for number, value in enumerate(arrays.values()):
                    write_array(archive, f"{group}/{number}.npy", value)
        unfinished.replace(target)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise SourceError(f"the file cannot be written: {error.strerror}", where=str(path)) from error
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def exact(fit: Outcome, statistics: Mapping[str, Any], columns: Mapping[str, Array]) -> Written:
    """A closed form: what the pass over the rows left, and the data only where the work after it reads some."""
    text = {
        **_run(EXACT, fit),
        "program": str(fit.derivation.program),
        "statistics": [[name, len(value) if isinstance(value, tuple) else None] for name, value in statistics.items()],
        "columns": list(columns),
    }
    parts = [part for value in statistics.values() for part in (value if isinstance(value, tuple) else (value,))]
    return Written(text, {"statistics": {str(k): np.asarray(part) for k, part in enumerate(parts)}, "columns": columns})


def iterated(fit: Outcome, groups: Groups, converged: bool = True, interrupted: bool = False, why: str = "") -> Written:
    """Estimates, mean-field distributions, draws and points."""
    text = {
        **_run(ITERATED, fit),
        "programs": program_texts(fit.derivation),
        "converged": bool(converged),
        "why": why,
        "interrupted": bool(interrupted),
        "declined": _declined(fit.derivation),
        "arrays": {group: list(arrays) for group, arrays in groups.items()},
    }
    return Written(text, groups)


def collapsed(fit: Outcome, groups: Groups, detail: str) -> Written:
    """Draws of a collapsed chain, and the evidence without a closed form."""
    text = {
        **_run(COLLAPSED, fit),
        "plan": plan_words(fit.derivation),
        "declined": _declined(fit.derivation),
        "detail": detail,
        "arrays": {group: list(arrays) for group, arrays in groups.items()},
    }
    return Written(text, groups)


def program_texts(plan: AnyPlan) -> list[str]:
    """The programs of a plan, as text to compare."""
    match plan:
        case GibbsPlan():
            blocks = [f"{type(block).__name__} {', '.join(block.variables)}" for block in plan.blocks]
            return [*blocks, *(str(program) for program in plan.programs)]
        case EMPlan() | MeanFieldPlan():
            return [str(program) for program in (plan.expect, *plan.latent.programs)]
        case QuadraturePlan(pointwise=None):
            assert plan.complete is not None
            return [*plan.held, str(plan.complete.program)]
        case QuadraturePlan():
            assert plan.pointwise is not None
            return [*plan.held, pointwise_text(plan.pointwise)]
    raise FormatError(f"a fit by {plan.schema} is not saved")


def plan_words(plan: AnyPlan) -> str:
    """What the plan does, in words to compare; what was declined before is told by the file itself."""
    return explain_plan(replace(plan, declined=()))


def options_to_write(options: Options) -> dict[str, Mapping[str, Array]]:
    """What the run was told: groups of arrays, numbers under names that no variable has."""
    return {
        "initial": options.initial,
        "options": {f"{name}=": np.array(number) for name, number in options.numbers.items()},
    }


def _declined(plan: AnyPlan) -> list[list[str]]:
    return [[refusal.operation, refusal.reason] for refusal in plan.declined]


def _run(kind: str, fit: Outcome) -> dict[str, Any]:
    """The model as it was written, what was asked of it, and how it ran."""
    plan = fit.derivation
    return {
        "format": kind,
        "version": VERSION,
        "graph": graph_json(as_written(plan.graph, plan.steps)),
        "split": names_split(plan.steps),
        "about": {plate: int(size) for plate, size in plan.graph.about.items()},
        "integrate": None if plan.graph.integrate is None else sorted(plan.graph.integrate),
        "goal": plan.goal,
        "schema": plan.schema,
        "sizes": {plate: int(size) for plate, size in fit.sizes.items()},
        "labels": {plate: [label_json(label) for label in labels] for plate, labels in fit.labels.items()},
        "backend": fit.ran_by,
        "seed": int(fit.seed),
        "seconds": {name: float(value) for name, value in (fit.seconds or {}).items()},
    }
