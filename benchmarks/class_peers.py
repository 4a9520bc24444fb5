"""Latent classes as others fit them, where they are installed: stepmix, pomegranate, and a page of NumPy.

Each peer is a function of the number of EM iterations. Pomegranate and NumPy begin where we begin; stepmix draws its
own start, which does not change what an iteration costs. Pomegranate brings PyTorch along, so `make bench` does not
install it: `pip install pomegranate` adds it to the line.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

Peer = Callable[[int], object]
NAMED = ("stepmix", "pomegranate")


def class_peers(x: np.ndarray, p: np.ndarray, theta: np.ndarray) -> dict[str, Peer]:
    """The named peers that are here; NumPy stands in where none is."""
    found = {name: peer for name, make in _MAKERS.items() if (peer := make(x, p, theta)) is not None}
    return found or {"vectorised NumPy": partial(numpy_classes, x, p, theta)}


def absent(peers: Mapping[str, Peer]) -> str:
    """A word on named peers that are not installed."""
    missing = [name for name in NAMED if name not in peers]
    return f", not installed: {', '.join(missing)}" if missing else ""


def _stepmix(x: np.ndarray, p: np.ndarray, theta: np.ndarray) -> Peer | None:
    try:
        from stepmix.stepmix import StepMix
    except ImportError:
        return None

    def peer(iterations: int) -> object:
        how = {"max_iter": iterations, "abs_tol": 0, "rel_tol": 0, "random_state": 0, "progress_bar": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that so few iterations do not converge
            return StepMix(len(p), measurement="categorical", **how).fit(x)

    return peer


def _pomegranate(x: np.ndarray, p: np.ndarray, theta: np.ndarray) -> Peer | None:
    try:
        import torch
        from pomegranate.distributions import Categorical
        from pomegranate.gmm import GeneralMixtureModel
    except ImportError:
        return None
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    rows = torch.tensor(x)

    def peer(iterations: int) -> np.ndarray:
        """Values checked once, not at every iteration: its fastest way."""
        parts = [Categorical(torch.tensor(table), check_data=False) for table in theta]
        how = {"priors": torch.tensor(p), "max_iter": iterations, "tol": -np.inf, "check_data": False}
        fitted = GeneralMixtureModel(parts, **how).fit(rows)
        return np.stack([part.probs.numpy() for part in fitted.distributions])

    return peer


_MAKERS = {"stepmix": _stepmix, "pomegranate": _pomegranate}


def numpy_classes(x: np.ndarray, p: np.ndarray, theta: np.ndarray, iterations: int) -> np.ndarray:
    """Latent classes as one writes them in NumPy: one-hot columns and two products of matrices."""
    hot = (x[:, :, None] == np.arange(theta.shape[-1])).astype(float).reshape(len(x), -1)
    for _ in range(iterations):
        weight = hot @ np.log(theta.reshape(len(p), -1)).T + np.log(p)
        weight -= weight.max(axis=1, keepdims=True)
        np.exp(weight, out=weight)
        weight /= weight.sum(axis=1, keepdims=True)
        p = weight.mean(axis=0)
        counts = (weight.T @ hot).reshape(theta.shape)
        theta = counts / counts.sum(axis=-1, keepdims=True)
    return theta
