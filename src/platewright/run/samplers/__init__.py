"""Gibbs sampling and its blocks, collapsed sampling, what follows from draws."""
