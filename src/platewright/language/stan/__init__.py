"""Stan text out of models."""
