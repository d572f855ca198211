"""All figures of docs/performance.md, one after the other, as tables, plots and JSON in a folder.

    python benchmarks/everything.py FOLDER [--quick] [--only compile,memory] [--list]

Each part is a command of its own, shown before it runs and written at the head of its table; --list shows
them all. None takes more than about four minutes on two idle cores. A part that fails is reported at the end,
and the others run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Part:
    """A command: the script, its arguments, and those that make it short; whether it draws a picture."""

    script: str
    arguments: tuple[str, ...] = ()
    quick: tuple[str, ...] = ("--quick",)
    draws: bool = True


ALL_PEERS = ("--peers", "torch,compile,numpy")
PARTS = {
    "compile": Part("first_touch.py", ("--only", "compile")),
    "launch": Part("first_touch.py", ("--only", "launch"), draws=False),
    "elementwise": Part("cpu.py", ("--only", "elementwise", *ALL_PEERS)),
    "rows": Part("cpu.py", ("--only", "rows", *ALL_PEERS)),
    "movement": Part("cpu.py", ("--only", "movement", *ALL_PEERS)),
    "products": Part("cpu.py", ("--only", "products", *ALL_PEERS)),
    "attention": Part("cpu.py", ("--only", "attention", *ALL_PEERS)),
    "interpreter": Part("cpu.py", ("--quick", "--peers", "torch,numpy,interpreter"), ()),
    "scaling": Part("scaling.py"),
    "threads": Part("threads.py", draws=False),
    "sizes": Part("sweep.py", ("--only", "run")),
    "blocks": Part("sweep.py", ("--only", "compile")),
    "processes": Part("parallel_compile.py", draws=False),
    "memory": Part("process.py", (), ("--launches", "100", "--compilations", "3"), draws=False),
}


def command(name: str, quick: bool, folder: Path) -> list[str]:
    """The command of a part, as one would type it."""
    part = PARTS[name]
    made = ["python", str(Path("benchmarks") / part.script), *part.arguments, *(part.quick if quick else ())]
    made += ["--json", str(folder / f"{name}.json")]
    return [*made, "--plot", str(folder / f"{name}.svg")] if part.draws else made


def main() -> None:
    parser = argparse.ArgumentParser(description="All figures of docs/performance.md.")
    parser.add_argument("folder", type=Path, help="where tables (.txt), plots (.svg) and figures (.json) go")
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds: does it run?")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--list", action="store_true", help="show the commands, run none")
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"--only: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    folder = options.folder.absolute()
    failed = []
    for name in chosen:
        words = command(name, options.quick, folder)
        print(" ".join(words), flush=True)
        if options.list:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        start = time.perf_counter()
        done = subprocess.run([sys.executable, *words[1:]], cwd=HERE.parent, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        (folder / f"{name}.txt").write_text(f"$ {' '.join(words)}\n\n{done.stdout}", encoding="utf-8")
        print(f"{done.stdout}\n{name}: {time.perf_counter() - start:.0f} s\n", flush=True)
        if done.returncode:
            failed.append(name)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}; their output is in {folder}")


if __name__ == "__main__":
    main()
