"""A library's own tests through the pytest plugin, file by file, and a table of what became of them.

    python tools/library_tests.py CHECKOUT --every 20 --markdown
    python tools/library_tests.py CHECKOUT --files tests/rms_norm_test.py tests/nms_test.py

CHECKOUT is a copy of the library's repository; its own package is imported from there. Every n-th test of a
file runs, in a process for each file. `--cuda` says to the tests that CUDA is there.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

COLUMNS = ("passed", "refused", "skipped", "failed")


def pytest(arguments: list[str], options: argparse.Namespace) -> subprocess.CompletedProcess[str] | None:
    """Run pytest in the checkout, with the plugin; None at the time limit."""
    command = [sys.executable, "-m", "pytest", "-p", "triton_spirv.pytest", "--triton-spirv", "-q"]
    command += ["-p", "no:cacheprovider", *(["--triton-spirv-cuda"] if options.cuda else []), *arguments]
    environment = os.environ | {"PYTHONPATH": str(options.checkout)}
    try:
        return subprocess.run(command, cwd=options.checkout, env=environment, capture_output=True, text=True,
                              timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return None


def tests_of(file: str, options: argparse.Namespace) -> tuple[list[str], str]:
    """Every n-th test of a file, by its name; why there are none."""
    done = pytest(["--collect-only", file], options)
    lines = done.stdout.splitlines() if done else [f"E  no end in {options.timeout} s"]
    errors = [line[1:].strip() for line in lines if line.startswith("E  ")]
    return [line for line in lines if "::" in line][::options.every], "; ".join(errors)[:160]


def outcome(case: ET.Element) -> tuple[str, str]:
    """(column, reason) of one test in pytest's XML."""
    for tag, column in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        found = case.find(tag)
        if found is not None:
            reason = found.get("message", "")
            refused = "triton-spirv refuses" in reason
            return "refused" if refused else column, " ".join(reason.split())[:160]
    return "passed", ""


def run(file: str, options: argparse.Namespace) -> Counter[tuple[str, str]]:
    """(column, reason) -> number of tests of a file."""
    names, reason = tests_of(file, options)
    if not names:
        return Counter({("failed", f"no tests were found: {reason}"): 1})
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        done = pytest([f"--junitxml={report}", *names], options)
        if done is None:
            return Counter({("failed", f"no end in {options.timeout} s"): len(names)})
        if not report.exists():
            return Counter({("failed", f"the process ended by {done.returncode}"): len(names)})
        return Counter(outcome(case) for case in ET.parse(report).iter("testcase"))


def main() -> None:
    parser = argparse.ArgumentParser(description="A library's own tests through the pytest plugin")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--files", nargs="+", help="test files; by default all that are found")
    parser.add_argument("--every", type=int, default=1, help="every how manyth test of a file")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one file")
    parser.add_argument("--cuda", action="store_true", help="torch.cuda.is_available() says True")
    parser.add_argument("--markdown", action="store_true", help="print rows of a table for a page")
    options = parser.parse_args()
    options.checkout = options.checkout.resolve()
    found = (str(path.relative_to(options.checkout)) for path in sorted(options.checkout.rglob("*.py"))
             if re.fullmatch(r"test_\w+\.py|\w+_test\.py", path.name))
    total: Counter[str] = Counter()
    for file in options.files or found:
        results = run(file, options)
        counts = Counter(column for (column, _), number in results.items() for _ in range(number))
        total += counts
        numbers = [str(counts[column]) for column in COLUMNS]
        print(f"| {Path(file).stem} | {' | '.join(numbers)} |" if options.markdown else
              f"{file}: {', '.join(map(' '.join, zip(numbers, COLUMNS, strict=True)))}", flush=True)
        for (column, reason), number in results.items():
            if reason and not options.markdown:
                print(f"    {column} {number}: {reason}", flush=True)
    print(", ".join(f"{total[column]} {column}" for column in COLUMNS))


if __name__ == "__main__":
    main()
