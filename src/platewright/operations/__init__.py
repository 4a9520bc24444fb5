"""Exact operations on graphs, one a file, each a pure function that returns a Step or a Declined."""
