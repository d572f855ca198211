"""What differs between kinds of SPIR-V, as one object that rules ask: pointers, memory, coordinates, lanes,
barriers, math, atomics.

An environment sees SPIR-V values and types, never Triton operations. Rules never test which environment they
are in.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

from ..dataclass import dataclass
from ..spirv.builder import I32, I64, Builder, Operand, scalar_type, width_of
from ..spirv.module import Module, Value
from ..spirv.passes.graph import Graph
from ..spirv.passes.pipeline import Pass
from ..spirv.passes.private_memory import order_shared_memory
from ..spirv.types import Float, Int, Type
from ..spirv.values import Words
from ..target import Target
from .atomics import Atomics
from .masked_access import MaskedAccess
from .matrix_units import MatrixUnits

#: Combiners that devices may have instructions for -> what follows OpGroupNonUniform in their names.
REDUCTIONS = {
    "arith.addf": "FAdd", "arith.mulf": "FMul", "arith.maxnumf": "FMax", "arith.minnumf": "FMin",
    "arith.addi": "IAdd", "arith.muli": "IMul", "arith.maxsi": "SMax", "arith.minsi": "SMin",
    "arith.maxui": "UMax", "arith.minui": "UMin", "arith.andi": "BitwiseAnd", "arith.ori": "BitwiseOr",
    "arith.xori": "BitwiseXor",
}

@dataclass(frozen=True)
class Parameter:
    """A kernel parameter: its name, its type as Artifact spells it ("ptr", "i32", "f16", ...), and the
    pointee of a pointer.
    """

    name: str
    type: str
    pointee: Type | None = None


class Environment(MatrixUnits, MaskedAccess, Atomics):
    """One environment for one module; `b` builds into that module.

    passing           how the arguments travel, as Artifact says it; known when `begin_kernel` is done
    exports           the function of one program that whoever has its address can call, "" for none
    prints_to_buffer  does `printf` write to a buffer that the runtime supplies and reads (`print_buffer`, a
                      pointer to i32), rather than print itself?
    formats           what was printed into it: the format, and the types of its values
    counts_programs   was `num_programs` asked for?
    watch             is told of each access to shared memory right before it: the place in bytes, i32, the
                      bytes of the access and of its elements, and "read", "write" or "add". Of an
                      environment that has `watches_shared` alone
    watch_global      ... of each access to global memory: the pointer, the same, and what "write" puts there
    """

    passing = "arguments"
    exports = ""
    prints_to_buffer = False
    print_buffer: Value | None = None
    counts_programs = False
    watches_shared = False
    watch: Callable[[Value, int, int, str], None] | None = None
    watch_global: Callable[[Value, int, int, str, Value | None], None] | None = None

    #: memory semantics of a barrier that orders shared and global memory, and of one for shared memory only
    barrier_semantics: tuple[int, int]

    def __init__(self, b: Builder, target: Target) -> None:
        self.b, self.target = b, target
        self.orders_memory = False  # has an atomic operation been emitted that orders other accesses?
        self.formats: list[tuple[str, tuple[str, ...]]] = []
        self._overflow_words: Words = []  # of the instruction that multiplies by the bytes of a program
        self._overflow: Value | None = None  # the address of this program's part

    @classmethod
    def module(cls, target: Target) -> Module:
        """An empty module of the kind."""
        return Module(version=target.spirv_version, capabilities=target.capabilities)

    # --- entry ----------------------------------------------------------------------------------------------

    @abstractmethod
    def begin_kernel(self, name: str, parameters: Sequence[Parameter], local_size: int) -> list[Value]:
        """Open the entry point; the values of the parameters, pointers as `pointer_type` has them."""

    def passes(self) -> tuple[Pass, ...]:
        """What is done to the instructions of a kernel that are complete: passes of spirv/passes."""
        return ()

    @abstractmethod
    def end_kernel(self) -> None:
        """Close the entry point opened by `begin_kernel`; its `passes` have run."""

    @abstractmethod
    def program_id(self, axis: int) -> Value:
        """i32: which program of the grid this is along an axis (tt.get_program_id)."""

    @abstractmethod
    def num_programs(self, axis: int) -> Value:
        """i32: programs of the grid along an axis."""

    @abstractmethod
    def lane_id(self) -> Value:
        """i32: the work-item inside its sub-group."""

    @abstractmethod
    def warp_id(self) -> Value:
        """i32: the sub-group inside its work-group."""

    def draw_program(self, counter: Value) -> None:
        """Let the program be the next one that nobody is yet, in the order of their ids, counted by a word in
        memory that is 0 before the launch; at the entry. A device may start work-groups in any order: Intel's
        CPU runtime does in grids of two dimensions. A program that waits for an earlier one then waits for
        one that runs.
        """
        raise NotImplementedError  # environments of devices where one work-item runs a program

    def place_along_x(self, is_said: Value, grid: Value) -> None:
        """Let the launcher put all programs along x, in the order of their ids; at the entry. grid: the i64
        address of how many there are along each axis, three i32, where `is_said` holds; 0 where they are
        launched as they are.
        """
        raise NotImplementedError  # environments of devices where one work-item runs a program

    @abstractmethod
    def ticks(self) -> Value:
        """i64: a clock that runs at the device's own rate, on a CPU that of its time stamp counter."""

    # --- pointers -------------------------------------------------------------------------------------------

    @abstractmethod
    def pointer_type(self, pointee: Type) -> Type:
        """How a scalar pointer to global memory is held in a register; i64: as its address."""

    @abstractmethod
    def pointer(self, address: Value, pointee: Type) -> Value:
        """64-bit address -> scalar pointer."""

    @abstractmethod
    def address(self, pointer: Value) -> Value:
        """Scalar pointer -> 64-bit address."""

    @abstractmethod
    def offset(self, pointer: Value, elements: Value) -> Value:
        """pointer + elements * size of the pointee; elements: i32 or i64, signed."""

    @abstractmethod
    def pointee_bytes(self, pointer: Value) -> int:
        """Size of what a scalar pointer points to."""

    # --- global memory; `pointer` points to the first of `count` neighbouring elements ----------------------

    @abstractmethod
    def load(self, pointer: Value, count: int, volatile: bool = False, alignment: int | None = None) -> Value:
        """count elements, as a vector (a scalar for 1); `alignment` in bytes, None: aligned to an element."""

    @abstractmethod
    def store(self, pointer: Value, value: Value, stream: bool = False, alignment: int | None = None,
              volatile: bool = False) -> None:
        """Store a scalar or a vector of neighbouring elements; `stream`: past the caches, aligned to the
        whole value. `alignment` and `volatile` as for `load`.
        """

    def store_pair(self, pointer: Value, low: Value, high: Value, stream: bool = False) -> None:
        """Two vectors of neighbours, one behind the other, as one where the target can; `stream`: aligned to
        both."""
        self.store(pointer, low, stream)
        self.store(self.offset(pointer, self.b.constant(I64, width_of(low.type))), high, stream)

    def load_pieces(self, pointer: Value, count: int, pieces: int) -> list[Value]:
        """count * pieces elements, aligned to all of them, as vectors of `count`: for targets whose vectors
        (`components`) are shorter than what a lane moves at once."""
        raise NotImplementedError(f"{type(self).__name__} has no accesses of several vectors")

    def store_pieces(self, pointer: Value, values: Sequence[Value]) -> None:
        """Vectors, one behind the other, aligned to all of them."""
        raise NotImplementedError(f"{type(self).__name__} has no accesses of several vectors")

    @abstractmethod
    def fence_stream(self) -> None:
        """Called before and behind a path of streaming stores: keeps it apart from the path of plain ones."""

    @abstractmethod
    def masked_load(self, pointer: Value, mask: Value, other: Value) -> Value:
        """Neighbouring elements where the mask (Bool, as wide as `other`) is true, `other` elsewhere; nothing
        else is touched.
        """

    @abstractmethod
    def masked_store(self, pointer: Value, value: Value, mask: Value) -> None:
        """Store the components whose mask is true; nothing else is touched."""

    def prefetch(self, pointer: Value, soon: bool = True, writes: bool = False) -> None:
        """The cache line there will be used soon, or after much else: then it is not to displace what is in
        the nearest cache. writes: it will be stored to. Any address may be given. A hint: the default does
        nothing.
        """

    @abstractmethod
    def gather(self, pointers: Sequence[Value], mask: Value | None, other: Value | None) -> Value:
        """One element per pointer; masked lanes give `other` and are not touched."""

    @abstractmethod
    def scatter(self, pointers: Sequence[Value], value: Value, mask: Value | None) -> None:
        """Store one component per pointer, in order of components."""

    # --- private arrays (vector mode) -----------------------------------------------------------------------

    @abstractmethod
    def private_array(self, element: Type, size: int, width: int) -> Value:
        """An array of `size` elements that belongs to the work-item, in vectors of `width`."""

    @abstractmethod
    def private_load(
        self, array: Value, width: int, element: Type, index: Value, count: int, offset: int = 0
    ) -> Value:
        """`count` elements of type `element` from element `index` + `offset` (multiples of count) on."""

    @abstractmethod
    def private_store(self, array: Value, width: int, index: Value, value: Value, offset: int = 0) -> None:
        """Store a scalar or vector at element `index` + `offset` (multiples of its width)."""

    def private_prefetch(self, array: Value, width: int, index: Value, count: int, offset: int = 0,
                         nearest: bool = True) -> None:
        """`count` elements from element `index` (a multiple of count) on, which need not exist, will be read
        soon; nearest: are they fetched into the nearest cache? A hint: the default does nothing.
        """

    # --- lanes ----------------------------------------------------------------------------------------------

    @abstractmethod
    def shuffle_xor(self, value: Value, mask: int) -> Value:
        """The value of the lane whose id differs in the bits of `mask`."""

    @abstractmethod
    def shuffle(self, value: Value, lane: Value) -> Value:
        """The value of lane `lane` (i32)."""

    def reduce_lanes(self, operation: str, value: Value, lanes: int) -> Value | None:
        """One of REDUCTIONS over aligned groups of so many neighbouring lanes, by an instruction of its own;
        None where there is none.
        """
        return None

    @abstractmethod
    def barrier(self) -> None:
        """All work-items of the program arrive, and see each other's writes to shared and global memory."""

    def narrow_barrier(self, words: list[int]) -> None:
        """Make the instruction of a barrier one for the lanes of each sub-group alone; it may stay as it is.
        """
        return

    def keep_global_private(self, graph: Graph) -> None:
        """Called when the kernel is complete, where no access to global memory meets one of another lane of
        the program: barriers need not order them. An atomic operation that orders memory still does.
        """
        if self.orders_memory:
            return
        everything, shared = (self.b.constant(I32, bits).id for bits in self.barrier_semantics)
        order_shared_memory(graph, everything, shared)

    @abstractmethod
    def shared_array(self, element: Type, size: int, offset: int = 0) -> Value:
        """An array of `size` elements, `offset` bytes into the memory shared by the program; Bool is held as
        a byte.

        Arrays may overlap: who may use what, and when, is the caller's business.
        """

    def place_overflow(self, buffer: Value) -> None:
        """Find the program's own part of a buffer in global memory, at the entry: programs have parts of one
        size, in the order of their numbers. The size is what `set_overflow` says in the end."""
        b = self.b
        number = b.resize(self.program_id(2), 64)
        for axis in (1, 0):
            number = b.iadd(b.imul(number, b.resize(self.num_programs(axis), 64)),
                            b.resize(self.program_id(axis), 64))
        place = b.module.emit("OpIMul", number, b.constant(I64, 1), type=I64)
        self._overflow_words = b.module.functions[-1].instructions[-1]
        self._overflow = b.iadd(self.address(buffer), place)

    def set_overflow(self, bytes: int) -> None:
        """How many bytes of the buffer each program has."""
        self._overflow_words[-1] = self.b.constant(I64, bytes).id

    def _overflow_address(self, offset: int) -> Value:
        assert self._overflow is not None
        return self.b.iadd(self._overflow, offset)

    @abstractmethod
    def overflow_array(self, element: Type, size: int, offset: int) -> Value:
        """As `shared_array`, in the program's part of the buffer that `place_overflow` was given; every
        method that takes an array takes either."""

    @abstractmethod
    def shared_load(self, array: Value, index: Value, count: int = 1) -> Value:
        """`count` elements of a shared array as they are held, from element `index` (i32) on."""

    @abstractmethod
    def shared_store(self, array: Value, index: Value, value: Value) -> None:
        """Store a scalar or a vector of neighbouring elements at element `index` (i32) of a shared array."""

    def shared_load_pieces(self, array: Value, index: Value, count: int, pieces: int) -> list[Value]:
        """count * pieces elements from a multiple of so many on, as vectors of `count`."""
        return [self.shared_load(array, self.b.iadd(index, piece * count), count) for piece in range(pieces)]

    def shared_store_pieces(self, array: Value, index: Value, values: Sequence[Value]) -> None:
        """Vectors, one behind the other, from a multiple of all their elements on."""
        for piece, value in enumerate(values):
            self.shared_store(array, self.b.iadd(index, piece * width_of(value.type)), value)

    @abstractmethod
    def shared_add(self, array: Value, index: Value, value: Value) -> None:
        """Add to element `index` (i32) of a shared array of i32, atomically among the lanes of the
        program.
        """

    # --- arithmetic -----------------------------------------------------------------------------------------

    @abstractmethod
    def math(self, name: str, *operands: Value) -> Value:
        """An elementary function by its OpenCL name ("exp", "fma", "rsqrt", ...)."""

    @abstractmethod
    def function(self, name: str, operands: Sequence[Value], type: Type) -> Value:
        """The same with operands of several types: ldexp and pown take an integer, ilogb gives one."""

    @abstractmethod
    def contract(self, value: Value, users: str = "") -> Value:
        """Allow a multiplication or addition to be fused with its neighbour; returns the value. `users`: of
        a product, "several" operations of the kernel, or one "sum", however often the module repeats it."""

    def multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        """x * y + z; of floats, rounded once or twice: whichever costs less."""
        b = self.b
        if isinstance(scalar_type(z.type), Int):
            return b.iadd(b.imul(x, y), z)
        return self.contract(b.binary("OpFAdd", self.contract(b.binary("OpFMul", x, y)), z))

    def extreme(self, x: Value, y: Value, comparison: str) -> Value:
        """The larger or smaller one of two floats, as OpFOrdGreaterThan or OpFOrdLessThan says; y where they
        are equal, or one is NaN."""
        return self.b.select(self.b.compare(comparison, x, y), x, y)

    def integer(self, opcode: str, x: Operand, y: Operand) -> Value:
        """An arithmetic instruction on integers, for all operands that Triton's operation is defined for."""
        b = self.b
        folding = {"OpIAdd": b.iadd, "OpISub": b.isub, "OpIMul": b.imul}.get(opcode)
        return folding(x, y) if folding else b.binary(opcode, x, y)

    def reverse_bits(self, x: Value) -> Value:
        """An integer, its lowest bit first."""
        return self.b.unary("OpBitReverse", x)

    def divide(self, x: Operand, y: Operand, precise: bool = True) -> Value:
        """x / y of floats; precise: correctly rounded, otherwise within 2.5 ulp."""
        return self.b.binary("OpFDiv", x, y)

    def approximate(self, name: str, *operands: Value) -> Value | None:
        """A function of f32, or "divide", by its OpenCL name, with an error of thousands of units in the last
        place; None where that is no faster."""
        return None

    @abstractmethod
    def narrow(self, value: Value, element: Float, rounding: str = "RTE") -> Value:
        """A float as a narrower one, rounded to nearest even (RTE), to zero (RTZ), up (RTP) or down (RTN)."""

    def narrows_normal(self, type: Type) -> bool:
        """Has it `normal_to_bf16` and `denormal` for vectors of f32 of this type?"""
        return False

    def normal_to_bf16(self, value: Value) -> Value:
        """The bits of the nearest bf16 of f32 of which none is denormal, as arith.truncf has them, NaN
        included, by an instruction for that."""
        raise NotImplementedError(f"{type(self).__name__} has no instruction for f32 becoming bf16")

    def denormal(self, value: Value) -> Value:
        """Which components of a vector of f32 are denormal numbers, by an instruction for that."""
        raise NotImplementedError(f"{type(self).__name__} has no instruction that finds denormal numbers")

    def sum_products(self, form: str, x: Value, y: Value, z: Value) -> Value:
        """z + the products of what the 32-bit components of x and y hold: two bf16 ("bf16"), two signed
        numbers of 16 bits ("i16"), or four bytes, those of x unsigned, those of y signed ("i8"). For a target
        that names the form in `products`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no instruction that sums products of {form}")

    # --- printing -------------------------------------------------------------------------------------------

    @abstractmethod
    def printf(self, format: str, *values: Value) -> None:
        """Print scalars by a format of C: integers of 32 and 64 bits (`%d`, `%ld`, ...), the widest float
        type there is.
        """
