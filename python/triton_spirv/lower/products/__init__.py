"""tt.dot and tt.dot_scaled on private arrays, on lanes, and on matrices that a sub-group holds together."""
