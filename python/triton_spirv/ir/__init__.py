"""Reading Triton IR (TTIR, TTGIR): `parse(text) -> Module`, and the objects it makes.

Needs nothing but the standard library. model.py: operations and values; types.py: types and attributes; dialects.py: the table of operations.
"""

from triton_spirv.ir.model import (
    UNKNOWN_LOCATION,
    Block,
    DenseAttr,
    Encoding,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    Location,
    MemDescType,
    Module,
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
from triton_spirv.ir.parser import parse

__all__ = [
    "Block", "DenseAttr", "Encoding", "FloatType", "FunctionType", "IndexType", "IntegerType", "Location", "MemDescType", "Module",
    "NoneType", "OpaqueAttr", "OpaqueType", "Operation", "PointerType", "Region", "SymbolRef", "TensorDescType", "TensorType",
    "TokenType", "TupleType", "Type", "UNKNOWN_LOCATION", "Value", "VectorType", "element_type", "like", "parse", "shape_of",
]
