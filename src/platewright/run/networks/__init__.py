"""Exact inference with messages in C: one junction tree for all questions to a network."""
