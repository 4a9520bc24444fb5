"""Print draws from recognised conditionals as C: families element by element, tables for a block of rows at once.

Rows of a table are worked on in blocks: log weights of a level for all rows of the block, the largest, exponentials,
running sums, one uniform each. Loops over rows are innermost, so that they go by vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace

from platewright.algebra.expression import Expression, Index, Reference, Sum, free_indices, walk
from platewright.algebra.grouped import grouped
from platewright.algebra.put_in import put_in
from platewright.backends.c.expression import CCode, Unprintable
from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.expression import Extent
from platewright.backends.c_gibbs.function import Function
from platewright.elimination.state import FamilyConditional, TableConditional
from platewright.schemas.blocks import BoundedBlock

DRAWS: Mapping[str, str] = {
    "AsymmetricLaplace": "{location} + (exponential(random) / {p} - exponential(random) / (1.0 - {p})) / {rate}",
    "Bernoulli": "(uniform(random) < {p} ? 1.0 : 0.0)",
    "Beta": "beta_draw(random, {a}, {b})",
    "BetaBinomial": "binomial_draw(random, {count}, beta_draw(random, {a}, {b}))",
    "Binomial": "binomial_draw(random, {count}, {p})",
    "ChiSquare": "2.0 * gamma_draw(random, 0.5 * {degrees})",
    "Exponential": "exponential(random) / {rate}",
    "Gamma": "gamma_draw(random, {shape}) / {rate}",
    "GeneralisedNormal": "{mean} + (uniform(random) < 0.5 ? -1.0 : 1.0)"
    " * pow(gamma_draw(random, 1.0 / {power}), 1.0 / {power}) / {rate}",
    "Geometric": "({p} < 1.0 ? floor(-exponential(random) / log1p(-{p})) + 1.0 : 1.0)",
    "HalfCauchy": "{scale} * fabs(tan(3.14159265358979323846 * (uniform(random) - 0.5)))",
    "HalfNormal": "fabs(normal(random)) / sqrt({precision})",
    "HalfStudentT": "{scale} * fabs(normal(random)) / sqrt(gamma_draw(random, 0.5 * {degrees}) / (0.5 * {degrees}))",
    "InverseGamma": "{scale} / gamma_draw(random, {shape})",
    "InverseGaussian": "inverse_gaussian_draw(random, {mean}, {shape})",
    "Laplace": "{mean} + (exponential(random) - exponential(random)) / {rate}",
    "LogNormal": "exp({mean} + normal(random) / sqrt({precision}))",
    "LogisticNormal": "logistic({mean} + normal(random) / sqrt({precision}))",
    "NegativeBinomial": "poisson_draw(random, gamma_draw(random, {successes}) * (1.0 - {p}) / {p})",
    "Normal": "{mean} + normal(random) / sqrt({precision})",
    "Pareto": "{scale} * exp(exponential(random) / {shape})",
    "Poisson": "poisson_draw(random, {rate})",
    "SkewNormal": "{location} + {scale} * ({shape} * fabs(normal(random)) + normal(random)) / hypot(1.0, {shape})",
    "StudentT": "{mean} + normal(random) / sqrt({precision} * gamma_draw(random, 0.5 * {degrees}) / (0.5 * {degrees}))",
    "Uniform": "{lower} + ({upper} - {lower}) * uniform(random)",
    "VonMises": "von_mises_draw(random, {mean}, {concentration})",
    "Weibull": "pow(exponential(random) / {rate}, 1.0 / {shape})",
}
"""How a scalar family is drawn; what is not here or below has no C, and NumPy draws the plan."""

TAILS: Mapping[str, str] = {
    "Exponential": "-log_share / {rate}",
    "Weibull": "pow(-log_share / {rate}, 1.0 / {shape})",
}
"""The point beyond which a share of a family lies, of which the logarithm is given."""

ROWS_AT_ONCE = 256


class DrawWriter:
    """Prints draws into a function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.printer = function.printer

    def family(self, conditional: FamilyConditional, axes: tuple[Index, ...]) -> None:
        """A variable of a recognised family, element after element."""
        self.printer.forget()
        family = conditional.recognised.family
        name = conditional.variable
        self.printer.line(f"/* {c_comment(name)}: {family.name} given the rest */")
        rank = family.rank
        plates, events = axes[: len(axes) - rank], axes[len(axes) - rank :]
        with ExitStack() as loops:
            for index in plates:
                loops.enter_context(self.printer.loop(index))
            with self.printer.nested(""):
                if family.name in DRAWS:
                    self.scalar(conditional, axes)
                elif family.name == "Dirichlet":
                    self.dirichlet(conditional, plates, events)
                elif family.name in ("Wishart", "InverseWishart"):
                    self.wishart(conditional, plates, events)
                else:
                    raise Unprintable(f"C draws no {family.name} ({name})")

    def scalar(self, conditional: FamilyConditional, axes: tuple[Index, ...]) -> None:
        printer = self.printer
        family, transform = conditional.recognised.family, conditional.recognised.transform
        shown = {}
        for key, value in conditional.parameters.items():
            shown[key] = printer.temporary(key)
            printer.line(f"const double {shown[key]} = {printer.code(value).text};")
        result = "sample"
        printer.line(f"const double {result} = {DRAWS[family.name].format(**shown)};")
        if transform.name != "identity":
            y = Reference("y")
            printer.given[y], printer.pinned["y"] = CCode(result), len(printer.stack) - 1
            printer.line(f"const double value = {printer.code(transform.backward).text};")
            del printer.given[y], printer.pinned["y"]
            result = "value"
        printer.line(f"if (!isfinite({result}))")
        printer.line("    return 4;")
        target = printer.code(Reference(conditional.variable, axes)).text
        integer = conditional.variable in printer.integers
        printer.line(f"{target} = {f'(int64_t){result}' if integer else result};")

    def beyond(self, block: BoundedBlock, axes: tuple[Index, ...]) -> None:
        """A censored variable, element after element, each beyond its end."""
        printer, family = self.printer, block.family
        assert family is not None and block.end is not None and block.log_beyond is not None
        if family.name not in TAILS:
            raise Unprintable(f"C draws no tail of {family.name} ({block.variables[0]})")
        with ExitStack() as loops:
            for index in axes:
                loops.enter_context(printer.loop(index))
            shown = {}
            for key, value in block.parameters:
                shown[key] = printer.temporary(key)
                printer.line(f"const double {shown[key]} = {printer.code(value).text};")
            printer.line(f"const double log_share = {printer.code(block.log_beyond).text} - exponential(random);")
            point = TAILS[family.name].format(**shown)
            printer.line(f"const double sample = larger({printer.code(block.end).text}, {point});")
            printer.line("if (!isfinite(sample))")
            printer.line("    return 4;")
            printer.line(f"{printer.code(Reference(block.variables[0], axes)).text} = sample;")

    def dirichlet(self, conditional: FamilyConditional, plates: tuple[Index, ...], events: tuple[Index, ...]) -> None:
        printer = self.printer
        (event,) = events
        size = printer.size(event.plate)
        target = self.row(conditional.variable, plates, size)
        printer.line(f"double *const weight = {target};")
        with printer.loop(event) as k:
            value = printer.code(conditional.parameters["concentration"]).text
            printer.line(f"weight[{k}] = {value};")
        printer.line(f"dirichlet_draw(random, {size}, weight);")
        printer.line(f"for (int64_t k = 0; k < {size}; k++)")
        printer.line("    if (!isfinite(weight[k]))")
        printer.line("        return 4;")

    def wishart(self, conditional: FamilyConditional, plates: tuple[Index, ...], events: tuple[Index, ...]) -> None:
        printer = self.printer
        row, column = events
        size = printer.size(row.plate)
        inverted = conditional.recognised.family.name == "InverseWishart"
        parameter = conditional.parameters["scale" if inverted else "inverse_scale"]
        printer.line(f"const double degrees = {printer.code(conditional.parameters['degrees']).text};")
        printer.line(f"double *const matrix = {self.row(conditional.variable, plates, f'{size} * {size}')};")
        with printer.loop(row) as i, printer.loop(column) as j:
            printer.line(f"matrix[{i} * {size} + {j}] = {printer.code(parameter).text};")
        wide = (row.plate,)
        printer.line(f"double *const work = {printer.room('work', (wide, wide), (wide,))};")
        printer.line(f"if (!wishart_draw(random, {size}, degrees, matrix, {int(inverted)}, work))")
        printer.line("    return 4;")
        printer.line(f"for (int64_t k = 0; k < {size} * {size}; k++)")
        printer.line("    if (!isfinite(matrix[k]))")
        printer.line("        return 4;")

    def row(self, name: str, plates: tuple[Index, ...], length: str) -> str:
        """Where the value of one element of the plates begins."""
        sizes = [self.printer.size(index.plate) for index in plates]
        at = f" + ({self.printer.offset(plates, sizes)}) * {length}" if plates else ""
        return f"{self.printer.column(name)}{at}"

    # -- tables --------------------------------------------------------------------------------------------------------

    def table(self, conditional: TableConditional, axes: tuple[Index, ...], shown: bool = False) -> None:
        """A variable with finitely many values: weights of a block of rows, level by level, then one uniform a row.

        With `shown` the function has an argument `found`, which gets the log weights instead of a draw.
        """
        self.printer.forget()
        printer, level = self.printer, conditional.level
        levels = printer.size(level.plate)
        printer.line(f"/* {c_comment(conditional.variable)}: a table given the rest */")
        target = printer.column(conditional.variable)
        rows = str(ROWS_AT_ONCE) if axes else "1"
        conditional = replace(conditional, log_weights=self.with_groups_added_up(conditional))
        with printer.nested(""), ExitStack() as loops:
            one: Extent = ((level.plate,),) * int(rows)
            printer.line(f"double *const weight = {printer.room('weight', one)};")
            printer.line(f"double top[{rows}], total[{rows}];")
            for index in axes[:-1]:
                loops.enter_context(printer.loop(index))
            if axes:
                size = printer.size(axes[-1].plate)
                loops.enter_context(printer.nested(f"for (int64_t first = 0; first < {size}; first += {rows})"))
                printer.line(f"const int64_t count = {size} - first < {rows} ? {size} - first : {rows};")
            else:
                printer.line("const int64_t count = 1;")
            sizes = [printer.size(index.plate) for index in axes[:-1]]
            place = f"({printer.offset(axes[:-1], sizes)}) * {printer.size(axes[-1].plate)} + first" if axes[1:] else ""
            place = place or ("first" if axes else "0")
            printer.line(f"int64_t *const value = {target} + {place};")
            self.weights(conditional, axes, rows)
            if shown:
                self.show(levels, rows, place)
            self.choice(levels, rows)

    def with_groups_added_up(self, conditional: TableConditional) -> Expression:
        """The log weights; sums over the rows of each element are made before, by one pass over all rows.

        Those inside others come first. One that needs more of the rows of another than their group stays where it is.
        """
        printer = self.printer
        made: dict[Expression, Expression] = {}
        sums = [part for part in walk(conditional.log_weights) if isinstance(part, Sum)]
        rows = {part.index for part in sums}
        for number, part in reversed([*enumerate(sums)]):
            found = grouped(part.index, put_in(part.body, made))
            if found is None or part in made or rows & (free_indices(part) - {found.group}):
                continue
            name = f"{conditional.variable}.group_{number}"
            axes = (*sorted(free_indices(part) - {found.group}, key=str), found.group)
            array = self.function.computed_over(name, axes)
            sizes = [printer.size(axis.plate) for axis in axes]
            printer.line(f"memset({array}, 0, sizeof(double) * ({' * '.join(sizes)}));")
            with ExitStack() as loops:
                for axis in (*axes[:-1], part.index):
                    loops.enter_context(printer.loop(axis))
                value = printer.code(found.rest).whole
                printer.line(f"{array}[{printer.offset((*axes[:-1], found.code), sizes)}] += {value};")
            made[part] = Reference(name, axes)
        return put_in(conditional.log_weights, made) if made else conditional.log_weights

    def weights(self, conditional: TableConditional, axes: tuple[Index, ...], rows: str) -> None:
        printer = self.printer
        printer.line("for (int64_t i = 0; i < count; i++)")
        printer.line("    top[i] = -INFINITY;")
        with printer.loop(conditional.level) as k, ExitStack() as inside:
            if axes:
                inside.enter_context(printer.nested("for (int64_t i = 0; i < count; i++)"))
                row = printer.temporary("index")
                printer.line(f"const int64_t {row} = first + i;")
                inside.enter_context(printer.at(axes[-1], row))
            else:
                printer.line("const int64_t i = 0;")
            printer.line(f"const double log_weight = {printer.code(conditional.log_weights).text};")
            printer.line(f"weight[{k} * {rows} + i] = log_weight;")
            printer.line("top[i] = log_weight > top[i] ? log_weight : top[i];")

    def show(self, levels: str, rows: str, place: str) -> None:
        """The log weights given back, and no draw."""
        printer = self.printer
        with printer.nested("if (found)"):
            printer.line(f"for (int64_t k = 0; k < {levels}; k++)")
            printer.line("    for (int64_t i = 0; i < count; i++)")
            printer.line(f"        found[({place} + i) * {levels} + k] = weight[k * {rows} + i];")
            printer.line("continue;" if rows != "1" else "return bad;")

    def next_table(self, conditional: TableConditional, axes: tuple[Index, ...]) -> None:
        """Log weights of the table after this one come after its own."""
        sizes = [self.printer.size(index.plate) for index in (*axes, conditional.level)]
        self.printer.line("if (found)")
        self.printer.line(f"    found += {' * '.join(sizes)};")

    def choice(self, levels: str, rows: str) -> None:
        """Running sums, a uniform up to their end, and how many of them are passed; NaN counts as nothing."""
        printer = self.printer
        printer.line("for (int64_t i = 0; i < count; i++) {")
        printer.line("    top[i] = top[i] > -INFINITY ? top[i] : 0.0;")
        printer.line("    total[i] = 0.0;")
        printer.line("}")
        printer.line(f"for (int64_t k = 0; k < {levels}; k++)")
        printer.line("    for (int64_t i = 0; i < count; i++) {")
        printer.line(f"        const double part = exp(weight[k * {rows} + i] - top[i]);")
        printer.line("        total[i] += part > 0.0 ? part : 0.0;")
        printer.line(f"        weight[k * {rows} + i] = total[i];")
        printer.line("    }")
        printer.line("for (int64_t i = 0; i < count; i++)")
        printer.line("    total[i] *= uniform(random);")
        printer.line("for (int64_t i = 0; i < count; i++)")
        printer.line("    value[i] = 0;")
        printer.line(f"for (int64_t k = 0; k < {levels} - 1; k++)")
        printer.line("    for (int64_t i = 0; i < count; i++)")
        printer.line(f"        value[i] += weight[k * {rows} + i] <= total[i];")
