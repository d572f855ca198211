"""`triton-spirv COMMAND ...`: finds the command, and turns what goes wrong into one line and an exit status.

Status 0: done. 1: the work failed (a kernel that does not compile, a damaged cache, a doctor who found
something). 2: what was asked for cannot be meant; one line says what is wrong.
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
    "devices": "the devices that kernels can run on, and what each can do",
    "doctor": "what is installed, what is missing and how to get it; runs a kernel on each device",
    "compile": "a kernel, ahead of time: for named targets, into one file or a bundle that runs by itself",
    "show": "a cached kernel: your source, its IR and its listing side by side, or as one HTML page",
    "stats": "registers, spills, SIMD width, the mix of instructions and the hot loop on an Intel GPU",
    "cache": "what is kept of compiled kernels: list, remove, verify",
    "replay": "recorded launches once more, and whether they give what they gave",
    "ops": "which of Triton's operations can be compiled",
    "completion": "a script that completes this command's words in your shell",
}


class Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see '{self.prog} --help'\n")


def build_parser() -> Parser:
    """The parser of the whole command line."""
    from .. import __version__

    parser = Parser(prog="triton-spirv",
                    description="Triton kernels as SPIR-V: compile, look at, check, run again.",
                    epilog="'triton-spirv COMMAND --help' shows a command's options and examples. Exit "
                           "status: 0 "
                           "done, 1 failed, 2 not a possible request.")
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
    options = build_parser().parse_args(arguments)
    program = f"triton-spirv {options.command}"
    try:
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
