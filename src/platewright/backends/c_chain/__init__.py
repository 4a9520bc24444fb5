"""Hidden chains as C: forward-backward recursions in vector lanes."""
