"""Algorithms on arrays that the library runs and that emitted programs carry along, word for word."""
