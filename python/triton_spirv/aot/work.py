"""One job of compiling ahead of time: from Triton's text to words and native code.

A job is plain data and needs nothing of Triton, so it runs in this process, in worker processes, and on
machines of a cluster that have this package only.
"""

from __future__ import annotations

import functools
import hashlib
import time
from dataclasses import field
from pathlib import Path
from typing import Any

from ..artifact import Artifact
from ..compiler import compile as emit
from ..dataclass import dataclass
from ..errors import TritonSpirvError
from ..target import Target


class VersionMismatch(TritonSpirvError):
    """A worker has other sources of this package than the caller."""


@dataclass(frozen=True)
class Lowered:
    """A kernel as the front end leaves it. ttgir is empty where no passes for lanes have run; `options` are
    keywords of triton_spirv.compile; target: the one that the IR is for, whose sub-groups may be of another
    size than usual (that of the matrix unit)."""

    name: str
    ttir: str
    ttgir: str
    options: dict[str, Any]
    target: Target


@dataclass(frozen=True)
class Job:
    """text: TTIR, or TTGIR for targets with lanes. options: keywords of triton_spirv.compile. device: for
    ocloc; empty for no native code. strict: fail where native code cannot be made, instead of going
    without."""

    name: str
    text: str
    target: Target
    options: dict[str, Any]
    device: str = ""
    grf_mode: str = "default"
    strict: bool = False
    sources: str = ""


@dataclass(frozen=True)
class Result:
    """What became of a job. native: a zebin, with `facts` about it; warning: why there is none though one was
    wanted. error: the exception of a job that failed, as (class name, message)."""

    artifact: Artifact | None = None
    native: bytes = b""
    facts: dict[str, Any] = field(default_factory=dict)
    warning: str = ""
    error: tuple[str, str] | None = None
    seconds: float = 0.0


def run(job: Job) -> Result:
    """Never raises for what is wrong with the job: the others go on."""
    start = time.perf_counter()
    try:
        if job.sources and job.sources != sources():
            raise VersionMismatch("the worker's triton-spirv differs from the caller's: install the same on "
                                  "both")
        artifact = emit(job.text, job.target, **job.options)
        native, facts, warning = _native(job, artifact) if job.device else (b"", {}, "")
    except TritonSpirvError as error:
        return Result(error=(type(error).__name__, str(error)), seconds=time.perf_counter() - start)
    return Result(artifact, native, facts, warning, seconds=time.perf_counter() - start)


def _native(job: Job, artifact: Artifact) -> tuple[bytes, dict[str, Any], str]:
    """(zebin, facts about it, ""), or (nothing, nothing, why) where the job may go without."""
    from .. import native

    try:
        made = native.compile_spirv(artifact.words, job.device, artifact.entry, num_warps=artifact.num_warps,
                                    grf_mode=job.grf_mode, expected_grf=artifact.grf_mode,
                                    simd=artifact.sub_group_size)
    except TritonSpirvError as error:
        if job.strict:
            raise
        return b"", {}, f"no native code for {job.device}: {error}"
    return made.binary, made.metadata(), ""


@functools.cache
def sources() -> str:
    """Digest of the package's own files, by which caller and workers know that they are the same."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
