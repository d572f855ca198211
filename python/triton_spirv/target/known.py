"""The targets that have names, and those that a name describes."""

from __future__ import annotations

import difflib

from ..errors import DeviceError
from .capabilities import Matrix
from .device import Target

#: Intel's OpenCL CPU runtime; one work-item per program, sixteen-wide vectors, host memory.
CPU = Target("cpu", passing="struct", in_parts=True, masked_access=True, stream_bytes=16 << 20,
             quirks=frozenset({"vectorises_single_items", "parts_contractions", "inexact_erf",
                               "joins_sine_and_cosine"}))

#: What the registers of an instruction set hold: 32 of a whole vector, or 16 of half a vector. Two units of
#: four cycles want at least eight sums, better ten: eight vectors for sixteen multiply-adds are loaded in the
#: first tile, eight for twelve in the second, less than the units take meanwhile. Of tiles of sixteen the
#: square one loads least, and passes by the left operand half as often as 8 x 2.
ACCUMULATORS = {"x86_64-v4": (4, 4), "x86_64-v3": (6, 1)}

#: Vectors of 16 f32 in all registers of an instruction set: 32 registers of a whole one.
REGISTERS = {"x86_64-v4": 32}

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
    quirks=frozenset({"parts_contractions", "inexact_erf", "joins_sine_and_cosine"}),
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
    quirks=frozenset({"carries_words"}),
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
    quirks=frozenset(),
    lane_bytes=16,
    branches=64,
    reduces=True,
    clock_builtin=True,
    shared_bytes=64 * 1024,
    float64=False,
    places_rows=True,
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
    PVC.with_options(name="nvl-p"),
    PVC.with_options(name="cri"),
    PVC.with_options(name="pvc-2022", matrix=Matrix(16), matrix_builtins=True, block_2d=False,
                     predicated=False, clock_builtin=True),
    INTEL.with_options(name="dg2-2022", matrix=Matrix(8), matrix_builtins=True, shared_blocks=True,
                       converts_bf16=True, large_registers=True),
    INTEL.with_options(name="arl", matrix=Matrix(8), matrix_builtins=True, float64=True, shared_blocks=True,
                       predicated=True, clock_builtin=False, converts_bf16=True, large_registers=True),
    INTEL.with_options(name="mtl", float64=True, shared_blocks=True, predicated=True, large_registers=True,
                       product_lanes=8),
    INTEL.with_options(name="tgl"),
    INTEL.with_options(name="tgl-32", address_bits=32),
)

#: The names that ocloc has for these targets.
OCLOC_DEVICES = {"pvc": "pvc", "dg2": "acm-g10", "bmg": "bmg", "lnl": "lnl-m", "ptl": "ptl-h", "tgl": "tgllp",
                 "nvl-p": "nvl-p", "cri": "cri",
                 "arl": "arl-h", "mtl": "mtl-h", "tgl-32": "tgllp", "pvc-2022": "pvc", "dg2-2022": "acm-g10"}

#: Targets of devices by their IP versions, as ocloc tells them: architecture, first release, the target.
FAMILIES = ((12, 0, "tgl"), (12, 55, "dg2"), (12, 60, "pvc"), (12, 70, "mtl"), (12, 74, "arl"),
            (20, 0, "bmg"), (20, 4, "lnl"), (30, 0, "ptl"), (35, 10, "nvl-p"), (35, 11, "cri"))


def family_of(version: tuple[int, int]) -> str:
    """The target for a device of an IP version (architecture, release); empty where no family is known."""
    found = [name for architecture, release, name in FAMILIES
             if architecture == version[0] and release <= version[1]]
    return found[-1] if found else ""


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


#: The names that users are told: targets with functions in place of hardware are for tests.
NAMES = tuple(sorted(name for name, target in TARGETS.items() if not target.emulated))

#: Names a target in place of the device's own.
VARIABLE = "TRITON_SPIRV_TARGET"

#: The processor that is here, with everything that it has.
HOST = "host"

#: What an OpenCL driver's extensions mean for a target, as words of its name.
REPORTED = {"float64": "cl_khr_fp64", "block_io": "cl_intel_subgroup_2d_block_io",
            "matrix": "cl_intel_subgroup_matrix_multiply_accumulate"}

#: The extensions of a sub-group's reductions; a device without them exchanges elements, as its name says.
REDUCING = frozenset({"cl_khr_subgroup_non_uniform_arithmetic", "cl_khr_subgroup_clustered_reduce"})
EXCHANGES = "exchanges"

#: Instruction sets with VRANGEPS.
CHOOSING = ("x86_64-v4",)

#: Instruction sets with registers of masks.
MASKING = ("x86_64-v4",)

#: Features of processors with instructions that sum products: what they multiply.
PRODUCTS = {"avx512_vnni": "i8", "avx512_bf16": "bf16", "avx2": "i16"}

