"""What a device offers, group by group: the fields of a `Target`. Sizes are in bytes unless said
otherwise."""

from __future__ import annotations

from ..dataclass import dataclass

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
class ModuleForm:
    """What a module may say, and how it is given its arguments.

    name            as `find_target` knows it
    environment     "opencl" or "vulkan"
    spirv_version   of modules
    capabilities    of SPIR-V that a module may ask for; None for all
    address_bits    64, or 32: the addressing model Physical32
    passing         "arguments" of a kernel one by one, all in one by-value "struct", or as constants that
                    are "push"ed (Vulkan)
    in_parts        may a launch be made in parts? Programs are counted from the launch's global offset, whose
                    upper 32 bits say how many there are of all parts, or are 0
    push_bytes      of push constants (Vulkan): arguments beyond it travel in a buffer
    optimised_size  instructions of a kernel up to which the driver's compiler is to optimise; a larger one
                    asks it not to, where it would take long: see CPU_SIMT
    loop_rounds     rounds that a driver gives all loops of a program together; 0: as many as they need. See
                    lower/control/loop_limit.py
    quirks          what its driver gets wrong, by names of triton_spirv/quirks.py
    leaves_out      optimisations that are not made, by names of optimisations.py
    """

    name: str
    environment: str = "opencl"
    spirv_version: tuple[int, int] = (1, 2)
    capabilities: frozenset[str] | None = None
    address_bits: int = 64
    passing: str = "arguments"
    in_parts: bool = False
    push_bytes: int = 0
    optimised_size: int | None = None
    loop_rounds: int = 0
    quirks: frozenset[str] = frozenset()
    leaves_out: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Vectors:
    """Of a work-item that runs a whole program: registers of several components, and loops over them.

    vector_width   components of a register: 16 where one work-item runs a whole Triton program, 1 where
                   lanes share it
    components     of the largest vector that a value can be
    max_registers  vectors of one tensor that are kept as values; a larger tensor lives in a private array
                   walked by loops
    window         registers that one iteration of such a loop handles
    registers      vectors of 16 f32 that all registers of the processor hold
    chooses        an instruction of x86 gives the larger or smaller of two f32, or the one that is no NaN
    """

    vector_width: int = 16
    components: int = 16
    max_registers: int = 16
    window: int = 4
    registers: int = 8
    chooses: bool = False


@dataclass(frozen=True)
class Lanes:
    """Work-items that share a program.

    sub_group_size   lanes of a warp (1 in vector mode)
    sub_group_sizes  those that a kernel may ask for
    product_lanes    of a warp in kernels with products, where no matrix unit says it; 0: as in others
    work_group_size  most work-items of a work-group; 0: the driver decides
    lane_bytes       bytes that one lane of several moves at once
    branches         masked elements that a lane loads or stores by a branch each; more are visited by a
                     loop
    reduces          a sub-group's reduction is one instruction, whose result the compiler knows to be
                     uniform
    reconvergence    the execution mode by which lanes that parted at a branch are together again behind it:
                     a device that has one gives no promise without it (Vulkan)
    register_bytes   of all registers of a hardware thread, in the default mode; 0: not known
    large_registers  is there a mode with twice as many?
    """

    sub_group_size: int = 1
    sub_group_sizes: tuple[int, ...] = ()
    product_lanes: int = 0
    work_group_size: int = 0
    lane_bytes: int = 16
    branches: int = 8
    reduces: bool = False
    reconvergence: str = ""
    register_bytes: int = 0
    large_registers: bool = False


@dataclass(frozen=True)
class Memory:
    """Sizes, and kinds of access.

    shared_bytes   of memory that a work-group shares
    private_bytes  of private arrays of all work-items of a group: as much as Intel's OpenCL CPU runtime was
                   seen to give
    stream_bytes   a store that writes at least this much over all programs bypasses the caches; 0 for never
    masked_access  llvm.masked.* imports and SPV_INTEL_masked_gather_scatter are understood (Intel's OpenCL
                   CPU runtime)
    mask_registers a store of some components of a vector is one instruction (AVX-512)
    """

    shared_bytes: int = 256 * 1024
    private_bytes: int = 256 * 1024 * 1024
    stream_bytes: int = 0
    masked_access: bool = False
    mask_registers: bool = False


