"""torch's own OpenMP, whose threads can run the kernels of compiled models (triton_spirv.runtime.teams).

TRITON_SPIRV_INDUCTOR_OPENMP=0 leaves kernels to the threads of the driver.
"""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

import torch
from triton_spirv.runtime.teams import OpenMP
from triton_spirv.settings import FLAG

VARIABLE = "TRITON_SPIRV_INDUCTOR_OPENMP"

#: variables by which OpenMP's threads get stacks of another size: kernels have arrays there
STACKS = "OMP_STACKSIZE", "GOMP_STACKSIZE", "KMP_STACKSIZE"


@functools.cache
def openmp() -> OpenMP | None:
    """The library that torch uses; None where it has none that is known, or is not to be used."""
    asked = os.environ.get(VARIABLE, "").strip()
    if (asked and not FLAG.value(VARIABLE, asked)) or any(name in os.environ for name in STACKS):
        return None
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
        parallel, number = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value
                            for name in ("GOMP_parallel", "omp_get_thread_num"))
    except (OSError, AttributeError):
        return None
    return OpenMP(parallel, number, torch.get_num_threads) if parallel and number else None
