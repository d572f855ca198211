"""torch's own OpenMP, whose threads can run kernels (teams.py), in a process that has imported torch.

TRITON_SPIRV_OPENMP=0 leaves kernels to the threads of the driver.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

from ..dataclass import dataclass
from ..settings import flag

VARIABLE = "TRITON_SPIRV_OPENMP"

#: variables by which OpenMP's threads get stacks of another size: kernels have arrays there
STACKS = "OMP_STACKSIZE", "GOMP_STACKSIZE", "KMP_STACKSIZE"
#: omp_pause_hard: whatever can be given back
HARD = 2


@dataclass(frozen=True)
class OpenMP:
    """A library: the addresses of GOMP_parallel and omp_get_thread_num, how many threads it uses, a function
    that sets this, and one that ends those that the calling thread leads, until it needs some again. is_gnu:
    do threads get stacks as any thread does?"""

    parallel: int
    number: int
    threads: Callable[[], int]
    set_threads: Callable[[int], object]
    end_threads: Callable[[], object]
    is_gnu: bool


_known: dict[str, OpenMP | None] = {}


def openmp() -> OpenMP | None:
    """The library that torch uses; None where it has none that is known, or is not to be used, or where
    nobody has imported torch."""
    torch = sys.modules.get("torch")
    file = getattr(torch, "__file__", None)
    threads = getattr(torch, "get_num_threads", None)
    set_threads = getattr(torch, "set_num_threads", None)
    if threads is None or set_threads is None or file is None or not flag(VARIABLE, True) \
            or any(name in os.environ for name in STACKS):
        return None
    if file not in _known:
        _known[file] = _library(Path(file).parent / "lib" / "libtorch_cpu.so", threads, set_threads)
    return _known[file]


def _library(file: Path, threads: Callable[[], int], set_threads: Callable[[int], object]
             ) -> OpenMP | None:
    try:
        library = ctypes.CDLL(str(file))
        parallel, number = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value
                            for name in ("GOMP_parallel", "omp_get_thread_num"))
    except (OSError, AttributeError):
        return None
    pause = getattr(library, "omp_pause_resource_all", None)  # of OpenMP 5.0
    is_gnu = not hasattr(library, "__kmpc_fork_call")
    if pause is None or not is_gnu:  # LLVM's looks after forks itself
        pause = _nothing
    if not parallel or not number:
        return None
    return OpenMP(parallel, number, threads, set_threads, functools.partial(pause, HARD), is_gnu)


def _nothing(kind: int) -> None:
    pass
