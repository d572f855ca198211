"""`triton-spirv compile`: a kernel of a Python file, or a file of Triton IR, for named targets; no device."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TritonSpirvError, UsageError
from .output import Output

if TYPE_CHECKING:
    from ..aot.bundle import Plan, Variant
    from ..aot.work import Lowered

EXAMPLES = (
    "compile add.py::add --signature '*fp32:16,*fp32:16,*fp32:16,i32,1024' -o add.bundle",
    "compile matmul.py::matmul --signature '*fp16:16,*fp16:16,*fp32:16,i32:16,128' --num-warps 8 --target "
    "cpu "
    "--emit spvasm",
    "compile matmul.py::matmul --signature '*fp16:16,*fp16:16,*fp32:16,i32:16' --config BLOCK=64,num_warps=4 "
    "--config BLOCK=128,num_warps=8 --target cpu --target cpu:x86_64-v4",
    "compile kernel.ttir --emit spv -o kernel.spv",
    "compile kernel.ttir --emit plan",
    "compile kernel.ttgir --target cpu-simt --emit spvasm",
    "compile kernel.ttgir --target cpu-simt --emit spvasm --print-after needed-barriers",
)

#: what can be written: ending of the file, is it text?
KINDS = {"ttir": (".ttir", True), "ttgir": (".ttgir", True), "plan": (".plan", True),
         "spvasm": (".spvasm", True), "spv": (".spv", False),
         "zebin": (".bin", False), "bundle": (".bundle", False)}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FILE.py::KERNEL | FILE.ttir | FILE.ttgir",
                        help="a @triton.jit function in a Python file (the file is run), or a file of "
                             "Triton's IR")
    parser.add_argument("-s", "--signature",
                        help="an item for each parameter: a type; :16 after it if the value is always "
                        "divisible by 16; or the value of a constexpr")
    parser.add_argument("-t", "--target", action="append", default=[],
                        help="a name that 'triton-spirv targets' lists; may be repeated; default: cpu")
    parser.add_argument("-e", "--emit", choices=KINDS, default="bundle",
                        help="what to write; default: bundle")
    parser.add_argument("-o", "--output",
                        help="the file to write, or the bundle's folder; - means standard output, the "
                        "default for text")
    parser.add_argument("-w", "--num-warps", type=int, help="default: 4")
    parser.add_argument("--num-stages", type=int, help="default: 3")
    parser.add_argument("--config", action="append", default=[], metavar="NAME=VALUE,...",
                        help="constexprs and launch options of one variant of a bundle; may be repeated")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="another launch option, such as enable_fp_fusion=False")
    parser.add_argument("--grf-mode", default="default", choices=("default", "128", "256", "512", "auto"),
                        help="registers of a thread, in native code for Intel GPUs")
    parser.add_argument("--no-native", action="store_true", help="put no native code into the bundle")
    parser.add_argument("--print-after", action="append", default=[], metavar="PASS",
                        help="print the IR, or the SPIR-V function, after this pass to standard error; "
                             "all: after each; may be repeated")
    parser.add_argument("-j", "--processes", type=int,
                        help="how many processes compile; default: one for each core")
    parser.add_argument("--cluster", metavar="ADDRESS", help="compile on the cluster of this dask scheduler")


def run(options: argparse.Namespace, out: Output) -> int:
    """Write what is asked for."""
    from .. import inspection
    from ..aot import compile_plans
    from ..compiler import PASS_NAMES

    inspection.ask_to_print(options.print_after, PASS_NAMES)
    targets = options.target or ["cpu"]
    plans = plans_of(options, targets)
    if options.emit != "bundle":
        if len(plans) > 1:
            raise UsageError(f"--emit {options.emit} writes one file; give one --target and one --config, "
                             f"or emit a "
                             "bundle")
        return emit(plans[0], options, out)
    place = options.output or f"{plans[0].name}.bundle"
    if place == "-":
        raise UsageError("a bundle is a folder; name it with -o")
    with writing(place):  # before the work, which may take minutes
        Path(place).mkdir(parents=True, exist_ok=True)
    with _client(options.cluster) as client:
        bundle = compile_plans(plans, None, options.processes, client, progress=True)
    with writing(place):
        bundle.write(Path(place))
    rows = [(variant.stem, variant.target, options_of(variant), variant.spv_file,
             len(variant.artifact.words), len(variant.native) or "", str(variant.signature))
            for variant in bundle.variants]
    out.table(("kernel", "target", "options", "file", "spv bytes", "native bytes", "compiled for"), rows)
    out.line(f"written to {place}", "good")
    return 0


@contextmanager
def writing(place: str) -> Iterator[None]:
    """UsageError in one line for what cannot be written in this block."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}") from None


