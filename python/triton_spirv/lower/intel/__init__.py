"""Intel GPUs: 2D block messages and the matrix unit."""
