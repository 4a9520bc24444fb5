"""The command line: platewright learn | show | draw | emit | report | verify MODEL [DATA]

MODEL is a Python file that defines a `pw.Model`, which is run, so it must be one you trust; or a BUGS or JAGS text,
which is only read. Results go to standard output or to the file named by -o; errors of ours are printed as text, and
the exit code is then 2.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from platewright import __version__
from platewright.derive.latex import article_latex
from platewright.derive.latex_iterated import plan_latex
from platewright.derive.statistics_picture import statistics_picture
from platewright.drawing.from_graph import picture_of
from platewright.drawing.svg import picture_svg
from platewright.errors import PlatewrightError, SourceError
from platewright.graph.graph import read_graph
from platewright.pipeline import GOALS, Model, read_bugs
from platewright.run.exact.fit import Fit
from platewright.run.exact.stages import STAGES, closed_form, graph_stage
from platewright.run.progress import working
from platewright.run.results.derived_plan import DerivedPlan
from platewright.run.results.model_file import model_in_file
from platewright.run.results.report import report as report_page
from platewright.run.results.saving import save
from platewright.run.results.summary import summary
from platewright.run.samplers.monitored import places_of, with_monitored

DATA_HELP = "a .csv or .parquet file; for BUGS text also JSON, S-style lists or R dump, in one file or several"
BUGS_SUFFIXES = (".bug", ".bugs", ".jags")
OURS, FAILED = 2, 1
"""Exit codes: an error that says what to do, and a check that did not pass."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    given = parser().parse_args(argv)
    try:
        return int(given.run(given))
    except PlatewrightError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return OURS
    except BrokenPipeError:
        # whoever read our output has seen enough; Python must not complain when it closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


