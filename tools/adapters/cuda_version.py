"""A pytest plugin: `torch.version.cuda` has a number; tests ask for it before they ask for a capability."""

from __future__ import annotations


def pytest_configure() -> None:
    """Before the tests are loaded."""
    import torch

    torch.version.cuda = "12.8"
