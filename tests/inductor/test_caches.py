"""A second process compiles nothing; workers compile for the first; profiles show the kernels' names."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Script = Callable[..., "subprocess.CompletedProcess[str]"]

RUN = """
import torch, counting, triton_spirv
counting.count()
triton_spirv.inductor.enable()

@torch.compile
def program(x, w):
    return torch.nn.functional.layer_norm(torch.relu(x + 1), (96,)).sum(0) + w

x, w = torch.randn(40, 96, requires_grad=True), torch.randn(96)
program(x, w).sum().backward()
"""


def test_a_second_process_compiles_nothing(script: Script) -> None:
    text = RUN + """
from torch._dynamo.utils import counters
print(len(counting.compiled), len(counting.launched), counters["inductor"]["fxgraph_cache_hit"]
      + counters["aot_autograd"]["autograd_cache_hit"])
"""
    first, second = script(text), script(text)
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    compiled, launched, hits = map(int, first.stdout.split())
    assert compiled >= 2 and launched >= 2 and not hits
    again, relaunched, hits = map(int, second.stdout.split())
    assert not again and relaunched == launched and hits


def test_a_changed_package_finds_nothing_of_the_old_one(script: Script) -> None:
    """Inductor's caches keep the text of kernels, which this package has a hand in."""
    text = RUN + """
from torch._dynamo.utils import counters
print(counters["inductor"]["fxgraph_cache_hit"] + counters["aot_autograd"]["autograd_cache_hit"])
"""
    changed = "import triton_spirv_inductor.device as device; device.own_key = lambda: 'another'\n"
    done = [script(text), script(text), script(changed + text)]
    assert not any(one.returncode for one in done), [one.stderr for one in done]
    assert [bool(int(one.stdout)) for one in done] == [False, True, False]


def test_another_processor_or_target_compiles_anew(script: Script) -> None:
    """Kernels name the processor that they are for: one that lacks what they use refuses them. So is it with
    the target that TRITON_SPIRV_TARGET asks for."""
    text = RUN + """
from torch._dynamo.utils import counters
print(counters["inductor"]["fxgraph_cache_hit"] + counters["aot_autograd"]["autograd_cache_hit"])
"""
    done = [script(text), script(text, CL_CONFIG_CPU_TARGET_ARCH="corei7-avx"),
            script(text, TRITON_SPIRV_TARGET="cpu:x86_64-v3")]
    assert not any(one.returncode for one in done), [one.stderr for one in done]
    assert [int(one.stdout) for one in done] == [0, 0, 0]


def test_the_key_is_of_all_files(tmp_path: Path) -> None:
    from triton_spirv_inductor.device import own_key
    keys = []
    for name, text in (("a.py", "1"), ("a.py", "2"), ("b.py", "2")):
        (tmp_path / name).write_text(text)
        keys.append(own_key(tmp_path))
    assert len(set(keys)) == 3 and keys[-1] == own_key(tmp_path)


@pytest.mark.takes_turns(2, 1)
def test_workers_compile(script: Script) -> None:
    """In processes of their own, which find the backend by its entry point, and never load a driver."""
    done = script("""
import torch
from torch._inductor.async_compile import AsyncCompile
AsyncCompile.wait_pool_ready()  # until it is, torch compiles in this process
""" + RUN + """
assert len(counting.launched) >= 2
assert not counting.compiled, counting.compiled  # in this process
""", TORCHINDUCTOR_COMPILE_THREADS="2", TORCHINDUCTOR_WORKER_START="subprocess")
    assert done.returncode == 0, done.stderr


def test_a_profile_names_the_kernels(script: Script) -> None:
    done = script(RUN + """
from torch.profiler import profile
with profile() as found:
    program(x, w)
names = {event.key for event in found.key_averages()}
ran = {name for name in counting.launched if "backward" not in name and "_fused" in name}
assert ran and ran & names, (ran, names)
""")
    assert done.returncode == 0, done.stderr
