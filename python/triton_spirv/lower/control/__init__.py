"""Loops, branches, calls, and regions of scalar operations."""
