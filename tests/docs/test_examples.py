"""The examples of docs/quickstart.md and docs/how-to run as they stand.

```python blocks are whole programs, ```py blocks are fragments. The host in C is compiled and run on the
bundle that its page makes.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

import prepared
import pytest
from triton_spirv.runtime import loader

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "quickstart.md", *sorted((DOCS / "how-to").glob("*.md"))]
BUNDLES = DOCS / "how-to" / "bundles.md"

#: an environment in which no variable of Triton's is set, and the commands of this one are found
CLEAN = {**{name: value for name, value in os.environ.items() if not name.startswith("TRITON_")},
         "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])}


def blocks(page: Path, language: str) -> list[tuple[str, str]]:
    """(code, what the page says that it prints or "") of every block in this language."""
    text = page.read_text(encoding="utf-8")
    found = []
    for block in re.finditer(rf"^```{language}\n(.*?)^```\n", text, re.S | re.M):
        printed = re.match(r"\n[^\n]*prints:\n\n```\n(.*?)^```", text[block.end():], re.S | re.M)
        found.append((block.group(1), printed.group(1) if printed else ""))
    return found


PROGRAMS = [pytest.param(code, printed, id=f"{page.stem}-{at}")
            for page in PAGES for at, (code, printed) in enumerate(blocks(page, "python"))]


@pytest.mark.parametrize(("code", "printed"), PROGRAMS)
def test_program(code: str, printed: str, tmp_path: Path) -> None:
    path = tmp_path / "test_example.py"
    path.write_text(code)
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if "import pytest" in code else []
    environment = {**CLEAN, "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    done = prepared.python([*words, str(path)], environment=environment, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not printed or done.stdout == printed


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 5


def test_host_in_c(tmp_path: Path) -> None:
    if not Path("/usr/include/CL/cl.h").exists() or not shutil.which("cc"):
        pytest.skip("missing: OpenCL's headers and a C compiler (gcc, ocl-icd-opencl-dev)")
    (tmp_path / "add.py").write_text(blocks(BUNDLES, "python")[0][0])
    (host, _), = blocks(BUNDLES, "c")
    page = BUNDLES.read_text(encoding="utf-8")
    (printed,) = re.findall(r"^It prints:\n\n```\n(.*?)^```", page, re.S | re.M)
    (tmp_path / "host.c").write_text(host)
    commands = [line for block, _ in blocks(BUNDLES, "sh") for line in block.splitlines()]
    compile_bundle = next(line for line in commands if line.startswith("triton-spirv compile"))
    compile_host = next(line for line in commands if line.startswith("cc "))
    for command in (compile_bundle, compile_host):
        subprocess.run(shlex.split(command), cwd=tmp_path, env=CLEAN, check=True, timeout=120)
    driver = loader.cpu_library()
    assert driver is not None
    environment = {**CLEAN, "OCL_ICD_VENDORS": str(driver)}
    done = subprocess.run(["../host"], cwd=tmp_path / "add.bundle", env=environment, capture_output=True,
                          text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
