"""Tests of torch.compile through the package: each in a process of its own, with empty caches."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import prepared
import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")
pytest.importorskip("triton_spirv_inductor")

from .cpp_launcher import launcher, libraries, loaded, new_launcher  # noqa: F401

Script = Callable[..., "subprocess.CompletedProcess[str]"]

#: what scripts of these tests may call
COUNTING = '''
compiled, launched, blocks = [], [], []

def count():
    """From here on: what triton-spirv compiles in this process, the kernels that Inductor launches, by name,
    and their block sizes."""
    import triton_spirv
    from torch._inductor.runtime import triton_heuristics
    compile, run = triton_spirv.compile, triton_heuristics.CachingAutotuner.run

    def counted(text, *arguments, **named):
        compiled.append(hash(text))
        return compile(text, *arguments, **named)

    def noted(self, *arguments, **named):
        found = run(self, *arguments, **named)
        launched.append(self.fn.__name__)
        blocks.append(self.launchers[0].config.kwargs)
        return found

    triton_spirv.compile = counted
    triton_heuristics.CachingAutotuner.run = noted
'''


#: Inductor's C++ backend takes it that the compiler knows all vectors, instead of compiling a program for
#: each, and reads torch's headers as they are: made ready for many kernels they take seconds.
PLAIN_CPP = {"TORCHINDUCTOR_VEC_ISA_OK": "1", "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0"}


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """`script(text, NAME="value")` runs a script in a process of its own, with caches that last for the test;
    None leaves a variable unset. Compile workers are off unless the test asks for them."""
    path = tmp_path / "script.py"
    (tmp_path / "counting.py").write_text(COUNTING)

    def run(text: str, **variables: str | None) -> subprocess.CompletedProcess[str]:
        path.write_text(text)
        wanted = {"TRITON_SPIRV_BACKEND": None, "TRITON_SPIRV_DEVICE": None, "TRITON_SPIRV_TARGET": None,
                  "TRITON_CACHE_DIR": None, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"),
                  "TORCHINDUCTOR_COMPILE_THREADS": "1", **PLAIN_CPP,
                  # what makes products is not a matter of time here
                  "TRITON_SPIRV_INDUCTOR_PRODUCTS": "0", **variables}
        environment = {name: value for name, value in os.environ.items() if name not in wanted}
        environment.update({name: value for name, value in wanted.items() if value is not None})
        if variables or "sys.modules" in text or "sys.path" in text:  # what is imported when is in question
            command = [sys.executable, str(path)]
            return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
        return prepared.run(path, imports=prepared.INDUCTOR, environment=environment)

    return run
