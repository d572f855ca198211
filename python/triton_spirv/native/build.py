"""SPIR-V words -> a native binary, by ocloc."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..dataclass import dataclass
from ..errors import ToolError, ValidationError
from ..tools import validate
from . import ocloc, policy, repro, zebin
from .failures import (
    BadRequest,
    BuildFailed,
    NativeError,
    OclocUnusable,
    ScratchExceeded,
    Timeout,
    UnknownDevice,
    in_words,
)

_UNKNOWN_DEVICE, _MISSING_FILE, _COMMAND_LINE = 223, 225, 226
#: instructions of the matrix engine: OpSubgroupMatrixMultiplyAccumulateINTEL, OpCooperativeMatrixMulAddKHR
_MATRIX_OPCODES = frozenset((6237, 4459))
_MATRIX_BUILTIN = b"dpas_"
_HEADER_WORDS = 5


@dataclass(frozen=True)
class NativeBinary:
    """A binary for one device and what is known of it. Sizes in bytes: spill_bytes and private_size for each
    hardware thread, slm_size for each work-group; n_spills in dwords for each lane.

    ocloc_cmd    the command that made it, as one would type it in a folder with kernel.spv
    attempts     every build that was made for it
    build_flags  those of the build that was kept
    exact        is spill_bytes what the compiler says, or a bound?
    """

    binary: bytes
    device: str
    ocloc_version: str
    ocloc_cmd: str
    attempts: tuple[policy.Attempt, ...]
    build_flags: str
    grf_count: int
    simd_size: int
    spill_bytes: int
    n_spills: int
    slm_size: int
    barrier_count: int
    private_size: int
    exact: bool
    has_dpas: bool = False
    binary_format: str = "zebin"

    def metadata(self) -> dict[str, Any]:
        """Everything but the binary, as plain data."""
        plain = {name: value for name, value in self.__dict__.items() if name != "binary"}
        plain["attempts"] = [attempt.to_json() for attempt in self.attempts]
        return plain


@dataclass(frozen=True)
class _Request:
    """One compilation, the same for all attempts."""

    program: ocloc.Ocloc
    words: bytes
    device: str
    kernel: str
    flags: tuple[str, ...]
    simd: int | None
    dpas: bool
    bundle: bool
    seconds: float


def compile_spirv(words: bytes, device: str, kernel: str, *, num_warps: int = 4, grf_mode: str = "default",
                  expected_grf: str = "default", flags: Sequence[str] = (), simd: int | None = None,
                  bundle: bool = False,
                  timeout: float | None = None, keep: Path | None = None,
                  dump: Path | None = None) -> NativeBinary:
    """Compile a module with one kernel for a device that need not be there.

    device    as ocloc names it: "pvc", "12.60.7" (IP version), "0x56a0" (device id). A family of devices
              yields an archive, which is refused unless `bundle` asks for it; its figures are then those of
              the member that spills most.
    grf_mode  registers of a thread: "128", "256", "512", "auto", or "default": the compiler's choice, and 256
              where that fails or spills
    expected_grf  "256" where a kernel is known to need so many: with grf_mode="default" they are tried first
    flags     further build options; unknown ones are refused
    simd      size of sub-groups that the kernel must have been built for; None for any
    timeout   seconds for one run of ocloc; None: TRITON_SPIRV_OCLOC_TIMEOUT, or 120
    keep      folder for what is kept of a failed build
    dump      folder for the compiler's own intermediate forms and ISA text

    Raises a NativeError; BuildFailed and ScratchExceeded where the module is to blame.
    """
    if zebin.kind(words) != "spirv":
        raise BadRequest(f"{kernel} is not a SPIR-V module: it starts with "
                         f"{words[:4].hex(' ') or 'nothing'}, not with 03 02 23 07")
    policy.check(grf_mode, num_warps)
    options = ocloc.check_flags(flags)
    if not bundle and any(mark in device for mark in ",:"):
        raise UnknownDevice(f"{device!r} names several devices; compile for each, or ask for a bundle")
    if dump is not None:
        dump.mkdir(parents=True, exist_ok=True)
        options += (ocloc.shader_dump(dump.absolute()),)
    program = ocloc.find()
    seconds = ocloc.timeout() if timeout is None else timeout
    request = _Request(program, words, device, kernel, options, simd, asks_for_matrix_engine(words), bundle,
                       seconds)
    outcome = policy.best_of(lambda mode: _attempt(request, mode), grf_mode, num_warps, expected_grf)
    if outcome.kept is None:
        raise _explained(request, outcome, keep)
    run, facts = outcome.kept.build
    attempt = outcome.kept.attempt
    return NativeBinary(
        run.output, device, program.version, _command(request, attempt), outcome.attempts, attempt.flags,
        facts.grf_count, facts.simd_size, attempt.spill_bytes, attempt.n_spills, facts.slm_size,
        facts.barrier_count, facts.private_size, attempt.exact, facts.has_dpas, zebin.format_of(run.output))


def _attempt(request: _Request, grf_mode: str) -> policy.Built:
    """One run of ocloc, judged."""
    flags = request.flags + policy.flags_of(grf_mode)
    began = time.perf_counter()
    run = ocloc.compile(request.program, request.words, request.device, flags, request.seconds)
    attempt = policy.Attempt(grf_mode, " ".join(flags), log=tuple(ocloc.useful_lines(run.log)),
                             seconds=round(time.perf_counter() - began, 4))
    try:
        facts = _judge(request, run)
    except NativeError as error:
        error.code = run.code
        return policy.Built(replace(attempt, failure=str(error)), run, error)
    spill, exact = spilled_bytes(facts, run.log)
    attempt = replace(attempt, grf_count=facts.grf_count, simd_size=facts.simd_size, spill_bytes=spill,
                      n_spills=policy.dwords_per_lane(spill, facts.simd_size), exact=exact)
    return policy.Built(attempt, (run, facts))


def _judge(request: _Request, run: ocloc.Run) -> zebin.KernelFacts:
    """The kernel's figures, or the error that the exit code, the log or the binary show."""
    if run.code is None:
        raise Timeout(f"ocloc was ended after {request.seconds:g} s")
    if run.code == _UNKNOWN_DEVICE:
        raise UnknownDevice(f"ocloc does not know the device {request.device!r}")
    if run.code == _MISSING_FILE:
        raise OclocUnusable("ocloc did not find the file that it was given")
    if run.code == _COMMAND_LINE:
        raise BadRequest("ocloc did not understand its command line")
    exceeded = ocloc.scratch_exceeded(run.log)
    if exceeded is not None and run.code:
        raise ScratchExceeded(*exceeded)
    if run.code:
        raise BuildFailed(in_words(run.code))
    if not run.output:
        raise BuildFailed("ocloc reported success but wrote no binary")
    if zebin.kind(run.output) == "archive":
        return _judge_archive(request, run.output)
    return zebin.describe(run.output, request.kernel, request.simd, request.dpas)