def options_of(variant: Variant) -> str:
    """The launch options of a variant, which tell configurations apart."""
    return " ".join(f"{name}={value}" for name, value in sorted(variant.options.items()))


def plans_of(options: argparse.Namespace, targets: list[str]) -> list[Plan]:
    """One plan for each configuration and target."""
    from .. import aot
    from ..aot import ir_file

    launch = launch_options(options)
    native: bool | str = options.emit == "zebin" or (
        "auto" if options.emit == "bundle" and not options.no_native else False)
    path, colons, name = options.source.partition("::")
    if not colons and Path(path).suffix in ir_file.ENDINGS:
        if options.signature or options.config:
            raise UsageError("a file of IR has its signature in it; leave out --signature and --config")
        return [ir_file.plan(Path(path), target, launch, native, options.grf_mode) for target in targets]
    kernel = find_kernel(Path(path), name)
    if options.signature is None:
        raise UsageError(f"--signature is missing; the parameters of {name} are "
                         f"{', '.join(_front().parameters(kernel)[0])}")
    configs = [dict(map(assignment, text.split(","))) for text in options.config]
    request = aot.Request(kernel, options.signature, targets=targets, configs=configs, options=launch)
    return list(aot.plans_of(request, native, options.grf_mode))


def find_kernel(path: Path, name: str) -> Any:
    """The kernel of that name in a Python file; UsageError says which there are."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file; write FILE.py::KERNEL, FILE.ttir or FILE.ttgir")
    front = _front()
    try:
        known = front.kernels_of(path)
    except TritonSpirvError:
        raise
    except Exception as error:  # whatever running the file brings
        raise UsageError(f"{path} fails when it is run: {type(error).__name__}: {error}") from error
    have = f"it has {', '.join(known)}" if known else "it has no @triton.jit function"
    if not name and len(known) == 1:
        return next(iter(known.values()))
    if name not in known:
        raise UsageError(f"{path} has no kernel {name!r}; {have}" if name else f"{path}::KERNEL: {have}")
    return known[name]


def launch_options(options: argparse.Namespace) -> dict[str, object]:
    """The options of a launch that were given."""
    given = dict(map(assignment, options.option))
    for name in ("num_warps", "num_stages"):
        value = getattr(options, name)
        if value is not None:
            given[name] = value
    return given


def assignment(text: str) -> tuple[str, object]:
    """NAME=VALUE, a value that is no number being a text."""
    from ..aot.signature import number

    name, equals, value = text.strip().partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"{text!r} is not NAME=VALUE")
    read = number(value)
    return name, value if read is None else read


def emit(plan: Plan, options: argparse.Namespace, out: Output) -> int:
    """One file of one stage."""
    ending, is_text = KINDS[options.emit]
    if options.emit == "zebin" and not plan.device:
        raise UsageError(f"target {plan.target_name} has no zebin: its native code is made by its driver at "
                         f"run time")
    if options.emit == "ttgir" and not plan.target.lanes:
        raise UsageError(f"target {plan.target_name} has no TTGIR: a program is not shared by lanes there")
    data = _stage(plan, options.emit)
    place = options.output or ("-" if is_text else f"{plan.name}{ending}")
    if place == "-":
        if is_text:
            print(data.decode(), end="", file=out.stream)
        else:
            sys.stdout.buffer.write(data)
        return 0
    with writing(place):
        Path(place).write_bytes(data)
    out.line(f"{place}: {len(data)} bytes")
    return 0


def _stage(plan: Plan, kind: str) -> bytes:
    if kind in ("ttir", "ttgir"):
        lowered: Lowered = plan.lower()
        text = lowered.ttir if kind == "ttir" else lowered.ttgir
        if not text:
            raise UsageError(f"the source is already past the stage {kind}")
        return text.encode()
    variant: Variant = _compiled(plan)
    forms: dict[str, Callable[[], bytes]] = {"plan": variant.artifact.plan.encode,
                                             "spvasm": variant.artifact.listing.encode,
                                             "spv": lambda: variant.artifact.words,
                                             "zebin": lambda: variant.native}
    return forms[kind]()


def _compiled(plan: Plan) -> Variant:
    from ..aot import compile_plans

    return compile_plans([plan], None, 0, None, progress=False).variants[0]


def _front() -> Any:
    from ..plugin import front_end

    return front_end()


def _client(address: str | None) -> Any:
    """A dask client for the time of the compilation, or nothing."""
    from contextlib import nullcontext

    if address is None:
        return nullcontext()
    import importlib

    try:
        distributed = importlib.import_module("dask.distributed")
    except ImportError:
        raise UsageError("--cluster needs dask: pip install 'triton-spirv[cluster]'") from None
    try:
        return distributed.Client(address, timeout=10)
    except (OSError, ValueError, TimeoutError) as error:
        raise UsageError(f"no dask scheduler answers at {address}: {error}") from None
