"""The program in its grid, and what it tells its user."""
