"""Exact inference on the public networks: every answer within the tolerance of its case."""

from __future__ import annotations

import pytest

from outside.corpus import cases, needs_corpus
from outside.networks import SLOW, discrete, gaussian, undirected

MARKOV = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in cases("uai")]
NETWORKS = [name for name in cases("bn") if not name.startswith("gauss_")]


@needs_corpus
@pytest.mark.parametrize("name", NETWORKS)
def test_a_bayesian_network_agrees_with_its_reference(name: str) -> None:
    assert discrete(name).error <= 1


@needs_corpus
@pytest.mark.parametrize("name", cases("bn", "gauss_"))
def test_a_gaussian_network_agrees_with_its_reference(name: str) -> None:
    assert gaussian(name).error <= 1


@needs_corpus
@pytest.mark.parametrize("name", MARKOV)
def test_a_markov_network_agrees_with_its_reference(name: str) -> None:
    assert undirected(name).error <= 1
