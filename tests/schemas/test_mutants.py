"""The laws notice planted defects: a law that lets them pass proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from platewright.algebra import tape
from platewright.backends.kernels import (
    accelerated,
    climb,
    coordinate_slices,
    coordinates,
    curvature,
    hamiltonian,
    metric,
    orbit_moves,
    scale_moves,
    sites,
    slices,
)
from platewright.backends.kernels import hidden_chain as chains
from platewright.backends.numpy import mean_field_support, movers
from platewright.backends.numpy.em import EMEmitter
from platewright.backends.numpy.gibbs import GibbsEmitter
from platewright.backends.numpy.hidden_steps import HiddenEmitter
from platewright.backends.numpy.mean_field import MeanFieldEmitter
from platewright.errors import PlatewrightError
from platewright.run.hidden import chain
from platewright.run.samplers import gibbs
from platewright.schemas import chain_group, chain_programs, closed_forms, expectations, integrated, rough, slopes, soft
from platewright.schemas import gibbs as blocks
from schemas import (
    test_chain_block,
    test_conditional_ratio,
    test_em_laws,
    test_hamiltonian,
    test_mean_field_laws,
    test_metric,
    test_orbits,
    test_schemas_agree,
    test_sites,
    test_slice_step,
    test_slopes,
)
from schemas.chains_that_meet import MEETING
from schemas.joint_distribution import compare
from schemas.mutation import Mutant, planted
from schemas.test_conditional_ratio import EVERY

CASES = {case.name: case for case in (*EVERY, *MEETING)}


def enumerated() -> None:
    test_chain_block.test_forward_and_backward_give_the_sums_over_all_chains([1, 0, 1, 0, 0], 3, False)
    test_chain_block.test_the_most_probable_chain_is_the_best_of_all([1, 0, 1, 0, 0], 3, False)


def frequencies() -> None:
    test_chain_block.test_chains_are_drawn_as_often_as_they_should_be([1, 0, 1, 1, 0], 2)


def sliced() -> None:
    for name in ("gamma", "two peaks"):
        test_slice_step.stays(test_slice_step.TARGETS[name], 1.5)


def weights(name: str) -> None:
    test_chain_block.test_the_weights_of_a_model_are_its_joint(CASES[name])


def ratio(name: str) -> None:
    test_conditional_ratio.test_every_conditional_is_the_joint_up_to_a_constant(CASES[name])


def joint(name: str) -> None:
    assert compare(CASES[name], rounds=2).passed


def objective(name: str) -> None:
    test_em_laws.test_the_objective_is_the_sum_over_all_hidden_values(CASES[name])


def statistics(name: str) -> None:
    test_em_laws.test_expected_statistics_are_averages_over_all_hidden_values(CASES[name])


def entropy(name: str) -> None:
    test_mean_field_laws.test_hidden_probabilities_and_entropy_are_those_of_all_hidden_values(CASES[name])


def ascent(name: str) -> None:
    test_em_laws.test_the_objective_never_falls(CASES[name])


def stationary(name: str) -> None:
    test_em_laws.test_the_gradient_vanishes_where_em_stops(CASES[name])


def gradient(name: str) -> None:
    test_slopes.check_gradient(CASES[name], 1)


def picture() -> None:
    test_sites.test_a_sweep_keeps_the_distribution_of_a_small_picture()


Sampler = gibbs.Sampler


def mutant(what: str, function: Callable[..., object], old: str, new: str, law: Callable[[], None]) -> Mutant:
    return Mutant(what, function, old, new, law)


MUTANTS: tuple[Mutant, ...] = (
    # the recursions along a chain
    mutant("forward takes the moves of the step before", chains.arrived, "weights.shares(at)",
           "weights.shares(at - 1)", enumerated),
    mutant("forward transposes the moves", chains.arrived, "row_products(np.exp(before), share)",
           "row_products(np.exp(before), np.swapaxes(share, -1, -2))", enumerated),
    mutant("forward forgets the norm of each step", chains.forward, "added[at] = ",
           "added[at] = 0 * ", enumerated),
    mutant("sequences run together", chains.lanes_of, "np.flatnonzero(first)", "np.flatnonzero(first)[:1]", enumerated),
    mutant("short sequences run on", chains.lanes_of, "len(starts) - ended", "len(starts) - 0 * ended", enumerated),
    mutant("lanes are not sorted", chains.lanes_of, "np.argsort(-lengths", "np.argsort(lengths", enumerated),
    mutant("smoothing forgets the data ahead", chains.smooth, "weights.single[at + 1] + ahead[at + 1]",
           "ahead[at + 1]", enumerated),
    mutant("pairs are stored a step early", chains.smooth, "pairs[at + 1] =", "pairs[at] =", enumerated),
    mutant("Viterbi forgets the weight of the step", chains.forward_best, "row = row + ", "row = ", enumerated),
    mutant("Viterbi comes from the value itself", chains.forward_best, "axis=-2", "axis=-1", enumerated),
    mutant("backward sampling is a step off", chains.backward_sample, "weights.pair[going + 1, :,",
           "weights.pair[going, :,", frequencies),
    mutant("backward sampling takes the likeliest", chains.backward_sample, "filtered[at] + noise[at]", "filtered[at]",
           frequencies),
    mutant("backward sampling is too warm", chains.backward_sample, "filtered[at] + noise[at]",
           "filtered[at] + 2 * noise[at]", frequencies),
    mutant("the start of a chain is forgotten", chain.chain_weights,
           "np.where(first[:, None] != 0, table[:, 0, :], 0.0)", "0.0", partial(weights, "symbols_several")),
    mutant("lag and present change places", chain.chain_weights, "(step, before, now)", "(step, now, before)",
           partial(weights, "symbols")),
    # what is integrated out
    mutant("the factors of what is integrated out stay", integrated._without,
           "if factor not in around", "if factor", partial(ratio, "pumps")),
    mutant("what is integrated out leaves nothing", integrated._without,
           "Factor(owner_of(name), node.plates, found.log_normaliser),", "", partial(ratio, "rates_of_coins")),
    mutant("the normaliser of a prior is forgotten", integrated._terms,
           "if names(term) & set(others)", "if not names(term)", partial(ratio, "shares_of_groups")),
    # the sweep
    mutant("all blocks move at once", GibbsEmitter.sweep, "**values}}, size, generator)",
           "**(first := dict(values) if {number} == 0 else first)}}, size, generator)",
           partial(joint, "known_variance")),
    mutant("counts are not updated", Sampler.sweep, "values = self.printed.named(self.values)",
           "values = self.__dict__.setdefault('first', self.printed.named(self.values))",
           partial(test_schemas_agree.classes_alike, "poissons")),
    mutant("a draw has the wrong sign", Sampler.sweep, "np.asarray(value) for name",
           "(-np.asarray(value) if name == 'mu' else np.asarray(value)) for name", partial(joint, "shared_precision")),
    # slices
    mutant("a slice forgets the height", slices.slice_step, "density(value) - generator.exponential(size=value.shape)",
           "density(value)", sliced),
    mutant("a slice is too low", slices.slice_step, "density(value) - generator.exponential(size=value.shape)",
           "density(value) - 3 * generator.exponential(size=value.shape)", sliced),
    mutant("a slice takes any trial", slices.slice_step, "waiting & (height >= level)", "waiting",
           sliced),
    mutant("trials lean to the low end", slices.slice_step, "(high - low) * generator.random(value.shape)",
           "(high - low) * generator.random(value.shape) ** 2", sliced),
    mutant("a slice forgets a factor", movers.MoverText._elementwise, "for factor in factors:",
           "for factor in factors[1:]:", partial(ratio, "overdispersed")),
    mutant("a slice takes a Jacobian that is not there", slices.within,
           "found = log_factors(safe.astype(np.int64) if counts else safe)",
           "found = log_factors(safe) + np.log(safe)", partial(ratio, "rates_of_groups")),
    mutant("blocks forget that the others are known", closed_forms.given_all_but,
           "graph.known | (set(graph.unknown) - wanted)", "graph.known", partial(ratio, "known_variance")),
    # sites
    mutant("all sites move at once", sites.greedy_colours,
           "next(colour for colour in range(count + 1) if colour not in taken)", "0", picture),
    mutant("a site takes the likeliest level", sites.SiteMover.move, "scores + noise", "scores", picture),
    mutant("a site forgets its neighbours", sites.SiteMover.scores, "for number, owner in rows:",
           "for number, owner in rows[1:]:", picture),
    mutant("a component forgets its normaliser", blocks._normalisers, "-factor.expression", "0 * factor.expression",
           test_sites.check_chain_graph),
    # paths
    mutant("a path takes its newest point", hamiltonian._joined, "np.log(generator.random()) < chance", "True",
           test_hamiltonian.kept_by_moves),
    mutant("a path forgets weights", hamiltonian.Follower.point, "weight if np.isfinite(weight) else -np.inf",
           "0.0 * weight", test_hamiltonian.kept_by_moves),
    mutant("a step pulls back by the wrong root", metric.Metric.back, "self.inverse @ trunk",
           "trunk @ self.inverse", test_hamiltonian.check_energy),
    mutant("a leaf forgets its trunk", metric.Metric.along, "(self.across * trunk[self.ties]).sum(axis=1)", "0.0",
           test_metric.check_arrow),
    mutant("tight looks outweigh the others", curvature.mean_of,
           "np.sqrt((free + in_range(fixed)[split.order]) / (free + rest))", "np.ones(len(rest))",
           test_metric.check_looks),
    mutant("a metric forgets what the rest fixes", metric.Curvature.metric_given, "free + weight *",
           "free + 0 * weight *", test_metric.check_arrow),
    mutant("leaves meet", rough.leaves_of, "name in taken or ", "", test_metric.check_all_leaves),
    mutant("draws of a trunk put nothing right", curvature.corrected, "_shrunk_spread(trunk)", "np.eye(len(root))",
           partial(test_metric.check_corrected, 0)),
    mutant("draws of leaves put nothing right", curvature.corrected, "1 / _shrunk_variances(leaves)",
           "np.ones(split.leaves)", partial(test_metric.check_corrected, 5)),
    mutant("a climb moves what is held", climb._climbed, "np.where(stay, 0.0, metric.along(metric.back(slope / size)))",
           "metric.along(metric.back(slope / size)) + 1e-9 * stay", test_metric.check_climb),
    mutant("a step forgets its second half", hamiltonian.leapfrog, "half + 0.5 * step * metric.back(gradient)", "half",
           test_hamiltonian.check_reversible),
    mutant("a lost path is kept", hamiltonian.Follower.point, "not diverged, diverged", "True, False",
           test_hamiltonian.test_lost_paths_are_told),
    # gradients
    mutant("only the first occurrence has a slope", slopes.slopes_in, "for place in places)",
           "for place in places[:1])", partial(gradient, "schools")),
    mutant("a shadowed index is caught", slopes.apart, "if clashing:", "if False:", test_slopes.check_shadow),
    mutant("slopes gather at the wrong place", tape.Tape.flat_places, "for place in places]",
           "for place in places[::-1]]", partial(gradient, "several_columns")),
    mutant("the simplex forgets its volume", coordinates.Shares.gradient, "+ 1 - self.shape[-1] * value[..., :-1]", "",
           partial(gradient, "blended")),
    mutant("a matrix counts its volume once", coordinates.Matrices.value, "np.arange(self.shape[-1] + 1, 1, -1)",
           "np.arange(self.shape[-1], 0, -1)", partial(gradient, "matrix_link")),
    # slices along scales and coordinates
    mutant("a scale forgets the volume of what it scales", scale_moves.ScaleMover.placed,
           "0.5 * float(np.sum(np.log(precision)))", "0.0", test_hamiltonian.check_scale_move),
    mutant("what is scaled stays behind", scale_moves.ScaleMover.move, "return moved if",
           "return {self.scale: moved[self.scale]} if", test_hamiltonian.check_scale_move),
    mutant("an orbit forgets its volume", orbit_moves.OrbitMover.placed, "volume = at * (",
           "volume = 0 * (", partial(test_orbits.check_joint, "noisy_covariate")),
    mutant("an intercept stays behind", orbit_moves.OrbitMover.placed, "-= start.lifted * start.middle", "-= 0.0 * at",
           partial(test_orbits.test_what_the_unknowns_make_stays_all_along_the_orbit, "abilities")),
    mutant("a coordinate forgets its height", coordinate_slices.slice_move, "height - generator.exponential()",
           "height - 4 * generator.exponential()", partial(joint, "counts_together")),
    # expectation maximisation
    mutant("soft counts forget the probability", soft._weighed_statistic,
           "multiply(whole.weight, summand)",
           "summand", partial(statistics, "poissons")),
    mutant("pools forget the probability", soft._weighed_pool,
           "multiply(whole.weight, put_in(statement.weight, changes))",
           "put_in(statement.weight, changes)", partial(statistics, "known_variance")),
    mutant("neighbours change places", soft.Softener.along_chain, "for name, level in zip(scope, levels, strict=True)",
           "for name, level in zip(scope, reversed(levels), strict=True)", partial(statistics, "symbols")),
    mutant("counts of a value are counts of all", soft._picked, "substitute(rest, {index: other})",
           "total(rest, index)", partial(statistics, "kinds_of_moves")),
    mutant("tied classes count as independent", soft.Softener.together,
           "Reference(joint_name(names), (*place, *levels))",
           "multiply(*(Reference(i.probability, (*place, i.level)) for i in items))", partial(statistics, "path")),
    mutant("log weights forget a factor", expectations.upwards, "for factor in clique.factors]",
           "for factor in clique.factors[1:]]", partial(objective, "poissons")),
    mutant("a message is lost", expectations.upwards, "for name in clique.inner]", "for name in clique.inner[1:]]",
           partial(objective, "path")),
    mutant("probabilities are not normalised", expectations.downwards, "multiply(-1.0, message)", "0.0",
           partial(objective, "poissons")),
    mutant("probabilities forget those above", expectations.downwards, "if clique.others:", "if False:",
           partial(objective, "path")),
    mutant("the objective forgets the priors", EMEmitter.elsewhere_function, "for factor in self.plan.rest",
           "for factor in self.plan.rest[1:]", partial(objective, "known_variance")),
    mutant("a chain is left out of the objective", HiddenEmitter.log_norms,
           "if not chain.group.classes", "if chain.group.classes", partial(objective, "counts")),
    # chains that meet other hidden variables
    mutant("what inner variables left is lost", chain_programs._terms, "for inner in group.inner:",
           "for inner in group.inner[1:]:", partial(objective, "mixed_readings")),
    mutant("a message of many cells counts one", chain_programs._terms, "totals(message, beside)",
           "substitute(message, dict.fromkeys(beside, ZERO))",
           partial(objective, "many_cells")),
    mutant("the start of chains is forgotten", chain_programs.chain_weights,
           "where(at_first, substitute(begun, start), 0.0)", "ZERO", partial(objective, "kinds_seen_beside")),
    mutant("moves ignore the classes", chain_programs.chain_weights, "substitute(whole, {at_first: ZERO})",
           "substitute(whole, {at_first: ZERO} | {group.levels[name]: ZERO for name in group.above})",
           partial(objective, "kinds_of_moves")),
    mutant("states forget which class they go with", chain_programs._share, "if group.classes:",
           "if group.classes and group.name == '':", partial(objective, "kinds_of_readings")),
    mutant("chains leave nothing to the classes", chain_group.without_chains, "if item.name in group.above]",
           "if item.name in group.above and False]", partial(objective, "kinds_of_moves")),
    mutant("inner variables forget the states", chain_programs._inner_share, "if name not in scope]",
           "if name not in scope[1:]]", partial(statistics, "mixed_readings")),
    mutant("the entropy forgets the classes", mean_field_support.chain_entropy,
           "np.sum(weight * whole)", "np.sum(whole)", partial(entropy, "kinds_of_moves")),
    mutant("the entropy forgets the moves", mean_field_support.chain_entropy, " - moved", "",
           partial(entropy, "factorial")),
    mutant("the entropy forgets inner variables", MeanFieldEmitter.entropies, "for inner in chain.group.inner ",
           "for inner in chain.group.inner[1:] ", partial(entropy, "events")),
    mutant("the best step goes down", EMEmitter.maximise_function, "shown = [self.names(name) for name in found]",
           "shown = [self.names(name) for name in found]; body.append('mu = -mu')", partial(ascent, "known_variance")),
    mutant("EM stops at once", accelerated.arrived_at, "<= tolerance", "<= 1e9 + tolerance",
           partial(stationary, "regressions")),
)  # fmt: skip


KILLED = (AssertionError, PlatewrightError, IndexError, KeyError)


@pytest.mark.parametrize("planted_one", MUTANTS, ids=str)
def test_a_planted_defect_is_noticed(planted_one: Mutant) -> None:
    with planted(planted_one), pytest.raises(KILLED):
        planted_one.law()


def test_the_laws_pass_without_defects() -> None:
    for law in {planted_one.law for planted_one in MUTANTS if not isinstance(planted_one.law, partial)}:
        law()
