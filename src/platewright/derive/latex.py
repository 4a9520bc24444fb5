r"""The derivation of a plan as LaTeX: the body of an article, for `amsmath`.

\section*{coin}   \[ p(\theta) \prod_{toss} p(x_{toss} \mid \theta) \]   \begin{enumerate} \item ...
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from platewright.algebra.expression import Add, Expression, Index
from platewright.algebra.latex import escaped, index_latex, latex, symbol
from platewright.graph.equation import joint_latex
from platewright.graph.graph import Graph
from platewright.operation import Step
from platewright.program.program import Program
from platewright.program.statements import Assign, Pool, Statistic, Triangularise
from platewright.schema import Plan

LETTERS_ON_A_LINE = 58


def explain_latex(plan: Plan) -> str:
    """The whole way from the model to the algorithm."""
    lines = opening(plan.graph, plan.summary, plan.steps)
    if plan.program.passes:
        lines += ["\\subsection*{Statistics, in one pass over the rows}", *passes_latex(plan.program)]
    lines += ["\\subsection*{What follows from them}", *body_latex(plan.program)]
    lines += [f"\\paragraph{{Declined}} {escaped(str(refusal))}" for refusal in plan.declined]
    return "\n".join(lines) + "\n"


def opening(graph: Graph, summary: str, steps: Sequence[Step]) -> list[str]:
    """The model, what is asked of it, and the exact steps."""
    lines = [
        f"\\section*{{{escaped(graph.title)}}}",
        f"Algorithm: {escaped(summary)}.",
        "",
        f"Known: {_names(sorted(graph.known))}. Unknown: {_names(graph.unknown)}.",
        "",
        "\\subsection*{The joint density}",
        _joint(graph),
    ]
    if steps:
        lines += [
            "\\subsection*{The steps}",
            "\\begin{enumerate}",
            *(f"  \\item {step.sentence_latex}" for step in steps),
            "\\end{enumerate}",
        ]
    return lines


def article_latex(derivation: str) -> str:
    """A whole document around a derivation."""
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
    return f"{head}{derivation}\\end{{document}}\n"


def _names(names: object) -> str:
    shown = ", ".join(f"${symbol(name)}$" for name in names if "@" not in name)  # type: ignore[attr-defined]
    return shown or "nothing"


def passes_latex(program: Program) -> list[str]:
    """Sums over rows."""
    lines: list[str] = []
    for statement in program.passes:
        match statement:
            case Statistic(name, indices, over, summand, kind, _):
                operator = {"sum": "\\sum", "max": "\\max", "min": "\\min"}[kind]
                below = ", ".join(index_latex(index.name) for index in over)
                body = latex(summand) if not isinstance(summand, Add) else f"\\left({latex(summand)}\\right)"
                lines.append(f"\\[\n{places(name, indices)} = {operator}_{{{below}}} {body}\n\\]")
            case Pool():
                lines.append(_pool(statement))
    return lines


def _pool(pool: Pool) -> str:
    features = ", ".join(f"${latex(feature.expression)}$" for feature in pool.features)
    over = ", ".join(f"${index_latex(index.name)}$" for index in pool.over)
    cells = ", ".join(f"${index_latex(cell.index.name)} = {latex(cell.code)}$" for cell in pool.cells)
    groups = f", for each {cells}" if cells else ""
    weight = latex(pool.weight)
    weighted = "" if weight == "1" else f", with weight ${weight}$"
    return f"\nNumber, mean and scatter over {over} of {features}{groups}{weighted}.\n"


def body_latex(program: Program) -> list[str]:
    """What follows from the sums."""
    lines: list[str] = []
    for statement in program.body:
        match statement:
            case Assign(name, indices, expression, _):
                lines.append(equation(places(name, indices), expression))
            case Triangularise():
                columns = statement.columns[: statement.eliminated]
                shown = ", ".join(f"${symbol(column.variable)}$" for column in columns)
                scale = "" if not statement.batch else ", for each $" + ", ".join(map(latex, statement.batch)) + "$"
                lines.append(
                    f"\nThe rows of {escaped(', '.join(source.owner for source in statement.sources))} are made "
                    f"triangular in the columns of {shown}{scale}: $R \\, u = r$, residual "
                    f"${symbol(f'{statement.name}.residual')}$.\n"
                )
            case Pool():
                lines.append(_pool(statement))
    return lines


def places(name: str, indices: tuple[Index, ...]) -> str:
    """A name with its indices."""
    return symbol(name, tuple(index_latex(index.name) for index in indices))


def equation(left: str, right: Expression) -> str:
    """One equation; a long sum goes over several lines."""
    terms = right.terms if isinstance(right, Add) else (right,)
    rows: list[list[Expression]] = [[]]
    width = _width(left)
    for term in terms:
        more = _width(latex(term))
        if rows[-1] and width + more > LETTERS_ON_A_LINE:
            rows.append([])
            width = 0
        rows[-1].append(term)
        width += more
    shown = [latex(Add(tuple(row))) if len(row) > 1 else latex(row[0]) for row in rows]
    if len(shown) == 1:
        return f"\\[\n{left} = {shown[0]}\n\\]"
    signed = [shown[0], *(f"\\quad {{}} {row}" if row.startswith("-") else f"\\quad {{}} + {row}" for row in shown[1:])]
    joined = " \\\\\n&".join(signed)
    return f"\\begin{{align*}}\n& {left} = {joined}\n\\end{{align*}}"


def _joint(graph: Graph) -> str:
    """The joint density; a long one has a line for each product over plates."""
    shown = joint_latex(graph)
    if _width(shown) <= LETTERS_ON_A_LINE:
        return f"\\[\n{shown}\n\\]"
    joined = " \\\\\n& \\prod".join(shown.split(" \\, \\prod"))
    return f"\\begin{{align*}}\n& {joined}\n\\end{{align*}}"


def _width(shown: str) -> int:
    """About how many letters wide a formula is set."""
    return len(re.sub(r"\\[A-Za-z]+|[{}_^\\ ]", "", shown)) + shown.count("\\sum") + shown.count("\\log") * 3
