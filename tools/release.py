"""Builds, checks and publishes a release of triton-spirv.

    python tools/release.py --dry-run                 everything but publishing; what CI runs
    python tools/release.py                           the same, then a tag of git and the upload

The source distribution must hold every file of the project. The wheel is built from it. Both are checked with
twine. Then the wheel is installed in a fresh environment, two kernels run there, and a bundle is made and
loaded. Needs Python and git alone: build and twine are installed into an environment of their own.

    --environment FOLDER   keep the fresh environment there, for more tests
    --python PROGRAM       the Python of the fresh environment
    --triton VERSION       its Triton: "3.7.*"; otherwise the newest that fits
    --freeze               also make a program of it with PyInstaller, two gigabytes, and run that
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRIAL = ROOT / "tools" / "release_trial.py"
FROZEN = ROOT / "tools" / "frozen"

#: what the wheel must hold, and what it must not
NEEDED = ("triton_spirv/py.typed", "triton_spirv/standalone/loader.py", "triton_spirv_backend/name.conf",
          "triton_spirv/_pyinstaller/hook-triton_spirv.py")
FOREIGN = ("tests/", "docs/", "tutorials/", "benchmarks/", "third_party/")


class ReleaseError(Exception):
    """Why there can be no release."""


def version() -> str:
    """The package's, from the one place where it stands."""
    text = (ROOT / "python" / "triton_spirv" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(\d+\.\d+\.\d+)"$', text, re.M)
    if not found:
        raise ReleaseError("python/triton_spirv/__init__.py has no __version__ of three numbers")
    return found.group(1)


def notes(number: str) -> str:
    """The section of CHANGELOG.md about a version, or "Unreleased"; "" where there is none."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(number)}(?![\d.]).*?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found.group(1).strip() if found else ""


def project_files() -> list[str]:
    """Every file of the project, by git; without a repository, every file in the folder."""
    if (ROOT / ".git").exists():
        return run("git", "ls-files", "--cached", folder=ROOT).splitlines()
    made = r"__pycache__|\.venv|\.hypothesis|\.[a-z_]+_cache|build|dist|[^/]*\.egg-info"
    hidden = re.compile(rf"(^|/)({made})(/|$)")
    names = (path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file())
    return [name for name in names if not hidden.search(name)]


def run(*command: str | Path, folder: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """The output of a command; ReleaseError with its words where it fails."""
    done = subprocess.run([str(word) for word in command], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise ReleaseError(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def build(work: Path, tools: Path) -> tuple[Path, Path]:
    """The source distribution and the wheel, made from a copy of the project."""
    copy = work / "copy"
    for name in project_files():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    run(tools, "-m", "build", "--outdir", work / "dist", copy)
    (source,), (wheel,) = (work / "dist").glob("*.tar.gz"), (work / "dist").glob("*.whl")
    return source, wheel


def check(source: Path, wheel: Path, tools: Path) -> None:
    """What is in the two files, and what the index would say of them."""
    run(tools, "-m", "twine", "check", "--strict", source, wheel)
    with tarfile.open(source) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    lost = sorted(name for name in project_files() if name not in held and name != ".gitignore")
    if lost:
        raise ReleaseError(f"the source distribution lacks {', '.join(lost)}: see MANIFEST.in")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    lost = [name for name in NEEDED if name not in names]
    foreign = [name for name in names if name.startswith(FOREIGN)]
    if lost or foreign:
        raise ReleaseError(f"the wheel lacks {lost}, and has no business with {foreign}")
    dead = re.findall(r"\]\((?!https?:|#)[^)]*\)", metadata)
    if dead:
        raise ReleaseError(f"links that lead nowhere on the package's page: {dead}")


def try_out(wheel: Path, program: str, environment: Path, triton: str) -> str:
    """Install the wheel in a fresh environment and run kernels and a bundle there; what they print."""
    run(program, "-m", "venv", environment)
    python = environment / "bin" / "python"
    chosen = [f"triton=={triton}"] if triton else []
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[cpu]", *chosen)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy2(TRIAL, folder)
        settings = clean() | {"TRITON_CACHE_DIR": f"{folder}/cache"}
        return run(python, TRIAL.name, folder=Path(folder), environment=settings)


def freeze(environment: Path) -> str:
    """Make a program of tools/frozen with PyInstaller, by the hook of the installed package, and run it with
    nothing of the environment; what it prints."""
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "pyinstaller")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(FROZEN, folder, dirs_exist_ok=True)
        run(python, "-m", "PyInstaller", "--log-level", "ERROR", "--additional-hooks-dir", "hooks",
            "program.py", folder=Path(folder), environment=clean())
        bare = {"PATH": "/usr/bin:/bin", "HOME": folder, "TRITON_CACHE_DIR": f"{folder}/cache"}
        return run(Path(folder) / "dist" / "program" / "program", environment=bare)


def clean() -> dict[str, str]:
    """This environment without what concerns Triton and Python's search."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith("TRITON_") and name != "PYTHONPATH"}


def publish(number: str, files: tuple[Path, Path], tools: Path) -> None:
    """Tag the commit, and upload."""
    if run("git", "status", "--porcelain", folder=ROOT):
        raise ReleaseError("the tree has changes that are not committed")
    run("git", "tag", "--annotate", f"v{number}", "--message", notes(number), folder=ROOT)
    run(tools, "-m", "twine", "upload", *files)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--dry-run", action="store_true", help="publish nothing")
    parser.add_argument("--environment", type=Path, help="keep the fresh environment in this folder")
    parser.add_argument("--python", default=sys.executable, help="the fresh environment's Python")
    parser.add_argument("--freeze", action="store_true", help="also make a program with PyInstaller")
    parser.add_argument("--triton", default="", help="its Triton, as in triton==VERSION")
    options = parser.parse_args()
    try:
        number = version()
        if not notes(number) and not (options.dry_run and notes("Unreleased")):
            raise ReleaseError(f"CHANGELOG.md has no section for {number}")
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            venv.create(work / "tools", with_pip=True)
            tools = work / "tools" / "bin" / "python"
            run(tools, "-m", "pip", "install", "--quiet", "build", "twine")
            files = build(work, tools)
            check(*files, tools)
            print(f"{', '.join(file.name for file in files)}: complete")
            place = (options.environment or work / "fresh").absolute()
            print(try_out(files[1], options.python, place, options.triton), end="")
            if options.freeze:
                print(freeze(place), end="")
            if not options.dry_run:
                publish(number, files, tools)
                print(f"{number} is published")
    except ReleaseError as error:
        raise SystemExit(f"no release: {error}") from None


if __name__ == "__main__":
    main()
