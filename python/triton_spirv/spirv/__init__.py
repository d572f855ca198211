"""SPIR-V: types as values, `Module` to build with, structured control flow, a readable listing."""

from .asm import listing
from .control import For, IfElse, While, if_
from .module import Module
from .types import (
                    Array,
                    Bool,
                    CooperativeMatrix,
                    Float,
                    FunctionType,
                    Int,
                    Opaque,
                    Pointer,
                    RuntimeArray,
                    Struct,
                    Type,
                    Vector,
                    Void,
)
from .values import Function, Label, Value

__all__ = [
    "Array", "Bool", "CooperativeMatrix", "Float", "For", "Function", "FunctionType", "IfElse", "Int",
    "Label", "Module", "Opaque", "Pointer", "RuntimeArray", "Struct", "Type", "Value", "Vector", "Void",
    "While", "if_", "listing"]
