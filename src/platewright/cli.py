"""The command line: platewright learn | show | draw | emit | report | verify MODEL [DATA]

MODEL is a Python file that defines a `pw.Model`; the file is run, so it must be one you trust. Results go to standard
output or to the file named by -o; errors of ours are printed as text, and the exit code is then 2.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from platewright import __version__
from platewright.derive.latex import article_latex
from platewright.derive.statistics_picture import statistics_picture
from platewright.drawing.from_graph import picture_of
from platewright.drawing.svg import picture_svg
from platewright.errors import PlatewrightError, SourceError
from platewright.graph.graph import read_graph
from platewright.pipeline import GOALS, DerivedPlan, Model
from platewright.run.fit import Fit
from platewright.run.model_file import model_in_file
from platewright.run.progress import working
from platewright.run.report import report as report_page
from platewright.run.saving import save
from platewright.run.stages import STAGES, closed_form, graph_stage
from platewright.run.summary import summary

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
    learn_.add_argument("data", metavar="DATA", help="a .csv or .parquet file")
    _how_options(learn_)
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
    report_.add_argument("data", metavar="DATA", nargs="?", help="a .csv or .parquet file")
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
    made.add_argument("model", metavar="MODEL", help="a Python file that defines a pw.Model")
    made.add_argument("--name", help="which model, when the file defines several")


def _known_option(made: argparse.ArgumentParser) -> None:
    made.add_argument("--known", metavar="A,B", help="known variables; without it, those that nothing depends on")


def _how_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("--goal", default="posterior", choices=GOALS)
    made.add_argument("--by", default="auto", help="a schema, or auto")


def _json_option(made: argparse.ArgumentParser) -> None:
    made.add_argument("--json", action="store_true", help="print JSON")


def _output_option(made: argparse.ArgumentParser) -> None:
    made.add_argument("-o", "--output", metavar="FILE", help="write to a file")


# -- the commands ------------------------------------------------------------------------------------------------------


def learn(given: argparse.Namespace) -> int:
    """Learn, and print the table of posteriors."""
    model = read_model(given.model, given.name)
    fit = _learned(given, model, given.backend, given.seed)
    found = summary(fit)
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
        text, data = graph_stage(_graph(given, read_model(given.model, given.name)))
    else:
        text, data = STAGES[given.what](_derived(given).plan, given.backend)
    if given.json:
        return _print_json(data)
    print(text)
    return 0


def draw(given: argparse.Namespace) -> int:
    """The plate diagram."""
    model = read_model(given.model, given.name)
    if given.statistics:
        picture = statistics_picture(closed_form(model.derive(_known(given, model)).plan), title=model.title)
    else:
        picture = picture_of(_graph(given, model), title=model.title)
    return _write(given.output, picture_svg(picture))


def emit(given: argparse.Namespace) -> int:
    """The source."""
    derived = _derived(given)
    closed_form(derived.plan)
    return _write(given.output, derived.source(given.backend))


def report(given: argparse.Namespace) -> int:
    """The page, or the article."""
    if given.data is None:
        derived = _derived(given)
        text = article_latex(closed_form(derived.plan)) if given.latex else report_page(derived.plan)
        return _write(given.output, text)
    model = read_model(given.model, given.name)
    fit = _learned(given, model)
    text = article_latex(closed_form(fit.plan)) if given.latex else report_page(fit.plan, fit)
    return _write(given.output, text)


def verify(given: argparse.Namespace) -> int:
    """Let the plan prove itself."""
    derived = _derived(given)
    closed_form(derived.plan)
    with working(f"verifying {derived.model.title}"):
        found = derived.verify()
    if given.json:
        _print_json({"model": derived.model.title, "passed": bool(found.passed), "text": str(found)})
    else:
        print(found)
    return 0 if found.passed else FAILED


# -- models and files --------------------------------------------------------------------------------------------------


def read_model(path: str, name: str | None = None) -> Model:
    """The model that a Python file defines."""
    return model_in_file(path, Model, name)


def _known(given: argparse.Namespace, model: Model) -> list[str]:
    """The variables said to be known, or all random ones that no other variable depends on."""
    if given.known is not None:
        return [word.strip() for word in given.known.split(",") if word.strip()]
    graph = read_graph(model)
    leaves = [n for n, node in graph.nodes.items() if node.kind == "random" and not graph.children[n] - {n}]
    print(f"known: {', '.join(leaves)} (choose with --known)", file=sys.stderr)
    return leaves


def _graph(given: argparse.Namespace, model: Model) -> Any:
    return read_graph(model, _known(given, model))


def _derived(given: argparse.Namespace) -> DerivedPlan:
    model = read_model(given.model, given.name)
    with working(f"deriving {model.title}"):
        return model.derive(_known(given, model), given.goal, given.by)


def _learned(given: argparse.Namespace, model: Model, backend: str = "auto", seed: int = 0) -> Any:
    """The fit; a sampler shows its own progress."""
    with nullcontext() if given.by == "gibbs" else working(f"learning {model.title}"):
        return model.learn(Path(given.data), given.goal, given.by, backend, seed)


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
