"""A whole derivation as one HTML page: the model, each step with its pictures, the statistics, what was learned, code.

The page stands alone: styles and pictures are inside, there is no script, nothing is loaded, every text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from platewright.derive.cost import cost_of
from platewright.derive.explain import explain_algorithm
from platewright.derive.latex_iterated import plan_latex
from platewright.derive.plans import AnyPlan
from platewright.derive.statistics_picture import simplified_graph, statistics_picture
from platewright.drawing.from_graph import picture_of
from platewright.drawing.parts import connected_part, part_of
from platewright.drawing.report import ReportSection, folded_html, page_text, report_html, section_html
from platewright.graph.declarations import declarations
from platewright.graph.equation import joint_equation, joint_latex
from platewright.operation import Step
from platewright.program.program import statement_text
from platewright.run.results.outcome import Outcome
from platewright.run.results.summary import summary
from platewright.schema import Plan

STYLE = """
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; }
th { color: #5b6b7b; font-size: .8rem; font-weight: 500; letter-spacing: .04em; border-bottom: 1px solid #c3ccd5; }
th, td { padding: .2rem .9rem .2rem 0; text-align: right; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
tr + tr + tr td { border-top: 1px solid #eef1f4; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: .4rem 0 1rem; }
dt { color: #5b6b7b; }
dd { margin: 0; }
.formula { background: none; padding: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
.note { color: #5b6b7b; font-size: .85rem; }
h2 code { font-size: .95em; }
figure { flex: 0 1 auto; }
h2 { scroll-margin-top: 1rem; }
"""
MOST_PICTURES = 40
"""Steps of an iterative plan that a page shows with pictures."""
WORDS = {
    "count_as_known": "Hold fixed",
    "remove_deterministic": "Write functions out",
    "remove_barren": "Leave out what nothing depends on",
    "decompose": "Take the problem apart",
    "drop_settled_arcs": "Drop arcs between known nodes",
}
"""Headings for the operations that have a name of their own."""


def report(plan: AnyPlan, fit: Outcome | None = None) -> str:
    """The page as text: the same bytes for the same plan and numbers."""
    sizes = fit.sizes if fit is not None else {}
    sections = [_model(plan, sizes)]
    sections += [*_steps(plan, sizes), _statistics(plan)] if isinstance(plan, Plan) else _iterated(plan, sizes)
    if fit is not None:
        sections.append(_posterior(fit))
    sections.append(_program(plan))
    parts = [html for place, make in enumerate(sections, start=1) for html in _numbered(place, make)]
    page = report_html(plan.graph.title, ())
    page = page.replace("</style>", f"{STYLE.strip()}\n</style>", 1)
    return page.replace("</body>", "\n".join([*parts, "</body>"]), 1)


_Made = tuple[ReportSection, list[str]]
"""A section, and more lines of HTML at its end."""


def _numbered(place: int, made: _Made) -> list[str]:
    section, more = made
    lines = section_html(place, section)
    return [*lines[:-1], *more, lines[-1]]


def _model(plan: AnyPlan, sizes: Mapping[str, int]) -> _Made:
    graph = plan.graph
    known = [name for name in graph.nodes if graph.is_known(name) and "@" not in name]
    facts = _facts(
        (
            ("algorithm", f"{plan.schema}: {plan.summary}"),
            ("cost", str(cost_of(plan))),
            ("known", ", ".join(known) or "nothing"),
            ("unknown", ", ".join(graph.unknown) or "nothing"),
            ("predicted", ", ".join(plan.barren)),
        )
    )
    more = [*_formulas(declarations(graph)), *facts]
    more += [*_formulas([joint_equation(graph)]), *folded_html("LaTeX", joint_latex(graph))]
    return ReportSection("The model", "", before=picture_of(graph, sizes)), more


def _steps(plan: Plan, sizes: Mapping[str, int]) -> list[_Made]:
    """Graph operations first, then the plates go, then one unknown after the other."""
    first = [step for step in plan.steps if not step.gone]
    found = [_graph_step(step, sizes) for step in first]
    found.append(_plate_step(plan, sizes))
    gone: list[str] = []
    steps = [step for step in plan.steps if step.gone]
    for step, conditional in zip(steps, plan.conditionals):
        before = connected_part(statistics_picture(plan, gone, sizes), conditional.variables)
        gone += conditional.variables
        shown = {node.name for node in before.nodes}
        after = part_of(statistics_picture(plan, gone, sizes), shown)
        heading = f"Eliminate {', '.join(conditional.variables)}"
        found.append((ReportSection(heading, step.because, before, after), _ending(step)))
    return found


def _graph_step(step: Step, sizes: Mapping[str, int]) -> _Made:
    heading = WORDS.get(step.operation, step.operation.replace("_", " ").capitalize())
    if step.after == step.before:
        return ReportSection(heading, step.because), _ending(step)
    before, after = picture_of(step.before, sizes), picture_of(step.after, sizes)
    return ReportSection(heading, step.because, before, after), _ending(step)


def _plate_step(plan: Plan, sizes: Mapping[str, int]) -> _Made:
    """Rows out, statistics in  (Theorem 4.1)."""
    before = picture_of(simplified_graph(plan), sizes)
    after = statistics_picture(plan, sizes=sizes)
    if not plan.program.passes:
        text = "No unknown is shared by rows that could be summed up, so the data stay as they are."
        return ReportSection("Keep the rows", text, before), []
    text = "All that the unknowns need of the rows is in a few sums; they are known nodes in place of the plate."
    return ReportSection("Replace the rows by their statistics", text, before, after), [_note("Theorem 4.1")]


def _ending(step: Step) -> list[str]:
    return [*_formulas(step.formulas), *([_note(step.reference)] if step.reference else [])]


def _statistics(plan: Plan) -> _Made:
    lines = [statement_text(statement) for statement in plan.program.passes]
    text = "Computed in one pass over the rows; results of parts of the rows merge." if lines else "There are none."
    return ReportSection("The statistics", text), _formulas(lines)


def _iterated(plan: AnyPlan, sizes: Mapping[str, int]) -> list[_Made]:
    """What each part of an iteration holds fixed and eliminates, with pictures, then the algorithm."""
    return [*(_graph_step(step, sizes) for step in plan.steps[:MOST_PICTURES]), _iteration(plan)]


def _iteration(plan: AnyPlan) -> _Made:
    return ReportSection("The algorithm", ""), _formulas([explain_algorithm(plan)])


def _posterior(fit: Outcome) -> _Made:
    found = summary(fit)
    facts = list(fit.facts)
    if fit.seconds:
        took = ", ".join(f"{name} {1000 * value:.1f} ms" for name, value in fit.seconds.items())
        facts.append(("time", took))
    lines = [*_facts(facts), *table_lines(found.cells), *(_note(note) for note in found.notes)]
    return ReportSection("What was learned", ""), lines


def _program(plan: AnyPlan) -> _Made:
    from platewright.run.plan_source import plan_source  # all emitters: loaded when somebody looks

    text = "The NumPy source, and the derivation for a paper."
    more = [*folded_html("NumPy source", plan_source(plan)), *folded_html("LaTeX", plan_latex(plan))]
    if not isinstance(plan, Plan):  # it has told already what was declined
        return ReportSection("The program", text), more
    text = "The program in no language yet, the NumPy source made from it, and the derivation for a paper."
    refused = [_note(f"{refusal}") for refusal in plan.declined]
    return ReportSection("The program", text), [*folded_html("Program", str(plan.program)), *more, *refused]


def table_lines(cells: Iterable[tuple[str, ...]]) -> list[str]:
    """Rows of text as an HTML table, the first one as headings."""
    lines = ["<table>"]
    for number, row in enumerate(cells):
        tag = "td" if number else "th"
        lines.append("<tr>" + "".join(f"<{tag}>{page_text(cell)}</{tag}>" for cell in row) + "</tr>")
    return [*lines, "</table>"]


def _facts(pairs: Iterable[tuple[str, str]]) -> list[str]:
    lines = [f"<dt>{page_text(name)}</dt><dd>{page_text(value)}</dd>" for name, value in pairs if value]
    return ["<dl>", *lines, "</dl>"] if lines else []


def _formulas(lines: Iterable[str]) -> list[str]:
    text = "\n".join(lines)
    return [f'<pre class="formula"><code>{page_text(text)}</code></pre>'] if text else []


def _note(text: str) -> str:
    return f'<div class="note">{page_text(text)}</div>'
