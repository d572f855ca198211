"""`command("ops", "tt.dot")` runs the command in this process and gives its status and what it printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from triton_spirv.cli.main import main


@dataclass(frozen=True)
class Done:
    """What became of a command."""

    status: int
    out: str
    error: str


Command = Callable[..., Done]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `triton-spirv` with these words."""

    def run(*words: object) -> Done:
        capsys.readouterr()
        try:
            status = main([str(word) for word in words])
        except SystemExit as stop:  # argparse ends like this
            status = stop.code if isinstance(stop.code, int) else 1
        printed = capsys.readouterr()
        return Done(status, printed.out, printed.err)

    return run
