"""Runs Triton's own unit tests through this backend, and counts: docs/notes/upstream-tests.md has results.

    python tools/upstream_tests.py SOURCE --revision REV language/test_core.py runtime/test_cache.py

SOURCE is a checkout of Triton, or a git repository that has the revision. Its tests are copied without
Triton's own package, which would hide the installed one, and run file by file in processes of their own:

    --every N     every N-th test of a file
    --sample N    the first case of each test, and one in N of the others
    --check all   checked mode (docs/checking.md): what it finds is counted by place, and fails no test
    --nothing     the floor: kernels are compiled but not launched
    --interpret   Triton's interpreter instead of this backend
    --out FOLDER  verdicts (one line of JSON each), logs, kernels' cache; by default a new folder
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

PARTS = ("pytest.ini", "python/conftest.py", "python/test", "python/triton_kernels")
UNIT = Path("python/test/unit")


def stage(source: Path, revision: str | None, target: Path) -> None:
    """Copy the tests, without python/triton."""
    if (target / UNIT).exists():
        return
    if revision is None:
        for part in PARTS:
            copy = shutil.copytree if (source / part).is_dir() else shutil.copy
            (target / part).parent.mkdir(parents=True, exist_ok=True)
            if (source / part).exists():
                copy(source / part, target / part)
        return
    git = ["git", "-C", str(source)]
    there = subprocess.run([*git, "ls-tree", "--name-only", revision, *PARTS], capture_output=True, text=True,
                           check=True).stdout.split()
    command = [*git, "archive", "--format=zip", revision, *there]
    archive = subprocess.run(command, capture_output=True, check=True).stdout
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        files.extractall(target)


def run(file: str, out: Path, options: argparse.Namespace) -> Counter[str]:
    """Run one file; the number of tests per outcome."""
    name = Path(file).stem
    results = out / f"{name}.jsonl"
    results.unlink(missing_ok=True)
    tools = Path(__file__).parent
    kernels = out / "stage" / "python" / "triton_kernels"
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tools, kernels))), "OMP_NUM_THREADS": "1",
        "TRITON_CACHE_DIR": str(out / "cache"), "UPSTREAM_RESULTS": str(results), "MPLBACKEND": "Agg",
        "UPSTREAM_EVERY": str(options.every), "UPSTREAM_NOTHING": str(int(options.nothing)),
        "UPSTREAM_SAMPLE": str(options.sample), "UPSTREAM_CHECK": options.check,
        "TRITON_SPIRV_PRINT_EACH_THREAD": "1",  # tests count a GPU's lines
        "TRITON_INTERPRET": str(int(options.interpret)),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "triton_spirv.pytest", "--triton-spirv"]
    command += ["--triton-spirv-strict", "-p", "upstream_plugin", "-p", "no:cacheprovider"]
    command += ["--device", "cpu", "--timeout", str(options.timeout), "-o", "addopts=--tb=short"]
    command += [str(UNIT / file)]
    command += ["-m", "interpreter"] if options.interpret else []
    command += ["-k", options.k] if options.k else []
    with (out / f"{name}.log").open("w") as log:
        subprocess.run(command, cwd=out / "stage", env=environment, stdout=log, stderr=log, check=False)
    verdicts = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    print(summary(file, verdicts), flush=True)
    return Counter(verdict["outcome"] for verdict in verdicts)


def summary(file: str, verdicts: list[dict]) -> str:
    """Counts, seconds of processor time by part, and what failed with its reason."""
    counts = Counter(verdict["outcome"] for verdict in verdicts)
    seconds: Counter[str] = Counter()
    for verdict in verdicts:
        seconds.update(verdict["seconds"])
    named = ", ".join(f"{counts[name]} {name}" for name in ("passed", "failed", "skipped"))
    parts = ", ".join(f"{part} {value:.1f}" for part, value in seconds.items())
    lines = [f"{file}: {named}; seconds of processor time: {parts or 0}"]
    for verdict in verdicts:
        if verdict["outcome"] == "failed":
            reason = verdict["reason"].strip().replace("\n", " ")
            lines.append(f"    FAILED {verdict['test'].rpartition('::')[2]}: {reason[:160]}")
    places: Counter[tuple[str, int, str]] = Counter()
    examples: dict[tuple[str, int, str], str] = {}
    for verdict in verdicts:
        for finding in verdict["findings"]:
            place = finding["check"], finding["line"], finding["source"]
            places[place] += 1
            examples.setdefault(place, verdict["test"].rpartition("::")[2])
    for place, count in sorted(places.items()):
        lines.append(f"    {place[0]}, line {place[1]}, {count} times, as in {examples[place]}: {place[2]}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("files", nargs="+", help=f"below {UNIT}")
    parser.add_argument("--revision")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--check", default="")
    parser.add_argument("--nothing", action="store_true")
    parser.add_argument("--interpret", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one test")
    parser.add_argument("-k", help="as pytest's")
    options = parser.parse_args()
    out = (options.out or Path(tempfile.mkdtemp(prefix="upstream-tests-"))).resolve()
    (out / "stage").mkdir(parents=True, exist_ok=True)
    stage(options.source, options.revision, out / "stage")
    total: Counter[str] = Counter()
    for file in options.files:
        total += run(file, out, options)
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped; logs in {out}")
    return 1 if total["failed"] or not total else 0


if __name__ == "__main__":
    sys.exit(main())
