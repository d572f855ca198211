"""All configurations of an autotuned kernel compiled at once, before the first of them is timed.

    triton_spirv.precompile(matmul, a, b, c, M, N, K)
    matmul[grid](a, b, c, M, N, K)          # times them; compiles nothing

An autotuner compiles its configurations one after the other, and most of that is the driver's work, which it
does for one program at a time in a process. Here Triton's front end and the emitter run in this process while
worker processes build what they have made; what they build is on disk for this process and all later ones.
"""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import nullcontext
from functools import partial
from typing import Any

from .dataclass import dataclass
from .errors import TritonSpirvError
from .plugin import front_end
from .progress import progress as progress_of
from .runtime import devices, program
from .runtime.processor import cores
from .workers import Workers


@dataclass(frozen=True)
class Precompiled:
    """One configuration, as Triton prints it, and why it cannot be compiled, or None: the autotuner will meet
    the same error."""

    config: str
    error: Exception | None


def precompile(kernel: Any, *arguments: Any, processes: int | None = None, progress: bool = True,
               **keywords: Any) -> list[Precompiled]:
    """Compile every configuration of a kernel for these arguments, as `kernel[grid](*arguments, **keywords)`
    would, and launch none; a kernel that is not autotuned has one. Their results, as they come.

    processes: workers that build for the device, by default one for each core; 0: this process builds.
    progress: show how far it has come. UsageError for what is no kernel.
    """
    configurations = front_end("tuning").configurations(kernel, arguments, keywords)
    count = min(cores() if processes is None else processes, len(configurations))
    results: list[Precompiled] = []
    pending: list[tuple[str, Future[None]]] = []
    with Workers(count) if count else nullcontext() as workers:
        shown = progress and len(configurations) > 1
        with progress_of(len(configurations)) if shown else nullcontext() as step:

            def done(name: str, error: Exception | None) -> None:
                results.append(Precompiled(name, error))
                if step is not None:
                    step(name, f"{name}{f' FAILED: {error}' if error else ''}", error is not None)

            for name, compiled in configurations:
                try:
                    made = compiled()
                    if made is not None and workers is not None:
                        pending.append((name, workers.submit(partial(build, *made))))
                        continue
                    if made is not None:
                        build(*made)
                except Exception as error:  # whatever Triton, a pass or the kernel's own asserts raise
                    done(name, error)
                else:
                    done(name, None)
            for name, future in pending:
                failure = future.exception()
                if failure is not None and not isinstance(failure, TritonSpirvError):
                    raise failure
                done(name, failure)
    return results


def build(words: bytes, entry: str, flags: str, policy: program.Policy | None) -> None:
    """Build for the selected OpenCL device; the binary is kept on disk."""
    context = devices.open_device(devices.choose(devices.selection()))
    program.build(context, words, entry, flags, policy)
