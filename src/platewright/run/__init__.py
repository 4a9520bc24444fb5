"""Load data, run programs, and what comes out of it."""
