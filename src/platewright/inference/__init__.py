"""Exact inference on graphs without plates: tables, elimination orders, junction trees, Gaussian components."""
