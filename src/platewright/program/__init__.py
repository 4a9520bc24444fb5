"""What will run, in no language yet: statistics over rows, assignments, triangularisations."""
