"""Targets: what a device (or a family of devices) offers, as data that the emitter asks.

No rule knows a chip's name; it asks the target for a capability, a width or a size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .errors import DeviceError

#: Bytes of a row, and rows, of a surface of 2D block messages.
MOST = 1 << 24


class Requirement(NamedTuple):
    """parameter * factor >= least + other * other_factor, and not above MOST; a factor of 0: the pointer
    `parameter` is a multiple of 64. Parameters by number; other: -1 for none.
    """

    parameter: int
    factor: int
    least: int
    other: int = -1
    other_factor: int = 0

    def holds(self, values: Sequence[Any]) -> bool:
        """Of the arguments of a launch?"""
        value = values[self.parameter]
        if not self.factor:
            return (value if isinstance(value, int) else value.data_ptr()) % 64 == 0
        least = self.least + (values[self.other] * self.other_factor if self.other >= 0 else 0)
        return bool(least <= value * self.factor <= MOST)


#: Warps of a work-group whose threads may have twice the registers.
LARGE_WARPS = 32


@dataclass(frozen=True)
class Matrix:
    """A matrix unit: one instruction adds `rows` rows of A times B to as many rows of the result.

    A lane of `columns` holds a column of the result and of B; K is 8 steps of 32 bits each (8 f32, 16 f16 or
    bf16, 32 bytes). operands: the elements of A and B that it takes.
    """

    columns: int
    rows: int = 8
    operands: frozenset[str] = frozenset({"f16", "bf16", "i8"})

    def depth(self, bits: int) -> int:
        """The elements along K that one instruction takes, of operands of so many bits."""
        return 8 * 32 // bits


@dataclass(frozen=True)
class Target:
    """What the emitter may use. Sizes in bytes unless said otherwise.

    capabilities     of SPIR-V that a module may ask for; None for all
    passing          "arguments" of a kernel one by one, all in one by-value "struct", or as constants that
                     are "push"ed (Vulkan)
    sub_group_sizes  those that a kernel may ask for; shared_bytes: of a work-group
    private_bytes    of private arrays of all work-items of a group: as much as Intel's OpenCL CPU runtime
                     was seen to give
    vector_width     components of a register: 16 where one work-item runs a whole Triton program, 1 where
                     lanes share it
    max_registers    vectors of one tensor that are kept as values; a larger tensor lives in a private array
                     walked by loops
    window           registers that one iteration of such a loop handles
    sub_group_size   lanes of a warp (1 in vector mode)
    lane_bytes       bytes that one lane of several moves at once
    branches         masked elements that a lane loads or stores by a branch each; more are visited by a loop
    accumulators     rows x vectors of a product that are summed in registers; as many as hide the latency
                     of a multiply-add and leave registers for the operands
    chooses          an instruction of x86 gives the larger or smaller of two f32, or the one that is no NaN
    products         operands for which one instruction sums several products: "bf16", "i8"
    stream_bytes     a store that writes at least this much over all programs bypasses the caches; 0 for never
    components       of the largest vector that a value can be
    push_bytes       of push constants (Vulkan): arguments beyond it travel in a buffer
    float_controls   execution modes of the specification's float controls, each with the width it is for
    rounded          instructions that the device rounds correctly though Vulkan does not ask for it:
                     "OpFDiv", "Sqrt"
    accurate         functions of GLSL.std.450 that the device computes within 2 ulp in f32 though Vulkan does
                     not ask for it: "Exp2"
    contracts        how a product and the sum behind it become one operation on Vulkan, where the kernel
                     allows that: "fma", as GLSL's Fma; "mode", by the driver, for which they say
                     AllowContract (it takes FloatControls2); "", not at all. See spirv/passes/contraction.py
    keeps_loops      loops of products say DontUnroll: an NVIDIA driver (580) repeats thousands of
                     instructions four times, and then they do not fit into the cache for instructions
    knows_extensions  its compiler takes checks of sums and products of extended integers for instructions
                     that it has wrong: an NVIDIA driver (580) found no overflow of sums of integers extended
                     from 8 or 16 bits, and did not build comparisons of products extended from 32
    joins_quotients  its compiler takes quotients of different integers of 64 bits for one: an NVIDIA driver
                     (580) gave the second element of two the (x // 3) % 7 of the first
    joins_conversions  its compiler takes the conversion to a narrower float and back for nothing: an NVIDIA
                     driver (580)
    matrix           the matrix unit, if any; a kernel that uses it has sub-groups of `columns` lanes
    matrix_builtins  the matrix unit by builtins of the driver, for compilers without an instruction for it
    block_2d         SPV_INTEL_2d_block_io: a sub-group moves a block of rows of a surface with one message
    shared_blocks    a sub-group loads a block of shared memory with one message (SPV_INTEL_subgroups)
    predicated       SPV_INTEL_predicated_io: a lane's access happens where its predicate is true
    clock_builtin    the clock by a builtin of the driver, for compilers without OpReadClockKHR
    reduces          a sub-group's reduction is one instruction, whose result the compiler knows to be uniform
    converts_bf16    SPV_INTEL_bfloat16_conversion: f32 becomes bf16 with one instruction
    emulated         matrix, 2D block and predicated instructions are functions that are linked in
    address_bits     64, or 32: the addressing model Physical32
    register_bytes   of all registers of a hardware thread, in the default mode; `large_registers`: twice as
                     many in another
    masked_access    llvm.masked.* imports and SPV_INTEL_masked_gather_scatter are understood (Intel's OpenCL
                     CPU runtime)
    fetches_ahead    loops of products load the next round's operands while they compute: see
                     passes/fetch_ahead.py
    double_buffers   what is fetched ahead waits in shared memory, in two copies of which one is read: see
                     lower/products/carried_operands.py
    paired           warps, and bytes of shared memory, of a work-group up to which a compute unit runs two at
                     a time: one multiplies while the other waits. (0, 0): not known
    places_tiles     results of products lie in squares, or as matrices of a sub-group come: see
                     passes/tile_placement.py
    holds_operands   a left operand that a loop does not change stays in matrices of a sub-group, where it
                     fits into registers
    carries_words    values of 1 and of 16 bits go from round to round of a loop as words: an NVIDIA driver
                     (580) crashed where a loop exchanged two truth values
    extends_by_halves  i32 becomes i64 as a pair of words: Mesa before 24.1.3 orders a sign-extended i32
                     wrongly against constants (its INT32_MIN is a positive i64)
    folds_zeros      its compiler takes x * 0 for 0, x / 0 for anything, x + 0 for x, whatever x is: zeros are
                     hidden from it
    loop_rounds      rounds that a driver gives all loops of a program together; 0: as many as they need. See
                     lower/control/loop_limit.py
    reconvergence    the execution mode by which lanes that parted at a branch are together again behind it: a
                     device that has one gives no promise without it (Vulkan)
    unrolled         multiplications of a lane in one turn of a product's loop over K, at most
    work_group_size  most work-items of a work-group; 0: the driver decides
    optimised_size   instructions of a kernel up to which the driver's compiler is to optimise; a larger one
                     asks it not to, where it would take long: see CPU_SIMT
    matrices         products of the matrix units, computed by a sub-group: m, n, k, types of a, b, c and the
                     result as Triton spells them
    """

    name: str
    environment: str = "opencl"
    spirv_version: tuple[int, int] = (1, 2)
    capabilities: frozenset[str] | None = None
    vector_width: int = 16
    max_registers: int = 16
    window: int = 4
    sub_group_size: int = 1
    lane_bytes: int = 16
    branches: int = 8
    sub_group_sizes: tuple[int, ...] = ()
    shared_bytes: int = 256 * 1024
    private_bytes: int = 256 * 1024 * 1024
    passing: str = "arguments"
    masked_access: bool = False
    components: int = 16
    push_bytes: int = 0
    float_controls: frozenset[tuple[str, int]] = frozenset()
    rounded: frozenset[str] = frozenset()
    accurate: frozenset[str] = frozenset()
    contracts: str = "fma"
    keeps_loops: bool = False
    knows_extensions: bool = False
    joins_quotients: bool = False
    joins_conversions: bool = False
    fetches_ahead: bool = False
    double_buffers: bool = False
    paired: tuple[int, int] = (0, 0)
    places_tiles: bool = False
    holds_operands: bool = False
    carries_words: bool = False
    extends_by_halves: bool = False
    folds_zeros: bool = False
    loop_rounds: int = 0
    reconvergence: str = ""
    unrolled: int = 128
    float64: bool = True
    stream_bytes: int = 0
    accumulators: tuple[int, int] = (4, 1)
    products: frozenset[str] = frozenset()
    chooses: bool = False
    matrix: Matrix | None = None
    matrix_builtins: bool = False
    block_2d: bool = False
    shared_blocks: bool = False
    predicated: bool = False
    clock_builtin: bool = False
    reduces: bool = False
    converts_bf16: bool = False
    emulated: bool = False
    address_bits: int = 64
    register_bytes: int = 0
    large_registers: bool = False
    work_group_size: int = 0
    optimised_size: int | None = None
    matrices: tuple[tuple[int, int, int, str, str, str, str], ...] = ()

    @property
    def lanes(self) -> bool:
        """Is a program shared by the lanes of sub-groups (SIMT mode, TTGIR) rather than run by one work-item
        (TTIR)?
        """
        return self.sub_group_size > 1

    @property
    def float16(self) -> bool:
        """Are there registers of f16? Otherwise its bits are held, and f32 computes."""
        return self.capabilities is None or "Float16" in self.capabilities

    def grf_mode(self, bytes: int, warps: int) -> str:
        """The registers of a thread which needs so many bytes at once: "256", twice as many as by default,
        where only a quarter of those would be left. Half as many threads share an engine then.
        """
        crowded = bytes * 4 > self.register_bytes * 3
        return "256" if self.large_registers and crowded and warps <= LARGE_WARPS else "default"

    def with_options(self, **changes: object) -> Target:
        """A copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


#: Intel's OpenCL CPU runtime; one work-item per program, sixteen-wide vectors, host memory.
CPU = Target("cpu", passing="struct", masked_access=True, stream_bytes=16 << 20)

#: What the registers of an instruction set hold: 32 of a whole vector, against 16 of half a vector.
ACCUMULATORS = {"x86_64-v4": (8, 2)}

#: The same device running sub-groups, for SIMT mode without a GPU. A lane moves 8 bytes at once: with 16,
#: this compiler takes 42 s for a product of 64x64x32 bytes instead of 0.8 s, and 9 s instead of 0.8 for f16.
#: Of 481 kernels of the tests it optimises all in 37 s, those of up to 200 instructions and not the others in
#: 10 s, none in 8 s.
CPU_SIMT = Target(
    "cpu-simt",
    spirv_version=(1, 3),
    vector_width=1,
    sub_group_size=16,
    sub_group_sizes=(8, 16, 32),
    passing="struct",
    lane_bytes=8,
    max_registers=1 << 30,
    optimised_size=200,
)

#: What the rules ask of a Vulkan device at least: features of version 1.2 (shaderInt64, shaderInt16,
#: shaderInt8, bufferDeviceAddress, vulkanMemoryModel) and shuffles among the sub-group operations.
VULKAN_LEAST = frozenset({
    "Shader", "PhysicalStorageBufferAddresses", "VulkanMemoryModel", "Int64", "Int16", "Int8",
    "GroupNonUniform", "GroupNonUniformShuffle",
})
#: And what nearly all of them have.
VULKAN_CAPABILITIES = VULKAN_LEAST | {"StorageBuffer8BitAccess", "StorageBuffer16BitAccess"}

#: Any Vulkan device: what more it has is added by `with_options`, from what Vulkan reports.
VULKAN = Target(
    "vulkan",
    environment="vulkan",
    spirv_version=(1, 5),
    capabilities=VULKAN_CAPABILITIES | {"Float16"},
    vector_width=1,
    sub_group_size=32,
    sub_group_sizes=(32,),
    passing="push",
    max_registers=1 << 30,
    components=4,
    push_bytes=128,
    fetches_ahead=True,
    double_buffers=True,
    places_tiles=True,
    holds_operands=True,
    carries_words=True,
    shared_bytes=32 * 1024,
    float64=False,
)

#: Mesa's software device, for tests without a GPU.
LAVAPIPE = VULKAN.with_options(
    name="lavapipe",
    capabilities=VULKAN_CAPABILITIES | {
        "Float16", "Float64", "Int64Atomics", "AtomicFloat32AddEXT", "VulkanMemoryModelDeviceScope",
        "ShaderClockKHR", "SignedZeroInfNanPreserve", "RoundingModeRTE",
    },
    sub_group_size=8,
    sub_group_sizes=(8,),
    float64=True,
    float_controls=frozenset((mode, bits) for mode in ("SignedZeroInfNanPreserve", "RoundingModeRTE")
                             for bits in (16, 32, 64)),
    rounded=frozenset({"OpFDiv", "Sqrt"}),
)

#: Any Intel GPU that an OpenCL driver offers: 16 lanes, no matrix unit, no f64.
INTEL = CPU_SIMT.with_options(
    name="opencl-gpu",
    passing="arguments",
    optimised_size=None,
    lane_bytes=16,
    branches=64,
    reduces=True,
    clock_builtin=True,
    shared_bytes=64 * 1024,
    float64=False,
    register_bytes=128 * 32,
)

#: A matrix unit of sixteen lanes that rounds f32 operands to tf32, too.
SIXTEEN_COLUMNS = Matrix(16, operands=frozenset({"f16", "bf16", "i8", "tf32"}))

#: Ponte Vecchio.
PVC = INTEL.with_options(
    name="pvc",
    sub_group_sizes=(16, 32),
    shared_bytes=128 * 1024,
    float64=True,
    matrix=SIXTEEN_COLUMNS,
    block_2d=True,
    shared_blocks=True,
    predicated=True,
    clock_builtin=False,
    converts_bf16=True,
    register_bytes=128 * 64,
    large_registers=True,
)

#: The families of Intel's GPUs by the names that ocloc has for them, two of them for compilers of 2022, and a
#: device of 32 bits.
INTEL_GPUS = (
    PVC,
    INTEL.with_options(name="dg2", matrix=Matrix(8), shared_blocks=True, predicated=True, clock_builtin=False,
                       converts_bf16=True, large_registers=True),
    PVC.with_options(name="bmg"),
    PVC.with_options(name="lnl"),
    PVC.with_options(name="ptl"),
    PVC.with_options(name="pvc-2022", matrix=Matrix(16), matrix_builtins=True, block_2d=False,
                     predicated=False, clock_builtin=True),
    INTEL.with_options(name="dg2-2022", matrix=Matrix(8), matrix_builtins=True, shared_blocks=True,
                       converts_bf16=True, large_registers=True),
    INTEL.with_options(name="tgl"),
    INTEL.with_options(name="tgl-32", address_bits=32),
)

#: The names that ocloc has for these targets.
OCLOC_DEVICES = {"pvc": "pvc", "dg2": "acm-g10", "bmg": "bmg", "lnl": "lnl-m", "ptl": "ptl-h", "tgl": "tgllp",
                 "tgl-32": "tgllp", "pvc-2022": "pvc", "dg2-2022": "acm-g10"}

#: The CPU device with the matrix unit and the 2D block messages of PVC and of DG2, as functions that are
#: linked in.
CPU_MATRIX = tuple(
    CPU_SIMT.with_options(name=name, sub_group_size=like.matrix.columns if like.matrix else 16,
                          matrix=like.matrix, block_2d=like.block_2d, emulated=True, reduces=True,
                          shared_blocks=like.shared_blocks, predicated=like.predicated,
                          converts_bf16=True, register_bytes=like.register_bytes,
                          large_registers=like.large_registers)
    for name, like in (("cpu-xe", PVC), ("cpu-xe8", INTEL_GPUS[1]))
)

TARGETS = {
    target.name: target
    for target in (
        CPU,
        INTEL,
        *INTEL_GPUS,
        *CPU_MATRIX,
        VULKAN,
        LAVAPIPE,
        CPU_SIMT,
        *(CPU_SIMT.with_options(name=f"cpu-simt{lanes}", sub_group_size=lanes) for lanes in (8, 32)),
    )
}


#: What an OpenCL driver's extensions mean for a target, as words of its name.
REPORTED = {"float64": "cl_khr_fp64", "block_io": "cl_intel_subgroup_2d_block_io",
            "matrix": "cl_intel_subgroup_matrix_multiply_accumulate"}

#: Instruction sets with VRANGEPS.
CHOOSING = ("x86_64-v4",)

#: Features of processors with instructions that sum products: what they multiply.
PRODUCTS = {"avx512_vnni": "i8", "avx512_bf16": "bf16"}


def cpu_target(architecture: str, features: frozenset[str] = frozenset()) -> Target:
    """CPU for a processor of an architecture and with features, as runtime/processor.py spells them."""
    return CPU.with_options(
        accumulators=ACCUMULATORS.get(architecture, CPU.accumulators),
        chooses=architecture in CHOOSING,
        products=frozenset(form for feature, form in PRODUCTS.items() if feature in features),
    )


def reported_target(extensions: frozenset[str], sub_group_sizes: tuple[int, ...],
                    shared_bytes: int) -> Target:
    """The target for a GPU, from what its OpenCL driver reports; its name says all of it, so that
    `find_target` knows it where there is no device.
    """
    lanes = 16 if 16 in sub_group_sizes or not sub_group_sizes else max(sub_group_sizes)
    features = [name for name, extension in REPORTED.items() if extension in extensions]
    if "matrix" in features:
        features[features.index("matrix")] = f"matrix{8 if 8 in sub_group_sizes else 16}"
    sizes = "-".join(map(str, sub_group_sizes or (lanes,)))
    facts = [f"lanes{lanes}", f"sizes{sizes}", f"shared{shared_bytes}", *features]
    return find_target(":".join(["opencl", *facts]))


def _described_target(name: str) -> Target:
    """The target that a name made by `reported_target` describes."""
    facts = {word.rstrip("-0123456789"): word[len(word.rstrip("-0123456789")):] for word in name.split(":")}
    columns = facts.get("matrix")
    sixteen = SIXTEEN_COLUMNS if "block_io" in facts else Matrix(16)
    unit = sixteen if columns == "16" else Matrix(8) if columns else None
    return INTEL.with_options(
        name=name, sub_group_size=int(facts["lanes"]),
        sub_group_sizes=tuple(map(int, facts["sizes"].split("-"))), shared_bytes=int(facts["shared"]),
        float64="float" in facts, matrix=unit, block_2d="block_io" in facts,
        matrix_builtins=unit is not None and "block_io" not in facts,
        register_bytes=128 * 64 if columns == "16" else 128 * 32, large_registers=columns is not None)


def find_target(name: str) -> Target:
    """The known target of that name, or the one that it describes; else DeviceError lists the names."""
    if name.startswith("opencl:"):
        return _described_target(name)
    if name not in TARGETS:
        raise DeviceError(f"unknown target {name!r}; known targets: {', '.join(sorted(TARGETS))}")
    return TARGETS[name]
