"""Rewriting of the IR before it is lowered: a file for each pass; pipeline.py runs them."""
