"""What must hold before and after a run."""
