"""Is torch's library of matrix products slower than a kernel, on this processor?

One product is made by both on one core, in turns, some times. Both can use all cores, but the threads of
torch's library go on for a while after its work, and would take cores from the kernel. What was found is kept
in Inductor's folder of caches, under what it depends on: the processor, the versions, the library's settings.
TRITON_SPIRV_INDUCTOR_PRODUCTS says it instead.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from triton_spirv.settings import FLAG_OR_AUTO

#: `1`: kernels make all products that they can; `0`: none
VARIABLE = "TRITON_SPIRV_INDUCTOR_PRODUCTS"

#: rows and columns, and terms, of the product that is timed, in one program; turns; how much faster a kernel
#: has to be
SIZE, TERMS, TURNS, FASTER = 128, 512, 30, 1.2

#: variables that torch's library for products of f32 reads
READ_BY_LIBRARY = ("MKL_", "OMP_", "KMP_", "DNNL_", "ONEDNN_", "ATEN_CPU_CAPABILITY")


def is_slower(dtype: torch.dtype, longer: float) -> bool:
    """Does a kernel make a product of this type sooner, if it takes so much longer than one that fits it?"""
    asked = said()
    return bool(asked) if asked != "auto" else ratio(dtype) > FASTER * longer


def said() -> object:
    """What the variable says: True, False or "auto"."""
    return FLAG_OR_AUTO.value(VARIABLE, os.environ.get(VARIABLE, "").strip() or "auto")


@functools.cache
def ratio(dtype: torch.dtype) -> float:
    """The library's time over a kernel's: measured once for a folder of caches."""
    from torch._inductor import config
    from torch._inductor.runtime.cache_dir_utils import cache_dir

    path = Path(cache_dir()) / f"triton_spirv_products_{key(dtype)}.json"
    try:
        return float(json.loads(path.read_text(encoding="utf-8"))["ratio"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    found = measured(dtype)
    if not config.force_disable_caches:
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps({"ratio": found}), encoding="utf-8")
        new.replace(path)
    return found


def key(dtype: torch.dtype) -> str:
    """What the ratio is a fact about."""
    from triton_spirv_backend.targets import current_target

    from .device import own_key

    read = sorted((name, text) for name, text in os.environ.items() if name.startswith(READ_BY_LIBRARY))
    facts = (current_target().arch, torch.__version__, own_key(), str(dtype), read)
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def measured(dtype: torch.dtype) -> float:
    """The least time of some, of both. Inductor asks in the middle of its work: nothing of its modes or of
    Triton's driver stays changed."""
    import triton
    from torch._inductor.runtime.triton_helpers import set_driver_to_cpu
    from torch.utils._python_dispatch import _disable_current_modes

    from .timed_product import product_kernel

    active, threads = getattr(triton.runtime.driver, "_active", None), torch.get_num_threads()
    set_driver_to_cpu()
    try:
        if threads > 1:
            torch.set_num_threads(1)
        with _disable_current_modes(), torch.no_grad():
            x, weight = (torch.ones(SIZE, TERMS, dtype=dtype) for _ in range(2))
            out = torch.empty(SIZE, SIZE, dtype=dtype)
            return compared(lambda: torch.mm(x, weight.t(), out=out),
                            lambda: product_kernel[(1,)](x, weight, out, TERMS, SIZE, SIZE // 2))
    finally:
        if threads > 1:
            torch.set_num_threads(threads)
        if active is not None:
            triton.runtime.driver.set_active(active)


def compared(library: Callable[[], Any], kernel: Callable[[], Any], turns: int = TURNS) -> float:
    """The least time of the first over that of the second, called in turns."""
    library(), kernel()
    least = [float("inf")] * 2
    for _ in range(turns):
        for at, call in enumerate((library, kernel)):
            start = time.perf_counter()
            call()
            least[at] = min(least[at], time.perf_counter() - start)
    return least[0] / least[1]
