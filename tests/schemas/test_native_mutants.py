"""The laws of the C sampler notice planted defects, in the writers of the file and in the draws that it carries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from backends import test_c_draws
from platewright.backends.c_gibbs import chain as c_gibbs_chain
from platewright.backends.c_gibbs import coordinate_slices as c_gibbs_coordinate_slices
from platewright.backends.c_gibbs import coordinates as c_gibbs_coordinates
from platewright.backends.c_gibbs import draws as c_gibbs_draws
from platewright.backends.c_gibbs import entries as c_gibbs_entries
from platewright.backends.c_gibbs import few_rows as c_gibbs_few_rows
from platewright.backends.c_gibbs import gaussian as c_gibbs_gaussian
from platewright.backends.c_gibbs import gibbs as c_gibbs
from platewright.backends.c_gibbs import orbit as c_gibbs_orbit
from platewright.backends.c_gibbs import rows as c_gibbs_rows
from platewright.backends.c_gibbs import scale as c_gibbs_scale
from platewright.backends.c_gibbs import sites as c_gibbs_sites
from platewright.backends.c_gibbs import slice as c_gibbs_slice
from platewright.backends.c_gibbs import split as c_gibbs_split
from platewright.backends.c_gibbs import statistics as c_gibbs_statistics
from platewright.errors import PlatewrightError
from platewright.run.samplers import native_given
from schemas import test_native_conditionals, test_native_draws, test_native_joint_distribution, test_native_sites
from schemas.grouped_classes import GROUPED
from schemas.mutation import Mutant, planted
from schemas.test_conditional_ratio import EVERY
from schemas.test_native_conditionals import needs_compiler

CASES = {case.name: case for case in (*EVERY, *GROUPED)}

Gaussian, Rows = c_gibbs_gaussian.GaussianWriter, c_gibbs_rows.RowsWriter
Slices, Chains = c_gibbs_slice.SliceWriter, c_gibbs_chain.ChainWriter
Statistics, Draws, Writer = c_gibbs_statistics.StatisticsWriter, c_gibbs_draws.DrawWriter, c_gibbs._Writer


def conditionals(name: str) -> None:
    test_native_conditionals.check_case(CASES[name], seeds=2)


def drawn(name: str) -> None:
    test_native_draws.check_draws(CASES[name])


def kept(name: str) -> None:
    found = test_native_joint_distribution.compared(CASES[name])
    assert found.passed, found


def mutant(what: str, function: Callable[..., object], old: str, new: str, law: Callable[[], None]) -> Mutant:
    return Mutant(what, function, old, new, law)


MUTANTS: tuple[Mutant, ...] = (
    # statistics
    mutant("sums keep the last row", Statistics.term, "{target} += {value.whole};", "{target} = {value.whole};",
           partial(conditionals, "poissons")),
    mutant("a group is not looked up", Statistics.term, "{self.printer.position(code, size)}", "0",
           partial(conditionals, "poissons")),
    mutant("pools forget the mean about the centre", Statistics.pool_after, "+= {offset}[i]", "+= 0 * {offset}[i]",
           partial(conditionals, "regressions")),
    mutant("a common weight is lost", c_gibbs_split.without_common_weight, "multiply(1.0, *common)",
           "multiply(1.0)", partial(conditionals, "shared_precision")),
    mutant("few rows forget for how many they stand", native_given._parts, "np.sqrt(value[0])", "1.0",
           partial(conditionals, "mean_and_scale")),
    mutant("what rows share counts once in each of the few", c_gibbs_few_rows._Form.linear,
           "multiply(expression, self.column(ONE))", "expression", partial(conditionals, "mean_and_scale")),
    mutant("few rows lose their scatter", native_given._live_rows, "rows_of_pool(*value)",
           "rows_of_pool(value[0], value[1], 0 * value[2])", partial(conditionals, "growth")),
    mutant("statistics lag behind the draw", c_gibbs_entries._sweep, "((bad = prepare_{number}(chain)) || {step})",
           "({step} || (bad = prepare_{number}(chain)))", partial(drawn, "poissons")),
    # Gaussian blocks
    mutant("rows forget the root of their weight", Rows.direct, "weight, 0.5)", "weight, 1.0)",
           partial(conditionals, "crossed")),
    mutant("columns fall upon each other", Rows.place, "self.step.columns[: entry.column]", "()",
           partial(conditionals, "regressions")),
    mutant("unknowns outside push the wrong way", Gaussian.subtract_outer, "drawn[r] -=", "drawn[r] +=",
           partial(drawn, "groups")),
    mutant("noise has the scale for its deviation", Gaussian.draw, "scale, -0.5)", "scale, -1.0)",
           partial(drawn, "own_gaussians")),
    mutant("outputs are drawn without their matrix", Gaussian.draw, "if self.conditional.matrix is None", "if True",
           partial(drawn, "tied_full")),
    mutant("a block is drawn in the order of elimination", Writer.draws, "reversed(block.plan.conditionals)",
           "block.plan.conditionals", partial(drawn, "groups")),
    # tables
    mutant("a table is read from its end", Draws.choice, "<= total[i]", ">= total[i]", partial(drawn, "poissons")),
    mutant("a table takes the middle", Draws.choice, "total[i] *= uniform(random)", "total[i] *= 0.5",
           partial(drawn, "poissons")),
    mutant("a table forgets its running sums", Draws.choice, "+ i] = total[i]", "+ i] = part",
           partial(drawn, "known_variance")),
    mutant("rows of a table share one uniform", Draws.choice, "total[i] *= uniform(random)",
           "total[i] *= (double)(random[0] >> 11) * 0x1p-53", partial(drawn, "topics")),
    mutant("groups are added to those of the last sweep", Draws.with_groups_added_up,
           "memset({array}, 0, sizeof(double) * (", "(void)((", partial(drawn, "grouped_gaussians")),
    # slices
    mutant("a slice forgets a term", Slices.sort_out, "if self.name in names(term)]",
           "if self.name in names(term)][1:]", partial(conditionals, "overdispersed")),
    mutant("a slice keeps what moves with the value", Slices.keep, "self.name not in names(expression) and ", "",
           partial(conditionals, "rates_of_groups")),
    mutant("rows of all elements come together", Slices.rows, "{start}[{flat}]; r <", "{start}[0]; r <",
           partial(conditionals, "coded_rates")),
    mutant("rows are sorted once and classes move", Slices.sort_rows, "{code}[row] =", "{code}[row] = 0 *",
           partial(conditionals, "hidden_rates")),
    mutant("a slice leaves its domain", Slices.density, "x <= 0.0", "x <= -9.0",
           partial(conditionals, "rates_of_groups")),
    # gradients and scales
    mutant("a slope forgets the volume", c_gibbs_coordinates.Elements.slope, "exp({u}) + 1.0", "exp({u})",
           partial(conditionals, "rates_of_coins")),
    mutant("slopes fall upon each other", c_gibbs_coordinates.Piece.start, "self.before)} +",
           "())} +", partial(conditionals, "logistic")),
    mutant("whole values fall upon each other", c_gibbs_coordinates.Whole.place, "{self.start(function)}0", "0",
           partial(conditionals, "concentration")),
    mutant("counts leave their domain", c_gibbs_coordinates.Counts.place, "total = -INFINITY;", "total += 0.0;",
           partial(conditionals, "counts_together")),
    mutant("a count starts before its interval", c_gibbs_coordinates.Counts.coordinate, "+ uniform(random)", "- 0.5",
           partial(kept, "counts_together")),
    mutant("a coordinate forgets the others", c_gibbs_coordinate_slices.CoordinateWriter.density, "u[at[0]] = x;",
           "u[0] = x;", partial(kept, "thresholds")),
    mutant("a scale forgets what it stretches", c_gibbs_scale.ScaleWriter.density, "total -= 0.5 *",
           "total -= 0.0 *", partial(conditionals, "overdispersed")),
    mutant("an orbit forgets its volume", c_gibbs_orbit.OrbitWriter.stretch, "double total = x * ",
           "double total = 0.0 * ", partial(conditionals, "noisy_covariate")),
    mutant("an intercept stays behind", c_gibbs_orbit.OrbitWriter.make_good, "{before} - ", "{before} + ",
           partial(conditionals, "abilities")),
    # sites
    mutant("a row counts at each of its places", c_gibbs_sites.SiteWriter.rows, "if before:", "if False:",
           partial(test_native_sites.check_weights, test_native_sites.CASES[0])),
    mutant("a site forgets a term", c_gibbs_sites.SiteWriter.own_terms, "for term in terms if",
           "for term in terms[1:] if", partial(test_native_sites.check_weights, test_native_sites.CASES[1])),
    # chains
    mutant("the filter forgets the past", Chains.filter, "row[j] *= exp(", "row[j] = exp(",
           partial(conditionals, "symbols")),
    mutant("moves change their direction", Chains.arriving, "last[{i}]", "last[{j}]", partial(conditionals, "symbols")),
    mutant("sequences run together", Chains.filter, "{flag}[{t}] ? 1.0", "{t} == 0 ? 1.0",
           partial(conditionals, "symbols_several")),
    mutant("backward sampling turns the moves round", Chains.backward_weights, "[{i} * {levels} + now]",
           "[now * {levels} + {i}]", partial(drawn, "symbols_several")),
    mutant("backward sampling forgets the future", Chains.backward, "if (!ends)", "if (0)",
           partial(drawn, "symbols_several")),
)  # fmt: skip

QUICK = frozenset(
    ("sums keep the last row", "a common weight is lost", "few rows forget for how many they stand",
     "unknowns outside push the wrong way",
     "a table takes the middle", "a slice forgets a term", "the filter forgets the past")
)  # fmt: skip
"""One of each kind; each mutant is compiled, which takes a second."""

KILLED = (AssertionError, PlatewrightError, IndexError)


def marked(one: Mutant) -> object:
    return pytest.param(one, id=one.what, marks=[] if one.what in QUICK else [pytest.mark.slow])


@needs_compiler
@pytest.mark.parametrize("planted_one", [marked(one) for one in MUTANTS])
def test_a_planted_defect_is_noticed(planted_one: Mutant) -> None:
    with planted(planted_one), pytest.raises(KILLED):
        planted_one.law()


def family(name: str, number: int, changes: tuple[tuple[str, str], ...]) -> float:
    case = [found for found in (*test_c_draws.CONTINUOUS, *test_c_draws.DISCRETE) if found[0] == name][number]
    if case in test_c_draws.CONTINUOUS:
        return test_c_draws.continuous_chance(*case, changes)
    return test_c_draws.chance_of_counts(test_c_draws.drawn(case[0], case[1], 4, changes), case[2])


DRAW_MUTANTS = {
    "normal accepts too much": (("q < 0.27597", "q < 0.4"), partial(family, "Normal", 0)),
    "normal is too narrow": (("1.7156", "1.3"), partial(family, "Normal", 0)),
    "gamma forgets its power": (("exp(log(above_zero(random)) / shape)", "above_zero(random)"),
                                partial(family, "Gamma", 0)),
    "gamma takes the mode for the mean": (("shape - 1.0 / 3.0", "shape"), partial(family, "Gamma", 2)),
    "beta changes its sides": (("exp(other - one)", "exp(one - other)"), partial(family, "Beta", 2)),
    "Poisson counts one too many": (("product > limit; count", "product > limit * limit; count"),
                                    partial(family, "Poisson", 0)),
    "Poisson of many is off its centre": (("+ rate + 0.43", "+ rate + 1.43"), partial(family, "Poisson", 2)),
    "binomial forgets its odds": (("+ (count - mode) * log(odds)", ""), partial(family, "Binomial", 2)),
    "Wishart loses no degrees": (("(degrees - (double)i)", "(degrees)"), partial(test_c_draws.wishart_chance, False)),
    "slices lean to the low end": (("(high - low) * uniform(random)", "(high - low) * pow(uniform(random), 1.2)"),
                                   partial(test_c_draws.slice_chance, 1.0)),
    "slices take a level too low": (("- exponential(random);", "- 3.0 * exponential(random);"),
                                    partial(test_c_draws.slice_chance, 1.0)),
}  # fmt: skip


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("what", DRAW_MUTANTS)
def test_a_planted_defect_in_a_draw_is_noticed(what: str) -> None:
    change, chance = DRAW_MUTANTS[what]
    assert chance(changes=(change,)) < test_c_draws.LEAST


@needs_compiler
def test_the_quick_mutants_are_among_all() -> None:
    assert {one.what for one in MUTANTS} >= QUICK
