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

TARGETS = {
    target.name: target
    for target in (
        CPU,
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
