"""Symbolic expressions over named indices, and what can be done with them."""
