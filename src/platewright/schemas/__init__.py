"""Algorithm schemas, one a file, tried by the planner in one visible order."""
