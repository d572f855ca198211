"""For PyInstaller: where the hook is that puts this package into a frozen program."""

from __future__ import annotations

from pathlib import Path


def hook_dirs() -> list[str]:
    """Folders with hooks; PyInstaller asks through the entry point `pyinstaller40`."""
    return [str(Path(__file__).parent)]
