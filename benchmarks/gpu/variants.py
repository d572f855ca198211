"""The same kernels under other switches of the target: what is worth what on a GPU.

    SCRIPT=benchmarks/gpu/variants.py benchmarks/gpu/run.sh script FOLDER
    PARTS=f16,f32,attention   some of it; SECONDS_LEFT=180 a limit; TINY=1 small sizes on any device

Each line is printed at once, the most telling first, with what the driver says of its code. A figure is the
median of eight rounds of launches between two timestamps, on this package's Vulkan device alone, when the
device has come to its full clock.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

START = time.perf_counter()
os.environ["TRITON_SPIRV_BACKEND"] = "1"
os.environ["TRITON_SPIRV_VULKAN_STATISTICS"] = "1"
os.environ.setdefault("TRITON_SPIRV_DEVICE", "vulkan")

import kernels  # noqa: E402
import torch  # noqa: E402
import triton  # noqa: E402
import triton_spirv  # noqa: E402
from triton_spirv.runtime.vulkan import program  # noqa: E402
from triton_spirv_backend import stages  # noqa: E402

TINY, LIMIT = bool(os.environ.get("TINY")), float(os.environ.get("SECONDS_LEFT", "180"))
SEED = torch.Generator().manual_seed(1)
DEVICE = triton.runtime.driver.active.get_device_interface()
FLAGS: dict[str, Any] = {}
original = stages.emitter_target
stages.emitter_target = lambda target: original(target).with_options(**FLAGS)
#: travels as num_stages, which nothing on this device uses, so that every variant is compiled
variant = 10

Call = Callable[[], Any]
OLD = {"double_buffers": False, "places_tiles": False}
#: Seconds of work before anything is timed
SETTLING = 0.0 if TINY else 0.7


def say(*words: object) -> None:
    print(f"[{time.perf_counter() - START:5.1f}]", *words, flush=True)


def put(values: torch.Tensor) -> Any:
    return triton_spirv.asarray(values, device=os.environ["TRITON_SPIRV_DEVICE"])


def median_ms(call: Call) -> float:
    """Of one launch, over rounds of launches one behind the other."""
    call()
    DEVICE.synchronize()

    def one_round(count: int) -> float:
        first, last = (DEVICE.Event(enable_timing=True) for _ in range(2))
        first.record()
        for _ in range(count):
            call()
        last.record()
        DEVICE.synchronize()
        return first.elapsed_time(last) / count

    start = time.perf_counter()
    count = max(2, min(200, int(40 / max(one_round(1), 1e-3))))
    while time.perf_counter() - start < SETTLING:
        one_round(count)
    return statistics.median(one_round(count) for _ in range(8))


def of_the_driver() -> dict[str, Any]:
    """What it says of the code that was built last."""
    built = list(program._programs.values())
    return built[-1].statistics if built else {}


def tried(title: str, call: Callable[[int], Any], check: Callable[[], float], work: float,
          **flags: Any) -> None:
    """Compile under `flags`, run, check, time, print; work in operations."""
    global FLAGS, variant
    if time.perf_counter() - START > LIMIT:
        return
    FLAGS, variant = flags, variant + 1
    stages_option = variant
    try:
        ms = median_ms(lambda: call(stages_option))
        say(f"{title} {flags or ''}: {ms:.3f} ms, {work / ms / 1e9:.1f} TFLOP/s, error {check():.1e}, "
            f"{of_the_driver()}")
    except Exception as error:
        say(f"{title} {flags or ''}: {type(error).__name__}: {str(error)[:200]}")
    FLAGS = {}


def error(actual: torch.Tensor, expected: torch.Tensor) -> float:
    return ((actual.double() - expected).norm() / expected.norm()).item()


def matmuls(size: int, dtype: torch.dtype, tiles: list[tuple[int, int, int, int]],
            switches: list[dict[str, Any]]) -> None:
    a, b = ((torch.randn(size, size, generator=SEED) * size ** -0.25).to(dtype) for _ in range(2))
    x, y, out = put(a), put(b), put(torch.zeros(size, size, dtype=dtype))
    rows = torch.tensor([0, size // 3, size - 1])
    expected = a[rows].double() @ b.double()

    def check() -> float:
        return error(torch.from_numpy(out.numpy()).view(dtype)[rows], expected)

    def run(tile: tuple[int, int, int, int]) -> Callable[[int], Any]:
        m, n, k, warps = tile
        grid = (triton.cdiv(size, m) * triton.cdiv(size, n),)
        return lambda s: kernels.matmul_kernel[grid](x, y, out, size, size, size, BM=m, BN=n, BK=k, GROUP=8,
                                                     num_warps=warps, num_stages=s)

    for tile in tiles:
        tried(f"matmul {str(dtype)[6:]} {tile}", run(tile), check, 2.0 * size ** 3)
    for flags in switches:
        tried(f"matmul {str(dtype)[6:]} {tiles[0]}", run(tiles[0]), check, 2.0 * size ** 3, **flags)


def f16() -> None:
    matmuls(256 if TINY else 8192, torch.float16,
            [(256, 128, 32, 8), (128, 256, 32, 8), (128, 128, 64, 8), (128, 128, 32, 4)],
            [OLD, {"double_buffers": False}, {"places_tiles": False}])


def f32() -> None:
    matmuls(256 if TINY else 4096, torch.float32,
            [(128, 128, 8, 8), (128, 128, 16, 8), (128, 128, 32, 8), (64, 64, 16, 4)],
            [OLD, {"double_buffers": False}, {"places_tiles": False}, {"unrolled": 512}])


def attention() -> None:
    heads, length, width = (2, 128, 64) if TINY else (128, 4096, 64)
    q, k, v = (torch.randn(heads, length, width, generator=SEED).half() for _ in range(3))
    arrays = [put(t) for t in (q, k, v, torch.zeros_like(q))]
    expected = ((q[-1, :16].double() @ k[-1].double().T) * width ** -0.5).softmax(-1) @ v[-1].double()

    def check() -> float:
        return error(torch.from_numpy(arrays[-1].numpy()).view(torch.float16)[-1, :16], expected)

    for m, n, warps in ((128, 64, 8), (64, 64, 4), (128, 64, 4)):
        def call(s: int, m: int = m, n: int = n, warps: int = warps) -> Any:
            return kernels.attention_kernel[(length // m, heads)](
                *arrays, width ** -0.5, length, D=width, BM=m, BN=n, num_warps=warps, num_stages=s)
        for flags in ({}, {"keeps_loops": False}, {"accurate": frozenset()}, OLD, {"double_buffers": False},
                      {"holds_operands": False}):
            tried(f"attention {m, n, warps}", call, check, 4.0 * heads * length ** 2 * width, **flags)


if __name__ == "__main__":
    for part in os.environ.get("PARTS", "f32,attention,f16").split(","):
        say("---", part)
        {"f16": f16, "f32": f32, "attention": attention}[part]()
