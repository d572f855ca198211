"""`triton-spirv completion SHELL`: a script for the shell, made of the parser that reads the command line."""

from __future__ import annotations

import argparse
import importlib

from ..errors import TritonSpirvError
from .output import Output

EXAMPLES = ("completion bash > ~/.local/share/bash-completion/completions/triton-spirv",
            "completion zsh > ~/.zfunc/_triton-spirv")

SHELLS = ("bash", "zsh", "tcsh")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="your shell")


def run(options: argparse.Namespace, out: Output) -> int:
    """Print the script."""
    from .main import build_parser

    try:
        shtab = importlib.import_module("shtab")
    except ImportError:
        hint = "pip install 'triton-spirv[cli]'"
        raise TritonSpirvError(f"completion scripts are made by shtab: {hint}") from None
    print(shtab.complete(build_parser(), shell=options.shell), file=out.stream)
    return 0
