"""Targets: what a device (or a family of devices) offers, as data that the emitter asks.

No rule knows a chip's name; it asks the target for a capability, a width or a size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .errors import DeviceError


@dataclass(frozen=True)
class Target:
    """What the emitter may use. Sizes in bytes unless said otherwise.

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
    products         operands for which one instruction sums several products: "bf16", "i8"
    stream_bytes     a store that writes at least this much over all programs bypasses the caches; 0 for never
    components       of the largest vector that a value can be
    push_bytes       of push constants (Vulkan): arguments beyond it travel in a buffer
    float_controls   execution modes of the specification's float controls, each with the width it is for
    fused            the environment's fma rounds once
    masked_access    llvm.masked.* imports and SPV_INTEL_masked_gather_scatter are understood (Intel's OpenCL
                     CPU runtime)
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
    private_bytes: int = 64 * 1024 * 1024
    passing: str = "arguments"
    masked_access: bool = False
    components: int = 16
    push_bytes: int = 0
    float_controls: frozenset[tuple[str, int]] = frozenset()
    fused: bool = True
    float64: bool = True
    stream_bytes: int = 0
    accumulators: tuple[int, int] = (4, 1)
    products: frozenset[str] = frozenset()

    @property
    def lanes(self) -> bool:
        """Is a program shared by the lanes of sub-groups (SIMT mode, TTGIR) rather than run by one work-item
        (TTIR)?
        """
        return self.sub_group_size > 1

    def with_options(self, **changes: object) -> Target:
        """A copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


#: Intel's OpenCL CPU runtime; one work-item per program, sixteen-wide vectors, host memory.
CPU = Target("cpu", passing="struct", masked_access=True, stream_bytes=16 << 20)

#: What the registers of an instruction set hold: 32 of a whole vector, against 16 of half a vector.
ACCUMULATORS = {"x86_64-v4": (8, 2)}

#: The same device running sub-groups, for SIMT mode without a GPU.
CPU_SIMT = Target(
    "cpu-simt",
    spirv_version=(1, 3),
    vector_width=1,
    sub_group_size=16,
    sub_group_sizes=(8, 16, 32),
    passing="struct",
    max_registers=1 << 30,
)

#: What the rules ask of a Vulkan device at least: features of version 1.2 (shaderInt64, shaderInt16,
#: shaderInt8, 8- and 16-bit storage, bufferDeviceAddress, vulkanMemoryModel) and shuffles among the sub-group
#: operations.
VULKAN_CAPABILITIES = frozenset({
    "Shader", "PhysicalStorageBufferAddresses", "VulkanMemoryModel", "Int64", "Int16", "Int8",
    "StorageBuffer8BitAccess", "StorageBuffer16BitAccess", "GroupNonUniform", "GroupNonUniformShuffle",
})

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
    fused=False,
)

TARGETS = {
    target.name: target
    for target in (
        CPU,
        VULKAN,
        LAVAPIPE,
        CPU_SIMT,
        *(CPU_SIMT.with_options(name=f"cpu-simt{lanes}", sub_group_size=lanes) for lanes in (8, 32)),
    )
}


#: Features of processors with instructions that sum products: what they multiply.
PRODUCTS = {"avx512_vnni": "i8"}


def cpu_target(architecture: str, features: frozenset[str] = frozenset()) -> Target:
    """CPU for a processor of an architecture and with features, as runtime/processor.py spells them."""
    return CPU.with_options(
        accumulators=ACCUMULATORS.get(architecture, CPU.accumulators),
        products=frozenset(form for feature, form in PRODUCTS.items() if feature in features),
    )


def find_target(name: str) -> Target:
    """The known target of that name; DeviceError lists the names otherwise."""
    if name not in TARGETS:
        raise DeviceError(f"unknown target {name!r}; known targets: {', '.join(sorted(TARGETS))}")
    return TARGETS[name]
