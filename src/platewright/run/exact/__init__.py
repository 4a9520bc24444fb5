"""Closed-form plans on data: passes, posteriors, predictions, scores."""
