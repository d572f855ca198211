"""`triton-spirv stats`: registers, spills, SIMD width, the mix of instructions and the hot loop, from machine
code for the CPU device here, or from the ISA of an Intel GPU that need not be there."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from .output import Output, size_in_words

if TYPE_CHECKING:
    from ..isa import Mix, Statistics
    from ..isa.machine_code import MachineCode

EXAMPLES = (
    "stats matmul.py::matmul --signature '*fp16:16,*fp16:16,*fp32:16,i32:16,128' --target pvc --num-warps 8",
    "stats softmax_rows",
    "stats softmax_rows --target bmg",
    "stats kernel.spv --kernel add --target dg2 --json",
    "stats softmax_rows --target pvc --isa softmax.asm",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FILE.py::KERNEL | FILE.ttir | FILE.ttgir | FILE.spv | NAME",
                        help="what 'triton-spirv compile' takes, a SPIR-V module, or the name of a kernel "
                             "in Triton's cache")
    parser.add_argument("-s", "--signature", help="for FILE.py::KERNEL, as in 'triton-spirv compile'")
    parser.add_argument("-t", "--target",
                        help="cpu, host: the CPU device here; or an Intel GPU; default: that of "
                        "a cached kernel, else cpu")
    parser.add_argument("-w", "--num-warps", type=int, help="default: 4")
    parser.add_argument("--num-stages", type=int, help="default: 3")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a launch option")
    parser.add_argument("--grf-mode", default="default", choices=("default", "128", "256", "512", "auto"),
                        help="registers of a thread")
    parser.add_argument("--kernel", help="the kernel's name, if a .spv file has another name")
    parser.add_argument("--isa", type=Path, metavar="FILE", help="write the machine code as text")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, out: Output) -> int:
    """Compile for the target, count, print."""
    from ..aot import targets
    from ..isa import statistics
    from ..target import OCLOC_DEVICES

    options.target = options.target or usual_target(options.source)
    on_cpu = options.target in ("cpu", "host") or options.target.startswith("cpu:")
    device = "" if on_cpu else targets.native_device(targets.named(options.target))
    if not device and not on_cpu:
        raise UsageError(f"unknown target {options.target!r}: stats knows the code of cpu, host, "
                         f"{', '.join(OCLOC_DEVICES)}")
    words, kernel, warps = module_of(options)
    if on_cpu:
        from ..isa.machine_code import machine_code
        from ..spirv.line_info import with_line_info

        code = machine_code(words, kernel, marked=with_line_info(words))
        facts, text = code.to_json(), code.text
    else:
        made = statistics(words, device, kernel, num_warps=warps,
                          grf_mode=options.grf_mode)
        facts, text = made.to_json(), made.listing.text if made.listing else ""
    if options.isa is not None:
        try:
            options.isa.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{options.isa} cannot be written: {error.strerror}") from None
    if options.json:
        out.json({"kernel": kernel, "target": options.target, **facts})
    elif on_cpu:
        show_cpu(kernel, code, out)
    else:
        show(kernel, options.target, made, out)
    return 0


def usual_target(source: str) -> str:
    """That of a cached kernel; of anything else, cpu, as of 'triton-spirv compile'."""
    from .cached import kernels

    if Path(source).suffix or "::" in source:
        return "cpu"
    return next((kernel.emitted_for for kernel in kernels() if kernel.name == source), "cpu")


def module_of(options: argparse.Namespace) -> tuple[bytes, str, int]:
    """(words, kernel, warps)."""
    from ..aot import compile_plans
    from . import compile as command

    path = Path(options.source)
    if path.suffix == ".spv":
        try:
            return path.read_bytes(), options.kernel or path.stem, options.num_warps or 4
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    options.emit, options.config, options.no_native = "spv", [], True
    if "::" in options.source or path.suffix in (".ttir", ".ttgir", ".py"):
        (plan,) = command.plans_of(options, [options.target])
        variant = compile_plans([plan], None, 0, None, progress=False).variants[0]
        return variant.artifact.words, variant.artifact.entry, variant.artifact.num_warps
    return _cached(options)


def _cached(options: argparse.Namespace) -> tuple[bytes, str, int]:
    from ..aot import compile_plans, ir_file
    from . import compile as command
    from .cached import find

    kernel = find(options.source)
    if kernel.emitted_for == options.target or (kernel.emitted_for, options.target) == ("cpu", "host"):
        artifact = kernel.metadata["artifact"]
        return kernel.words(), artifact["entry"], artifact["num_warps"]
    launch = {"num_warps": kernel.metadata["num_warps"], **command.launch_options(options)}
    plan = ir_file.plan(kernel.path("ttir"), options.target, launch, native=False)
    variant = compile_plans([plan], None, 0, None, progress=False).variants[0]
    return variant.artifact.words, variant.artifact.entry, variant.artifact.num_warps


def show(kernel: str, target: str, made: Statistics, out: Output) -> None:
    """The figures, to read."""
    native = made.native
    spilled = f"{native.n_spills} dwords of a lane spilled ({size_in_words(native.spill_bytes)} of a thread)"
    out.line(f"{kernel} for {target} ({native.device}, ocloc {native.ocloc_version})", "head")
    out.line(f"  SIMD {native.simd_size}, {native.grf_count} registers, "
             f"{spilled if native.n_spills else 'nothing spilled'}{'' if native.exact else ' (about)'}",
             "bad" if native.n_spills else "good")
    out.line(f"  {size_in_words(made.code_bytes)} of code, {size_in_words(native.slm_size)} shared, "
             f"{size_in_words(native.private_size)} private, {native.barrier_count} barriers, "
             f"matrix engine {'used' if native.has_dpas else 'not used'}")
    for attempt in native.attempts if len(native.attempts) > 1 else ():
        kept = "kept" if attempt.grf_count == native.grf_count else ""
        out.line(f"  tried GRF {attempt.grf_mode}: {attempt.failure or f'{attempt.n_spills} spilled'} "
                 f"{kept}".rstrip())
    if made.whole is None:
        out.line("  the compiler left no ISA text", "warning")
        return
    table(made.whole, made.loops, made.hot, MEASURES, out)


def show_cpu(kernel: str, code: MachineCode, out: Output) -> None:
    """The figures of machine code."""
    out.line(f"{kernel} on {code.device}", "head")
    out.line(f"  vectors of {code.width} bits, {code.vector_registers} vector registers, "
             f"{size_in_words(code.stack_bytes)} of stack (spilled registers and private arrays), "
             f"{size_in_words(code.code_bytes)} of code")
    if code.unknown_bytes:
        out.line(f"  {code.unknown_bytes} of its bytes are instructions that are not known here; install "
                 "binutils, whose objdump may know them", "warning")
    table(code.whole, code.loops, code.hot, MEASURES[:2], out)


#: what is derived from counts: head, attribute of Mix
MEASURES = (("instructions / 1000 mult.", "per_kilomac"), ("bytes / 1000 mult.", "bytes_per_kilomac"),
            ("messages / matrix instr.", "messages_per_matrix"), ("matrix engine's share", "matrix_share"))
#: loops that are shown; the others are counted
LOOPS = 5
#: lines of the source that are named for a loop
LINES = 3


def table(whole: Mix, loops: Sequence[Mix], hot: Mix | None, measures: Sequence[tuple[str, str]],
          out: Output) -> None:
    """A column for the whole kernel and one for each loop; of many loops, the hot one and the largest."""
    name = hot.label if hot else ""
    most = sorted(loops, key=lambda loop: (loop.label != name, -loop.instructions))[:LOOPS]
    shown = [loop for loop in loops if loop in most]
    columns = [whole, *shown]
    heads = ["", "whole kernel",
             *(f"loop {loop.label}{' (hot)' if loop.label == name else ''}" for loop in shown)]
    rows: list[list[object]] = []
    if any(loop.lines for loop in shown):
        rows.append(["source", "", *(_named(loop.lines) for loop in shown)])
    rows.append(["instructions", *(mix.instructions for mix in columns)])
    rows += [[f"  {kind}", *(mix.counts.get(kind, 0) for mix in columns)] for kind in whole.counts]
    rows += [["multiplications", *(mix.macs for mix in columns)],
             ["bytes moved", *(mix.moved for mix in columns)]]
    rows += [[head, *(_figure(mix, key) for mix in columns)] for head, key in measures if whole.macs]
    out.table(heads, rows)
    if len(shown) < len(loops):
        out.line(f"and {len(loops) - len(shown)} smaller loops; --json has all")


def _named(lines: Sequence[str]) -> str:
    """The lines that most of a loop is made of; of the same file, numbers alone from the second on."""
    named = lines[:LINES]
    files = [line.partition(":")[0] for line in named]
    short = [line.partition(":")[2] if at and files[at] == files[at - 1] else line
             for at, line in enumerate(named)]
    return ", ".join(short) + ", ..." * (len(lines) > LINES)


def _figure(mix: Mix, key: str) -> str:
    value = getattr(mix, key)
    return "" if value is None or not mix.macs else f"{value:.3g}"
