"""Bringing up a device: one kernel, followed from Triton to the device, step by step.

The other tutorials launch kernels and look at numbers. This one takes the chain apart, as one does when a new
device or a new operation does not work yet: each step below can be run, looked at and changed by itself. Only
the last two use a device.

1. the kernel becomes Triton IR (stock Triton; no device, no driver);
2. the IR is read, and every operation has a rule, or its name is told with your line;
3. the rules make SPIR-V for a `Target`, a record of what the device offers;
4. another target, another module: less to use, narrower vectors, lanes that share a program;
5. a target that lacks what the kernel needs is refused by name, before there is a module;
6. the words are checked by the Khronos validator;
7. a driver builds them and runs them, without Triton;
8. Triton runs the same kernel: the same words, the same bits.

What to look at:

* `triton_spirv.compile(ir, target)` is the whole emitter: text in, an `Artifact` out, which holds the words,
  a listing to read, and how arguments are passed;
* a device is data. `docs/architecture.md`, "How to add a device", says what else one needs.
"""

# turns the SPIR-V backend on, which must precede `import triton`
from _report import INTERPRETED, Report, as_argument, median_ms

# isort: split
import re
import sys
from collections import Counter

import numpy as np
import triton
import triton.language as tl
import triton_spirv
from triton_spirv.errors import MissingCapability, ToolError
from triton_spirv.ir import parse
from triton_spirv.lower import RULES
from triton_spirv.tools import spirv_tools

#: what step 5's device understands: the kernels of every OpenCL device, 64-bit addresses, wide vectors
WITHOUT_DOUBLES = ("Kernel", "Addresses", "Linkage", "Int64", "Int16", "Int8", "Vector16",
                   "FPFastMathModeINTEL")


@triton.jit
def saxpy_kernel(x_ptr, y_ptr, out_ptr, factor, count, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    x = tl.load(x_ptr + index, mask=inside)
    y = tl.load(y_ptr + index, mask=inside)
    tl.store(out_ptr + index, x * factor + y, mask=inside)


@triton.jit
def in_double_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + index, tl.load(x_ptr + index).to(tl.float64) * 0.1)


def title(number: int, text: str) -> None:
    print(f"\n{number}. {text}")


def show(text: str, most: int, only: str) -> None:
    """The first of a text's lines that contain `only`."""
    kept = [line.strip() for line in text.splitlines() if only in line]
    for line in kept[:most]:
        print(f"    {line[:104]}")
    if len(kept) > most:
        print(f"    ... and {len(kept) - most} more with {only.strip()!r}")


def ir_of(kernel, *arguments, **constants) -> dict[str, str]:
    """The kernel's IR at both levels, ttir and ttgir; compiled for these arguments, not launched."""
    return kernel.warmup(*arguments, grid=(1,), **constants).asm


def launch_words(artifact):
    """What remains when Triton is taken away: build the words for the chosen device, and launch them."""
    from triton_spirv.runtime import devices, launch, program

    context = devices.open_device(devices.choose(devices.selection()))
    built = program.build(context, artifact.words, artifact.entry)
    return launch.Kernel(context, built, artifact).launch


def print_rules(ir: str) -> None:
    """Each operation of a module, how often it stands there, and the rule that lowers it."""
    for name, count in sorted(Counter(op.name for op in parse(ir).walk()).items()):
        print(f"    {count:2} x {name:22} {RULES[name].location if name in RULES else 'structure'}")


def print_artifact(target, artifact) -> None:
    """How large the module is, how it is launched, and the types of its products, with sums (fma) or not."""
    products = re.findall(r"= (?:OpFMul|OpExtInst(?=.* fma )) (<[^>]*>|\w+)", artifact.listing)
    types = ", ".join(f"{count} x {type}" for type, count in Counter(products).items())
    shape = f"{len(artifact.words):6} bytes, {artifact.local_size[0]:3} work-items a program"
    print(f"    {target.name:10} {shape}, products: {types}")


def main() -> None:
    report = Report("11 bring up a device", theirs="numpy")
    if INTERPRETED:
        print("Triton's interpreter compiles nothing; there is no device to bring up")
        sys.exit(0)
    size, block = (1000, 256) if report.quick else (1_000_003, 1024)
    generator = np.random.default_rng(0)
    x, y = (generator.random(size, dtype=np.float32) for _ in range(2))
    out, factor, grid = np.empty_like(x), 3.0, triton.cdiv(size, block)
    arguments = [*map(as_argument, (x, y, out)), factor, size]
    expected = x.astype(np.float64) * factor + y

    title(1, "Triton's IR of the kernel")
    ir = ir_of(saxpy_kernel, *arguments, BLOCK=block)
    show(ir["ttir"], 6, only=" = tt.")

    title(2, "its operations, and the rules that lower them")
    print_rules(ir["ttir"])

    title(3, "SPIR-V for a CPU: one work-item runs a program, in vectors")
    cpu = triton_spirv.TARGETS["cpu"]
    for_cpu = triton_spirv.compile(ir["ttir"], cpu)
    print(f"    parameters, as Python's struct packs them: {for_cpu.struct_format}")
    show(for_cpu.listing, 3, only=" fma ")

    title(4, "other targets, other modules")
    narrow = cpu.with_options(name="mine", vector_width=4, masked_access=False)
    lanes = triton_spirv.TARGETS["cpu-simt32"]  # ttgir says which lane has which elements: 4 warps of 32
    artifacts = {cpu: for_cpu, narrow: triton_spirv.compile(ir["ttir"], narrow),
                 lanes: triton_spirv.compile(ir["ttgir"], lanes, num_warps=4)}
    for target, artifact in artifacts.items():
        print_artifact(target, artifact)

    title(5, "a target that lacks something is told what, and where")
    in_double = ir_of(in_double_kernel, *arguments[:1], as_argument(np.empty(size)), BLOCK=block)
    poor = cpu.with_options(name="poor", capabilities=frozenset(WITHOUT_DOUBLES))
    triton_spirv.compile(ir["ttir"], poor)  # this kernel needs no more
    try:
        triton_spirv.compile(in_double["ttir"], poor)
        sys.exit("FAILED: a module for a device that cannot run it")
    except MissingCapability as error:
        print(f"    {error}")

    title(6, "spirv-val")
    for target, artifact in artifacts.items():
        try:
            spirv_tools.validate(artifact.words)
            print(f"    {target.name}: valid")
        except ToolError as error:
            print(f"    {target.name}: not checked, {error}")

    title(7, "the words on the device, without Triton")
    def check(case: str, launch) -> np.ndarray:
        """Launch into NaN and compare: a product below 3 and a sum below 4, each rounded once."""
        out.fill(np.nan)
        ours = median_ms(launch)
        theirs = median_ms(lambda: x * np.float32(factor) + y)
        report.row(case, ours, theirs, np.abs(out - expected).max(), 2.0**-23 + 2.0**-23)
        return out.copy()

    results = []
    for target, artifact in artifacts.items():
        run = launch_words(artifact)
        results.append(check(f"words for {target.name}", lambda run=run: run(grid, 1, 1, arguments)))

    title(8, "the same through Triton")
    def through_triton() -> None:
        saxpy_kernel[(grid,)](*arguments, block)
    results.append(check("through Triton", through_triton))
    same = all(np.array_equal(result, results[0]) for result in results)
    print(f"all results are the same bits: {same}")
    report.finish()


if __name__ == "__main__":
    main()
