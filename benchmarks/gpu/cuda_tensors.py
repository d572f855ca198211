"""What a launch on CUDA tensors costs, by how their memory comes to Vulkan, beside device arrays, host memory
and torch's own addition.

    SCRIPT=benchmarks/gpu/cuda_tensors.py benchmarks/gpu/run.sh script FOLDER

Microseconds of one launch of vector add, the least of five rounds: until it returns, waited for each time,
and as one of many (the work of a chain); results are checked.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TRITON_SPIRV_BACKEND"] = "1"
os.environ.setdefault("TRITON_SPIRV_DEVICE", "vulkan")
sys.path.append(str(Path(__file__).parents[2] / "tests"))  # which has a kernels.py as well

import kernels
import torch
import triton
import triton_spirv
from real_cuda import Mapped

WHERE = os.environ["TRITON_SPIRV_DEVICE"]
BLOCK, ROUNDS = 1024, 5


def timed(call: Callable[[], Any], wait: Callable[[], Any], count: int) -> tuple[float, float, float]:
    """Returns after, waited for each time, one of many; microseconds."""
    best = [float("inf")] * 3
    for _ in range(ROUNDS):
        wait()
        start = time.perf_counter()
        for _ in range(count):
            call()
        returned = time.perf_counter()
        wait()
        done = time.perf_counter()
        each = 0.0
        for _ in range(max(count // 4, 2)):
            begin = time.perf_counter()
            call()
            wait()
            each += time.perf_counter() - begin
        figures = (returned - start) / count, each / max(count // 4, 2), (done - start) / count
        best = [min(old, new * 1e6) for old, new in zip(best, figures, strict=True)]
    return best[0], best[1], best[2]


def say(name: str, figures: tuple[float, ...]) -> None:
    print(f"  {name:26}" + "".join(f"{figure:16.1f}" for figure in figures), flush=True)


def addition(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> Callable[[], Any]:
    return lambda: torch.add(x, y, out=out)


def main() -> None:
    interface: Any = triton.runtime.driver.active.get_device_interface()
    bridge = interface.context.cuda
    if bridge is None:
        sys.exit(f"{interface.chosen} is no GPU of CUDA's, too")
    place = f"cuda:{bridge.gpu.ordinal}"

    def launch(x: Any, y: Any, out: Any) -> Callable[[], Any]:
        count = out.numel()
        return lambda: kernels.add_kernel[(triton.cdiv(count, BLOCK),)](x, y, out, count, BLOCK=BLOCK)

    def wait() -> None:
        interface.synchronize()
        torch.cuda.synchronize()

    def mapped(values: torch.Tensor) -> torch.Tensor:
        each = -(-values.nbytes // (2 << 20)) * (2 << 20)
        elements = Mapped(bridge.gpu, 1, each=each).elements(values.numel())
        return torch.from_dlpack(elements).copy_(values)

    begin = time.perf_counter()
    torch.zeros(1, device=place)
    torch.from_dlpack(triton_spirv.zeros(4, device=WHERE))
    print(f"torch's start, and the first tensor of an array: {(time.perf_counter() - begin) * 1e3:.0f} ms")
    print(f"{'':28}{'returns after':>16}{'waited for':>16}{'one of many':>16}{'first, ms':>16}")
    for count, many in ((1 << 10, 200), (1 << 24, 20)):
        print(f"{count} elements")
        host = [torch.randn(count) for _ in range(2)] + [torch.zeros(count)]
        kinds: dict[str, list[Any]] = {
            "device arrays": [triton_spirv.asarray(values, device=WHERE) for values in host],
            "tensors of device arrays": [torch.from_dlpack(triton_spirv.asarray(values, device=WHERE))
                                         for values in host],
            "memory with descriptors": [mapped(values) for values in host],
            "torch's own memory": [values.to(place) for values in host],
            "host memory": host,
        }
        for name, arguments in kinds.items():
            call = launch(*arguments)
            begin = time.perf_counter()
            call()
            wait()
            first = (time.perf_counter() - begin) * 1e3
            figures = timed(call, wait, many if name != "host memory" else 4)
            out = arguments[2]
            result = out.cpu().numpy() if isinstance(out, torch.Tensor) else out.numpy()
            assert (result == (host[0] + host[1]).numpy()).all(), name
            say(name, (*figures, first))
        add = addition(*(values.to(place) for values in host))
        say("torch.add", timed(add, torch.cuda.synchronize, many))


if __name__ == "__main__":
    main()
