"""Eliminate unknowns one after another: the joint under derivation, and the search for an order."""
