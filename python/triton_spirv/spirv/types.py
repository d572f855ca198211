"""SPIR-V types as values: independent of a module, compared by what they are.

Types are the keys of the builder's tables, looked up for every instruction. So that a lookup costs no more
than that of an integer, there is one object for each type: `Float(32)` gives the same object every time, and
equality is identity.

`str(type)` is how listings spell a type: `<16 x f32>`, `ptr<Function, i32>`, `[4 x f16]`.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..dataclass import dataclass

VECTOR_COUNTS = (2, 3, 4, 8, 16)
FLOAT_WIDTHS = (16, 32, 64)
INT_WIDTHS = (8, 16, 32, 64)


_by_call: dict[tuple[Any, ...], Any] = {}
_by_value: dict[tuple[Any, ...], Any] = {}


class _OnePerValue(type):
    """Calling a class returns the one object with these fields."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        call = (cls, args, *kwargs.items()) if kwargs else (cls, args)
        known = _by_call.get(call)
        if known is None:
            new = super().__call__(*args, **kwargs)
            value = (cls, *(getattr(new, field.name) for field in fields(new)))
            # A default left out or given, a keyword or a position: many calls, one value.
            known = _by_call[call] = _by_value.setdefault(value, new)
        return known


@dataclass(frozen=True, eq=False)
class Type(metaclass=_OnePerValue):
    """Base class of all types."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))


class Void(Type):
    def __str__(self) -> str:
        return "void"


class Bool(Type):
    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, eq=False)
class Int(Type):
    """An integer. Signedness is always 0: OpenCL allows nothing else, and the instructions carry the sign."""

    width: int

    def __post_init__(self) -> None:
        _check(self.width in INT_WIDTHS, f"Int: width {self.width} is not one of {INT_WIDTHS}")

    def __str__(self) -> str:
        return f"i{self.width}"


@dataclass(frozen=True, eq=False)
class Float(Type):
    """A floating-point type: IEEE 754, or `encoding` by its SPIR-V name, e.g. Float(16, "BFloat16KHR")."""

    width: int
    encoding: str | None = None

    def __post_init__(self) -> None:
        widths = (8, 16) if self.encoding else FLOAT_WIDTHS
        _check(self.width in widths, f"Float: width {self.width} is not one of {widths}")

    def __str__(self) -> str:
        if self.encoding == "BFloat16KHR":
            return "bf16"
        return f"f{self.width}" + (f"({self.encoding})" if self.encoding else "")


@dataclass(frozen=True, eq=False)
class Vector(Type):
    """`count` scalars, or pointers (SPV_INTEL_masked_gather_scatter): 2, 3, 4, 8 or 16 of them."""

    element: Type
    count: int

    def __post_init__(self) -> None:
        is_scalar = isinstance(self.element, (Bool, Int, Float, Pointer))
        _check(is_scalar, f"Vector: {self.element} is neither a scalar nor a pointer")
        _check(self.count in VECTOR_COUNTS, f"Vector: count {self.count} is not one of {VECTOR_COUNTS}")

    def __str__(self) -> str:
        return f"<{self.count} x {self.element}>"


@dataclass(frozen=True, eq=False)
class Array(Type):
    """`count` elements; `stride` is the decoration ArrayStride, in bytes, that Vulkan buffers ask for."""

    element: Type
    count: int
    stride: int | None = None

    def __post_init__(self) -> None:
        _check(self.count >= 1, f"Array: count {self.count} is less than 1")

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}{_stride(self.stride)}]"


@dataclass(frozen=True, eq=False)
class RuntimeArray(Type):
    """An array whose length the module does not know: the last member of a Vulkan buffer block."""

    element: Type
    stride: int | None = None

    def __str__(self) -> str:
        return f"[? x {self.element}{_stride(self.stride)}]"


@dataclass(frozen=True, eq=False)
class Struct(Type):
    """Members in order; `offsets`, in bytes, and `block` are the decorations that Vulkan buffers ask for."""

    members: tuple[Type, ...]
    offsets: tuple[int, ...] | None = None
    name: str | None = None
    block: bool = False
    member_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for per_member in (self.offsets, self.member_names):
            _check(per_member is None or len(per_member) == len(self.members),
                   f"Struct: {per_member} for {len(self.members)} members")

    def __str__(self) -> str:
        return self.name or self.definition()

    def definition(self) -> str:
        """The members, with their offsets and names: `block {0: i32 count, 16: [? x f32 stride 4]}`."""
        offsets = [f"{offset}: " for offset in self.offsets] if self.offsets else [""] * len(self.members)
        names = [f" {name}" for name in self.member_names] if self.member_names else [""] * len(self.members)
        members = map("{}{}{}".format, offsets, self.members, names)
        return f"{'block ' if self.block else ''}{{{', '.join(members)}}}"


@dataclass(frozen=True, eq=False)
class Pointer(Type):
    """A pointer into a storage class, by its name; `stride` as for Array, for OpPtrAccessChain in Vulkan."""

    storage_class: str
    pointee: Type
    stride: int | None = None

    def __str__(self) -> str:
        return f"ptr<{self.storage_class}, {self.pointee}{_stride(self.stride)}>"


@dataclass(frozen=True, eq=False)
class FunctionType(Type):
    result: Type
    parameters: tuple[Type, ...]

    def __str__(self) -> str:
        return f"{self.result} ({', '.join(map(str, self.parameters))})"


@dataclass(frozen=True, eq=False)
class CooperativeMatrix(Type):
    """A matrix held together by `scope`; `use` is MatrixAKHR, MatrixBKHR or MatrixAccumulatorKHR."""

    element: Type
    scope: str
    rows: int
    columns: int
    use: str

    def __str__(self) -> str:
        return f"matrix<{self.rows}x{self.columns} x {self.element}, {self.use}>"


@dataclass(frozen=True, eq=False)
class Opaque(Type):
    """A type that is only its instruction, such as Opaque("OpTypeEvent")."""

    instruction: str

    def __str__(self) -> str:
        return self.instruction.removeprefix("OpType").lower()


def _stride(stride: int | None) -> str:
    return "" if stride is None else f" stride {stride}"


def _check(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
