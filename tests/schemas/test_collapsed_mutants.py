"""The laws of collapsed sampling notice planted defects, in the derivation, in the printed sampler and in emitted C."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from backends import test_c_collapsed
from platewright.backends.c_collapsed import collapsed as c_collapsed
from platewright.backends.c_collapsed import rows as c_collapsed_rows
from platewright.backends.kernels import collapsed as collapsed_kernels
from platewright.backends.numpy.collapsed import CollapsedEmitter
from platewright.errors import PlatewrightError
from platewright.run.samplers import collapsed_data
from platewright.run.samplers.parameters_given import ParametersGiven, by_numpy
from platewright.schemas import collapsed_change, collapsed_gaussian, collapsed_move, collapsed_tables
from schemas import test_collapsed_ratio
from schemas.collapsed_models import COLLAPSED
from schemas.mutation import Mutant, planted
from schemas.small_instance import instance

CASES = {case.name: case for case in COLLAPSED}


def ratio(name: str) -> None:
    test_collapsed_ratio.test_weights_are_ratios_of_evidences(CASES[name])


def same(name: str) -> None:
    test_c_collapsed.test_c_draws_what_the_plain_sampler_draws(CASES[name])


def kept(name: str) -> None:
    test_c_collapsed.test_tables_stay_what_the_elements_make_them(name)


def far() -> None:
    test_collapsed_ratio.test_data_far_from_zero_keep_their_digits()


def averaged() -> None:
    """Conditional means are those of many draws given the same hidden values."""
    case = CASES["topics"]
    plan, small = test_collapsed_ratio.plan_of(case), instance(case, 1)
    data = collapsed_data.CollapsedData(plan, small.columns, small.sizes)
    hidden = {name: small.values[name] for name in plan.hidden}
    generator = np.random.default_rng(0)
    given_hidden = ParametersGiven(data, by_numpy(data))
    drawn = [given_hidden(hidden, generator) for _ in range(800)]
    for name, mean in drawn[0][1].items():
        assert np.allclose(np.mean([values[name] for values, _, _ in drawn], axis=0), mean, atol=0.04)


Plain, Rows, Emitter = CollapsedEmitter, c_collapsed_rows.RowPrinter, c_collapsed._Emitter


def mutant(what: str, function: Callable[..., object], old: str, new: str, law: Callable[[], None]) -> Mutant:
    return Mutant(what, function, old, new, law)


MUTANTS: tuple[Mutant, ...] = (
    # the derivation
    mutant("a rising factorial begins one too high", collapsed_change._gamma,
           "log(add(inner, float(i))) for i in range(count))",
           "log(add(inner, float(i + 1))) for i in range(count))", partial(ratio, "topics")),
    mutant("a logarithm forgets its base", collapsed_change.difference,
           "multiply(difference(inner, shift), power(inner, -1.0))", "difference(inner, shift)",
           partial(ratio, "exponentials")),
    mutant("a product forgets that both factors move", collapsed_change.difference,
           "moved(rest, shift.step)", "rest", partial(ratio, "poissons")),
    mutant("a square forgets the cross term", collapsed_change.difference, "add(multiply(2.0, base), change)",
           "change", partial(ratio, "known_variance")),
    mutant("the dimension of a Wishart is lost", collapsed_change.difference, "multiply(-0.5, dimension)", "-0.5",
           partial(ratio, "full_wishart")),
    mutant("anything counts as 0 or 1", collapsed_change.Shift.is_binary, "return name in self.binary", "return True",
           partial(ratio, "poissons")),
    mutant("a sum over cells forgets its weight", collapsed_tables._summed, "multiply(own, source.value)",
           "multiply(own, 2.0)", partial(ratio, "topics")),
    mutant("a total keeps the cell it was summed over", collapsed_tables._summed, "if number != place]",
           "if number == place]", partial(ratio, "topics")),
    mutant("sums inside a summand are not rows", collapsed_tables._flattened, "plain += inner", "plain += inner[:1]",
           partial(ratio, "blocks")),
    mutant("an element touches the wrong cell", collapsed_move._change, "bound[at].add(substitute(code, renamed))",
           "bound[at].add(element.level)", partial(ratio, "topics")),
    mutant("a level that is nobody's weighs", collapsed_move.move_of,
           "touched = [entries[name] for name in _tables_in(term.body) if name in entries]",
           "touched = [entries[name] for name in _tables_in(term.body) if name in entries][:1]",
           partial(ratio, "exposed_poissons")),
    mutant("elimination forgets the pivot", collapsed_gaussian._eliminated, "power(pivot, -1.0)", "1.0",
           partial(ratio, "regressions")),
    mutant("a root is not a root", collapsed_gaussian._eliminated, "multiply(0.5, log(pivot))", "log(pivot)",
           partial(ratio, "conjugate_precisions")),
    mutant("weights of rows are lost", collapsed_gaussian.open_block,
           "multiply(rows.weight, features[a], second)", "multiply(features[a], second)",
           partial(ratio, "known_variance")),
    mutant("nothing is taken off beforehand", collapsed_kernels.about_pilot,
           "right - (left @ pilot).reshape(right.shape)", "right", far),
    # the printed sampler
    mutant("the element is not taken out", Plain.sweep_function, "(-1.0, everything", "(0.0, everything",
           partial(same, "topics")),
    mutant("the element is not put back", Plain.sweep_function, "(1.0, everything", "(0.0, everything",
           partial(same, "topics")),
    mutant("the element goes back to its old cell", Plain.sweep_function, "size, *element, new)",
           "size, *element, old)", partial(same, "topics")),
    mutant("rows of an element do not see each other", Plain.stage,
           '[*lines, *(line for entry in stage.entries for line in self.entered(entry, "1", at))]', "lines",
           partial(ratio, "document_classes")),
    mutant("rows stay in after weighing", Plain.weigh_function, 'self.entered(entry, "-1", self.at',
           'self.entered(entry, "0", self.at', partial(same, "document_classes")),
    mutant("an element has its neighbour's rows", Plain.each_row,
           "listed[starts[{element}] : starts[{element} + 1]]", "listed[starts[{element} + 1] :]",
           partial(ratio, "document_classes")),
    mutant("the likeliest level is taken", Plain.sweep_function, "random.uniform()", "0.5", partial(same, "topics")),
    # emitted C
    mutant("the own level is weighed with the element in it", Rows.at_level, "if without and reference in entries:",
           "if False:", partial(same, "topics")),
    mutant("stale denominators", Rows.moved, 'for variable in ("old", "new")]', 'for variable in ("old",)]',
           partial(same, "many_topics")),
    mutant("the kept row is never made anew", Rows.renewed,
           'or ["!begun"]', 'or ["!begun"]; tests = [t + " && 0" for t in tests]',
           partial(same, "topics")),
    mutant("tables do not follow the move", Rows.moved, '(("old", "-"), ("new", "+"))', '(("old", "-"),)',
           partial(kept, "topics")),
    mutant("a ratio is turned over", Rows.product, "if power < 0]", "if power > 0]", partial(same, "topics")),
    mutant("elements are not sorted back", test_c_collapsed.NativeCollapsed._back,
           "self.inverse[axis.plate]", "self.order[axis.plate]", partial(same, "many_topics")),
    mutant("C does not take the element out", Emitter.by_levels, 'lines += self.entered(entry, "-")', "pass",
           partial(same, "poissons")),
    mutant("C leaves rows in", Emitter.by_levels, 'for sign in ("+", "-") if move.stages else ():',
           'for sign in ("+",) if move.stages else ():', partial(kept, "document_classes")),
    mutant("C does not fill anew", Emitter.refill, 'lines += self.entered(entry, "+")', "pass",
           partial(same, "conjugate_precisions")),
)  # fmt: skip

KILLED = (AssertionError, PlatewrightError, IndexError, KeyError, ValueError)


@pytest.mark.parametrize("planted_one", MUTANTS, ids=str)
def test_a_planted_defect_is_noticed(planted_one: Mutant) -> None:
    with planted(planted_one), pytest.raises(KILLED):
        planted_one.law()


def test_the_laws_pass_without_defects() -> None:
    averaged()
    far()
    kept("topics")
    for name in ("topics", "many_topics", "poissons", "conjugate_precisions"):
        same(name)
