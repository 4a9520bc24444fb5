"""Class probability trees: what a tree scores, how one is grown from rows, and averages over many."""
