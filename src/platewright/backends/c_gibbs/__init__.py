"""Gibbs sweeps as C, one kind of block a file."""
