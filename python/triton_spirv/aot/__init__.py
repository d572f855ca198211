"""Ahead-of-time compilation: kernels to bundles that run where neither Triton nor this package is.

    import triton_spirv.aot

    bundle = triton_spirv.aot.compile(add, "*fp32:16, *fp32:16, *fp32:16, i32, 1024", targets=["cpu", "pvc"],
                                      out="add.bundle")

    bundle = triton_spirv.aot.compile(matmul, "*fp16:16, *fp16:16, *fp32:16, i32, i32, i32", targets=["cpu"],
                                      configs=[{"BLOCK": 64, "num_warps": 4}, {"BLOCK": 128, "num_warps": 8}],
                                      out="matmul.bundle", client=dask.distributed.Client(...))

No device is needed. Kernels x configurations x targets are compiled in parallel processes, or by the workers
of a dask.distributed client, with a progress bar on a terminal. The bundle holds, for each, the SPIR-V
module, native code where ocloc can make it, what a launcher must know (bundle.json and a C header), and a
Python loader that needs pyopencl and numpy only.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from ..dataclass import dataclass
from ..errors import TritonSpirvError, UsageError
from ..plugin import front_end
from ..runtime.processor import cores
from . import ir_file
from . import signature as signatures
from .bundle import Bundle, Plan, Variant, sharing_files, stems, variant_of
from .pool import Client, run_all
from .progress import progress as show_progress
from .signature import Signature
from .targets import named
from .work import Job, sources

__all__ = ["Bundle", "CompilationFailed", "Request", "Signature", "Variant", "compile", "compile_all",
           "compile_ir"]


class CompilationFailed(TritonSpirvError):
    """Some jobs failed; the message has each, with its reason. Nothing is written then."""


@dataclass(frozen=True)
class Request:
    """A kernel and what to compile it for. configs: dicts of constexprs and launch options, or triton.Config
    objects; each makes a variant."""

    kernel: Any
    signature: str | Mapping[str, object]
    constexprs: Mapping[str, object] = field(default_factory=dict)
    targets: Sequence[str] = ("cpu",)
    configs: Sequence[object] = ()
    options: Mapping[str, object] = field(default_factory=dict)


def compile(kernel: Any, signature: str | Mapping[str, object],
            constexprs: Mapping[str, object] | None = None, targets: Sequence[str] = ("cpu",), *,
            configs: Sequence[object] = (), out: str | Path | None = None, native: bool | str = "auto",
            grf_mode: str = "default", processes: int | None = None,
            client: Client | None = None, progress: bool = True, **options: object) -> Bundle:
    """Compile a @triton.jit kernel for named targets and write the bundle to the folder `out`, if one is
    given.

    signature: as Triton's own compiler has it, "*fp32:16, i32, 128", or a dict by name. native: "auto" makes
    native code for Intel GPUs where ocloc can and warns where not; True insists; False leaves it out.
    options: of a launch (num_warps, num_stages, ...). For processes and client see compile_all.
    UsageError for a signature, a target or an option that cannot be; CompilationFailed with what went wrong.
    """
    request = Request(kernel, signature, constexprs or {}, targets, configs, options)
    return compile_all([request], out=out, native=native, grf_mode=grf_mode, processes=processes,
                       client=client,
                       progress=progress)


def compile_all(requests: Iterable[Request], *, out: str | Path | None = None, native: bool | str = "auto",
                grf_mode: str = "default", processes: int | None = None, client: Client | None = None,
                progress: bool = True) -> Bundle:
    """Compile many kernels into one bundle.

    processes: worker processes, by default one for each core but no more than jobs; 0: this one does it all.
    client: a dask.distributed.Client; its workers need this package, not Triton.
    """
    plans = [plan for request in requests for plan in plans_of(request, native, grf_mode)]
    return compile_plans(plans, out, processes, client, progress)


def compile_ir(path: str | Path, targets: Sequence[str] = ("cpu",), *, out: str | Path | None = None,
               native: bool | str = "auto", grf_mode: str = "default", processes: int | None = None,
               client: Client | None = None, progress: bool = True, **options: object) -> Bundle:
    """The same for a file of Triton IR, .ttir or (for targets with lanes) .ttgir."""
    plans = [ir_file.plan(Path(path), name, options, native, grf_mode) for name in targets]
    return compile_plans(plans, out, processes, client, progress)


def compile_plans(plans: Sequence[Plan], out: str | Path | None, processes: int | None,
                  client: Client | None, progress: bool) -> Bundle:
    """What the others come down to."""
    names = stems(plans)
    jobs: list[Job] = []

    def lowered() -> Iterator[Job]:
        for plan, name in zip(plans, names, strict=True):
            jobs.append(_job(plan, name, sources() if client is not None else ""))
            yield jobs[-1]

    if processes is None:
        processes = min(cores(), len(plans)) if len(plans) > 1 else 0
    with show_progress(len(plans)) if progress and len(plans) > 1 else nullcontext() as report:
        results = run_all(lowered(), processes, client, report)
    failed = [f"{job.name} for {job.target.name}: {': '.join(result.error)}"
              for job, result in zip(jobs, results, strict=True) if result.error]
    if failed:
        raise CompilationFailed("\n".join(failed))
    bundle = Bundle(sharing_files([variant_of(plan, name, result)
                                   for plan, name, result in zip(plans, names, results, strict=True)]))
    for variant in bundle.variants:
        if variant.warning:
            warnings.warn(variant.warning, stacklevel=3)
    if out is not None:
        bundle.write(Path(out))
    return bundle


def plans_of(request: Request, native: bool | str, grf_mode: str) -> Iterator[Plan]:
    """Every configuration for every target; nothing is compiled yet."""
    front = front_end()
    parameters, constant = front.parameters(request.kernel)
    name = front.jit_function(request.kernel).__name__
    known = front.option_names()
    if not request.targets:
        raise UsageError("no target is named; for example, targets=['cpu']")
    for config in request.configs or [{}]:
        constexprs, options = {**request.constexprs}, {**request.options}
        for key, value in as_dict(config).items():
            (options if key in known and key not in parameters else constexprs)[key] = value
        for key, value in front.default_constants(request.kernel).items():
            if not isinstance(request.signature, Mapping) or key not in request.signature:
                constexprs.setdefault(key, value)
        read = signatures.read(request.signature, parameters, constexprs, constant, name)
        for target in request.targets:
            made = named(target)
            lower = partial(front.lower, request.kernel, read, made, options)
            source = str(front.jit_function(request.kernel).fn.__code__.co_filename)
            yield Plan(lower, name, read, options, target, made, native, grf_mode, source)


def as_dict(config: Any) -> dict[str, object]:
    """A configuration's constexprs and launch options: of a dict, or of a triton.Config."""
    return dict(config) if isinstance(config, Mapping) else dict(config.all_kwargs())


def _job(plan: Plan, name: str, expected: str) -> Job:
    """The job of a plan: runs Triton's front end. expected: the sources that a worker elsewhere must have."""
    made = plan.lower()
    return Job(name, made.ttgir or made.ttir, made.target, made.options, plan.device, plan.grf_mode,
               plan.native is True, expected)
