"""`triton-spirv check`: a program whose kernels test themselves while they run (docs/checking.md)."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from .. import check_reports, checking, switch, unwritten
from ..errors import UsageError
from ..target.optimisations import OPTIMISATIONS, VARIABLE
from .output import Output
from .run import execute, program_arguments

EXAMPLES = ("check my_kernels.py", "check --checks bounds,uninit -m benchmarks.softmax --steps 10",
            "check --report findings.json train.py", "check --github -m pytest tests")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--checks", default="all", help=f"{', '.join(checking.NAMES)}, with commas between "
                        "them (default: all)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the findings as JSON")
    parser.add_argument("--github", action="store_true",
                        help="print findings as annotations of GitHub Actions")
    parser.add_argument("--limit", type=int, default=0, metavar="N",
                        help=f"end the program after N findings (default: {checking.LIMIT}, or never)")
    parser.add_argument("--suppress", default="", metavar="[CHECK:]FILE[:LINE]",
                        help="leave findings out: of a check, in a file, in a line; commas between several")
    parser.add_argument("--bisect", action="store_true",
                        help="run the program once without each optimisation, with check=compiler: which one "
                        "changes results?")
    program_arguments(parser)


def run(options: argparse.Namespace, out: Output) -> int:
    """Run the program to its end, whatever is found; status 1 with findings."""
    if options.bisect:
        return _bisect(options, out)
    report = options.report and check_reports.require_place(options.report)
    switch.enable()
    os.environ[checking.VARIABLE] = checking.normalised(options.checks)  # for its processes as well
    checking.require_suppressions(options.suppress)
    if options.suppress:
        os.environ[check_reports.SUPPRESS] = options.suppress
    checking.require_settings()
    status = 1
    if checking.follows_memory():
        unwritten.import_torch()
    most = checking.at_least_0(options.limit, "--limit")
    with checking.collected(most) as findings, suppress(checking.TooMany), checking.checked(options.checks):
        status = execute(options)
    for finding in findings:
        out.line(_annotation(finding) if options.github else str(finding))
    count = len(findings)
    out.line(f"{count} finding{'s' * (count != 1)}")
    if report:
        try:
            check_reports.write_json(report, [finding.to_json() for finding in findings])
        except OSError as error:
            raise UsageError(f"the findings are not written: {error}") from None
    return 1 if findings else status


def _bisect(options: argparse.Namespace, out: Output) -> int:
    """Status 1 if results depend on optimisations."""
    program = [*(["-m"] if options.module else []), options.program, *options.arguments]

    def finds(left_out: str) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "findings.json"
            words = [sys.executable, "-m", "triton_spirv", "check", "--checks", checking.COMPILER,
                     "--report", str(report), *program]
            done = subprocess.run(words, env={**os.environ, VARIABLE: left_out}, stdout=subprocess.DEVNULL,
                                  check=False)
            if not report.is_file():
                raise UsageError(f"{options.program} ended with status {done.returncode}")
            return bool(json.loads(report.read_text()))

    if not finds("all"):
        out.line("results do not depend on optimisations")
        return 0
    guilty = [name for name in OPTIMISATIONS if not finds(f"-{name}")]
    out.line(f"no finding without one of: {', '.join(guilty)}" if guilty else
             "findings without each of the optimisations; more than one is wrong")
    return 1


#: in annotations: in a message, and in a property, where these end it
_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def _annotation(finding: checking.Finding) -> str:
    """One line for GitHub Actions (its workflow commands; escapes as in actions/toolkit, command.ts)."""
    file = finding.file.translate(_PROPERTY)
    message = finding.message.translate(_MESSAGE)
    return f"::error file={file},line={finding.line},col={finding.column},title={finding.check}::{message}"
