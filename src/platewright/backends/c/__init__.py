"""Programs as C: expressions, pools, Gram matrices, and the compiler."""