def _judge_archive(request: _Request, archive: bytes) -> zebin.KernelFacts:
    if not request.bundle:
        raise UnknownDevice(f"{request.device!r} names a family of devices, which gives an archive; "
                            "compile for one device, or ask for a bundle")
    binaries = [data for data in zebin.members(archive).values()
                if zebin.format_of(data) == "zebin"  # the SPIR-V lies there as an ELF file for no machine
                and any(section.name == f".text.{request.kernel}" for section in zebin.sections(data))]
    if not binaries:
        raise BuildFailed(f"no member of the archive contains the kernel {request.kernel}")
    found = [zebin.describe(data, request.kernel, request.simd, request.dpas) for data in binaries]
    return max(found, key=lambda facts: facts.spill_size or facts.scratch_size)


def spilled_bytes(facts: zebin.KernelFacts, log: str = "") -> tuple[int, bool]:
    """(bytes that a thread spills, is that exact?).

    Older compilers write a power of two that spills and private arrays fit into, and warn of the number of
    registers. A register has 32 or 64 bytes: 64 where so many fit. Without a log the power of two stands.
    """
    if facts.spill_size is not None:
        return facts.spill_size, True
    if not log:
        return facts.scratch_size, False
    registers = ocloc.spilled_registers(log, facts.name)
    if registers is None:
        return 0, False  # it warns of every spill; the scratch space is of private arrays
    return registers * (64 if registers * 64 <= facts.scratch_size else 32), False


def asks_for_matrix_engine(words: bytes) -> bool:
    """Does the module multiply matrices, by an instruction or by the driver's builtins?"""
    if _MATRIX_BUILTIN in words:
        return True
    view = memoryview(words[:len(words) // 4 * 4]).cast("I")
    at = _HEADER_WORDS
    while at < len(view):
        if view[at] & 0xFFFF in _MATRIX_OPCODES:
            return True
        at += (view[at] >> 16) or len(view)  # an instruction of no words: damaged, for the compiler to say
    return False


def _command(request: _Request, attempt: policy.Attempt) -> str:
    flags = request.flags + policy.flags_of(attempt.grf_mode)
    return ocloc.command_line([request.program.path, *ocloc.arguments(request.device, flags)])


def _explained(request: _Request, outcome: policy.Outcome, keep: Path | None) -> NativeError:
    """The error with everything that one wants to know of it."""
    error = outcome.error
    runs = [(request.flags + policy.flags_of(one.attempt.grf_mode), one.build.code) for one in outcome.tried]
    folder = repro.folder_for(request.words, request.device, keep)
    try:
        script = str(repro.keep(folder, request.words, request.program, request.device, request.kernel,
                                request.simd, request.dpas, runs, request.seconds))
    except OSError as reason:
        script = f"not kept: {reason}"
    tried = [_line_of(one) for one in outcome.tried]
    log = dict.fromkeys(line for one in outcome.tried for line in one.attempt.log)
    log.update(dict.fromkeys(_verdict(request.words) if error.larger_grf_may_help else ()))
    message = "\n".join([
        f"ocloc {request.program.version} cannot build {request.kernel} for {request.device}: {error}",
        *(f"  tried {line}" for line in tried), *(f"  | {line}" for line in log), f"to repeat: {script}"])
    if isinstance(error, ScratchExceeded):
        return ScratchExceeded(error.required, error.limit, message)
    return type(error)(message, error.code)


def _verdict(words: bytes) -> list[str]:
    """What spirv-val, where it is installed, has against the module: ocloc takes many a bad one without a
    word."""
    try:
        validate(words)
    except ValidationError as error:
        return [f"spirv-val: {str(error).splitlines()[0]}"]
    except ToolError:
        pass
    return []


def _line_of(one: policy.Built) -> str:
    """`GRF 256: nothing defines f; exit code 0 (success)`."""
    failure, code = str(one.attempt.failure), in_words(one.build.code)
    return f"GRF {one.attempt.grf_mode}: {failure}{'' if code in failure else '; ' + code}"
