"""Types and attributes of the IR: frozen, hashable, equal by value; `str()` gives MLIR's spelling.

Integers, floats, strings, lists and flags of the text become Python values; what remains (`DenseAttr`,
`Encoding`, `SymbolRef`, `OpaqueAttr`) is here.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from ..dataclass import dataclass


class Type:
    """Base class of all types."""

    __slots__ = ()


@dataclass(frozen=True)
class IntegerType(Type):
    """iN; `signedness` is "" (signless, nearly always), "s" or "u"."""

    width: int
    signedness: str = ""

    def __str__(self) -> str:
        return f"{self.signedness}i{self.width}"


@dataclass(frozen=True)
class IndexType(Type):
    """index: bounds of loops made by passes; 64 bits wide for us."""

    def __str__(self) -> str:
        return "index"


FLOAT_WIDTHS = {
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    "tf32": 32,
    "f128": 128,
    "f80": 80,
    "f8E4M3FN": 8,
    "f8E5M2": 8,
    "f8E4M3FNUZ": 8,
    "f8E5M2FNUZ": 8,
    "f8E4M3B11FNUZ": 8,
    "f8E4M3": 8,
    "f8E3M4": 8,
    "f8E8M0FNU": 8,
    "f4E2M1FN": 4,
    "f6E2M3FN": 6,
    "f6E3M2FN": 6,
}


@dataclass(frozen=True)
class FloatType(Type):
    """A floating point type by MLIR's name; `width` in bits. as_bits: its bits are what is held of it, though
    other targets compute with it (f16: passes/float16_bits.py); printed as !ts.bits<f16>."""

    name: str
    as_bits: bool = False

    @property
    def width(self) -> int:
        return FLOAT_WIDTHS[self.name]

    def __str__(self) -> str:
        return f"!ts.bits<{self.name}>" if self.as_bits else self.name


@dataclass(frozen=True)
class PointerType(Type):
    """!tt.ptr<pointee, address_space>; address space 1 (global memory) is not printed. -1 stands for
    "descriptor".
    """

    pointee: Type
    address_space: int = 1

    def __str__(self) -> str:
        space = {1: "", 4: ', "constant"', -1: ', "descriptor"'}.get(
            self.address_space, f", {self.address_space}"
        )
        return f"!tt.ptr<{self.pointee}{space}>"


def _dims(shape: tuple[int, ...]) -> str:
    return "".join(f"{n}x" for n in shape)


@dataclass(frozen=True)
class TensorType(Type):
    """tensor<AxBxelement, encoding>; encoding None in TTIR."""

    shape: tuple[int, ...]
    element: Type
    encoding: Encoding | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    def __str__(self) -> str:
        encoding = "" if self.encoding is None else f", {self.encoding}"
        return f"tensor<{_dims(self.shape)}{self.element}{encoding}>"


@dataclass(frozen=True)
class MemDescType(Type):
    """!ttg.memdesc<AxBxelement, encoding, memory_space, mutable, AxB>: a view of shared memory.

    `alloc_shape` is the shape of the allocation it views (equal to `shape` unless printed).
    """

    shape: tuple[int, ...]
    element: Type
    encoding: Encoding
    memory_space: Encoding
    mutable: bool = False
    alloc_shape: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    def __str__(self) -> str:
        mutable = ", mutable" if self.mutable else ""
        alloc = "" if self.alloc_shape == self.shape else ", " + "x".join(map(str, self.alloc_shape))
        block = f"{_dims(self.shape)}{self.element}"
        return f"!ttg.memdesc<{block}, {self.encoding}, {self.memory_space}{mutable}{alloc}>"


@dataclass(frozen=True)
class TensorDescType(Type):
    """!tt.tensordesc<AxBxelement, encoding>: a tensor descriptor that moves blocks of type `block`.

    `wrapped`: printed as !tt.tensordesc<tensor<...>>, the spelling up to Triton 3.8.
    """

    block: TensorType
    wrapped: bool = False

    def __str__(self) -> str:
        text = str(self.block)
        return f"!tt.tensordesc<{text if self.wrapped else text[7:-1]}>"


@dataclass(frozen=True)
class TokenType(Type):
    """!ttg.async.token: orders asynchronous copies."""

    def __str__(self) -> str:
        return "!ttg.async.token"


@dataclass(frozen=True)
class NoneType(Type):
    """none"""

    def __str__(self) -> str:
        return "none"


@dataclass(frozen=True)
class VectorType(Type):
    """vector<AxBxelement>"""

    shape: tuple[int, ...]
    element: Type

    def __str__(self) -> str:
        return f"vector<{_dims(self.shape)}{self.element}>"


@dataclass(frozen=True)
class TupleType(Type):
    """tuple<a, b>"""

    members: tuple[Type, ...]

    def __str__(self) -> str:
        return f"tuple<{', '.join(map(str, self.members))}>"


def _type_list(types: tuple[Type, ...]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"


@dataclass(frozen=True)
class FunctionType(Type):
    """(inputs) -> results"""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __str__(self) -> str:
        single = len(self.results) == 1 and not isinstance(self.results[0], FunctionType)
        return f"{_type_list(self.inputs)} -> {self.results[0] if single else _type_list(self.results)}"


@dataclass(frozen=True)
class OpaqueType(Type):
    """A type of a dialect that this package does not read: its text."""

    text: str

    def __str__(self) -> str:
        return self.text


def element_type(type: Type) -> Type:
    """The element of a tensor, or the scalar type itself."""
    return type.element if isinstance(type, (TensorType, MemDescType, VectorType)) else type


def shape_of(type: Type) -> tuple[int, ...]:
    """The shape of a tensor; () for a scalar."""
    return type.shape if isinstance(type, (TensorType, MemDescType, VectorType)) else ()


def bits_of(type: Type) -> int:
    """Width of an element in bits; of a pointer its address."""
    return type.width if isinstance(type, (IntegerType, FloatType)) else 64


def like(type: Type, element: Type) -> Type:
    """`type` with another element: the same shape and encoding, or the bare element for a scalar."""
    return TensorType(type.shape, element, type.encoding) if isinstance(type, TensorType) else element


# Attributes


@dataclass(frozen=True)
class DenseAttr:
    """dense<...> : type. A splat has one number in `values`, else `values` is a flat row-major tuple."""

    type: TensorType | VectorType
    splat: bool
    values: Any


@dataclass(frozen=True)
class SymbolRef:
    """@name"""

    name: str

    def __str__(self) -> str:
        return f"@{self.name}"


@dataclass(frozen=True)
class OpaqueAttr:
    """An attribute that this package does not read: its text."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Encoding:
    """#dialect.name<{key = value, ...}>, a layout for instance. `items` holds the pairs; nested parents are
    Encodings.

    `tail` is the text inside <> where that is not just `{...}` (padded_shared's intervals). A dictionary
    among the values is an Encoding without a name.
    """

    dialect: str
    name: str
    items: tuple[tuple[str, Any], ...] = ()
    tail: str = ""

    @cached_property
    def parameters(self) -> dict[str, Any]:
        return dict(self.items)

    def __getitem__(self, key: str) -> Any:
        return self.parameters[key]

    def get(self, key: str, default: Any = None) -> Any:
        return self.parameters.get(key, default)

    @cached_property
    def _hash(self) -> int:
        return hash((self.dialect, self.name, self.items, self.tail))

    def __hash__(self) -> int:  # asked for each comparison of tensor types in dictionaries
        return self._hash

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        body = (
            "{" + ", ".join(f"{key} = {_plain(value)}" for key, value in self.items) + "}"
            if self.items
            else ""
        )
        if not self.dialect:
            return body or "{}"
        inside = self.tail or body
        return f"#{self.dialect}.{self.name}" + (f"<{inside}>" if inside else "")


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_plain, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
