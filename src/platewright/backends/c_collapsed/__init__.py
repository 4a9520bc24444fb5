"""Collapsed Gibbs sweeps as C."""
