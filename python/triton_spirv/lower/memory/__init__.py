"""Loads, stores and atomics of global memory, and fetching ahead."""
