"""The Python surface: models, plates, distributions, functions."""
