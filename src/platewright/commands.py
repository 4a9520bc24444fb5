"""What each command does: read the model and its data, derive or learn, and print a text or JSON.

Results go to standard output or to the file named by -o; what was taken as known, and progress, to standard error.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from platewright.derive.latex import article_latex
from platewright.derive.statistics_picture import statistics_picture
from platewright.drawing.from_graph import picture_of
from platewright.drawing.svg import picture_svg
from platewright.errors import SourceError
from platewright.graph.graph import read_graph
from platewright.pipeline import Model
from platewright.reading import read_bugs, read_stan
from platewright.run.evidence.evidence_fit import EvidenceFit
from platewright.run.exact.fit import Fit
from platewright.run.exact.stages import STAGES, closed_form, graph_stage
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.progress import working
from platewright.run.results.derived_plan import DerivedPlan
from platewright.run.results.model_file import model_in_file
from platewright.run.results.summary import summary
from platewright.run.results.writing import save
from platewright.run.samplers.monitored import DEVIANCE, places_of, with_deviance, with_monitored

READERS = {".bug": read_bugs, ".bugs": read_bugs, ".jags": read_bugs, ".stan": read_stan}
"""By the suffix of a file: what reads models of other languages."""
FAILED = 1
"""The exit code of a check that did not pass."""


def learn(given: argparse.Namespace) -> int:
    """Learn, and print the table of posteriors."""
    model = _model(given)
    fit = _learned(given, model)
    table = summary(fit, functions=not given.monitor)  # who names functions wants these
    found = table if model.read_from is None else _in_words_of_bugs(table, model)
    if given.monitor:
        found = _monitored(found, fit, model, given.monitor)
    if given.save:
        save(fit, given.save)
    if given.json:
        facts: dict[str, Any] = {"how": fit.how, "seconds": dict(fit.seconds or {})}
        return _print_json({"model": model.title, **facts, **_scores(fit), **found.to_dict()})
    if given.explain:
        print(fit.explain(), end="\n\n")
    print(found)
    print(f"\n{fit.how}")
    return 0


def _scores(fit: Any) -> dict[str, float | str | None]:
    """What a fit has of the evidence, or of the objective at its estimate, for JSON; nothing is computed for it."""
    match fit:
        case EvidenceFit(found=found):
            return {"log_evidence": _number(found.value), "error": found.error, "method": found.method}
        case EstimatedFit():
            return {"log_joint": _number(fit.log_joint)}
        case MeanFieldFit():
            return {} if fit.plain else {"lower_bound": _number(fit.lower_bound)}
        case Fit() if fit.derivation.goal == "map":
            return {"log_joint": _number(fit.log_joint)}
        case Fit():
            return {"log_evidence": _number(fit.log_evidence)}
    return {}


def _number(value: float) -> float | None:
    """A number as JSON has it, which knows no infinity."""
    return value if isfinite(value) else None


def show(given: argparse.Namespace) -> int:
    """One stage of the way, as text or JSON."""
    if given.what == "graph":
        text, data = graph_stage(_graph(given, _model(given)))
    else:
        text, data = STAGES[given.what](_derived(given).plan, given.backend)
    if given.json:
        return _print_json(data)
    print(text)
    return 0


def draw(given: argparse.Namespace) -> int:
    """The plate diagram."""
    model = _model(given)
    if given.statistics:
        picture = statistics_picture(closed_form(model.derive(_known(given, model)).plan), title=model.title)
    else:
        picture = picture_of(_graph(given, model), title=model.title)
    return _deliver(given, model.title, "svg", picture_svg(picture))


def emit(given: argparse.Namespace) -> int:
    """The source."""
    from platewright.run.plan_source import runs_alone  # all emitters: loaded when somebody looks

    derived = _derived(given)
    source = derived.source(given.backend, given.brief)
    done = _deliver(given, derived.title, "source", source)
    if runs_alone(source):
        return done
    print(f"{derived.how}: there is no program that runs alone, only its steps", file=sys.stderr)
    return FAILED


def report(given: argparse.Namespace) -> int:
    """The page, or the article."""
    if not given.data:
        shown: Any = _derived(given)
    else:
        shown = _learned(given, _model(given))
    text = article_latex(shown.latex()) if given.latex else shown.report()
    return _deliver(given, shown.title, "latex" if given.latex else "html", text)


def verify(given: argparse.Namespace) -> int:
    """Let the plan prove itself."""
    derived = _derived(given)
    with working(f"verifying {derived.title}"):
        found = derived.verify()
    if given.json:
        _print_json({"model": derived.title, "passed": bool(found.passed), "text": str(found)})
    else:
        print(found)
    return 0 if found.passed else FAILED


# -- models and files --------------------------------------------------------------------------------------------------


def read_model(path: str, name: str | None = None, data: Sequence[str] = ()) -> Model:
    """The model that a Python file defines, or that a BUGS or Stan text is; loops of a text may need its data."""
    read = READERS.get(Path(path).suffix.lower())
    if read is None:
        return model_in_file(path, Model, name)
    if not Path(path).is_file():
        raise SourceError("there is no such file", where=path, expected="a BUGS or Stan text")
    texts = [Path(one) for one in data if not _is_table(one)]
    return read(Path(path), texts or None)


def _model(given: argparse.Namespace) -> Model:
    return read_model(given.model, given.name, given.data or ())


def _is_table(path: str) -> bool:
    return Path(path).suffix.lower() in (".csv", ".parquet")


def _known(given: argparse.Namespace, model: Model) -> list[str]:
    """The variables said to be known, or those with data, or all random ones that no other variable depends on."""
    if given.known is not None:
        return [word.strip() for word in given.known.split(",") if word.strip()]
    if model.read_from is not None and given.data:
        random = {name for name, node in model.variables.items() if node.kind == "random"}
        return [name for name in model.read_from.data() if name in random]
    graph = read_graph(model)
    leaves = [n for n, node in graph.nodes.items() if node.kind == "random" and not graph.children[n] - {n}]
    print(f"known: {', '.join(leaves)} (choose with --known)", file=sys.stderr)
    return leaves


def _graph(given: argparse.Namespace, model: Model) -> Any:
    return read_graph(model, _known(given, model))


def _derived(given: argparse.Namespace) -> DerivedPlan:
    model = _model(given)
    with working(f"deriving {model.title}"):
        return model.derive(_known(given, model), given.goal, given.by)


def _learned(given: argparse.Namespace, model: Model) -> Any:
    """The fit; a sampler shows its own progress."""
    words = ("chains", "draws", "warm_up", "thin")
    options = {word: value for word in words if (value := getattr(given, word)) is not None}
    data = _data(given, model)
    if given.initial:
        options["initial"] = _initial(given.initial, model)
    with nullcontext() if given.by == "gibbs" or options else working(f"learning {model.title}"):
        return model.learn(data, given.goal, given.by, given.backend, given.seed, **options)


def _data(given: argparse.Namespace, model: Model) -> Any:
    """What `learn` takes: a table by its path, or the data of a BUGS or Stan text."""
    tables = [path for path in given.data if _is_table(path)]
    if model.read_from is not None and not tables:
        return model.read_from.data()
    if len(given.data) != 1:
        raise SourceError(f"{len(given.data)} data files", where=given.data[-1], expected="one table")
    return Path(given.data[0])


def _initial(path: str, model: Model) -> Any:
    """Starting values by variable, in the words of BUGS where the model has them."""
    from platewright.language.bugs.data import read_data  # the parser of BUGS data loads only when it is needed

    return read_data(Path(path)) if model.read_from is None else model.read_from.initial(Path(path))


def _in_words_of_bugs(found: Any, model: Model) -> Any:
    """The summary with the names of the text: `alpha.c`, and elements and categories counted from 1."""
    labels = {re.split(r"\[| = ", row.name)[0] for row in found.rows}
    spelled = model.read_from.spelled(labels)
    shown = {f"{label}[{', '.join(map(str, at))}]" if at else label: name for (label, at), name in spelled.items()}

    def named(text: str) -> str:
        name, equals, level = text.partition(" = ")
        shift = model.read_from.shifts.get(name.partition("[")[0], 0)
        known = int(level) + shift if level.isdigit() else level
        return f"{shown.get(name, name)}{equals}{known}"

    return replace(found, rows=tuple(replace(row, name=named(row.name)) for row in found.rows))


def _monitored(found: Any, fit: Any, model: Model, wanted: str) -> Any:
    """The summary with more rows."""
    names = [word.strip() for word in re.split(r",(?![^\[]*\])", wanted) if word.strip()]
    if DEVIANCE in names and DEVIANCE not in fit.derivation.graph.nodes:
        names.remove(DEVIANCE)
        found = with_deviance(found, fit)
    if not names:
        return found
    if model.read_from is None:
        return with_monitored(found, fit, places_of(fit.derivation.graph, fit.sizes, names), {})
    places = {shown: at for name in names for shown, at in model.read_from.cells(name).items()}
    return with_monitored(found, fit, places, model.read_from.shifts)


def _deliver(given: argparse.Namespace, title: str, kind: str, text: str) -> int:
    """A text to a file or to the terminal; as JSON, with the name of its model and of its kind."""
    if not given.json:
        return _write(given.output, text)
    if given.output is not None:
        _write(given.output, text)
    return _print_json({"model": title, "kind": kind, "file": given.output, "text": text})


def _write(path: str | None, text: str) -> int:
    if path is None:
        print(text, end="" if text.endswith("\n") else "\n")
        return 0
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise SourceError(f"the file cannot be written: {error.strerror}", where=path) from error
    print(f"written: {path}", file=sys.stderr)
    return 0


def _print_json(data: object) -> int:
    print(json.dumps(data, indent=2, ensure_ascii=False))
    return 0
