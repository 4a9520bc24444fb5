"""Errors of printed programs as errors of ours: which data, or what of the model, they have to do with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from platewright.backends.kernels.accelerated import Unlimited
from platewright.backends.kernels.impossible import ImpossibleData
from platewright.errors import ImproperPosterior, PlatewrightError, Unbounded
from platewright.run.checks.sanity import impossible_data
from platewright.schemas.hidden_plan import HiddenPlan

OBJECTIVES = {"em": "the objective of EM", "mean-field": "the objective of mean field", "laplace": "the log density"}


@contextmanager
def told(plan: HiddenPlan) -> Iterator[None]:
    """Arithmetic that fails inside becomes an error that says what the data, or the model, have to do with it."""
    try:
        yield
    except PlatewrightError:
        raise
    except Unlimited as error:
        raise Unbounded(OBJECTIVES[plan.schema], error.edge) from error
    except ImpossibleData as error:
        raise impossible_data(error) from error
    except ArithmeticError as error:
        raise ImproperPosterior(
            f"the posterior is improper: {str(error).removeprefix('improper: ')}",
            hint="give proper priors, or more data",
        ) from error
    except np.linalg.LinAlgError as error:
        members = [member.name for group in plan.latent.gaussian for member in group.members]
        raise ImproperPosterior(
            f"given the parameters, {', '.join(members or plan.learned)} has no proper distribution",
            hint="give it a proper prior",
        ) from error
    except RuntimeError as error:
        raise PlatewrightError(
            str(error), hint="this is a defect of the derivation: please report the model"
        ) from error
