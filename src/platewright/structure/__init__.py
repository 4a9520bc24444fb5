"""Families of models: optional arcs and the models they stand for."""
