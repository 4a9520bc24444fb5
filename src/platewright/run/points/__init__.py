"""Posteriors over a few numbers by quadrature, all other unknowns eliminated at each point."""
