"""Programs as NumPy source, and the functions emitted files share."""