#: The feature of processors with VCVTNEPS2BF16.
NARROWING = "avx512_bf16"

#: The feature of processors with tile registers, and those that say what they multiply.
TILES = "amx_tile"
TILE_PRODUCTS = {"amx_int8": "i8", "amx_bf16": "bf16"}

#: Intel, as Linux spells it among the features of a processor.
VENDOR = "GenuineIntel"

#: Of PRODUCTS, what Intel's processors multiply faster in f32. Measured: VDPBF16PS, which does as much as two
#: of f32's multiply-adds, takes as long as four on a Sapphire Rapids, and as one on AMD's Zen 4.
SLOW_ON_INTEL = frozenset({"bf16"})

#: Steps along K that are multiplied together. With 16 registers a panel of 256 stays in the nearest cache,
#: with 32 panels are wider, and lie in the second one in any case.
JOINED_STEPS = {"x86_64-v4": 512, "x86_64-v3": 256}

#: `stream_bytes` of processors with tile registers. Measured: 16 and 32 MB stay in a Xeon's last cache.
STREAMED_FROM_TILES = 48 << 20

#: Levels of x86-64 whose processors need not have an instruction for a product and a sum.
WITHOUT_FMA = ("x86_64", "x86_64-v2")

#: Processors that can be compiled for elsewhere, as compilers call them: architecture and features.
PROCESSORS = {"sapphirerapids": ("x86_64-v4", frozenset({TILES, *TILE_PRODUCTS, *PRODUCTS})),
              "znver4": ("x86_64-v4", frozenset({"avx512_vnni", NARROWING}))}


def cpu_target(architecture: str, features: frozenset[str] = frozenset()) -> Target:
    """CPU for a processor of an architecture and with features, as runtime/processor.py spells them, or of a
    name."""
    architecture, own = PROCESSORS.get(architecture, (architecture, frozenset()))
    has = (features | own) - {"avx2"}
    if architecture == "x86_64-v3":  # later levels have multiply-adds as wide as two of its sums of products
        has |= {"avx2"}
    intel = bool(has & {VENDOR, TILES})  # nobody else has tile registers
    return CPU.with_options(
        accumulators=ACCUMULATORS.get(architecture, CPU.accumulators),
        # without the instruction, fma is a function 50 times as slow
        parts_contractions=architecture not in WITHOUT_FMA or "fma" in features,
        tabulates_exp2=architecture not in MASKING and architecture not in WITHOUT_FMA,
        registers=REGISTERS.get(architecture, CPU.registers),
        chooses=architecture in CHOOSING,
        mask_registers=architecture in MASKING,
        products=frozenset(form for feature, form in PRODUCTS.items() if feature in has)
        - (SLOW_ON_INTEL if intel else set()),
        narrows_bf16=NARROWING in has,
        tile_registers=frozenset(form for feature, form in TILE_PRODUCTS.items() if {TILES, feature} <= has),
        # measured: Sapphire Rapids loses a tenth by it, a Zen 4 takes up to 1.8 times as long without
        fetches_at_edges=TILES not in has,
        stream_bytes=STREAMED_FROM_TILES if TILES in has else CPU.stream_bytes,
        # measured: a Xeon gains 2 to 15 %, a Zen 4 up to 5, and the same with 16 registers loses up to 17
        fetches_in_parts=architecture in MASKING,
        # measured on Xeons, with and without tile registers, and with AVX2; nobody else's
        joined_steps=JOINED_STEPS.get(architecture, 0) if intel else 0,
    )


def is_processor(name: str) -> bool:
    """Is it the name of a target for a processor that may not be here: "cpu:x86_64-v4"?"""
    kind, _, architecture = name.partition(":")
    return kind == "cpu" and (architecture in ACCUMULATORS or architecture in PROCESSORS)


def reported_target(extensions: frozenset[str], sub_group_sizes: tuple[int, ...],
                    shared_bytes: int) -> Target:
    """The target for a GPU, from what its OpenCL driver reports; its name says all of it, so that
    `find_target` knows it where there is no device.
    """
    lanes = 16 if 16 in sub_group_sizes or not sub_group_sizes else max(sub_group_sizes)
    features = [name for name, extension in REPORTED.items() if extension in extensions]
    if "matrix" in features:
        features[features.index("matrix")] = f"matrix{8 if 8 in sub_group_sizes else 16}"
    if not REDUCING <= extensions:
        features.append(EXCHANGES)
    sizes = "-".join(map(str, sub_group_sizes or (lanes,)))
    facts = [f"lanes{lanes}", f"sizes{sizes}", f"shared{shared_bytes}", *features]
    return find_target(":".join(["opencl", *facts]))


#: What an OpenCL CPU device is taken to have, and what its extensions add, by words of a target's name.
CPU_LEAST = frozenset({"Kernel", "Addresses", "Linkage", "Vector16", "Int8", "Int16", "Int64",
                       "Float16Buffer", "FPFastMathModeINTEL"})
