"""`triton-spirv run`: a program that was written for CUDA, unmodified."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import switch
from ..errors import UsageError
from ..torch_as_cuda import capability, where_torch_is
from .output import Output

EXAMPLES = ("run train.py --steps 10", "run --cuda -m benchmarks.softmax")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--cuda", action="store_true",
                        help="torch.cuda.is_available() and Tensor.is_cuda say True, for programs that stop "
                             "otherwise")
    parser.add_argument("--capability", type=capability, default=(0, 0), metavar="8.0",
                        help="what torch.cuda.get_device_capability() says (default: 0.0)")
    program_arguments(parser)


def program_arguments(parser: argparse.ArgumentParser) -> None:
    """The program and what it is given."""
    parser.add_argument("-m", dest="module", action="store_true",
                        help="PROGRAM is a module, as for python -m")
    parser.add_argument("program", metavar="PROGRAM", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="its arguments")


def run(options: argparse.Namespace, out: Output) -> int:
    """Run the program in this process; its own exit status where it has one."""
    switch.enable()
    settings = {"available": options.cuda, "is_cuda": options.cuda, "capability": options.capability}
    with where_torch_is(**settings):
        return execute(options)


def execute(options: argparse.Namespace) -> int:
    """Run the program of `program_arguments` as Python would; the status that it exits with."""
    if not options.module and not Path(options.program).is_file():
        raise UsageError(f"there is no file {options.program}")
    with _command_line(options):
        try:
            if options.module:
                runpy.run_module(options.program, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(options.program, run_name="__main__")
        except SystemExit as end:
            if end.code is None or isinstance(end.code, int):
                return end.code or 0
            raise
    return 0


@contextmanager
def _command_line(options: argparse.Namespace) -> Iterator[None]:
    """sys.argv and the first entry of sys.path as Python would have them."""
    before = sys.argv, sys.path
    folder = "" if options.module else str(Path(options.program).resolve().parent)
    sys.argv, sys.path = [options.program, *options.arguments], [folder, *sys.path]
    try:
        yield
    finally:
        sys.argv, sys.path = before
