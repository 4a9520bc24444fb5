"""The planner: decompose, try schemas in one visible order, and explain."""
