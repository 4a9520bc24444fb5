"""What a run leaves, whatever its schema: what was learned by name, how, and what it says when others ask.

Tables, scores, files and trees of draws are made by functions that know this class alone (`Result` has them as
members). Where schemas differ, each says its part by a member that they read: what its score is, how its draws come by
chain, what goes into a file. What a schema cannot give it declines with `NotLearned` and a way to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from platewright.errors import FormatError, NotLearned, PlatewrightError, UnknownName, shown_name
from platewright.family import Array
from platewright.operations.split_partly_known import missing_name, observed_name
from platewright.run.evidence.evidence import Evidence
from platewright.run.results.followers import plates_without_size
from platewright.run.results.quantity import Draws, Numbers, Predictions, Quantities, Quantity

if TYPE_CHECKING:
    from platewright.backends.numpy.learning import Options
    from platewright.inference.answers import MostProbable
    from platewright.recognition.exchangeable import Symmetry
    from platewright.run.whole_density import PointDerivatives

DRAWS_OF_PARAMETERS = 4000
DRAWS_FOR_MARGINALS = 4000


@dataclass(frozen=True)
class Written:
    """What a file keeps of a result: text as JSON, and arrays by group."""

    text: Mapping[str, Any]
    groups: Mapping[str, Mapping[str, Array]]


def one_chain(drawn: Draws) -> dict[str, Array]:
    """Independent draws, as if of one chain."""
    return {name: np.asarray(values)[None] for name, values in drawn.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Outcome(Quantities):
    """What was learned by name: `fit[name]`, `name in fit`, `list(fit)`, and how it was found."""

    derivation: Any
    """The plan as its schema wrote it; `plan` wraps it for the user."""
    columns: Mapping[str, Array]
    """The data by name; none where they came from a file in batches."""
    sizes: Mapping[str, int]
    """How many elements each plate has."""
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict, kw_only=True)
    """By plate the names of its elements, where the data had names."""
    seed: int = field(default=0, kw_only=True)
    backend: str = field(default="numpy", kw_only=True)
    made_by: str = field(default="", kw_only=True)
    """Who compiled what ran, and with which flags, where it was C."""
    seconds: Mapping[str, float] | None = field(default=None, kw_only=True)
    """How long each part of the run took."""

    # -- by name ---

    @property
    def learned(self) -> tuple[str, ...]:
        """The unknowns about which something was learned."""
        raise NotImplementedError

    @property
    def functions(self) -> tuple[str, ...]:
        """The nodes that follow from what was learned: functions of it, and what is predicted."""
        return ()

    @cached_property
    def _names(self) -> tuple[str, ...]:
        able = {*self.learned, *self.functions}
        return tuple(name for name in self.derivation.graph.nodes if name in able)

    def __getitem__(self, name: str) -> Quantity:
        """What was learned about one unknown, or follows for one function, by its name in the model."""
        raise NotImplementedError

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def expected(self, name: str) -> Numbers:
        """The mean of an unknown, of a discrete one the probabilities; of a variable with missing cells all cells."""
        twin, seen = missing_name(name), observed_name(name)
        if twin in self.derivation.graph.nodes and seen in self.columns:
            whole = np.asarray(self.columns[name], dtype=float)
            return np.where(self.columns[seen] != 0, whole, self.expected(twin))
        return self._mean(name)

    def _mean(self, name: str) -> Numbers:
        """The mean of an unknown or of what follows, element by element; of a discrete one the probabilities."""
        return np.asarray(self[name].mean)

    def probabilities(self, name: str) -> Numbers:
        """For a discrete unknown the probability of each of its values, along the last axis."""
        raise self._lacks(f"probabilities of `{name}`")

    @property
    def point(self) -> Mapping[str, Numbers]:
        """A point estimate of every unknown: the joint mode for goal `map`, else what stands for its posterior."""
        return {name: np.asarray(self[name].value) for name in self.learned}

    def draws(self, count: int = 1000, seed: int | None = None) -> Draws:
        """Joint draws of what was learned, by name; the first axis numbers them."""
        raise self._lacks("draws")

    # -- scores ---

    @property
    def log_evidence(self) -> float:
        """`log p(data | model)`."""
        raise self._lacks("evidence", 'learn(data, goal="evidence")')

    @property
    def lower_bound(self) -> float:
        """A lower bound of the log evidence."""
        raise self._lacks("lower bound", 'by="mean-field" gives one')

    @property
    def log_joint(self) -> float:
        """`log p(data, estimate)`."""
        raise self._lacks("log joint", 'learn(data, goal="map")')

    @property
    def log_likelihood(self) -> float:
        """`log p(data | estimate)`."""
        raise self._lacks("log likelihood of an estimate", 'learn(data, goal="map"), or fit.to_arviz().log_likelihood')

    def log_predictive(self, new: object) -> Numbers:
        """For each complete new row its log predictive density."""
        raise self._lacks("log predictive densities")

    # -- derivatives ---

    def gradient(self, point: Mapping[str, Any]) -> dict[str, Numbers]:
        """The slopes of `log p(data, point)` by name, at a value for each real unknown.

        What has finitely many values is held where the point gives one, else summed out.
        """
        return self._derivatives(point).gradient()

    def hessian(self, point: Mapping[str, Any]) -> dict[tuple[str, str], Numbers]:
        """The second derivatives by pairs of names: the axes of the one, then those of the other."""
        return self._derivatives(point).hessian()

    def _derivatives(self, point: Mapping[str, Any]) -> PointDerivatives:
        from platewright.run.whole_density import point_derivatives

        graph = self.derivation.graph
        if lost := [n for n, node in graph.nodes.items() if n in graph.known and n not in self.columns and node.axes]:
            found = f"the rows of `{lost[0]}` were read from a file and not kept"
            raise PlatewrightError(found, hint="learn from data in memory")
        return point_derivatives(graph, self.columns, self.sizes, point)

    # -- what each schema says of itself ---

    @cached_property
    def evidence(self) -> Evidence:
        """The log evidence that this fit can give, with the method and its Monte Carlo error."""
        raise self._lacks("evidence", 'learn(data, goal="evidence")')

    @property
    def score(self) -> str:
        """The evidence where it is known, else the objective at the estimate, as a table says it."""
        return ""

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What a report says of the run: pairs of a word and its value."""
        return (("how", self.how),)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before the numbers are used: labels that could be swapped, chains that disagree."""
        return ()

    @property
    def shows_errors(self) -> bool:
        """Whether an estimate has standard errors that take little time."""
        return False

    @property
    def is_estimate(self) -> bool:
        """Whether what was learned is a point, so that a row is left out by finding it anew."""
        return False

    def without_row(self, row: str, number: int) -> Mapping[str, Numbers]:
        """The estimate of all elements of a plate but one."""
        raise self._lacks("estimate", 'learn(data, goal="map")')

    def parameters(self) -> Draws:
        """Draws of all that was learned, one after another."""
        return self.draws(DRAWS_OF_PARAMETERS)

    def draws_by_chain(self, count: int, seed: int | None) -> tuple[dict[str, Array], str]:
        """Draws for those who work with draws: chain, draw, then the axes of the variable; and where they come from."""
        return one_chain(self.draws(count, seed)), "independent draws"

    def written(self) -> Written:
        """What a file keeps of the result."""
        raise FormatError(f"a {type(self).__name__} cannot be saved", expected="a posterior or an estimate")

    # -- new rows ---

    def predict(self, new: object, count: int = 1000, seed: int | None = None) -> Predictions:
        """Predictive of what `new` leaves open; `new` gives values of new rows, or just their number."""
        raise self._lacks("predictions")

    def update(self, more: object) -> Outcome:
        """The fit after more rows, exactly as if all had been there from the start."""
        raise self._lacks("statistics to add rows to", "learn again from all rows")

    def forget(self, rows: object) -> Outcome:
        """The fit without some of its rows, exactly as if they had never been there."""
        raise self._lacks("statistics to take rows from", "learn again from the other rows")

    def prequential(self) -> Numbers:
        """For each row its log predictive density given those before it; all rows add up to the log evidence."""
        raise self._lacks("prequential scores", 'by="exact", where the model has a closed form')

    @property
    def local_evidence(self) -> Mapping[tuple[str, ...], float]:
        """The log evidence of each independent piece, by its unknowns (Lemma 6.4); the sum is the log evidence."""
        raise self._lacks("evidence of pieces", 'by="exact", where the model has a closed form')

    def most_probable(self) -> MostProbable:
        """The values of all hidden variables together that are most probable."""
        raise self._lacks("most probable state", 'learn(data, goal="map", by="em")')

    def diagnostics(self) -> dict[str, dict[str, NDArray[Any]]]:
        """R-hat and effective sample size of every quantity."""
        raise self._lacks("chains", 'by="gibbs" has them')

    def _lacks(self, what: str, hint: str = 'learn(data, goal="posterior")') -> NotLearned:
        return NotLearned(f"a fit of `{self.title}` by {self.derivation.schema} has no {what}", hint=hint)

    # -- how it was found ---

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        raise NotImplementedError

    @property
    def ran_by(self) -> str:
        """The backend, and who compiled its C."""
        return f"{self.backend}: {self.made_by}" if self.made_by else self.backend

    @property
    def title(self) -> str:
        """The name of the model."""
        return str(self.derivation.graph.title)

    def source(self, backend: str = "numpy", brief: bool = False) -> str:
        """The emitted program, standing alone, in a target language: "numpy" or "c".

        `brief` is the algorithm alone, for a paper or a lecture: without the tools that it calls, the table and the
        command line. What a run was told are the defaults of the program. The first line says what ran: after how many
        iterations, in which backend, compiled by whom with which flags.
        """
        from platewright.backends.numpy.brief import algorithm_of
        from platewright.run.plan_source import plan_source  # all emitters: loaded when somebody looks

        gathered = "rows stand for" in self.backend
        source = plan_source(self.derivation, backend, self.options, gathered)
        return algorithm_of(source) if brief else self._signed(source, backend)

    @property
    def options(self) -> Options:
        """What the run was told, as the emitted program names it."""
        from platewright.backends.numpy.learning import DEFAULTS

        return DEFAULTS

    def _signed(self, text: str, backend: str) -> str:
        """The text with a first line that says what ran: algorithm, iterations, backend and compiler."""
        from platewright.backends.c.support import c_comment  # loads when somebody looks
        from platewright.backends.naming import comment

        return f"/* {c_comment(self.how)} */\n{text}" if backend == "c" else f"# {comment(self.how)}\n{text}"

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The labels that the model cannot tell apart; every mode of the posterior comes once for each relabelling."""
        from platewright.recognition.exchangeable import find_symmetries

        return find_symmetries(self.derivation.graph, self.derivation.factors, self.sizes)

    def absent(self, name: str, able: Iterable[str]) -> UnknownName:
        """The refusal of `fit[name]`: why this name has no answer, and what to ask instead."""
        graph = self.derivation.graph
        if missing_name(name) in graph.nodes:
            found = f"`{name}` is known in part"
            return UnknownName(name, able, where="fit[...]", found=found, hint=f'fit.expected("{name}")')
        if name in graph.nodes and graph.is_known(name):
            return UnknownName(
                name,
                able,
                where="fit[...]",
                found=f"`{name}` is known, so it has no posterior",
                hint="fit.predict(...)",
            )
        if without := [f"`{plate}`" for plate in plates_without_size(graph, name, self.sizes)]:
            found = f"`{name}` has its prior, but nobody said how large {' and '.join(without)} is"
            return UnknownName(name, able, where="fit[...]", found=found, hint='m.plate("name", 3) gives it a size')
        latent = getattr(self.derivation, "latent", None)
        if latent is not None and name in latent.names:
            asked = "probabilities" if graph.nodes[name].domain.is_finite else "expected"
            found = f"`{name}` is hidden: {self.derivation.schema} integrates it out"
            return UnknownName(name, able, where="fit[...]", found=found, hint=f'fit.{asked}("{name}")')
        return UnknownName(name, able, where="fit[...]")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {shown_name(self.title)}: {self.how}>"
