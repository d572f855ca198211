"""CUDA tensors and device arrays on CUDA itself: streams, allocators, captures, types;
and when CUDA is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from real_cuda import Mapped
from triton_spirv.errors import LaunchError
from triton_spirv.runtime.vulkan import arrays
from vulkan_launches import COUNT, GRID, kernel, random

torch = pytest.importorskip("torch")


def test_streams(on_cuda: Any) -> None:
    """The launch is in the order of torch's current stream, which may be any."""
    x = random(1 << 22)
    launched, streams = kernel(on_cuda.context), [torch.cuda.Stream() for _ in range(3)]
    results = []
    for number, stream in enumerate(streams):
        with torch.cuda.stream(stream):
            values = torch.from_numpy(x).to(on_cuda.place)
            out = torch.zeros_like(values)
            for _ in range(10):
                values = torch.sin(values) + number
                launched.launch(1 << 16, 1, 1, (values, values, out, 1 << 22))
                values = out * 0.5
            results.append(out)
    torch.cuda.synchronize()
    for number, out in enumerate(results):
        expected = torch.from_numpy(x).to(on_cuda.place)
        for _ in range(10):
            expected = torch.sin(expected) + number
        assert torch.equal(out, expected + expected)


def test_memory_at_the_same_addresses(on_cuda: Any) -> None:
    """A program may map other memory where there was some: never the old one is meant."""
    launched, out = kernel(on_cuda.context), on_cuda.tensor(np.zeros(COUNT, np.float32))
    place = 0
    for number in range(6):
        mapped = Mapped(on_cuda.gpu, 1, place)
        place = mapped.pointer
        x = on_cuda.at(mapped, torch.full((COUNT,), float(number)))
        before = on_cuda.copies()
        launched.launch(*GRID, (x, x, out, COUNT))
        assert bool((out == 2 * number).all()) and on_cuda.copies() == before + 2  # of the result alone
        on_cuda.free(x)


EXPANDABLE = """
import os, sys
sys.path.insert(0, "tests")
import torch
from importlib import import_module
from handmade_vulkan import vector_add
from triton_spirv.runtime.vulkan import context, launch, program
opened = context.open_device(import_module("triton_spirv.runtime.vulkan.devices").choose("vulkan"))
artifact = vector_add()
kernel = launch.Kernel(program.build(opened, artifact.words, artifact))
bridge = opened.cuda
copies, original = [], bridge.gpu.copy
bridge.gpu.copy = lambda *arguments: (copies.append(arguments), original(*arguments))
place = f"cuda:{bridge.gpu.ordinal}"
def copied(tensor):  # no allocation has all of it
    storage = tensor.untyped_storage()
    base, size, fd = bridge.gpu.export_memory(storage.data_ptr())
    os.close(fd)
    return storage.data_ptr() + storage.nbytes() > base + size
for count in (1000, 1 << 20, 40_000_000):
    for again in range(3):
        x, y = (torch.randn(count, device=place) for _ in range(2))
        out = torch.zeros(count, device=place)
        expected = copied(x) + copied(y) + 2 * copied(out)
        assert not expected or count > 1 << 20, (count, expected)
        copies.clear()
        kernel.launch(-(-count // 64), 1, 1, (x, y, out, count))
        assert torch.equal(out, x + y), ("values", count, again)
        assert len(copies) == expected, ("copies", count, len(copies), expected)
        del x, y, out
        torch.cuda.empty_cache()
"""


def test_expandable_segments(on_cuda: Any) -> None:
    """torch's allocator with descriptors: tensors within one allocation are passed as they are, others, which
    here lie one right behind the other, copied; other memory comes to the same addresses."""
    variables = dict.fromkeys(("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"), "expandable_segments:True")
    done = subprocess.run([sys.executable, "-c", EXPANDABLE], capture_output=True, text=True,
                          env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr


def test_captures_are_refused(on_cuda: Any) -> None:
    x = on_cuda.tensor(random())
    launched = kernel(on_cuda.context)
    launched.launch(*GRID, (x, x, on_cuda.tensor(random()), COUNT))
    torch.cuda.synchronize()
    with pytest.raises(LaunchError, match="captured into a graph"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        launched.launch(*GRID, (x, x, x, COUNT))
    torch.cuda.synchronize()
    launched.launch(*GRID, (x, x, x, COUNT))
    assert (on_cuda.values(x) == 2 * random()).all()


def test_torch_gives_types(on_cuda: Any) -> None:
    for name in ("bfloat16", "float16", "int8", "uint8", "int64", "bool", "float64", "float8_e5m2"):
        array = arrays.empty(on_cuda.context, (3, 5), name)
        array.context.stream.fill(array.allocation, 0, 16, 0x01010101)
        tensor = torch.from_dlpack(array.T)
        assert str(tensor.dtype) == f"torch.{name}" and tuple(tensor.shape) == (5, 3)
        assert tensor.stride() == (1, 5) and tensor.is_cuda and not tensor.is_contiguous()


def test_where_torch_wants_it(on_cuda: Any) -> None:
    """device='cpu' and copy=True are copies."""
    array = arrays.asarray(on_cuda.context, random())
    host, copy = torch.from_dlpack(array, device="cpu"), torch.from_dlpack(array, copy=True)
    assert (host.numpy() == random()).all() and bool((copy.cpu() == host).all()) and copy.is_cuda
    copy.zero_()
    assert (array.numpy() == random()).all()
    assert torch.from_dlpack(array).data_ptr() != copy.data_ptr()


def test_cuda_is_loaded_late() -> None:
    """Launches with device arrays and host memory do not load it. (A GPU's Vulkan driver may, for itself.)"""
    script = """
import sys
libraries = []
sys.addaudithook(lambda event, given: event == "ctypes.dlopen" and libraries.append(str(given[0])))
import numpy as np
sys.path.insert(0, "tests")
from handmade_vulkan import vector_add
from importlib import import_module
from triton_spirv.runtime.vulkan import arrays, context, launch, program
import triton_spirv
opened = context.open_device(import_module("triton_spirv.runtime.vulkan.devices").choose("vulkan"))
artifact = vector_add()
kernel = launch.Kernel(program.build(opened, artifact.words, artifact))
x = np.ones(64, np.float32)
for pair in (arrays.asarray(opened, x), triton_spirv.asarray(x)):
    kernel.launch(1, 1, 1, (pair, pair, pair, 64))
loaded = [name for name in sys.modules if name.endswith((".cuda", ".bridge", ".cuda_memory", "torch"))]
assert not loaded, loaded
assert any("vulkan" in library for library in libraries), libraries
assert not any("cuda" in library for library in libraries), libraries
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
