"""Layouts of matrices: operands of a matrix unit, and how results are spread over warps."""
