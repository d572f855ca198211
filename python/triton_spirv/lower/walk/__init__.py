"""Large tensors: what is evaluated when, in which loop, and what is kept in private arrays."""