@dataclass(frozen=True)
class Arithmetic:
    """What is exact, and what there is.

    float64         are there registers of f64?
    float_controls  execution modes of the specification's float controls, each with the width it is for
    rounded         instructions that the device rounds correctly though Vulkan does not ask for it:
                    "OpFDiv", "Sqrt"
    accurate        functions of GLSL.std.450 that the device computes within 2 ulp in f32 though Vulkan
                    does not ask for it: "Exp2"
    contracts       how a product and the sum behind it become one operation on Vulkan, where the kernel
                    allows that: "fma", as GLSL's Fma; "mode", by the driver, for which they say
                    AllowContract (it takes FloatControls2); "", not at all. See spirv/passes/contraction.py
    converts_bf16   SPV_INTEL_bfloat16_conversion: f32 becomes bf16 with one instruction
    narrows_bf16    so it does where no number is denormal (AVX512-BF16)
    """

    float64: bool = True
    float_controls: frozenset[tuple[str, int]] = frozenset()
    rounded: frozenset[str] = frozenset()
    accurate: frozenset[str] = frozenset()
    contracts: str = "fma"
    converts_bf16: bool = False
    narrows_bf16: bool = False


@dataclass(frozen=True)
class Products:
    """Of matrices: by multiplications and additions, or on matrix units.

    accumulators     rows x vectors of a product that are summed in registers; as many as hide the latency
                     of a multiply-add and leave registers for the operands
    products         forms of operands of which one instruction sums several products, faster than
                     multiply-adds of f32 do: "bf16", "i8", "i16"
    tile_registers   operands that the processor's tile registers multiply (AMX): "bf16", "i8"
    unrolled         multiplications of a lane in one turn of a product's loop over K, at most
    matrix           the matrix unit, if any; a kernel that uses it has sub-groups of `columns` lanes
    matrix_builtins  the matrix unit by builtins of the driver, for compilers without an instruction for it
    matrices         products of the matrix units, computed by a sub-group: m, n, k, types of a, b, c and
                     the result as Triton spells them
    emulated         matrix, 2D block and predicated instructions are functions that are linked in
    places_tiles     results of products lie in squares, or as matrices of a sub-group come: see
                     passes/tile_placement.py
    places_rows      results of products that are computed with along rows lie in whole rows of a warp: the
                     same file
    holds_operands   a left operand that a loop does not change stays in matrices of a sub-group, where it
                     fits into registers
    fetches_ahead    loops of products load the next round's operands while they compute: see
                     passes/fetch_ahead.py
    fetches_at_edges blocks with few rows of a matrix fetch the next round's right operand, too: they compute
                     little meanwhile, so it is a loss where loads of many rows overlap by themselves
    fetches_in_parts tiles of a product fetch what follows a few lines at a time, between parts of their loop
                     over K, and not all at once before it
    joined_steps     so many steps along K, of several rounds of a loop, are multiplied together: see
                     lower/products/waiting_rounds.py; 0: those of each round alone
    double_buffers   what is fetched ahead waits in shared memory, in two copies of which one is read: see
                     lower/products/carried_operands.py
    paired           warps, and bytes of shared memory, of a work-group up to which a compute unit runs two
                     at a time: one multiplies while the other waits. (0, 0): not known
    """

    accumulators: tuple[int, int] = (4, 1)
    products: frozenset[str] = frozenset()
    tile_registers: frozenset[str] = frozenset()
    unrolled: int = 128
    matrix: Matrix | None = None
    matrix_builtins: bool = False
    matrices: tuple[tuple[int, int, int, str, str, str, str], ...] = ()
    emulated: bool = False
    places_tiles: bool = False
    places_rows: bool = False
    holds_operands: bool = False
    fetches_ahead: bool = False
    fetches_at_edges: bool = True
    fetches_in_parts: bool = False
    joined_steps: int = 0
    double_buffers: bool = False
    paired: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Messages:
    """Of Intel's GPUs: accesses of a sub-group as one instruction.

    block_2d       SPV_INTEL_2d_block_io: a sub-group moves a block of rows of a surface with one message
    shared_blocks  a sub-group loads a block of shared memory with one message (SPV_INTEL_subgroups)
    predicated     SPV_INTEL_predicated_io: a lane's access happens where its predicate is true
    clock_builtin  the clock by a builtin of the driver, for compilers without OpReadClockKHR
    """

    block_2d: bool = False
    shared_blocks: bool = False
    predicated: bool = False
    clock_builtin: bool = False
