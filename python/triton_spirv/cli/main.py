"""`triton-spirv COMMAND ...`: finds the command, and turns what goes wrong into one line and an exit status.

Status 0: done. 1: the command found a problem (a kernel that does not compile, a damaged cache, a missing
package). 2: the request makes no sense; one line says why. 130: Ctrl-C.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from types import ModuleType
from typing import NoReturn

from ..errors import TritonSpirvError, UsageError
from .output import Output

#: command -> one line of help. The module of the same name has `EXAMPLES`, `arguments(parser)` and
#: `run(options, out) -> status`.
COMMANDS = {
    "devices": "list the devices that kernels can run on, and what each can do",
    "doctor": "check the installation, say how to get what is missing, run a kernel on each device",
    "selftest": "run kernels with known results and figures on a device, and write one report of it",
    "compile": "compile a kernel ahead of time, into one file or a bundle that needs no Triton",
    "show": "show a cached kernel: your source, its IR and its SPIR-V side by side, or as an HTML page",
    "stats": "count the registers, spills and instructions of a kernel's machine code",
    "cache": "list, remove or verify the compiled kernels on disk",
    "replay": "repeat recorded launches and compare the results with the recording",
    "run": "run a program that was written for CUDA, with its tensors on the CPU",
    "check": "run a program whose kernels test themselves: accesses out of bounds, NaNs, overflow",
    "ops": "list Triton's operations and say which can be compiled",
    "targets": "list the targets that kernels can be compiled for",
    "completion": "print a completion script for your shell",
}


class Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see '{self.prog} --help'\n")


def build_parser() -> Parser:
    """The parser of the whole command line."""
    from .. import __version__

    parser = Parser(prog="triton-spirv",
                    description="Compile Triton kernels to SPIR-V, look at them, and repeat their launches.",
                    epilog="'triton-spirv COMMAND --help' shows a command's options and examples. Exit "
                           "status: 0 success, 1 a problem was found, 2 the request makes no sense.")
    parser.add_argument("--version", action="version", version=f"triton-spirv {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, help in COMMANDS.items():
        module = module_of(name)
        lines = "".join(f"\n  triton-spirv {example}" for example in module.EXAMPLES)
        command = commands.add_parser(name, help=help, description=help,
                                      epilog=f"examples:{lines}",
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
        module.arguments(command)
    return parser


def module_of(command: str) -> ModuleType:
    """The module of this package that has a command."""
    return importlib.import_module(f".{command}", __package__)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status."""
    program = "triton-spirv"
    try:
        options = build_parser().parse_args(arguments)
        program = f"triton-spirv {options.command}"
        return int(module_of(options.command).run(options, Output()))
    except UsageError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    except TritonSpirvError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