CPU_REPORTED = {"half": ("cl_khr_fp16", "Float16"), "double": ("cl_khr_fp64", "Float64"),
                "atomics": ("cl_khr_int64_base_atomics", "Int64Atomics")}
OTHER_CPU = "opencl-cpu"
#: the OpenCL of Mesa, as its platform is called
RUSTICL = "rusticl"
#: of a driver that does not know SPV_INTEL_fp_fast_math_mode: products and sums are rounded one by one there
UNCONTRACTED = "uncontracted"


def is_other_cpu(name: str) -> bool:
    """Is it the name of a target for a CPU device of another driver than Intel's?"""
    return name.partition(":")[0] == OTHER_CPU


def reported_cpu_target(extensions: frozenset[str], platform: str = "") -> Target:
    """The target for a CPU device of another driver than Intel's, from what it reports. Whether its compiler
    knows SPV_INTEL_fp_fast_math_mode no driver says: Mesa's does not, and ends the process."""
    contracts = platform.lower() != RUSTICL
    facts = [word for word, (extension, _) in CPU_REPORTED.items() if extension in extensions]
    return find_target(":".join([OTHER_CPU, *facts, *([] if contracts else [UNCONTRACTED])]))


def _described_cpu(name: str) -> Target:
    """The target that a name made by `reported_cpu_target` describes: nothing of Intel's own driver."""
    words = name.split(":")[1:]
    least = CPU_LEAST
    if UNCONTRACTED in words:
        words.remove(UNCONTRACTED)
        least -= {"FPFastMathModeINTEL"}
    if unknown := sorted(set(words) - set(CPU_REPORTED)):
        raise DeviceError(f"target {name!r}: a CPU device cannot have {', '.join(unknown)}; it can have "
                          f"{', '.join(CPU_REPORTED)}")
    return CPU.with_options(
        name=name, in_parts=False, masked_access=False, float64="double" in words,
        quirks=frozenset({"traps_on_division"}),
        vector_width=8,  # of 64 bits each: the quirk drops_wide_calls
        capabilities=least | {CPU_REPORTED[word][1] for word in words})


def _described_target(name: str) -> Target:
    """The target that a name made by `reported_target` describes; DeviceError for another name."""
    try:
        return _with_facts(name)
    except (KeyError, ValueError):
        raise DeviceError(f"unknown target {name!r}: 'opencl:' begins a description of a device, as in "
                          "opencl:lanes16:sizes8-16-32:shared65536") from None


def _with_facts(name: str) -> Target:
    facts = {word.rstrip("-0123456789"): word[len(word.rstrip("-0123456789")):] for word in name.split(":")}
    columns = facts.get("matrix")
    sixteen = SIXTEEN_COLUMNS if "block_io" in facts else Matrix(16)
    unit = sixteen if columns == "16" else Matrix(8) if columns else None
    sizes = tuple(map(int, facts["sizes"].split("-")))
    return INTEL.with_options(
        name=name, sub_group_size=int(facts["lanes"]),
        sub_group_sizes=sizes, product_lanes=8 if unit is None and 8 in sizes else 0,
        shared_bytes=int(facts["shared"]),
        reduces=EXCHANGES not in facts, float64="float" in facts, matrix=unit, block_2d="block_io" in facts,
        matrix_builtins=unit is not None and "block_io" not in facts,
        register_bytes=128 * 64 if columns == "16" else 128 * 32, large_registers=columns is not None)


def ocloc_device(name: str) -> str:
    """What ocloc calls the device of a target's name; empty for other targets."""
    return name.partition("@")[2] or OCLOC_DEVICES.get(name, "")


def find_target(name: str) -> Target:
    """The known target of that name, or the one that it describes, "dg2@acm-g11": for a device of the family;
    else DeviceError lists the names."""
    if name.startswith("opencl:"):
        return _described_target(name)
    if is_other_cpu(name):
        return _described_cpu(name)
    if is_processor(name):
        return cpu_target(name.partition(":")[2]).with_options(name=name)
    family, _, device = name.partition("@")
    if device and family in OCLOC_DEVICES:
        return TARGETS[family].with_options(name=name)
    if name not in TARGETS:
        near = difflib.get_close_matches(name, NAMES, 1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise DeviceError(f"unknown target {name!r}{meant}; known targets: {', '.join(NAMES)}")
    return TARGETS[name]


def chosen_target(text: str) -> Target | None:
    """What TRITON_SPIRV_TARGET asks for; None: the device's own. DeviceError where there is no such target.
    "simt8" is short for "cpu-simt8"."""
    if text in ("", HOST):
        return None
    try:
        return find_target(f"cpu-{text}" if text.startswith("simt") else text)
    except DeviceError as error:
        raise DeviceError(f"{VARIABLE}: {error}; 'triton-spirv targets' says what they are") from None
