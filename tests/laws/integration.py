"""Evidence without any theory: the log joint summed over all values of finite unknowns and integrated over the others.

Continuous unknowns are moved to the real line, centred and made independent by posterior draws (any centre would do),
and integrated on a grid that is dense near the centre and reaches very far: x = sinh(t).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import special

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index
from platewright.run.exact.posterior import lift

Array = np.ndarray
DRAW = Index("draw", "draw")
MOST_POINTS = 120_000


def log_joint_of_many(fit: Any, points: dict[str, Array], count: int) -> Array:
    """The log joint at many points at once, straight from the model's factors."""
    environment = Environment({**fit.posterior.environment.values, **points}, {**fit.sizes, "draw": count})
    total = np.zeros(count)
    for factor in fit.plan.factors:
        lifted = lift(factor.expression, frozenset(points), DRAW)
        values = np.asarray(evaluate(lifted, environment, (DRAW, *factor.axes)))
        total += np.broadcast_to(values, (count, *values.shape[1:])).reshape(count, -1).sum(axis=1)
    return total


def brute_evidence(fit: Any, points: int) -> float | None:
    """The log evidence by summation and integration; None when there is too much to sum or integrate."""
    finite: dict[str, int] = {}
    continuous: list[tuple[str, str]] = []
    for name in fit.posterior.unknown:
        node = fit.plan.graph.nodes[name]
        if node.domain.is_finite:
            levels = fit.sizes[node.domain.levels] if node.domain.kind == "levels" else int(node.domain.upper) + 1
            finite[name] = levels
        elif (how := _how(fit, name)) is not None:
            continuous.append((name, how))
        else:
            return None
    shapes = {name: tuple(fit.sizes[axis.plate] for axis in fit.plan.graph.nodes[name].axes) for name in finite}
    combinations = np.prod([levels ** int(np.prod(shapes[name])) for name, levels in finite.items()], dtype=float)
    if len(continuous) > 2 or combinations * points ** len(continuous) > MOST_POINTS:
        return None
    places, weights = _grid(fit, continuous, points)
    logs = []
    for values in _combinations(finite, shapes):
        count = len(weights)
        told = {name: np.broadcast_to(value, (count, *value.shape)) for name, value in values.items()}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = log_joint_of_many(fit, {**told, **places}, count) + weights
        logs.append(special.logsumexp(np.where(np.isnan(found), -np.inf, found)))
    return float(special.logsumexp(logs))


def _how(fit: Any, name: str) -> str | None:
    """How a continuous unknown with one element is moved to the real line."""
    node = fit.plan.graph.nodes[name]
    shape = tuple(fit.sizes[axis.plate] for axis in node.axes)
    domain = node.domain
    if domain.kind == "simplex":
        return "share" if shape == (2,) else None
    if np.prod(shape) != 1 or domain.kind not in ("real", "circle"):
        return None
    if domain.kind == "circle":
        return "circle"
    conditional = fit.posterior.conditional(name)
    if conditional.__class__.__name__ == "FamilyConditional" and conditional.recognised.family.name == "Pareto":
        return "beyond"
    return {(0.0, np.inf): "positive", (-np.inf, np.inf): "real", (0.0, 1.0): "share"}.get((domain.lower, domain.upper))


def _combinations(finite: dict[str, int], shapes: dict[str, tuple[int, ...]]) -> Iterator[dict[str, Array]]:
    cells = [(name, levels) for name, levels in finite.items() for _ in range(int(np.prod(shapes[name])))]
    for chosen in itertools.product(*(range(levels) for _, levels in cells)):
        values: dict[str, list[int]] = {name: [] for name in finite}
        for (name, _), value in zip(cells, chosen, strict=True):
            values[name].append(value)
        yield {name: np.reshape(value, shapes[name]) for name, value in values.items()}


def _grid(fit: Any, continuous: list[tuple[str, str]], points: int) -> tuple[dict[str, Array], Array]:
    """Points of all continuous unknowns, and the log weight of each point."""
    if not continuous:
        return {}, np.zeros(1)
    if [how for _, how in continuous] == ["circle"]:
        # A periodic function is best summed at equal steps.
        shape = tuple(fit.sizes[axis.plate] for axis in fit.plan.graph.nodes[continuous[0][0]].axes)
        angles = np.linspace(-np.pi, np.pi, points, endpoint=False).reshape(points, *shape)
        return {continuous[0][0]: angles}, np.full(points, np.log(2 * np.pi / points))
    drawn = fit.draws(400, seed=11)
    lines = np.stack([_to_line(np.asarray(drawn[name]), how, fit, name) for name, how in continuous], axis=-1)
    centre = np.median(lines, axis=0)
    spread = np.cov(lines.T).reshape(len(continuous), len(continuous)) + 1e-12 * np.eye(len(continuous))
    root = np.linalg.cholesky(spread)
    t = np.linspace(-11.0, 11.0, points)
    axes = np.meshgrid(*([t] * len(continuous)), indexing="ij")
    flat = np.stack([axis.ravel() for axis in axes], axis=-1)
    moved = centre + np.sinh(flat) @ root.T
    weights = np.log(np.cosh(flat)).sum(axis=-1) + len(continuous) * np.log(t[1] - t[0]) + np.log(np.diag(root)).sum()
    places = {}
    for column, (name, how) in enumerate(continuous):
        values, slope = _from_line(moved[:, column], how, fit, name)
        shape = tuple(fit.sizes[axis.plate] for axis in fit.plan.graph.nodes[name].axes)
        if fit.plan.graph.nodes[name].domain.kind == "simplex":
            values = np.stack([values, 1 - values], axis=-1)
        places[name] = values.reshape(len(weights), *shape)
        weights = weights + slope
    return places, weights


def _least(fit: Any, name: str) -> float:
    """The lower end of a Pareto posterior."""
    return float(np.asarray(fit.posterior.marginal(name).parameters["scale"]).ravel()[0])


def _to_line(x: Array, how: str, fit: Any, name: str) -> Array:
    if how == "share" and fit.plan.graph.nodes[name].domain.kind == "simplex":
        x = x[..., 0]
    x = x.reshape(len(x))
    match how:
        case "positive":
            return np.log(x)
        case "share":
            return special.logit(np.clip(x, 1e-12, 1 - 1e-12))
        case "beyond":
            return np.log(np.log(x / _least(fit, name)) + 1e-12)
        case "circle":
            return np.tan(x / 2)
    return x


def _from_line(u: Array, how: str, fit: Any, name: str) -> tuple[Array, Array]:
    """The value, and the log of its derivative."""
    match how:
        case "positive":
            u = np.clip(u, -690, 690)
            return np.exp(u), u
        case "share":
            return special.expit(u), special.log_expit(u) + special.log_expit(-u)
        case "beyond":
            least = _least(fit, name)
            far = np.exp(np.clip(u, -300, 6))
            return least * np.exp(far), np.log(least) + far + np.clip(u, -300, None)
        case "circle":
            return 2 * np.arctan(u), np.log(2.0) - np.log1p(u**2)
    return u, np.zeros_like(u)
