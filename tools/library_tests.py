"""A library's own tests of its Triton kernels through the pytest plugin, and what became of each.

    python tools/library_tests.py CHECKOUT --most 20                      any library
    python tools/library_tests.py CHECKOUT --library conch --record       as tools/libraries.toml says
    python tools/library_tests.py CHECKOUT --library conch --vulkan       on a Vulkan device

CHECKOUT is a copy of the library's repository or its sdist, unpacked; the library is imported from there. All
files run in one process, and a process that dies or stands still is followed by another, which goes on behind
that test. Of each file `--most` tests run, drawn with the seed of tools/libraries.toml. `--record` keeps the
counts in tools/libraries.json, of which tools/library_pages.py makes the pages.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomllib

TOOLS = Path(__file__).parent
LIBRARIES = TOOLS / "libraries.toml"
RESULTS = TOOLS / "libraries.json"

#: what can become of a test; "ran" is passed with launches of kernels, "passed" is passed without any
COLUMNS = ("ran", "passed", "refused", "skipped", "failed")
REFUSED = "triton-spirv refuses the kernel: "


def load() -> dict[str, Any]:
    """tools/libraries.toml"""
    return tomllib.loads(LIBRARIES.read_text())


# ---- running


def command(options: argparse.Namespace, library: dict[str, Any]) -> list[str]:
    """Of one process; files and arguments come last."""
    mode = "--triton-spirv=vulkan" if options.vulkan else "--triton-spirv"
    line = [sys.executable, "-m", "pytest", "-q", "-p", "triton_spirv.pytest", mode, "-p", "library_plugin"]
    line += ["-p", "no:cacheprovider", "--continue-on-collection-errors", "--tb=short", "-o", "addopts="]
    line += ["--triton-spirv-cuda"] if options.cuda or library.get("cuda") else []
    files = options.files or library.get("files") or found(options.checkout)
    return [*line, *library.get("arguments", []), *map(placed, files)]


def placed(file: str) -> str:
    """A file of tests: the library's, or one of our own."""
    ours = TOOLS / "adapters" / file
    return str(ours) if ours.is_file() else file


def found(checkout: Path) -> list[str]:
    """All files of tests."""
    return [str(path.relative_to(checkout)) for path in sorted(checkout.rglob("*.py"))
            if re.fullmatch(r"test_\w+\.py|\w+_test\.py", path.name)]


def environment(options: argparse.Namespace, library: dict[str, Any], verdicts: Path) -> dict[str, str]:
    """The library's package and the plugin are on the path; the cache of kernels is a new one."""
    folders = [TOOLS, TOOLS / "adapters", *(options.checkout / part for part in library.get("path", ["."]))]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "LIBRARY_VERDICTS": str(verdicts), "LIBRARY_SEED": str(load()["seed"]),
        "LIBRARY_MOST": str(options.most or library.get("most", 0)), "LIBRARY_SECONDS": str(options.seconds),
        **library.get("environment", {}),
    }


def run(options: argparse.Namespace, library: dict[str, Any]) -> list[dict[str, Any]]:
    """The verdict of each test that was tried."""
    with tempfile.TemporaryDirectory() as folder:
        verdicts, log = options.verdicts or Path(folder) / "verdicts", options.log or Path(folder) / "log"
        verdicts.touch()
        asked = environment(options, library, verdicts)
        asked.setdefault("TRITON_CACHE_DIR", str(Path(folder) / "cache"))
        while True:
            with log.open("a") as out:
                process = subprocess.Popen(command(options, library), cwd=options.checkout, env=asked,
                                           stdout=out, stderr=out)
            end = watch(process, verdicts, 60 * options.seconds)
            last = lines(verdicts)[-1:] or [{"outcome": ""}]
            if last[0]["outcome"] != "began":  # it came to its end, or to none of its tests
                return settled(verdicts, f"the process ended by {end}" if end not in (0, 1, 5) else "")
            with verdicts.open("a") as out:
                slow = end in (-signal.SIGPROF, None)
                reason = f"no end in {options.seconds} s" if slow else f"the process ended by {end}"
                verdict = {**last[0], "outcome": "failed", "reason": reason, "launches": 1}
                out.write(json.dumps(verdict) + "\n")


def watch(process: subprocess.Popen[bytes], verdicts: Path, patience: float) -> int | None:
    """How the process ended; None if nothing happened for so long that it was killed."""
    while True:
        try:
            return process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            if time.time() - verdicts.stat().st_mtime > patience:
                process.kill()
                process.wait()
                return None


def lines(verdicts: Path) -> list[dict[str, Any]]:
    """What the plugin wrote."""
    return [json.loads(line) for line in verdicts.read_text().splitlines()]


