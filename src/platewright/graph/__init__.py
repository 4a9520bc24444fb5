"""The chain graph with plates, and questions to it."""
