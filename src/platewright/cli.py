"""The command line: platewright learn | show | draw | emit | report | verify MODEL [DATA]

MODEL is a Python file that defines a `pw.Model`, which is run, so it must be one you trust; or a BUGS or Stan text,
which is only read. This file has the words; `commands.py` does what they say.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from platewright import __version__
from platewright.commands import draw, emit, learn, report, show, verify
from platewright.errors import PlatewrightError, nearest
from platewright.run.exact.stages import STAGES
from platewright.schema import GOALS

DATA_HELP = (
    "a .csv or .parquet file; for BUGS and Stan texts also JSON, S-style lists or R dump, in one file or several"
)
MODEL_HELP = "a Python file that defines a pw.Model, which is run, or a text (.bug, .bugs, .jags, .stan), which is read"
CODES = "exit codes: 0; 1 where a law that `verify` checks does not hold; 2 after an error, which says what to do"
SAMPLER = {
    "chains": "independent chains of a sampler (4)",
    "draws": "draws that each chain keeps (1000)",
    "warm-up": "sweeps before the first draw is kept (500)",
    "thin": "sweeps for each draw that is kept (1)",
}
SCHEMAS = "auto, exact, em, mean-field, gibbs, collapsed-gibbs; for evidence also enumeration, quadrature, chib, ..."
OURS = 2
"""The exit code of an error that says what to do."""
STOPPED = 130
"""The exit code after Ctrl-C, as shells have it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = parser()
    given, rest = words.parse_known_args(argv)
    if rest:
        extra = rest[0].partition("=")[0]
        given.words.error(f"there is no option {extra}" if extra.startswith("-") else f"`{extra}` is one word too many")
    if given.run is None:
        words.print_help()
        return 0
    try:
        return int(given.run(given))
    except PlatewrightError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return OURS
    except KeyboardInterrupt:
        print("stopped by Ctrl-C", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        # whoever read our output has seen enough; Python must not complain when it closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


class Words(argparse.ArgumentParser):
    """A parser whose errors are short: what was wrong, what was probably meant, and where all options are listed."""

    def error(self, message: str) -> NoReturn:
        """Print the error and leave."""
        choices = [action.choices for action in self._actions if action.choices]
        known = [*self._option_string_actions, *(str(word) for found in choices for word in found)]
        wrong = re.search(r"invalid choice: '(.*?)'|no option (\S+)", message)
        near = nearest(next(filter(None, wrong.groups()), ""), known) if wrong else ""
        lines = [f"{self.prog}: {message}", *([f"  try:      did you mean `{near}`?"] if near else [])]
        self.exit(OURS, "\n".join([*lines, f"  help:     {self.prog} --help", ""]))


# -- the words ---------------------------------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    words = "From a graphical model with plates to learning."
    top = Words(prog="platewright", description=words, epilog=CODES)
    top.add_argument("--version", action="version", version=f"platewright {__version__}")
    top.set_defaults(run=None, words=top)
    commands = top.add_subparsers(metavar="COMMAND")

    learn_ = _command(commands, "learn", learn, "learn from data and print the posterior")
    learn_.add_argument("data", metavar="DATA", nargs="+", help=DATA_HELP)
    _how_options(learn_)
    _running_options(learn_)
    learn_.add_argument("--monitor", metavar="A,B", help="more nodes to print: functions of unknowns, predictions")
    learn_.add_argument("--explain", action="store_true", help="print the derivation too")
    learn_.add_argument("--save", metavar="FILE", help="keep the result; pw.load reads it")
    _json_option(learn_)

    words = "print one stage: graph, steps, plan, program or source"
    show_ = commands.add_parser("show", help=words, description=words)
    show_.add_argument("what", choices=("graph", *STAGES), help="which stage")
    _model_options(show_)
    _known_option(show_)
    _how_options(show_)
    show_.add_argument("--backend", default="numpy", metavar="NAME", help="for source: numpy or c")
    _json_option(show_)
    show_.set_defaults(run=show, words=show_)

    draw_ = _command(commands, "draw", draw, "draw the model as SVG")
    draw_.add_argument("--statistics", action="store_true", help="draw it after plate removal instead")
    _known_option(draw_)
    _output_option(draw_)

    emit_ = _command(commands, "emit", emit, "print the learning program as standalone source")
    _known_option(emit_)
    _how_options(emit_)
    emit_.add_argument("--backend", default="numpy", metavar="NAME", help="numpy or c")
    emit_.add_argument("--brief", action="store_true", help="the algorithm alone, without the tools that it calls")
    _output_option(emit_)

    report_ = _command(commands, "report", report, "write the derivation, with results, as an HTML page")
    report_.add_argument("data", metavar="DATA", nargs="*", help=DATA_HELP)
    _known_option(report_)
    _how_options(report_)
    _running_options(report_)
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
    made.set_defaults(run=run, words=made)
    return made


def _model_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    made.add_argument("--name", help="which model, when the file defines several: its variable or its title")


def _known_option(made: argparse.ArgumentParser) -> None:
    if not any(action.dest == "data" for action in made._actions):
        made.add_argument(
            "--data", action="append", metavar="DATA", help="data that the loops of a BUGS or Stan text need"
        )
    made.add_argument("--known", metavar="A,B", help="known variables; without it, those that nothing depends on")


def _how_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("--goal", default="posterior", choices=GOALS, help="what to learn; map is the mode")
    made.add_argument("--by", default="auto", metavar="SCHEMA", help=SCHEMAS)


def _running_options(made: argparse.ArgumentParser) -> None:
    for word, meaning in SAMPLER.items():
        made.add_argument(f"--{word}", type=int, metavar="N", help=meaning)
    words = "values where a sampler or EM starts: JSON, S-style list or R dump"
    made.add_argument("--initial", metavar="FILE", help=words)
    made.add_argument("--backend", default="auto", metavar="NAME", help="auto (C where it pays), numpy or c")
    made.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of all random numbers (0)")


def _json_option(made: argparse.ArgumentParser) -> None:
    made.add_argument("--json", action="store_true", help="print the answer as JSON, for programs")


def _output_option(made: argparse.ArgumentParser) -> None:
    made.add_argument("-o", "--output", metavar="FILE", help="write to this file, not to standard output")
    _json_option(made)