def settled(verdicts: Path, failure: str) -> list[dict[str, Any]]:
    """The last verdict of each test, and a failure of all if there is one."""
    last = {line["test"]: line for line in lines(verdicts) if line["outcome"] != "began"}
    if failure:
        last[failure] = {"test": "", "outcome": "failed", "reason": failure, "launches": 0}
    return list(last.values())


# ---- counting


def judge(verdict: dict[str, Any], library: dict[str, Any]) -> tuple[str, str]:
    """(column, reason) of one test; a reason that the library's table knows is given in its words."""
    outcome, reason = verdict["outcome"], " ".join(verdict["reason"].split())
    if REFUSED in reason:
        outcome, reason = "refused", reason.partition(REFUSED)[2]
    elif outcome == "passed":
        return ("ran" if verdict["launches"] else "passed"), ""
    for pattern, words in library.get("reasons", {}).items():
        if re.search(pattern, reason) or re.search(pattern, verdict["test"]):
            return outcome, words
    return outcome, reason[:200]


def counted(verdicts: list[dict[str, Any]], library: dict[str, Any]) -> dict[str, Any]:
    """Counts of a library and of its files, reasons with counts."""
    collected = {verdict["test"]: int(verdict["reason"]) for verdict in verdicts
                 if verdict["outcome"] == "collected"}
    files: dict[str, Counter[str]] = {}
    reasons: Counter[tuple[str, str]] = Counter()
    for verdict in verdicts:
        if verdict["outcome"] == "collected":
            continue
        column, reason = judge(verdict, library)
        files.setdefault(verdict["test"].partition("::")[0], Counter())[column] += 1
        if reason:
            reasons[column, reason] += 1
    return {
        "tests": sum(number for file, number in collected.items() if file in files),
        "files": {file: [counts[column] for column in COLUMNS] for file, counts in sorted(files.items())},
        "reasons": [[column, reason, count] for (column, reason), count in sorted(reasons.items())],
    }


def report(result: dict[str, Any]) -> Iterator[str]:
    """Lines for a terminal."""
    for file, counts in result["files"].items():
        yield f"{file}: {named(counts)}"
    for column, reason, count in result["reasons"]:
        yield f"    {column} {count}: {reason}"
    yield named(total(result))


def named(counts: list[int]) -> str:
    """1 passed, 0 refused, ..."""
    ran, quiet, *others = counts
    words = [f"{ran + quiet} passed" + (f" ({quiet} of them launched no kernel)" if quiet else "")]
    return ", ".join(words + [f"{count} {column}" for count, column in zip(others, COLUMNS[2:], strict=True)])


def total(result: dict[str, Any]) -> list[int]:
    """Of all files."""
    return [sum(column) for column in zip(*result["files"].values(), strict=True)] or [0] * len(COLUMNS)


# ---- the command


def versions() -> str:
    """Of what takes part."""
    from importlib.metadata import version

    return f"Triton {version('triton')}, torch {version('torch').partition('+')[0]}"


def record(name: str, result: dict[str, Any]) -> None:
    """Keep it in tools/libraries.json, in the order of the libraries."""
    order = list(load()["library"])
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    results[name] = result
    names = sorted(results, key=lambda name: (order.index(name.partition(" ")[0]), name))
    RESULTS.write_text(json.dumps({name: results[name] for name in names}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--library", default="", help="a name in tools/libraries.toml")
    parser.add_argument("--files", nargs="+", help="test files; by default those of the library")
    parser.add_argument("--most", type=int, help="the most tests of a file that run")
    parser.add_argument("--seconds", type=int, default=60, help="processor time for one test")
    parser.add_argument("--cuda", action="store_true", help="torch.cuda.is_available() says True")
    parser.add_argument("--vulkan", action="store_true", help="on a Vulkan device")
    parser.add_argument("--record", action="store_true", help="keep the result in tools/libraries.json")
    parser.add_argument("--log", type=Path, help="a file for what pytest prints")
    parser.add_argument("--verdicts", type=Path, help="a file for each test's verdict; what is in it is not "
                                                      "tried again")
    options = parser.parse_args()
    for name in ("checkout", "log", "verdicts"):
        path = getattr(options, name)
        setattr(options, name, path and path.resolve())
    library = load()["library"][options.library] if options.library else {}
    result = counted(run(options, library), library)
    print(*report(result), sep="\n")
    if options.record:
        record(options.library + " vulkan" * options.vulkan,
               {**result, "most": options.most or library["most"], "seconds": options.seconds,
                "with": versions()})


if __name__ == "__main__":
    main()
