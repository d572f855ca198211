"""The figures of the selftest: medians of samples, each of as many launches as take 20 ms and one wait, on
arrays of the device where it has a memory of its own."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import triton.language as tl
from triton_spirv import asarray, empty
from triton_spirv.errors import TritonSpirvError

from . import kernels
from .cases import Wrong, synchronize

SAMPLES = 7
SAMPLE_SECONDS = 0.02
#: elements of an array whose bandwidth is measured, and the sizes of products: of CPU and software devices,
#: of others
SIZES = {True: (1 << 22, 512), False: (1 << 26, 4096)}


def figures(small: bool, device: str) -> Iterator[dict[str, Any]]:
    """name, value, unit, how it was measured; "error" where it was not. small: a device without much power.
    device: where arrays are to be; empty: the host's memory."""
    size, edge = SIZES[small]
    measures: list[tuple[str, Callable[[], Any]]] = [
        ("an empty launch", lambda: _empty(device)),
        ("bandwidth f32", lambda: _bandwidth(size, device)),
        ("softmax f32", lambda: _softmax(size >> 12, device)),
    ]
    for name, dtype, block in (("f32", "float32", (64, 64, 32)), ("f16", "float16", (128, 128, 32)),
                               ("i8", "int8", (128, 128, 64))):
        measures.append((f"product {name}", partial(_product, edge, dtype, block, device)))
    for name, measure in measures:
        begin = time.perf_counter()
        try:
            value, unit, how = measure()
            yield {"name": name, "value": value, "unit": unit, "how": how,
                   "seconds": round(time.perf_counter() - begin, 2)}
        except (TritonSpirvError, Wrong, RuntimeError, MemoryError) as error:
            yield {"name": name, "error": f"{type(error).__name__}: {error}".splitlines()[0]}


def measured(run: Callable[[], Any]) -> float:
    """Seconds of one run."""
    run()
    synchronize()
    begin = time.perf_counter()
    run()
    synchronize()
    count = max(1, int(SAMPLE_SECONDS / max(time.perf_counter() - begin, 1e-6)))
    samples = []
    for _ in range(SAMPLES):
        begin = time.perf_counter()
        for _ in range(count):
            run()
        synchronize()
        samples.append((time.perf_counter() - begin) / count)
    return statistics.median(samples)


def _empty(device: str) -> tuple[float, str, str]:
    x = empty(16, device=device or None)
    return measured(lambda: kernels.nothing[(1,)](x)) * 1e6, "us", "launched in a row, waited for at the end"


def _bandwidth(size: int, device: str) -> tuple[float, str, str]:
    x, out = (asarray(np.ones(size, np.float32), device=device or None) for _ in range(2))
    seconds = measured(lambda: kernels.arithmetic[(size // 1024,)](x, x, out, size, "add", 1024))
    if not (out.numpy()[::4096] == 2).all():
        raise Wrong("sums are wrong")
    return 8 * size / seconds / 1e9, "GB/s", f"a sum of {size} elements, one read, one write"


def _softmax(rows: int, device: str) -> tuple[float, str, str]:
    x, out = (asarray(np.ones((rows, 4096), np.float32), device=device or None) for _ in range(2))
    seconds = measured(lambda: kernels.softmax[(rows,)](x, out, 4096, 4096, num_warps=8))
    if not np.allclose(out.numpy()[0], 1 / 4096):
        raise Wrong("weights are wrong")
    return 8 * rows * 4096 / seconds / 1e9, "GB/s", f"{rows} rows of 4096"


def _product(edge: int, dtype: str, block: tuple[int, int, int], device: str) -> tuple[float, str, str]:
    a, b = (asarray((np.arange(edge * edge) % 3).reshape(edge, edge).astype(dtype), device=device or None)
            for _ in range(2))
    out = empty((edge, edge), "int32" if dtype == "int8" else "float32", device=device or None)
    rows, columns, depth = block
    grid = (-(-edge // rows), -(-edge // columns))
    seconds = measured(lambda: kernels.product[grid](a, b, out, edge, edge, edge, rows, columns, depth,
                                                     getattr(tl, dtype), num_warps=8))
    row = (np.arange(edge) % 3).astype(np.float64) @ (np.arange(edge * edge) % 3).reshape(edge, edge)
    if not np.allclose(out.numpy()[0], row):
        raise Wrong("products are wrong")
    unit = "TOP/s" if dtype == "int8" else "TFLOP/s"
    return 2 * edge**3 / seconds / 1e12, unit, f"{edge}^3, blocks of {rows}x{columns}x{depth}, 8 warps"
