"""Reading Triton IR (TTIR, TTGIR): `parse(text) -> Module`, and the objects it makes.

Needs nothing but the standard library. module.py: a module; model.py: operations and values; location.py:
places in the source; types.py: types and attributes; dialects.py: the table of operations.
"""

from .location import UNKNOWN_LOCATION, Location
from .model import (
    Block,
    DenseAttr,
    Encoding,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemDescType,
    NoneType,
    OpaqueAttr,
    OpaqueType,
    Operation,
    PointerType,
    Region,
    SymbolRef,
    TensorDescType,
    TensorType,
    TokenType,
    TupleType,
    Type,
    Value,
    VectorType,
    element_type,
    like,
    shape_of,
)
from .module import Module
from .parser import parse

__all__ = [
    "UNKNOWN_LOCATION",
    "Block",
    "DenseAttr",
    "Encoding",
    "FloatType",
    "FunctionType",
    "IndexType",
    "IntegerType",
    "Location",
    "MemDescType",
    "Module",
    "NoneType",
    "OpaqueAttr",
    "OpaqueType",
    "Operation",
    "PointerType",
    "Region",
    "SymbolRef",
    "TensorDescType",
    "TensorType",
    "TokenType",
    "TupleType",
    "Type",
    "Value",
    "VectorType",
    "element_type",
    "like",
    "parse",
    "shape_of",
]
