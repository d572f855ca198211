"""Kernels of torch.compile on torch's own threads, or a crew's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

import pytest

Script = Callable[..., "subprocess.CompletedProcess[str]"]

#: a setting that is the default; a script with one is no child of a fork
FRESH = {"TRITON_SPIRV_OPENMP": "1"}

MODEL = '''
import torch, triton_spirv
from triton_spirv.runtime.teams import Members
used = []
first = Members._first
Members._first = lambda self, data: (used.append("crew" if self.crew else "team"), first(self, data))[1]
torch.manual_seed(0)
torch.set_num_threads(2)
model = lambda x, y: torch.softmax((x * 2 + y).sin(), -1)
compiled = torch.compile(model, backend="triton-spirv")
x, y = torch.randn(3000, 400), torch.randn(400)
for turn in range(LAUNCHES):
    x += 1
    torch.testing.assert_close(compiled(x, y), model(x, y))
    if WANTED in used and turn >= 4:
        break
print(*sorted(set(used)))
'''


@pytest.mark.parametrize("openmp, crew, wanted", [("1", "0", "team"), ("1", "1", "team"), ("0", "1", "crew"),
                                                  ("0", "0", "")])
def test_models_use_it(script: Script, openmp: str, crew: str, wanted: str) -> None:
    """After a launch of the driver that took little: on a busy machine that is not one of the first few.
    Right behind an operator of torch's, its team is awake."""
    launches = 200 if wanted else 5
    done = script(f"WANTED, LAUNCHES = {wanted!r}, {launches}{MODEL}", TRITON_SPIRV_OPENMP=openmp,
                  TRITON_SPIRV_CREW=crew)
    assert done.returncode == 0, done.stderr
    used, possible = done.stdout.split(), {"team": openmp, "crew": crew}
    assert not wanted or wanted in used or len(os.sched_getaffinity(0)) == 1
    assert all(possible[kind] == "1" for kind in used)


def test_an_index_out_of_range_is_still_an_error(script: Script) -> None:
    done = script('''
import torch, triton_spirv
torch.set_num_threads(2)
compiled = torch.compile(lambda x, at: x[at] * 2, backend="triton-spirv")
x, at = torch.randn(100, 256), torch.randint(0, 100, (2000,))
for _ in range(6):
    torch.testing.assert_close(compiled(x, at), x[at] * 2)
at[1700] = 100
for _ in range(3):
    try:
        compiled(x, at)
    except RuntimeError as error:
        print("refused", "index" in str(error))
at[1700] = 99
torch.testing.assert_close(compiled(x, at), x[at] * 2)
''', **FRESH)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["refused True"] * 3
