"""Passes over a finished function: what its words must hold, and how they are rewritten before they are
written."""
