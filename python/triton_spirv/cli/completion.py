"""`triton-spirv completion SHELL`: a script for the shell, made of the parser that reads the command line."""

from __future__ import annotations

import argparse
import importlib

from ..errors import TritonSpirvError
from .output import Output

EXAMPLES = ("completion bash > ~/.local/share/bash-completion/completions/triton-spirv",
            "completion zsh > ~/.zfunc/_triton-spirv",
            "completion fish > ~/.config/fish/completions/triton-spirv.fish")

SHELLS = ("bash", "zsh", "tcsh", "fish")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="your shell")


def run(options: argparse.Namespace, out: Output) -> int:
    """Print the script."""
    from .main import build_parser

    try:
        shtab = importlib.import_module("shtab")
    except ImportError:
        hint = "pip install 'triton-spirv[cli]'"
        raise TritonSpirvError(f"completion scripts need shtab: {hint}") from None
    if options.shell not in shtab.SUPPORTED_SHELLS:
        raise TritonSpirvError(f"shtab {shtab.__version__} knows no {options.shell}: pip install -U shtab")
    print(shtab.complete(build_parser(), shell=options.shell), file=out.stream)
    return 0