# -- the words ---------------------------------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(prog="platewright", description="From a graphical model with plates to learning.")
    top.add_argument("--version", action="version", version=f"platewright {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    learn_ = _command(commands, "learn", learn, "learn from data and print the posterior")
    learn_.add_argument("data", metavar="DATA", nargs="+", help=DATA_HELP)
    _how_options(learn_)
    for word in ("chains", "draws", "warm-up", "thin"):
        learn_.add_argument(f"--{word}", type=int, metavar="N", help="of a sampler")
    learn_.add_argument("--initial", metavar="FILE", help="values where a sampler starts: JSON, S-style list or R dump")
    learn_.add_argument("--monitor", metavar="A,B", help="more nodes to print: functions of unknowns, predictions")
    learn_.add_argument("--backend", default="auto", help="auto, numpy or c")
    learn_.add_argument("--seed", type=int, default=0)
    learn_.add_argument("--explain", action="store_true", help="print the derivation too")
    learn_.add_argument("--save", metavar="FILE", help="keep the result; pw.load reads it")
    _json_option(learn_)

    show_ = commands.add_parser("show", help="print one stage: graph, steps, plan, program or source")
    show_.add_argument("what", choices=("graph", *STAGES))
    _model_options(show_)
    _known_option(show_)
    _how_options(show_)
    show_.add_argument("--backend", default="numpy", help="for source: numpy or c")
    _json_option(show_)
    show_.set_defaults(run=show)

    draw_ = _command(commands, "draw", draw, "draw the model as SVG")
    draw_.add_argument("--statistics", action="store_true", help="draw it after plate removal instead")
    _known_option(draw_)
    _output_option(draw_)

    emit_ = _command(commands, "emit", emit, "print the learning program as standalone source")
    _known_option(emit_)
    _how_options(emit_)
    emit_.add_argument("--backend", default="numpy", help="numpy or c")
    _output_option(emit_)

    report_ = _command(commands, "report", report, "write the derivation, with results, as an HTML page")
    report_.add_argument("data", metavar="DATA", nargs="*", help=DATA_HELP)
    _known_option(report_)
    _how_options(report_)
    report_.add_argument("--latex", action="store_true", help="a LaTeX article instead of HTML")
    _output_option(report_)

    verify_ = _command(commands, "verify", verify, "check the derived program on small simulated data")
    _known_option(verify_)
    _how_options(verify_)
    _json_option(verify_)
    return top


def _command(commands: Any, name: str, run: Any, words: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=words, description=words)
    _model_options(made)
    made.set_defaults(run=run)
    return made


def _model_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("model", metavar="MODEL", help="a Python file that defines a pw.Model, or a .bug file")
    made.add_argument("--name", help="which model, when the file defines several")


def _known_option(made: argparse.ArgumentParser) -> None:
    if not any(action.dest == "data" for action in made._actions):
        made.add_argument("--data", action="append", metavar="DATA", help="data that the loops of a BUGS text need")
    made.add_argument("--known", metavar="A,B", help="known variables; without it, those that nothing depends on")


def _how_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("--goal", default="posterior", choices=GOALS)
    made.add_argument("--by", default="auto", help="a schema, or auto")


def _json_option(made: argparse.ArgumentParser) -> None:
    made.add_argument("--json", action="store_true", help="print JSON")


def _output_option(made: argparse.ArgumentParser) -> None:
    made.add_argument("-o", "--output", metavar="FILE", help="write to a file")
    _json_option(made)


# -- the commands ------------------------------------------------------------------------------------------------------


def learn(given: argparse.Namespace) -> int:
    """Learn, and print the table of posteriors."""
    model = _model(given)
    fit = _learned(given, model, given.backend, given.seed)
    found = summary(fit) if model.read_from is None else _in_words_of_bugs(summary(fit), model)
    if given.monitor:
        found = _monitored(found, fit, model, given.monitor)
    if given.save:
        save(fit, given.save)
    if given.json:
        facts: dict[str, Any] = {"how": fit.how, "seconds": dict(fit.seconds or {})}
        if isinstance(fit, Fit):
            facts["log_evidence"] = fit.log_evidence
        return _print_json({"model": model.title, **facts, **found.to_dict()})
    if given.explain:
        print(fit.explain(), end="\n\n")
    print(found)
    print(f"\n{fit.how}")
    return 0


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
    derived = _derived(given)
    return _deliver(given, derived.title, "source", derived.source(given.backend))


def report(given: argparse.Namespace) -> int:
    """The page, or the article."""
    if not given.data:
        derived = _derived(given)
        text = article_latex(plan_latex(derived.plan)) if given.latex else report_page(derived.plan)
        return _deliver(given, derived.title, "latex" if given.latex else "html", text)
    model = _model(given)
    fit = _learned(given, model)
    text = article_latex(plan_latex(fit.derivation)) if given.latex else report_page(fit.derivation, fit)
    return _deliver(given, model.title, "latex" if given.latex else "html", text)


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
    """The model that a Python file defines, or that a BUGS text is; loops of a text may need its data."""
    if Path(path).suffix.lower() not in BUGS_SUFFIXES:
        return model_in_file(path, Model, name)
    if not Path(path).is_file():
        raise SourceError("there is no such file", where=path, expected="a BUGS text")
    texts = [Path(one) for one in data if not _is_table(one)]
    return read_bugs(Path(path), texts or None)


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


def _learned(given: argparse.Namespace, model: Model, backend: str = "auto", seed: int = 0) -> Any:
    """The fit; a sampler shows its own progress."""
    words = ("chains", "draws", "warm_up", "thin")
    options = {word: value for word in words if (value := getattr(given, word, None)) is not None}
    data = _data(given, model)
    if getattr(given, "initial", None):
        options["initial"] = _initial(given.initial, model)
    with nullcontext() if given.by == "gibbs" or options else working(f"learning {model.title}"):
        return model.learn(data, given.goal, given.by, backend, seed, **options)


def _data(given: argparse.Namespace, model: Model) -> Any:
    """What `learn` takes: a table by its path, or the data of a BUGS text."""
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
