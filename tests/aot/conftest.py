"""Compiling ahead of time needs Triton's front end; `bare_python` is an interpreter in an environment
without it.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import subprocess
import venv
from pathlib import Path
from types import ModuleType

import pytest
from command import command  # noqa: F401

pytest.importorskip("triton")


@pytest.fixture(scope="session")
def kernels() -> ModuleType:
    """tests/aot/kernels.py."""
    return load(Path(__file__).with_name("kernels.py"), "aot_kernels")


def load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of a virtual environment that has pyopencl, numpy, the CPU driver, and nothing else.

    Their files are linked from where they are installed here, so no network is needed.
    """
    place = tmp_path_factory.mktemp("bare")
    venv.EnvBuilder(with_pip=False, symlinks=True).create(place)
    site = next(place.glob("lib/python*/site-packages"))
    for name in closure(["pyopencl", "numpy"]):
        distribution = importlib.metadata.distribution(name)
        for top in {Path(str(file)).parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
            (site / top).symlink_to(Path(str(distribution.locate_file(top))).resolve())
    from triton_spirv.runtime import loader

    driver = loader.cpu_library()
    if driver is None:
        pytest.skip("no CPU device is installed")
    for file in Path(driver).resolve().parent.iterdir():
        target = place / "lib" / file.name
        if not target.exists() and not file.name.startswith("python"):
            target.symlink_to(file)
    python = str(place / "bin" / "python")
    for absent in ("triton", "triton_spirv", "torch"):
        done = subprocess.run([python, "-I", "-c", f"import {absent}"], capture_output=True, timeout=60)
        assert done.returncode != 0, f"{absent} is not absent"
    return python


def closure(names: list[str]) -> list[str]:
    """The distributions and everything that they require."""
    found: dict[str, None] = {}
    pending = list(names)
    while pending:
        name = re.sub(r"[-_.]+", "-", pending.pop()).lower()
        if name in found:
            continue
        found[name] = None
        for requirement in importlib.metadata.requires(name) or []:
            if "extra ==" not in requirement:
                needed = re.split(r"[\s;<>=!~\[(]", requirement, maxsplit=1)[0]
                try:
                    importlib.metadata.distribution(needed)
                except importlib.metadata.PackageNotFoundError:
                    continue  # for another system or Python
                pending.append(needed)
    assert "triton" not in found
    return list(found)


def run_python(python: str, script: str, *folders: Path) -> subprocess.CompletedProcess[str]:
    """A script in that interpreter, with folders on its path."""
    text = f"import sys\nsys.path[:0] = {[str(folder) for folder in folders]!r}\n{script}"
    return subprocess.run([python, "-I", "-c", text], capture_output=True, text=True, timeout=120)


