"""Find the family of a conditional from the form of its log density, never from class names."""
