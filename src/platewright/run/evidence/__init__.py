"""Evidence of models without a closed form."""
